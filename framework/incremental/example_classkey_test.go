package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// Tier lets pods onto nodes of the tier that an annotation names. Its key is that one
// annotation, so pods that differ in others are of one class.
type Tier struct{}

const tier = "example.com/tier"

func (Tier) Name() string { return "Tier" }

func (Tier) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode} // FieldAnnotations is left out
}

func (Tier) AppendClassKey(b []byte, _ *framework.Snapshot, pod *framework.PodInfo) []byte {
	return append(b, pod.Pod.Annotations[tier]...)
}

func (Tier) ClassKeyVersion(*framework.Snapshot) uint64 { return 0 } // keys read the pod alone

func (Tier) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if want := pod.Pod.Annotations[tier]; want != "" && node.Node.Labels[tier] != want {
		return framework.UnschedulableStatus("node(s) of another tier")
	}
	return framework.Status{}
}

func ExampleClassKeyer() {
	snap := framework.NewSnapshot(framework.Arrival)
	key := func(name, value string) string {
		pod := api.MakePod(name).Obj()
		pod.Annotations = map[string]string{tier: value, "example.com/build": name}
		info, err := snap.NewPodInfo(pod)
		if err != nil {
			return err.Error()
		}
		keyer, _ := framework.As[incremental.ClassKeyer](Tier{})
		return string(keyer.AppendClassKey(nil, snap, info))
	}
	fmt.Println(key("web-1", "gold"), key("web-2", "gold"), key("batch", "iron"))
	// Output: gold gold iron
}

// Tiers is one of several plugins whose keys have one version.
type Tiers struct{ Tier }

func (Tiers) ClassKeySource() string { return "example.com/tiers" }

// A scheduler asks one plugin of each source for the version of its keys.
func ExampleSharedKeyer() {
	shared, ok := framework.As[incremental.SharedKeyer](Tiers{})
	fmt.Println(ok, shared.ClassKeySource(), shared.ClassKeyVersion(nil))
	// Output: true example.com/tiers 0
}

// Gold tells pods apart that have claims, and treats all others alike.
type Gold struct{ Tier }

func (Gold) KeyConcern() framework.PodParts { return framework.PartClaims }

// A scheduler asks for the key, and its version, of pods with these parts alone.
func ExampleConcernedKeyer() {
	keyer, ok := framework.As[incremental.ConcernedKeyer](Gold{})
	fmt.Println(ok, keyer.KeyConcern() == framework.PartClaims)
	// Output: true true
}

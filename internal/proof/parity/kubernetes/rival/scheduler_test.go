package rival_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"k8s.io/component-base/featuregate"

	gen "github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
)

// cluster builds a scheduler over n nodes with two pods each.
func cluster(t *testing.T, n int, o rival.Options) *rival.Scheduler {
	t.Helper()
	s, err := rival.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		node, err := workload.Node(i)
		if err != nil {
			t.Fatal(err)
		}
		s.AddNode(node)
	}
	for j := range 2 * n {
		p, err := workload.InitPod(j, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AddPod(p); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// place schedules pods 0 to m-1 of a workload and returns their nodes.
func place(t *testing.T, s *rival.Scheduler, k gen.Kind, m int) []rival.Result {
	t.Helper()
	var results []rival.Result
	for i := range m {
		p, err := workload.Pod(k, i)
		if err != nil {
			t.Fatal(err)
		}
		pending, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Schedule(pending)
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		results = append(results, r)
	}
	return results
}

// The gates are the ones of the recording.
func TestFeatureGates(t *testing.T) {
	for gate, want := range map[featuregate.Feature]bool{
		features.OpportunisticBatching:              true,
		features.GenericWorkload:                    false,
		features.PodLevelResources:                  true,
		features.StorageCapacityScoring:             true,
		features.SchedulerAsyncAPICalls:             false,
		features.InterPodAffinityHostnameFastPath:   false,
		features.TaintTolerationComparisonOperators: false,
		features.NodeDeclaredFeatures:               true,
		features.MatchLabelKeysInPodTopologySpread:  true,
	} {
		if got := utilfeature.DefaultFeatureGate.Enabled(gate); got != want {
			t.Errorf("gate %s = %t, want %t", gate, got, want)
		}
	}
}

func TestNodeOrder(t *testing.T) {
	s := cluster(t, 25, rival.Options{})
	got, err := s.NodeOrder()
	if err != nil {
		t.Fatal(err)
	}
	// Ten zones alternate, and node i is in zone i mod 10: the order of addition.
	var want []string
	for i := range 25 {
		want = append(want, gen.NodeName(i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("NodeOrder() = %v, want %v", got, want)
	}
}

func TestWorkloads(t *testing.T) {
	for _, k := range gen.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			s := cluster(t, 120, rival.Options{Percentage: 100})
			zones := map[string]int{}
			for i, r := range place(t, s, k, 60) {
				if r.Evaluated != 120 {
					t.Fatalf("pod %d: evaluated %d nodes, want 120", i, r.Evaluated)
				}
				zone := r.Node[len(r.Node)-1:]
				zones[zone]++
				if k == gen.NodeAffinity && (zone > "4" || r.Feasible != 60) {
					t.Errorf("pod %d: on %s of %d feasible, want zone-0 to zone-4 of 60", i, r.Node, r.Feasible)
				}
			}
			if k == gen.SpreadHard && len(zones) != 10 {
				t.Errorf("pods in %d zones, want 10: %v", len(zones), zones)
			}
		})
	}
}

func TestSampling(t *testing.T) {
	s := cluster(t, 1000, rival.Options{})
	for i, r := range place(t, s, gen.Basic, 3) {
		if r.Feasible != 420 { // 42 % of 1,000
			t.Errorf("pod %d: %d feasible nodes, want 420", i, r.Feasible)
		}
	}
}

// With one worker, the choices are the same on every run.
func TestDeterministic(t *testing.T) {
	o := rival.Options{Percentage: 100, Parallelism: 1}
	first := place(t, cluster(t, 50, o), gen.Mixed, 100)
	second := place(t, cluster(t, 50, o), gen.Mixed, 100)
	if !slices.Equal(first, second) {
		t.Errorf("two runs chose differently:\n%v\n%v", first, second)
	}
}

func TestBatching(t *testing.T) {
	hinted := func(o rival.Options) int {
		n := 0
		for _, r := range place(t, cluster(t, 200, o), gen.Basic, 50) {
			if r.Feasible == 1 { // only the node that the previous cycle left as the best
				n++
			}
		}
		return n
	}
	if got := hinted(rival.Options{Config: rival.ListDefaulting, Batching: true}); got < 40 {
		t.Errorf("%d of 50 pods used the previous cycle, want nearly all", got)
	}
	if got := hinted(rival.Options{Batching: true}); got != 0 {
		t.Errorf("%d of 50 pods used the previous cycle with the default profile, want 0", got)
	}
}

func TestRemoveAndRefuse(t *testing.T) {
	s := cluster(t, 3, rival.Options{Percentage: 100})
	p, err := workload.Pod(gen.Basic, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": *quantity(t, "3800m")}
	again := func() error {
		pending, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Schedule(pending)
		return err
	}
	if err := again(); err != nil { // 200m of each node are taken
		t.Fatal(err)
	}
	if err := s.RemovePod(p); err != nil {
		t.Fatal(err)
	}
	p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": *quantity(t, "3801m")}
	err = again()
	if fit := (*framework.FitError)(nil); !errors.As(err, &fit) || !strings.Contains(err.Error(), "0/3 nodes are available: 3 Insufficient cpu") {
		t.Errorf("error %v, want that of three nodes without enough CPU", err)
	}
}

func TestNominate(t *testing.T) {
	s := cluster(t, 2, rival.Options{Percentage: 100})
	waiting, err := workload.Pod(gen.SpreadSoft, 0)
	if err != nil {
		t.Fatal(err)
	}
	waiting.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": *quantity(t, "3800m")}
	waiting.Status.NominatedNodeName = gen.NodeName(0)
	if err := s.Nominate(waiting); err != nil {
		t.Fatal(err)
	}
	for i, r := range place(t, s, gen.Basic, 3) {
		if r.Node != gen.NodeName(1) || r.Feasible != 1 {
			t.Errorf("pod %d: %+v, want node-00001 alone", i, r)
		}
	}
}

// A claim that an object of Options satisfies.
func TestObjects(t *testing.T) {
	const ns, class = "default", "fast"
	got := map[bool]string{}
	for _, bound := range []bool{true, false} {
		claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: ns, UID: "c"}}
		claim.Spec.StorageClassName = new(string)
		*claim.Spec.StorageClassName = class
		objects := []runtime.Object{claim}
		if bound {
			claim.Spec.VolumeName = "pv"
			claim.Status.Phase = v1.ClaimBound
			claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
			objects = append(objects, &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}})
		}
		s := cluster(t, 2, rival.Options{Percentage: 100, Objects: objects})
		p, err := workload.Pod(gen.Basic, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
		pending, err := s.Prepare(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Schedule(pending); err != nil {
			got[bound] = err.Error()
		}
	}
	if got[true] != "" || !strings.Contains(got[false], "unbound immediate PersistentVolumeClaims") {
		t.Errorf("errors by bound or not: %v, want none and one that speaks of unbound claims", got)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ name, config, want string }{
		{"syntax", "{", "configuration"},
		{"other kind", `{"apiVersion": "v1", "kind": "Pod"}`, "configuration"},
		{"invalid", `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": -1}`, "parallelism"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := rival.New(t.Context(), rival.Options{Config: c.config}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

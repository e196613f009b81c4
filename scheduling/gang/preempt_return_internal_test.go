//go:build full

package gang

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// claims is how many claims the pods of TestReturnsAgree may mount.
const claims = 4

// putClaims puts claims of one pod only, of one node each, and such that wait for a pod,
// with fewer volumes than these need.
func putClaims(t *rapid.T, s *framework.Snapshot, nodes int) {
	wait := api.VolumeBindingWaitForFirstConsumer
	class := &api.StorageClass{ObjectMeta: api.ObjectMeta{Name: "late"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait}
	if err := framework.Put(s, class); err != nil {
		t.Fatal(err)
	}
	modes := []api.PersistentVolumeAccessMode{rapid.SampledFrom([]api.PersistentVolumeAccessMode{api.ReadWriteOnce, api.ReadWriteOncePod}).Draw(t, "mode")}
	size := resource.List{"storage": resource.MustParse("1Gi")}
	for i := range claims {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("v", i)}}
		v.Spec.StorageClassName, v.Spec.Capacity, v.Spec.AccessModes = "late", size, modes
		at := fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "disk"))
		v.Spec.NodeAffinity = &api.VolumeNodeAffinity{Required: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
			MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: api.NodeSelectorOpIn, Values: []string{at}}},
		}}}}
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("c", i), UID: api.UID(fmt.Sprint("c", i))}}
		c.Spec.StorageClassName, c.Spec.AccessModes, c.Spec.Resources.Requests = new("late"), modes, size
		v.Status.Phase = api.VolumeAvailable
		if rapid.IntRange(0, 3).Draw(t, "bound") > 0 {
			v.Spec.NodeAffinity = nil
			v.Spec.ClaimRef = &api.ObjectReference{Namespace: "default", Name: c.Name, UID: c.UID}
			c.Spec.VolumeName = v.Name
			c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
			c.Status.Phase, v.Status.Phase = api.ClaimBound, api.VolumeBound
		}
		if err := errors.Join(framework.Put(s, v), framework.Put(s, c)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReturnsAgree compares the units that return if only the pods beside them are asked
// with those that return if all pods are: any group, and units with ports, claims, terms,
// and pods on several nodes.
func TestReturnsAgree(t *testing.T) {
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(sched, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	want := map[string]int{
		"groups of separate pods": 20, "units beside them returned": 20, "units beside them gone": 20,
		"groups that conflicts alone matter to": 20, "units without conflicts gone": 20, "units without conflicts returned": 20, "units in conflict gone": 20,
	}
	enough.Check(t, seen, want, func(t *rapid.T) {
		const most = 5
		s := framework.NewSnapshot(framework.Arrival)
		nodes := rapid.IntRange(1, most).Draw(t, "nodes")
		for i := range nodes {
			name := fmt.Sprint("n", i)
			n := api.MakeNode(name, rapid.SampledFrom([]string{"1", "2", "4"}).Draw(t, "cpu"), "64Gi").Labels(api.LabelHostname, name, "zone", fmt.Sprint("z", i%2))
			if err := s.AddNode(n.Obj()); err != nil {
				t.Fatal(err)
			}
		}
		mounts := rapid.IntRange(0, 2).Draw(t, "mounts") == 0
		if mounts {
			putClaims(t, s, nodes)
		}
		node := func() string { return fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "node")) }
		pod := func(name string, hostile bool) *framework.PodInfo {
			b := api.MakePod(name).Namespace("default").Labels("app", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app")).
				Requests(rapid.SampledFrom([]string{"100m", "100m", "1"}).Draw(t, "asks"), "1Mi")
			if rapid.IntRange(0, 5).Draw(t, "port") == 0 {
				b = b.HostPort(rapid.Int32Range(80, 81).Draw(t, "number"))
			}
			if hostile && rapid.IntRange(0, 3).Draw(t, "term") == 0 {
				switch zone := rapid.SampledFrom([]string{"zone", api.LabelHostname}).Draw(t, "key"); rapid.IntRange(0, 3).Draw(t, "how") {
				case 0:
					b = b.PodAffinity(zone, "app=a")
				case 1:
					b = b.Spread(1, zone, api.DoNotSchedule, "app=a")
				default:
					b = b.PodAntiAffinity(zone, rapid.SampledFrom([]string{"app=a", "app=b", "app=c"}).Draw(t, "whom"))
				}
			}
			if mounts && rapid.IntRange(0, 2).Draw(t, "mount") == 0 {
				b = b.Claim(fmt.Sprint("c", rapid.IntRange(0, claims-1).Draw(t, "claim")))
			}
			info, err := s.NewPodInfo(b.Obj())
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		withTerms := rapid.Bool().Draw(t, "units with terms")
		var units []*Unit
		for i := range rapid.IntRange(1, 8).Draw(t, "units") {
			u := &Unit{}
			for k := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "size") {
				u.Members = append(u.Members, Member{pod(fmt.Sprintf("u-%d-%d", i, k), withTerms), node()})
			}
			units = append(units, u)
		}
		g := &Group{Name: "g", Priority: 5}
		var placed []Placement
		groupTerms := rapid.IntRange(0, 3).Draw(t, "terms in the group") == 0
		for i := range rapid.IntRange(1, most).Draw(t, "pods") {
			g.Pods = append(g.Pods, pod(fmt.Sprint("m-", i), groupTerms))
			placed = append(placed, Placement{Pod: g.Pods[i].Pod.Key(), Node: node(), index: i})
		}
		if rapid.IntRange(0, 3).Draw(t, "nominated") == 0 {
			who := g.Pods[0]
			if rapid.Bool().Draw(t, "another") {
				who = pod("another", false)
			}
			if err := s.Nominate(who, node(), ""); err != nil {
				t.Fatal(err)
			}
		}
		returns := func(all bool) (gone []*Unit) {
			mark := s.Begin()
			defer s.Rollback(mark)
			x := p.reprieval(s, g, placed)
			if all {
				x.separate, x.sure = false, true
			} else if x.separate {
				seen["groups of separate pods"]++
			}
			gone, err := x.putBack(units)
			if err == nil {
				gone, err = x.putBack(gone) // as under other rules
			}
			if err != nil {
				t.Fatal(err)
			}
			if x.conflicts != nil {
				seen["groups that conflicts alone matter to"]++
				for _, u := range units {
					switch apart := x.apart(u); {
					case apart && slices.Contains(gone, u):
						seen["units without conflicts gone"]++
					case apart:
						seen["units without conflicts returned"]++
					case slices.Contains(gone, u):
						seen["units in conflict gone"]++
					}
				}
			}
			if x.separate {
				seen["units beside them gone"] += len(gone)
				seen["units beside them returned"] += len(units) - len(gone)
			}
			return gone
		}
		if got, want := returns(false), returns(true); !slices.Equal(got, want) {
			t.Fatalf("%d of %d units stay away, want %d", len(got), len(units), len(want))
		}
	})
}

//go:build full

package gang_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

var ownChoices = []gang.Choice{gang.BestFit, gang.MostPacked, gang.LeastFree}

// nominatedPod is a pod of a group that is nominated to the node, also in its status or only in the snapshot.
func nominatedPod(t *testing.T, s *framework.Snapshot, o *api.Pod, node string, inStatus bool) *framework.PodInfo {
	t.Helper()
	if inStatus {
		o.Status.NominatedNodeName = node
	}
	p := info(s, o)
	if err := s.Nominate(p, node, ""); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNominatedGroupPreempts: two pods that are nominated to one node need two victims, as without that.
func TestNominatedGroupPreempts(t *testing.T) {
	for _, choice := range append([]gang.Choice{gang.Kubernetes137}, ownChoices...) {
		for _, inStatus := range []bool{false, true} {
			s := framework.NewSnapshot(framework.Arrival)
			for i := range 5 {
				n := fmt.Sprint("n", i)
				if err := s.AddNode(api.MakeNode(n, "2", "16Gi").Obj()); err != nil {
					t.Fatal(err)
				}
				for k := range 2 {
					low := info(s, api.MakePod(fmt.Sprint("low", i, k)).UID(api.UID(fmt.Sprint("low", i, k))).Requests("1", "1Gi").Obj())
					if err := s.AddPod(low, n); err != nil {
						t.Fatal(err)
					}
				}
			}
			g := &gang.Group{Namespace: "default", Name: "g", Priority: 10}
			for i := range 2 {
				name := fmt.Sprint("high", i)
				g.Pods = append(g.Pods, nominatedPod(t, s, api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Priority(10).Obj(), "n0", inStatus))
			}
			e, err := placer(gang.Rules{Choice: choice}).Preempt(s, g)
			if err != nil || len(e.Victims()) != 2 {
				t.Errorf("%v, nominated in status %v: %d victims, %v; want 2", choice, inStatus, len(e.Victims()), err)
			}
			if s.Nominations() != 2 {
				t.Errorf("%v: %d nominations are left of 2", choice, s.Nominations())
			}
		}
	}
}

// TestNominatedGroupStands: a group that is spread by zone stands where its pods are nominated, though the filters
// of the first one count all others there already. One that is left keeps its nomination.
func TestNominatedGroupStands(t *testing.T) {
	for _, choice := range ownChoices {
		for _, more := range []bool{false, true} {
			s := framework.NewSnapshot(framework.Arrival)
			for i, free := range []string{"", "2", "1", ""} {
				n := fmt.Sprint("n", i)
				b := api.MakeNode(n, "1m", "16Gi")
				if free != "" {
					b = api.MakeNode(n, free, "16Gi")
				}
				if err := s.AddNode(b.Zone(fmt.Sprint("z", i%2)).Labels(api.LabelHostname, n).Obj()); err != nil {
					t.Fatal(err)
				}
			}
			g := &gang.Group{Namespace: "default", Name: "g", Priority: 10, Min: 3}
			at := []string{"n1", "n2", "n1", "n0"}
			for i := range map[bool]int{false: 3, true: 4}[more] {
				name := fmt.Sprint("high", i)
				o := api.MakePod(name).UID(api.UID(name)).Labels("app", "a").Requests("1", "1Gi").Priority(10).Obj()
				o.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
					TopologyKey: api.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: api.DoNotSchedule,
					LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
				}}
				g.Pods = append(g.Pods, nominatedPod(t, s, o, at[i], true))
			}
			out, err := placer(gang.Rules{Choice: choice}).Place(s, g)
			if err != nil || out.Status != gang.Placed || len(out.Placed) != 3 {
				t.Fatalf("%v, %d pods: %+v, %v; want 3 placed", choice, len(g.Pods), out, err)
			}
			if n := s.Nominations(); n != len(g.Pods)-3 {
				t.Errorf("%v, %d pods: %d nominations are left", choice, len(g.Pods), n)
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
		}
	}
}

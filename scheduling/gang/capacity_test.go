package gang_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// If the rules ignore levels, so do Capacity and sets.
func TestLevelsAreIgnored(t *testing.T) {
	s := racks(1, 1)
	g := &gang.Group{Name: "g", Pods: workers(s, 6, "1"), Topology: []gang.Level{{Key: rack}}}
	set := &gang.Set{Name: "s", Topology: rack, Children: []gang.Child{g}}
	for _, ignored := range []bool{false, true} {
		p := placer(gang.Rules{NoTopology: ignored})
		want := 0
		if ignored {
			want = 1
		}
		c, err := p.Capacity(s, g, 0)
		if err != nil || c.Fits != want || c.Anywhere != 1 || !c.Exact {
			t.Errorf("ignored %t: Capacity = %+v, %v, want %d", ignored, c, err, want)
		}
		out, err := p.Try(s, g)
		if err != nil || (out.Status == gang.Placed) != ignored {
			t.Errorf("ignored %t: Try = %v, %v", ignored, out.Status, err)
		}
		all, err := p.PlaceSet(s.Fork(), set)
		if err != nil || (all.Status == gang.Placed) != ignored {
			t.Errorf("ignored %t: PlaceSet = %v, %v", ignored, all.Status, err)
		}
	}
}

// A number of nodes that is not enough is 0, however it is looked for.
func TestNodesForTooFew(t *testing.T) {
	s := racks(1)
	near := info(s, api.MakePod("w").Labels("a", "b").Requests("8", "1Gi").PodAffinity(api.LabelHostname, "a=b").Obj())
	plain := info(s, api.MakePod("w").Requests("8", "1Gi").Obj())
	for _, pod := range []*framework.PodInfo{near, plain} {
		n, ok, err := placer(gang.Rules{Choice: gang.BestFit}).NodesFor(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod}}, 1, api.MakeNode("new", "4", "16Gi").Obj(), 3)
		if n != 0 || ok || err != nil {
			t.Errorf("NodesFor = %d, %t, %v, want 0, false", n, ok, err)
		}
	}
}

// Without filters that count, nothing bounds the number of gangs: counting stops, and says
// that more may fit.
func TestCapacityWithoutBound(t *testing.T) {
	without := scheduling.Kubernetes137()
	if err := without.Remove("NodeResourcesFit"); err != nil {
		t.Fatal(err)
	}
	none := scheduling.Kubernetes137()
	none.Filter = nil
	s := racks(1)
	plain := info(s, api.MakePod("w").Requests("1", "1Gi").Obj())
	near := info(s, api.MakePod("w").Labels("a", "b").Requests("1", "1Gi").PodAffinity(api.LabelHostname, "a=b").Obj())
	for _, tt := range []struct {
		name    string
		profile scheduling.Profile
		pod     *framework.PodInfo
		levels  []gang.Level
	}{
		{"placed one by one", without, near, nil},
		{"counted", none, plain, nil},
		{"counted in racks", none, plain, []gang.Level{{Key: rack}}},
	}[effort.Of(1, 0):] { // the first takes long
		p := placerOf(tt.profile, gang.Rules{Choice: gang.BestFit})
		shape := &gang.Group{Name: "g", Pods: []*framework.PodInfo{tt.pod}, Topology: tt.levels}
		c, err := p.Capacity(s, shape, 0)
		if err != nil || c.Fits != 1<<16 || c.Exact || !c.Stopped || c.AtMost <= c.Fits {
			t.Errorf("%s: Capacity = %+v, %v, want 65536, stopped, and not exact", tt.name, c, err)
		}
		if c, err = p.Capacity(s, shape, 3); err != nil || c.Fits != 3 || !c.Stopped {
			t.Errorf("%s: Capacity to 3 = %+v, %v", tt.name, c, err)
		}
	}
}

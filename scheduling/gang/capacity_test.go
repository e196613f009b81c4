package gang_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

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
	} {
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

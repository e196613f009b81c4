//go:build full

package gang_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// lessRoom is a Reserve plugin that lets one pod less onto the cluster than the filters do.
type lessRoom struct{ most int }

func (lessRoom) Name() string { return "LessRoom" }

func (f lessRoom) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	pods := 0
	for _, n := range c.Snapshot.All() {
		pods += len(n.Pods)
	}
	if pods > f.most {
		return framework.UnschedulableStatus("full")
	}
	return framework.Status{}
}

func (lessRoom) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// A pod that is refused late takes its whole slice with it.
func TestRefusedLate(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Reserve = append(profile.Reserve, lessRoom{5})
	s := racks(2)
	out, err := placerOf(profile, gang.Rules{Choice: gang.BestFit}).Place(s, &gang.Group{Name: "g", Pods: workers(s, 8, "1"), Min: 4, Topology: []gang.Level{{Key: rack, Slice: 4}}})
	if err != nil || out.Status != gang.Placed || len(out.Placed) != 4 || len(s.Node("r0-0").Pods)+len(s.Node("r0-1").Pods) != 4 {
		t.Errorf("Place = %+v, %v, want the first slice of 4 pods", out, err)
	}
}

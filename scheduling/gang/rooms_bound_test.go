//go:build full

package gang_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A guest reads the pods of the node, and cannot count how many more there is room for. It notes how often it is asked.
type guest struct{ asked *int }

func (guest) Name() string { return "Guest" }

func (guest) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsPods}
}

func (g guest) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{Filter: g}, framework.Status{}
}

func (g guest) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*g.asked++
	return framework.Status{}
}

// TestCountingIsBounded: where a plugin cannot count, a small group does not fill all nodes to know how many pods of it they take,
// neither the first one nor those after it. A group that could not be tried in each domain is counted all the same.
func TestCountingIsBounded(t *testing.T) {
	const nodes, room = 600, 110
	asked := 0
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, guest{&asked})
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gang.New(sched, gang.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	s := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "1000", "4000Gi").Resource("pods", fmt.Sprint(room)).Labels("rack", fmt.Sprint("r", i)).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ pods, most, placed int }{{2, 30_000, 2}, {2, 5_000, 2}, {1000, 150_000, 0}} {
		asked = 0
		g := &gang.Group{Name: fmt.Sprint("g", tt.pods), Topology: []gang.Level{{Key: "rack"}}}
		for i := range tt.pods {
			g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj()))
		}
		out, err := p.Try(s, g)
		if err != nil || (out.Status == gang.Placed) != (tt.placed > 0) || asked > tt.most {
			t.Errorf("a group of %d pods: %v, %v; the plugin was asked %d times, want at most %d", tt.pods, out.Status, err, asked, tt.most)
		}
	}
}

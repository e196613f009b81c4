package scheduling_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestExtendersAnswerInAnyOrder: kept totals are those of the nodes that an extender leaves, in whatever
// order it names them, and whatever it says besides. A scheduler that verifies compares each decision.
func TestExtendersAnswerInAnyOrder(t *testing.T) {
	for name, change := range map[string]func(v *scheduling.ExtenderVerdict){
		"as asked": func(*scheduling.ExtenderVerdict) {},
		"reversed": func(v *scheduling.ExtenderVerdict) { slices.Reverse(v.Nodes) },
		"turned":   func(v *scheduling.ExtenderVerdict) { v.Nodes = append(v.Nodes[3:], v.Nodes[:3]...) },
		"emptied":  func(v *scheduling.ExtenderVerdict) { v.Emptied = true },
		"emptied in part": func(v *scheduling.ExtenderVerdict) {
			v.Nodes, v.Emptied = v.Nodes[2:], true
		},
		"the last twice": func(v *scheduling.ExtenderVerdict) { v.Nodes[0] = v.Nodes[len(v.Nodes)-1] },
	} {
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 12 {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(8+i*5%12), "64Gi").Obj()); err != nil {
				t.Fatal(err)
			}
		}
		p := scheduling.Kubernetes137()
		p.Cache.Verify = true
		p.Extenders = []scheduling.Extender{{Name: "x", Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (v scheduling.ExtenderVerdict, _ error) {
			for _, n := range nodes {
				v.Nodes = append(v.Nodes, n.Name())
			}
			change(&v)
			return v, nil
		}}}
		sched, err := scheduling.New(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			pod, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sched.Place(s, pod); err != nil {
				t.Fatalf("%s, pod %d: %v", name, i, err)
			}
		}
	}
}

//go:build full

package whatif_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// placedWith places the pods by hand with so many nodes of each type more.
func placedWith(t rapid.TB, sched *scheduling.Scheduler, s *framework.Snapshot, pods []*framework.PodInfo, types []whatif.NodeType, counts []int) (placed int) {
	t.Helper()
	s = s.Fork()
	for i, n := range counts {
		for k := range n {
			if err := types[i].AddNode(s, fmt.Sprintf("%s-%d", types[i].Name, k)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, pod := range pods {
		_, err := sched.Place(s, pod)
		var fit *scheduling.FitError
		switch {
		case err == nil:
			placed++
		case !errors.As(err, &fit) && !errors.Is(err, scheduling.ErrNoNodes):
			t.Fatal(err)
		}
	}
	return placed
}

// TestNodesNeededReplicas compares the nodes for replicas of one pod with trying every choice
// by hand: with one type and with two, for plain pods and for pods with spread constraints and
// affinity.
func TestNodesNeededReplicas(t *testing.T) {
	counted, exact, perNode := 0, 0, 0
	for seed := range uint64(400) {
		if effort.Suffices(counted >= 100 && exact >= 60 && perNode >= 50) {
			break
		}
		r := rand.New(rand.NewPCG(seed, 23))
		c := newSpreadCase(r)
		if seed%2 == 0 {
			c.keys = nil
			c.pod = pod(c.s, api.MakePod("web").Requests(fmt.Sprint(100*(3+r.IntN(15)), "m"), "100Mi").Obj())
		}
		pods, err := whatif.Replicas(c.pod, 2+r.IntN(14))
		if err != nil {
			t.Fatal(err)
		}
		types := []whatif.NodeType{
			{Name: "a", Node: api.MakeNode("", fmt.Sprint(1+r.IntN(3)), "4Gi").Zone("z0").Obj(), Price: int64(1 + r.IntN(5)), Max: 1 + r.IntN(5)},
			{Name: "b", Node: api.MakeNode("", fmt.Sprint(3+r.IntN(4)), "6Gi").Zone(fmt.Sprint("z", r.IntN(3))).Obj(), Price: int64(3 + r.IntN(9)), Max: 1 + r.IntN(4)},
		}[:1+r.IntN(2)]
		if r.IntN(4) == 0 {
			types[0].Pods = []*api.Pod{api.MakePod("agent").Labels("app", "web").Requests("300m", "").Obj()}
		}
		p := planner(c.s)
		got, err := p.NodesNeeded(pods, types...)
		if err != nil {
			t.Fatal(err)
		}
		most, second := types[0].Max, 0
		if len(types) == 2 {
			second = types[1].Max
		}
		results := map[[2]int]int{}
		goal, top := 0, 0
		for i := range most + 1 {
			for k := range second + 1 {
				n := placedWith(t, scheduler(t), c.s, pods, types, []int{i, k}[:len(types)])
				results[[2]int{i, k}] = n
				top = max(top, n)
			}
		}
		if goal = results[[2]int{most, second}]; len(types) == 1 {
			goal = top
		}
		cheapest := int64(1 << 40)
		for counts, n := range results {
			price := int64(counts[0]) * types[0].Price
			if len(types) == 2 {
				price += int64(counts[1]) * types[1].Price
			}
			if n >= goal {
				cheapest = min(cheapest, price)
			}
		}
		placed := len(got.Placement.Placed)
		if placed < goal || got.LowerBound > cheapest || got.Price < cheapest || got.Exact && got.Price != cheapest {
			t.Errorf("seed %d: %s: %d replicas: price %d, at least %d, exact %t, %d placed; want price %d for %d",
				seed, c.kind(), len(pods), got.Price, got.LowerBound, got.Exact, placed, cheapest, goal)
		}
		if seed%2 == 0 && got.Price > 0 {
			if perNode++; !got.Exact {
				t.Errorf("seed %d: the price of plain replicas is not exact", seed)
			}
		}
		if p.Decisions() < uint64(2*len(pods)) {
			counted++
		}
		if got.Exact && got.Price > 0 {
			exact++
		}
	}
	t.Logf("%d cases counted, %d exact, %d with plain replicas", counted, exact, perNode)
	if counted < 100 || exact < 60 || perNode < 50 {
		t.Error("the test shows too little")
	}
}

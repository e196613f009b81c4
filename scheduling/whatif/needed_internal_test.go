package whatif

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestSums compares with adding up by hand.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var amounts []int64
		for range r.IntN(5) {
			amounts = append(amounts, 3*r.Int64N(20))
		}
		slices.Sort(amounts)
		most := r.Int64N(100)
		reached := map[int64]bool{0: true}
		for sum := range most + 1 {
			for _, a := range amounts {
				reached[sum] = reached[sum] || reached[sum-a]
			}
		}
		s, want := newSums(amounts, most), int64(0)
		for amount := range most + 1 {
			if reached[amount] {
				want = amount
			}
			if got := s.upTo(amount); got != want {
				t.Fatalf("amounts %v up to %d: upTo(%d) = %d, want %d", amounts, most, amount, got, want)
			}
		}
	}
	s := newSums([]int64{6, 10}, 1<<40) // too many to add up
	if got, want := s.upTo(1<<40-1), int64(1<<40-2); got != want || s.largest != nil {
		t.Errorf("upTo(2^40-1) = %d, want the bound %d", got, want)
	}
}

// searchOf is a search for small nodes on a cluster with some room. Every third pod fits
// on no node.
func searchOf(t *testing.T, seed uint64) *nodeSearch {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	o := &api.Objects{}
	for i := range 5 {
		o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(r.IntN(5)), "8Gi").Obj())
	}
	for i := range 30 {
		p := api.MakePod(fmt.Sprint("p", i)).Requests(fmt.Sprintf("%dm", 700+100*r.IntN(20)), "1Gi")
		if i%3 == 0 {
			p = p.NodeSelector("disk", fmt.Sprint("kind", i))
		}
		o.Pods = append(o.Pods, p.Obj())
	}
	s, pods, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	x := &nodeSearch{planner: p, pods: pods, types: []NodeType{{Name: "new", Node: api.MakeNode("", "4", "16Gi").Obj()}}, tried: map[string]int{}}
	if err := x.checkTypes(); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestNodesNeededEnds lets a search begin with nothing left to spend. It must end at a
// number that suffices, though one less does not, and say how far the lower bound goes.
func TestNodesNeededEnds(t *testing.T) {
	gaps := 0
	for seed := range uint64(20) {
		exact := searchOf(t, seed)
		want, err := exact.search()
		if err != nil {
			t.Fatal(err)
		}
		if exact.from != want[0] || len(exact.never) != 10 || exact.goal != 20 {
			t.Errorf("seed %d: %d nodes, %d tried, %d pods set aside, goal %d; want all smaller numbers tried, 10 and 20", seed, want[0], exact.from, len(exact.never), exact.goal)
		}
		x := searchOf(t, seed)
		x.spent = maxSpent
		got, err := x.search()
		if err != nil {
			t.Fatal(err)
		}
		if x.from > want[0] || got[0] < want[0] {
			t.Errorf("seed %d: %d nodes, at least %d; want %d", seed, got[0], x.from, want[0])
		}
		if x.from < got[0] {
			gaps++
			if ok, err := x.suffices([]int{got[0] - 1}); ok || err != nil {
				t.Errorf("seed %d: %d nodes, and one less suffices too", seed, got[0])
			}
		}
		if tries := len(x.tried); tries > 12 {
			t.Errorf("seed %d: %d numbers were tried", seed, tries)
		}
	}
	if gaps == 0 {
		t.Error("the lower bound is always reached: nothing was tried")
	}
}

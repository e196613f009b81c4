//go:build full

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

// manyTypes lets the search have two types of new nodes. The second holds less.
func manyTypes(t *testing.T, seed uint64) *nodeSearch {
	t.Helper()
	x := searchOf(t, seed)
	x.types = append(x.types, NodeType{Name: "small", Node: api.MakeNode("", "3", "16Gi").Obj(), Price: 1})
	x.types[0].Price = 2
	return x
}

// TestNodesNeededOfTypesEnds lets a search among several types begin with nothing left to
// spend. It must end with nodes of one type that suffice, though one less does not, and look
// neither for other choices nor for cheaper ones.
func TestNodesNeededOfTypesEnds(t *testing.T) {
	for seed := range uint64(20) {
		exact, x := manyTypes(t, seed), manyTypes(t, seed)
		best, err := exact.search()
		if err != nil {
			t.Fatal(err)
		}
		x.spent = maxSpent
		got, err := x.search()
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := x.suffices(got); !ok || err != nil || got[1] != 0 {
			t.Errorf("seed %d: %v suffices: %t (%v), want that it does, and no node of the second type", seed, got, ok, err)
		}
		if ok, err := x.suffices([]int{got[0] - 1, 0}); ok || err != nil {
			t.Errorf("seed %d: %d nodes, and one less suffices too (%v)", seed, got[0], err)
		}
		if x.price(got) < exact.price(best) {
			t.Errorf("seed %d: %v costs less than %v, found with all the work", seed, got, best)
		}
		if few, many := len(x.tried), len(exact.tried); few > 8 || few >= many {
			t.Errorf("seed %d: %d choices were tried, want at most 8, and fewer than the %d of a search that goes on", seed, few, many)
		}
	}
}

// TestNodesNeededEndsAnywhere ends a search among several types ever later. What it has then
// suffices.
func TestNodesNeededEndsAnywhere(t *testing.T) {
	for seed := range uint64(5) {
		whole := manyTypes(t, seed)
		if _, err := whole.search(); err != nil {
			t.Fatal(err)
		}
		prices := map[int64]bool{}
		for part := range 21 {
			x := manyTypes(t, seed)
			x.spent = maxSpent - whole.spent*part/20
			got, err := x.search()
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := x.suffices(got); !ok || err != nil {
				t.Errorf("seed %d: %v of a search that ended after %d/20 suffices: %t (%v)", seed, got, part, ok, err)
			}
			prices[x.price(got)] = true
		}
		if len(prices) < 2 {
			t.Errorf("seed %d: prices %v: the end of the search makes no difference", seed, prices)
		}
	}
}

// TestNodesNeededCountsItsWork compares what a search says that it spent with the decisions
// that it made. Each asks for a verdict at least.
func TestNodesNeededCountsItsWork(t *testing.T) {
	for seed := range uint64(20) {
		x := manyTypes(t, seed)
		if err := x.survey(); err != nil {
			t.Fatal(err)
		}
		if _, err := x.setGoal(); err != nil {
			t.Fatal(err)
		}
		spent, decisions := x.spent, x.planner.Decisions()
		for i := range x.types {
			counts := make([]int, len(x.types))
			counts[i] = 1
			err := x.with(counts, func(s *framework.Snapshot) error {
				left, err := x.leftOver(s)
				if err != nil {
					return err
				}
				_, _, err = x.value(s, counts, left)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		spent, decisions = x.spent-spent, x.planner.Decisions()-decisions
		// All pods differ, so each is decided about on 6 nodes or 7.
		if least := 5 * int(decisions); decisions == 0 || spent < least {
			t.Errorf("seed %d: %d decisions, %d spent, want at least %d", seed, decisions, spent, least)
		}
	}
}

// TestNodesThatComeCost: nodes, and the pods that come with them, are work, too.
func TestNodesThatComeCost(t *testing.T) {
	x := manyTypes(t, 1)
	counts := make([]int, len(x.types))
	counts[0] = 4
	for range 2 {
		before := x.spent
		if err := x.with(counts, func(*framework.Snapshot) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got, want := x.spent-before, 4*comeCost*(1+len(x.types[0].Pods)); got != want {
			t.Errorf("%d spent, want %d", got, want)
		}
		x.types[0].Pods = append(x.types[0].Pods, api.MakePod("agent").Obj())
	}
}

//go:build full

package whatif_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	proof "github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestNodesNeededBrute compares NodesNeeded with all choices of up to three nodes of each of two types,
// for pods of a few kinds that may keep one another off, or spread.
func TestNodesNeededBrute(test *testing.T) {
	seen := map[string]int{}
	want := map[string]int{"not all pods": 10, "all pods": 10, "more than none": 20, "sets of types": 10, "exact": 10}
	proof.Check(test, seen, want, func(t *rapid.T) {
		pick := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "one of") }
		number := func(most int) int { return rapid.IntRange(0, most).Draw(t, "number") }
		var nodes []api.NodeBuilder
		for i := range number(3) {
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), pick("1", "2"), "8Gi").Zone(pick("x", "y", "z")))
		}
		s := cluster(nodes)
		kind := func(name string) api.PodBuilder {
			app := pick("a", "b")
			b := api.MakePod(name).Labels("app", app).Requests(pick("300m", "1", "3"), "1Gi")
			switch number(4) {
			case 0:
				b = b.PodAntiAffinity(pick(api.LabelHostname, api.LabelTopologyZone), "app="+pick("a", "b"))
			case 1:
				b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app="+app)
			case 2:
				b = b.Spread(int32(1+number(1)), api.LabelHostname, api.DoNotSchedule, "app="+app).Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app="+app)
			}
			return b
		}
		var pods []*framework.PodInfo
		for k := range 1 + number(2) {
			list, err := whatif.Replicas(pod(s, kind(fmt.Sprint("p", k)).Obj()), 1+number(3))
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, list...)
		}
		var types [2]whatif.NodeType
		for i := range types {
			types[i] = whatif.NodeType{Name: fmt.Sprint("t", i), Price: int64(1 + number(3)), Max: 1 + number(2), Node: api.MakeNode("", pick("1", "2", "4"), "8Gi").Zone(pick("x", "y", "z")).Obj()}
			if number(3) == 0 {
				types[i].Pods = []*api.Pod{kind("own").Obj()}
			}
		}
		profile := scheduling.Kubernetes137()
		profile.TieRule = scheduling.First
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		profile.Cache.Off = true
		reference, err := scheduling.New(profile)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.NodesNeeded(pods, types[:]...)
		if err != nil {
			t.Fatal(err)
		}
		placed := map[[2]int]int{}
		for a := range types[0].Max + 1 {
			for b := range types[1].Max + 1 {
				placed[[2]int{a, b}] = placedWith(t, reference, s, pods, types[:], []int{a, b})
			}
		}
		most := [2]int{types[0].Max, types[1].Max}
		chosen := [2]int{got.Counts[0].Nodes, got.Counts[1].Nodes}
		promised := max(placed[most], placed[[2]int{most[0], 0}], placed[[2]int{0, most[1]}])
		goal := max(promised, placed[chosen]) // if it places more, it is the cheapest choice of these
		cheapest := got.Price
		for c, n := range placed {
			if n >= goal {
				cheapest = min(cheapest, types[0].Price*int64(c[0])+types[1].Price*int64(c[1]))
			}
		}
		if placed[chosen] < promised || len(got.Placement.Placed) != placed[chosen] || got.LowerBound > cheapest || got.Exact && got.Price != cheapest {
			t.Fatalf("%+v; want %d pods, at a price of %d; %v", got, goal, cheapest, placed)
		}
		count := func(name string, is bool) {
			if is {
				seen[name]++
			}
		}
		count("not all pods", goal < len(pods))
		count("all pods", goal == len(pods))
		count("more than none", got.Price > 0)
		count("sets of types", chosen[0] > 0 && chosen[1] > 0)
		count("exact", got.Exact && got.Price > 0)
	})
}

package whatif

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
)

// Types of nodes that help only together, because pods spread over zones.

// placeEach sets the goal to all pods if nodes of a set of types place them, and returns the cheapest
// such nodes; nil if there are none. That is the usual case of pods that spread over zones, and spares
// setGoal, which counts with far more nodes.
func (x *nodeSearch) placeEach() (best []int, err error) {
	x.goal = len(x.pods)
	for _, set := range x.sets {
		counts, err := x.together(set, maxSpent/3)
		if err != nil {
			return nil, err
		}
		if counts != nil && (best == nil || x.price(counts) < x.price(best)) {
			best = counts
		}
	}
	if best == nil {
		x.goal = 0
		clear(x.tried) // counts end when the goal is out of reach
	}
	return best, nil
}

// together is as many nodes of each type of a set, as far as there are, as suffice; nil if that finds
// none, or the search has ended, or spent so much.
func (x *nodeSearch) together(set []int, end int) ([]int, error) {
	each := func(n int) []int {
		counts := make([]int, len(x.types))
		for _, i := range set {
			counts[i] = min(x.most[i], n)
		}
		return counts
	}
	most := 0
	for _, i := range set {
		most = max(most, x.most[i])
	}
	var failed error
	suffice := func(n int) bool {
		if failed != nil || x.ended() || x.spent >= end {
			return false
		}
		ok, err := x.suffices(each(n))
		failed = err
		return ok
	}
	low, high := 1, 1 // below low nothing suffices, as far as it was tried
	for !suffice(high) {
		if failed != nil || high == most || x.ended() || x.spent >= end {
			return nil, failed
		}
		low, high = high+1, min(2*high, most)
	}
	n := low + sort.Search(high-low, func(n int) bool { return suffice(low + n) })
	x.found = failed == nil
	return each(n), failed
}

// findSets lists types that may help only together: pods that spread over zones need nodes in several of
// them, and a type of node mostly is in one. Each set has a type of each zone, the first one the cheapest of
// each. There are none if no pod spreads like that, or all types are in one zone.
func (x *nodeSearch) findSets() (list [][]int) {
	keys := x.spreadKeys()
	groups := map[string][]int{} // types by their domains
	var order []string
	for i := range x.types {
		domains := ""
		for _, key := range keys {
			domains += strconv.Quote(x.types[i].Node.Labels[key])
		}
		if groups[domains] == nil {
			order = append(order, domains)
		}
		groups[domains] = append(groups[domains], i)
	}
	if len(groups) < 2 {
		return nil
	}
	longest := 0
	for _, types := range groups {
		slices.SortStableFunc(types, func(a, b int) int { return cmp.Compare(x.types[a].price(), x.types[b].price()) })
		longest = max(longest, len(types))
	}
	for rank := range longest {
		var set []int
		for _, domains := range order {
			types := groups[domains]
			set = append(set, types[min(rank, len(types)-1)])
		}
		list = append(list, set)
	}
	return list
}

// spreadKeys lists, in order, the topology keys other than that of nodes by which pods must spread.
func (x *nodeSearch) spreadKeys() []string {
	keys := map[string]bool{}
	for _, p := range x.pods {
		for _, c := range x.planner.sched.SpreadConstraints(p) {
			if c.WhenUnsatisfiable == api.DoNotSchedule && c.TopologyKey != api.LabelHostname {
				keys[c.TopologyKey] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

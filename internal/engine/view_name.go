package engine

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// The tie rule by name.

// names lists the places of an order by the names of their nodes.
//
// A list never changes. The order decides which nodes there are.
type names struct {
	order  *nodelog.Order
	places []int32
}

// sort lists the places of the nodes.
func (n *names) sort(o *nodelog.Order, nodes []*framework.NodeInfo) {
	list := make([]int32, len(nodes))
	for place := range list {
		list[place] = int32(place)
	}
	slices.SortFunc(list, func(a, b int32) int { return strings.Compare(nodes[a].Node.Name, nodes[b].Node.Name) })
	n.order, n.places = o, list
}

// fewTied is up to how many tied nodes are found one by one.
const fewTied = 64

// About how many nanoseconds it takes to find one tied node, to look at one node for its
// total or name, and to sort one.
const (
	tiedCost = 100
	lookCost = 5
	sortCost = 400
)

// ByName returns the best node with the smallest name. The tree has the places laid out
// by name, once comparing names has cost as much as that.
func (v *View) ByName() *framework.NodeInfo {
	c := v.class
	o, t := c.order(), &c.totals.tree
	if len(v.explicit) > 0 || v.Feasible < v.AllFeasible() {
		return v.leastName()
	}
	known := v.names.order == o
	if known {
		if place, ok := t.FirstOf(v.names.places); ok {
			return v.node(place)
		}
	}
	more := 0
	if !known {
		more = sortCost * len(o.Slots)
	}
	now := tiedCost * int(v.best.count)
	if v.best.count > fewTied {
		now = lookCost * len(o.Slots)
	}
	if !t.Owe(now, more) {
		return v.leastName()
	}
	if !known {
		v.names.sort(o, c.base.tracker.At)
	}
	t.LayOut(v.names.places)
	place, _ := t.FirstOf(v.names.places)
	return v.node(place)
}

// leastName compares the names of the tied nodes.
func (v *View) leastName() *framework.NodeInfo {
	var least *framework.NodeInfo
	take := func(n *framework.NodeInfo) {
		if least == nil || strings.Compare(n.Node.Name, least.Node.Name) < 0 {
			least = n
		}
	}
	if len(v.explicit) == 0 && v.best.count <= fewTied {
		for k := range int(v.best.count) {
			take(v.Tied(k))
		}
		return least
	}
	v.Totals(func(n *framework.NodeInfo, total int64) bool {
		if total == int64(v.best.total) {
			take(n)
		}
		return true
	})
	return least
}

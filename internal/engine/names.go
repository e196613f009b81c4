package engine

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// names lists the places of an order by the names of their nodes.
//
// A list never changes. The order decides which nodes there are.
type names struct {
	order  *nodelog.Order
	places []int32
	debt   int // what comparing names has cost since they were sorted, in nanoseconds
}

// sort lists the places of the nodes.
func (n *names) sort(o *nodelog.Order, nodes []*framework.NodeInfo) {
	list := make([]int32, len(nodes))
	for place := range list {
		list[place] = int32(place)
	}
	slices.SortFunc(list, func(a, b int32) int { return strings.Compare(nodes[a].Node.Name, nodes[b].Node.Name) })
	n.order, n.places, n.debt = o, list, 0
}

package gang

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// A domain is the nodes that agree in the labels of the first levels.
//
// Invariant: ids are dense, and the root's is 0. slots are in the snapshot's order, and are
// those of nodes that have the labels of all levels. Children are in the order of their
// first nodes, and each has one label more than its parent.
type domain struct {
	path     []Value
	name     string
	parent   *domain
	children []*domain
	id       int // among all domains of the tree
	slots    []int
	set      *scheduling.NodeSet // made when it is needed
	named    map[string]*domain  // children by value
	size     int                 // of the tree; set for the root
	lacking  []int               // nodes by the first label that they lack; set for the root
	swapped  *swapped            // levels out of order, nil if there are none; set for the root of all nodes
}

func (d *domain) depth() int { return len(d.path) }

// add adds a node that has all labels under their values.
func (d *domain) add(slot int, n *framework.NodeInfo, keys []string, count *int) {
	for at := d; ; {
		at.slots = append(at.slots, slot)
		k := at.depth()
		if k == len(keys) {
			return
		}
		value := n.Node.Labels[keys[k]]
		child := at.named[value]
		if child == nil {
			*count++
			child = &domain{id: *count, parent: at, path: append(at.path[:k:k], Value{keys[k], value})}
			child.name = pathName(child.path)
			if at.named == nil {
				at.named = map[string]*domain{}
			}
			at.named[value] = child
			at.children = append(at.children, child)
		}
		at = child
	}
}

// firstLacking returns the number of the first label that the node lacks, -1 if it has all.
func firstLacking(n *framework.NodeInfo, keys []string) int {
	return slices.IndexFunc(keys, func(key string) bool {
		_, ok := n.Node.Labels[key]
		return !ok
	})
}

// at appends the domains of a depth at or below d.
func (d *domain) at(depth int, list []*domain) []*domain {
	if d.depth() == depth {
		return append(list, d)
	}
	for _, c := range d.children {
		list = c.at(depth, list)
	}
	return list
}

// of returns the domain of a depth that the node is in, nil if there is none.
func (d *domain) of(n *framework.NodeInfo, keys []string, depth int) *domain {
	at := d
	for k := range depth {
		value, ok := n.Node.Labels[keys[k]]
		if !ok {
			return nil
		}
		if at = at.named[value]; at == nil {
			return nil
		}
	}
	return at
}

// nodes returns the set of the domain's nodes, nil for all nodes of the cluster.
func (d *domain) nodes(snap *framework.Snapshot) (*scheduling.NodeSet, error) {
	if d.parent == nil && len(d.slots) == snap.Len() {
		return nil, nil
	}
	if d.set == nil {
		list := make([]*framework.NodeInfo, len(d.slots))
		for i, slot := range d.slots {
			list[i] = snap.AtSlot(slot)
		}
		var err error
		if d.set, err = scheduling.NewNodeSet(snap, list); err != nil {
			return nil, err
		}
	}
	return d.set, nil
}

// forest keeps the domains of one set of nodes by the labels of their levels.
type forest struct {
	nodeSet uint64
	trees   map[string]*domain
}

// treesMost bounds how many trees are kept.
const treesMost = 16

// of returns the root of the domains by the labels: all nodes.
func (f *forest) of(snap *framework.Snapshot, keys []string) *domain {
	if f.trees == nil || f.nodeSet != snap.NodeSet() || len(f.trees) >= treesMost {
		*f = forest{nodeSet: snap.NodeSet(), trees: map[string]*domain{}}
	}
	key := strings.Join(keys, "\x00")
	if root := f.trees[key]; root != nil {
		return root
	}
	root := rootOf(snap, snap.Slots(), keys)
	root.swapped = root.findSwapped(keys)
	f.trees[key] = root
	return root
}

// rootOf returns nodes as the root of the domains by the labels. Nodes that lack one of them
// are in no domain.
func rootOf(snap *framework.Snapshot, slots []int, keys []string) *domain {
	root, count := &domain{lacking: make([]int, len(keys))}, 0
	for _, slot := range slots {
		n := snap.AtSlot(slot)
		if i := firstLacking(n, keys); i >= 0 {
			root.lacking[i]++
			continue
		}
		root.add(slot, n, keys, &count)
	}
	root.size = count + 1
	return root
}

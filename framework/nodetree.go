package framework

import (
	"maps"
	"slices"
)

// An Order says how a snapshot orders its nodes. Everything that depends on
// order (ties, the sampled window, explanations) uses it.
type Order uint8

const (
	// ZoneInterleaved is kube-scheduler's order and the default: zones in the
	// order in which they were first seen, nodes within a zone in the order of
	// arrival, then the first node of each zone, the second of each, and so on.
	// Source: kube-scheduler 1.37, backend/cache/node_tree.go.
	ZoneInterleaved Order = iota
	// Arrival is the order in which the nodes were added.
	Arrival
)

// nodeTree keeps the nodes in buckets by zone, and their order as a list that
// is made when someone asks for it.
type nodeTree struct {
	owner *owner
	order Order
	zones []zoneBucket
	len   int
	slots []int // the order; nil when it has to be made
}

type zoneBucket struct {
	key   string
	slots []int
}

func newNodeTree(order Order, o *owner) *nodeTree { return &nodeTree{owner: o, order: order} }

// own returns a tree that the owner may change.
func (t *nodeTree) own(o *owner) *nodeTree {
	if t.owner == o {
		return t
	}
	c := &nodeTree{owner: o, order: t.order, zones: slices.Clone(t.zones), len: t.len, slots: t.list()}
	for i := range c.zones {
		c.zones[i].slots = slices.Clone(c.zones[i].slots)
	}
	return c
}

func (t *nodeTree) bucket(zone string) int {
	return slices.IndexFunc(t.zones, func(b zoneBucket) bool { return b.key == zone })
}

func (t *nodeTree) add(zone string, slot int) {
	if t.order == Arrival {
		zone = ""
	}
	i := t.bucket(zone)
	if i < 0 {
		i = len(t.zones)
		t.zones = append(t.zones, zoneBucket{key: zone})
	}
	t.zones[i].slots = append(t.zones[i].slots, slot)
	t.len++
	t.slots = nil
}

func (t *nodeTree) remove(zone string, slot int) {
	if t.order == Arrival {
		zone = ""
	}
	i := t.bucket(zone)
	b := &t.zones[i]
	k := slices.Index(b.slots, slot)
	b.slots = slices.Delete(b.slots, k, k+1)
	if len(b.slots) == 0 {
		t.zones = slices.Delete(t.zones, i, i+1)
	}
	t.len--
	t.slots = nil
}

// list returns the slots in order. Who changes the tree makes a new list, so
// a list once returned stays as it is.
func (t *nodeTree) list() []int {
	if t.slots == nil {
		t.slots = make([]int, 0, t.len)
		for round := 0; len(t.slots) < t.len; round++ {
			for i := range t.zones {
				if b := t.zones[i].slots; round < len(b) {
					t.slots = append(t.slots, b[round])
				}
			}
		}
	}
	return t.slots
}

// nameIndex finds nodes by name.
type nameIndex struct {
	owner *owner
	slots map[string]int
}

func (x *nameIndex) own(o *owner) *nameIndex {
	if x.owner == o {
		return x
	}
	return &nameIndex{owner: o, slots: maps.Clone(x.slots)}
}

// An ImageState is what the snapshot knows of an image.
type ImageState struct {
	// Size in bytes, as the first node that registered the name reported it.
	Size int64
	// Nodes is how many nodes have the image.
	Nodes int
}

// imageTable counts images over the nodes.
type imageTable struct {
	owner  *owner
	states map[string]ImageState
}

func (t *imageTable) own(o *owner) *imageTable {
	if t.owner == o {
		return t
	}
	return &imageTable{owner: o, states: maps.Clone(t.states)}
}

func (t *imageTable) add(n *Node)    { t.count(n, 1) }
func (t *imageTable) remove(n *Node) { t.count(n, -1) }

// count counts every name that the node reports once, however often the node
// lists it.
func (t *imageTable) count(n *Node, by int) {
	seen := map[string]bool{}
	for _, image := range n.Status.Images {
		for _, name := range image.Names {
			if seen[name] {
				continue
			}
			seen[name] = true
			state, ok := t.states[name]
			if !ok {
				state.Size = image.SizeBytes
			}
			if state.Nodes += by; state.Nodes > 0 {
				t.states[name] = state
			} else {
				delete(t.states, name)
			}
		}
	}
}

// Image returns what the snapshot knows of an image; the zero value when no
// node has it. Names are normalized as in [PodImages].
func (s *Snapshot) Image(name string) ImageState { return s.images.states[name] }

package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// maxOpened bounds the number of nodes for sets, and so the time (below a second)
// and memory. No cluster has nearly as many.
const maxOpened = 1 << 22

var errManyNodes = errors.New("too many to place sets on them")

func manyNodes() error {
	return &api.InvalidError{
		Field: summaryField + ".allocatableModelings", Value: fmt.Sprintf("more than %d nodes", maxOpened), Err: errManyNodes,
	}
}

// A setPacker places sets, first fit, on nodes; nodes of grades are created on
// demand. A node's room only shrinks, so a component never needs to retry a node
// without room for it.
type setPacker struct {
	names []resource.Name // counted resources of a node, after the pods
	room  []setRoom       // untouched nodes by grade, ascending
	nodes []setNode       // the others, in order

	dropped int // number of nodes deleted from the front of nodes, because they have no room
	opened  int // nodes touched so far
}

// A setRoom holds the untouched nodes of a grade.
type setRoom struct {
	model int     // the index of the grade's model
	empty []int64 // pods, then each resource
	left  int64
}

type setNode struct {
	model int
	room  []int64
}

type setKind struct {
	replicas int64
	needs    []int64             // one pod, then each resource; 0: not requested
	may      func(node int) bool // nil: it may run on any node
	next     int                 // nodes before this one, including dropped ones, have no room
}

// packer returns a packer of the nodes in the grades. The assumed workloads are
// placed on them as far as they fit.
func (m *modelCount) packer(assumed []Assumed) *setPacker {
	order := make([]int, len(m.models))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(m.models[a].Grade, m.models[b].Grade) })

	p := &setPacker{}
	seen := map[resource.Name]bool{}
	for _, d := range m.wanted {
		seen[d.name] = true
		p.names = append(p.names, d.name)
	}
	for _, a := range assumed {
		for _, c := range a.Components {
			for _, d := range countedOnly(demands(c.Request)) {
				if !seen[d.name] {
					seen[d.name] = true
					p.names = append(p.names, d.name)
				}
			}
		}
	}
	for _, i := range order {
		empty := []int64{podsPerNode}
		for _, name := range p.names {
			empty = append(empty, unitsOf(name, m.atLeast(i, name)))
		}
		p.room = append(p.room, setRoom{model: i, empty: empty, left: m.nodes(i)})
	}
	for _, a := range assumed {
		p.place(p.kindsOf(a.Components))
	}
	return p
}

// kindsOf returns the needs of components.
func (p *setPacker) kindsOf(components []Component) []setKind {
	var kinds []setKind
	for _, c := range components {
		k := setKind{replicas: c.Replicas, needs: []int64{1}}
		for _, name := range p.names {
			k.needs = append(k.needs, max(0, unitsOf(name, c.Request[name])))
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// pack places up to bound sets and returns how many fitted.
func (p *setPacker) pack(kinds []setKind, bound int64) int64 {
	var placed int64
	for placed < bound {
		fitted, moved := p.place(kinds)
		if !fitted {
			break
		}
		placed++
		if !moved {
			placed += p.repeat(kinds, bound-placed)
		}
		p.forget(kinds)
	}
	return placed
}

// place places one set. It reports whether the whole set fitted, and whether a
// component moved to another node.
func (p *setPacker) place(kinds []setKind) (fitted, moved bool) {
	for i := range kinds {
		k := &kinds[i]
		for left := k.replicas; left > 0; {
			at := k.next - p.dropped
			if at == len(p.nodes) && !p.open() {
				return false, true
			}
			room := p.nodes[at].room
			n := min(left, fits(room, k.needs))
			if n == 0 || k.may != nil && !k.may(k.next) {
				k.next++
				moved = true
				continue
			}
			for r, need := range k.needs {
				room[r] -= n * need
			}
			left -= n
		}
	}
	return true, moved
}

// repeat places up to most sets like the last one: all replicas of a component on
// its current node. It returns their number.
func (p *setPacker) repeat(kinds []setKind, most int64) int64 {
	uses := map[int][]int64{} // by node: needs of one set
	for i := range kinds {
		k := &kinds[i]
		if k.replicas == 0 {
			continue
		}
		at := k.next - p.dropped
		if uses[at] == nil {
			uses[at] = make([]int64, len(k.needs))
		}
		for r, need := range k.needs {
			uses[at][r] += k.replicas * need
		}
	}
	for at, use := range uses {
		most = min(most, fits(p.nodes[at].room, use))
	}
	for at, use := range uses {
		for r, u := range use {
			p.nodes[at].room[r] -= most * u
		}
	}
	return most
}

// forget drops nodes without room for any component.
func (p *setPacker) forget(kinds []setKind) {
	first := p.dropped + len(p.nodes)
	for i := range kinds {
		if kinds[i].replicas > 0 {
			first = min(first, kinds[i].next)
		}
	}
	if first-p.dropped < 1024 {
		return // moving the rest costs more
	}
	p.nodes = slices.Delete(p.nodes, 0, first-p.dropped)
	p.dropped = first
}

// fits returns how many replicas a node has room for.
func fits(room, needs []int64) int64 {
	var n int64 = math.MaxInt64
	for r, need := range needs {
		if need > 0 {
			n = min(n, room[r]/need)
		}
	}
	return n
}

// open adds the next untouched node and reports whether there was one.
func (p *setPacker) open() bool {
	for i := range p.room {
		g := &p.room[i]
		if g.left == 0 {
			continue
		}
		if p.opened++; p.opened > maxOpened {
			return false
		}
		g.left--
		p.nodes = append(p.nodes, setNode{g.model, slices.Clone(g.empty)})
		return true
	}
	return false
}

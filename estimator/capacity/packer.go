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

// maxFilled bounds the number of nodes of grades that sets fill, and so the memory. No cluster has
// nearly as many.
const maxFilled = 1 << 22

// maxPackSteps bounds the time to place sets on the nodes that a cluster counts by grade, whose
// number only its status says. A step takes 2 to 7 ns, so all of them up to 0.2 s. A thousand
// components that all differ take fewer on 20,000 nodes, ten on 400,000.
const maxPackSteps = 1 << 25

var (
	errManyNodes = errors.New("too many to place sets on them")
	errManySteps = errors.New("too many to place so many components on them")
)

// A setPacker places sets, first fit, on nodes. A node's room only shrinks, so a
// component never needs to retry a node without room for it.
type setPacker struct {
	names  []resource.Name        // counted resources of a node, after the pods
	known  map[resource.Name]bool // these
	rows   []setRow               // in the order in which they are filled
	opened int64                  // number of nodes of grades up to the last one that a component has reached
	filled int64                  // number of nodes of grades with a pod, without those of assumed workloads
	tidy   int64                  // number of filled nodes at which to forget some

	steps, maxSteps int64 // nodes and blocks looked at
}

// A setRow holds the nodes of a grade, or all known nodes. First fit takes the first
// empty node of a grade. So the empty ones are always the last, and as they are all
// alike, their number stands for them.
type setRow struct {
	model  int      // the index of the grade's model
	before int64    // number of nodes in the rows before
	empty  []int64  // room of an empty node: pods, then each resource
	left   int64    // number of empty nodes
	nodes  setNodes // the others
}

type setKind struct {
	replicas int64
	needs    []int64             // one pod, then each resource; 0: not requested
	may      func(node int) bool // nil: it may run on any node
	next     setPlace            // nodes before this one have no room
}

// A setPlace is a node: its row and its index there.
type setPlace struct{ row, at int }

// packer returns a packer of the nodes in the grades. The assumed workloads are
// placed on them as far as they fit, and as maxPackSteps and maxFilled suffice for them: what others
// have in flight must not end an estimate.
func (m *modelCount) packer(assumed []Assumed) *setPacker {
	order := make([]int, len(m.models))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(m.models[a].Grade, m.models[b].Grade) })

	p := &setPacker{known: map[resource.Name]bool{}, maxSteps: maxPackSteps}
	for _, d := range m.wanted {
		p.count(d.name)
	}
	for i := range m.models {
		for _, r := range m.models[i].Ranges {
			p.count(r.Name)
		}
	}
	var before int64
	for _, i := range order {
		empty := []int64{podsPerNode}
		for _, name := range p.names {
			empty = append(empty, unitsOf(name, m.atLeast(i, name)))
		}
		p.rows = append(p.rows, setRow{model: i, before: before, empty: empty, left: m.nodes(i), nodes: setNodes{width: len(empty)}})
		before = resource.SatAdd(before, m.nodes(i))
	}
	for _, a := range assumed {
		if p.place(p.kindsOf(a.Components)); p.check() != nil {
			break
		}
	}
	p.steps, p.filled = 0, 0
	return p
}

// count adds a resource to those of a node. Assumed workloads may request any number of others.
func (p *setPacker) count(name resource.Name) {
	if counted(name) && !p.known[name] {
		p.known[name] = true
		p.names = append(p.names, name)
	}
}

// kindsOf returns the needs of components. One that requests what no node has counts as more pods
// than a node takes.
func (p *setPacker) kindsOf(components []Component) []setKind {
	var kinds []setKind
	for _, c := range components {
		k := setKind{replicas: c.Replicas, needs: []int64{1}}
		for _, name := range p.names {
			k.needs = append(k.needs, max(0, unitsOf(name, c.Request[name])))
		}
		for name, q := range c.Request {
			if !p.known[name] && counted(name) && unitsOf(name, q) > 0 {
				k.needs[0] = math.MaxInt64
				break
			}
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// check returns an error if the packer gave up, so that its counts mean nothing.
func (p *setPacker) check() error {
	invalid := &api.InvalidError{Field: summaryField + ".allocatableModelings"}
	switch {
	case p.filled > maxFilled:
		invalid.Value, invalid.Err = fmt.Sprintf("more than %d nodes", maxFilled), errManyNodes
	case p.steps > p.maxSteps:
		invalid.Value, invalid.Err = fmt.Sprintf("more than %d steps for %d nodes", p.maxSteps, p.opened), errManySteps
	default:
		return nil
	}
	return invalid
}

// pack places up to bound sets and returns how many fitted.
func (p *setPacker) pack(kinds []setKind, bound int64) int64 {
	kinds = slices.DeleteFunc(kinds, func(k setKind) bool { return k.replicas == 0 })
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
		if p.filled >= p.tidy {
			p.forget(kinds)
			p.tidy = p.filled + 1024
		}
	}
	return placed
}

// place places one set. It reports whether the whole set fitted, and whether a
// component moved to another node.
func (p *setPacker) place(kinds []setKind) (fitted, moved bool) {
	for i := range kinds {
		k := &kinds[i]
		for left := k.replicas; left > 0; {
			was := k.next
			if !p.find(k) {
				return false, true
			}
			moved = moved || k.next != was
			nodes, n := &p.rows[k.next.row].nodes, int64(1)
			if left > 1 {
				n = min(left, fits(nodes.room(k.next.at), k.needs))
			}
			nodes.take(k.next.at, n, k.needs)
			left -= n
		}
	}
	return true, moved
}

// find moves a component on to the first node with room for it. It returns false if
// there is none, or if the search goes too far.
func (p *setPacker) find(k *setKind) bool {
	for ; k.next.row < len(p.rows); k.next = (setPlace{k.next.row + 1, 0}) {
		row := &p.rows[k.next.row]
		at, steps := row.nodes.find(k, k.next.at)
		k.next.at, p.steps = at, p.steps+steps
		if p.steps > p.maxSteps {
			return false
		}
		if at < row.nodes.count {
			return true
		}
		if row.left == 0 {
			continue
		}
		fit, reached := holds(row.empty, k.needs), row.left
		if fit {
			reached = 1
		}
		p.opened = max(p.opened, resource.SatAdd(row.before, resource.SatAdd(int64(at), reached)))
		if !fit {
			continue
		}
		if p.filled++; p.filled > maxFilled {
			return false
		}
		row.left--
		row.nodes.add(row.empty)
		return true
	}
	return false
}

// repeat places up to most sets like the last one: all replicas of a component on
// its current node. It returns their number.
func (p *setPacker) repeat(kinds []setKind, most int64) int64 {
	p.steps += int64(len(kinds))
	for i := range kinds {
		k := &kinds[i]
		use := p.rows[k.next.row].nodes.use(k.next.at)
		for r, need := range k.needs {
			use[r] += k.replicas * need
		}
	}
	for i := range kinds {
		if next := kinds[i].next; i == 0 || next != kinds[i-1].next {
			nodes := &p.rows[next.row].nodes
			most = min(most, fits(nodes.room(next.at), nodes.use(next.at)))
		}
	}
	for i := range kinds {
		next := kinds[i].next
		nodes := &p.rows[next.row].nodes
		if use := nodes.use(next.at); use[0] > 0 { // otherwise taken already, with another component's
			nodes.take(next.at, most, use)
			clear(use)
		}
	}
	return most
}

// forget drops nodes without room for any component.
func (p *setPacker) forget(kinds []setKind) {
	first := setPlace{len(p.rows), 0}
	for i := range kinds {
		if next := kinds[i].next; next.row < first.row || next.row == first.row && next.at < first.at {
			first = next
		}
	}
	for i := range p.rows[:first.row] {
		p.rows[i].nodes.drop(p.rows[i].nodes.count)
	}
	if first.row < len(p.rows) {
		p.rows[first.row].nodes.drop(first.at)
	}
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

// holds reports whether a node has room for a replica.
func holds(room, needs []int64) bool {
	for r, need := range needs {
		if room[r] < need {
			return false
		}
	}
	return true
}

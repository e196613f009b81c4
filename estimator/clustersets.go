package estimator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A Component is one kind of pod of a workload that needs several kinds, such
// as one job manager and three task managers. One copy of each component,
// Replicas times, is a set.
type Component struct {
	Name     string        `json:"name,omitempty"`
	Replicas int64         `json:"replicas"`
	Request  resource.List `json:"request,omitempty"`
}

// EstimateSets returns how many whole sets of components the cluster can take
// on. Without components, or when they have no replicas, it is the number of
// pods that the cluster admits.
//
// The sums of the cluster's resources bound the number. If the cluster counts
// its nodes by grade, sets are then placed one by one, as [FirstFit] sees the
// nodes: component by component in the order given, each replica on the first
// node, lowest grade first, that has room. The result is what was placed before
// something did not fit: less than a cleverer order might place, and under
// every [ModelRule] the same.
//
// Cost: grows with the number of nodes that are filled. If these are more than
// four million, it is an error.
//
// Source: Karmada 1.18, with the gate MultiplePodTemplatesScheduling. (In 1.16,
// the first version with sets, components that take a larger part of the
// cluster are placed first, and nodes admit any number of pods.)
//
// Differs: a resource is always counted in one unit; Karmada chooses it by how
// each quantity is written, and finds no room for "1G" of memory in "64Gi".
// Negative replicas are an error. When a component needs something that is in
// no model, the bound stands; Karmada answers 0.
func (g General) EstimateSets(cluster *framework.Cluster, components []Component) (Estimate, error) {
	if err := g.check(cluster); err != nil {
		return Estimate{}, err
	}
	summary := cluster.Status.ResourceSummary
	if summary == nil {
		return Estimate{}, nil
	}
	var pods int64
	for _, c := range components {
		if c.Replicas < 0 {
			return Estimate{}, &framework.InvalidError{
				Object: "component " + c.Name, Field: "replicas", Value: fmt.Sprint(c.Replicas), Err: errNegative,
			}
		}
		pods = resource.SatAdd(pods, c.Replicas)
	}
	bound := freePods(summary)
	if pods > 0 {
		bound = setsBySummary(summary, components, bound/pods)
	}
	bound = min(bound, MaxReplicas)
	if bound == 0 || pods == 0 || g.IgnoreModels || len(summary.AllocatableModelings) == 0 {
		return Estimate{Replicas: bound}, nil
	}
	n, err := setsByModels(cluster, components, bound)
	if err != nil {
		return Estimate{}, ofCluster(cluster, err)
	}
	return Estimate{Replicas: n}, nil
}

// setsBySummary bounds the number of sets by the cluster's sums.
func setsBySummary(s *framework.ResourceSummary, components []Component, bound int64) int64 {
	perSet := map[resource.Name]int64{}
	for _, c := range components {
		for _, d := range demands(c.Request) {
			perSet[d.name] = resource.SatAdd(perSet[d.name], resource.SatMul(c.Replicas, d.units))
		}
	}
	for name, want := range perSet {
		if want == 0 {
			continue
		}
		if _, known := s.Allocatable[name]; !known {
			return 0
		}
		bound = min(bound, max(0, unitsOf(name, free(s, name))/want))
	}
	return bound
}

// setsByModels places sets on the nodes that the grades stand for.
func setsByModels(cluster *framework.Cluster, components []Component, bound int64) (int64, error) {
	var all []demand
	for _, c := range components {
		for _, d := range countedOnly(demands(c.Request)) {
			if !slices.ContainsFunc(all, func(e demand) bool { return e.name == d.name }) {
				all = append(all, d)
			}
		}
	}
	m := modelCount{
		rule: FirstFit, models: cluster.Spec.ResourceModels, counts: cluster.Status.ResourceSummary.AllocatableModelings, wanted: all,
	}
	if fallback, err := m.uncovered(); err != nil || fallback != "" {
		return bound, err
	}
	if err := m.check(); err != nil {
		return 0, err
	}
	p := newSetPacker(&m, components)
	n := p.pack(bound)
	if p.opened > maxOpened {
		return 0, &framework.InvalidError{
			Field: summaryField + ".allocatableModelings", Value: fmt.Sprintf("more than %d nodes", maxOpened), Err: errManyNodes,
		}
	}
	return n, nil
}

// maxOpened bounds the nodes on which sets are placed, and with them time (below
// a second) and memory. No cluster has nearly as many.
const maxOpened = 1 << 22

var errManyNodes = errors.New("too many to place sets on them")

// A setPacker places sets, first fit, on nodes that come into being when they
// are needed. A node's room only shrinks, so where a component found none it
// need not look again.
type setPacker struct {
	room  []setRoom // by grade, ascending: an empty node, and how many are left
	nodes [][]int64 // touched nodes in order: pods left, then each resource
	kinds []setKind

	opened int // nodes touched so far
}

type setRoom struct {
	empty []int64
	left  int64
}

type setKind struct {
	replicas int64
	needs    []int64 // one pod, then each resource; 0: not requested
	next     int     // nodes before this one have no room
}

func newSetPacker(m *modelCount, components []Component) *setPacker {
	order := make([]int, len(m.models))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(m.models[a].Grade, m.models[b].Grade) })

	p := &setPacker{}
	for _, i := range order {
		empty := []int64{podsPerNode}
		for _, d := range m.wanted {
			empty = append(empty, unitsOf(d.name, m.min(i, d.name)))
		}
		p.room = append(p.room, setRoom{empty: empty, left: m.nodes(i)})
	}
	for _, c := range components {
		k := setKind{replicas: c.Replicas, needs: []int64{1}}
		for _, d := range m.wanted {
			k.needs = append(k.needs, max(0, unitsOf(d.name, c.Request[d.name])))
		}
		p.kinds = append(p.kinds, k)
	}
	return p
}

// pack places up to bound sets and returns how many fitted.
func (p *setPacker) pack(bound int64) int64 {
	var placed int64
	for placed < bound {
		fitted, moved := p.place()
		if !fitted {
			break
		}
		placed++
		if !moved {
			placed += p.repeat(bound - placed)
		}
		p.forget()
	}
	return placed
}

// place places one set and reports whether all of it fitted, and whether a
// component had to look at another node.
func (p *setPacker) place() (fitted, moved bool) {
	for i := range p.kinds {
		k := &p.kinds[i]
		for left := k.replicas; left > 0; {
			if k.next == len(p.nodes) && !p.open() {
				return false, true
			}
			node := p.nodes[k.next]
			n := min(left, fits(node, k.needs))
			if n == 0 {
				k.next++
				moved = true
				continue
			}
			for r, need := range k.needs {
				node[r] -= n * need
			}
			left -= n
		}
	}
	return true, moved
}

// repeat places up to most sets in the way in which the last one was placed:
// all replicas of a component on the node where it stands. It returns how many.
func (p *setPacker) repeat(most int64) int64 {
	uses := map[int][]int64{} // by node: what one set takes
	for i := range p.kinds {
		k := &p.kinds[i]
		if k.replicas == 0 {
			continue
		}
		if uses[k.next] == nil {
			uses[k.next] = make([]int64, len(k.needs))
		}
		for r, need := range k.needs {
			uses[k.next][r] += k.replicas * need
		}
	}
	for node, use := range uses {
		most = min(most, fits(p.nodes[node], use))
	}
	for node, use := range uses {
		for r, u := range use {
			p.nodes[node][r] -= most * u
		}
	}
	return most
}

// forget drops nodes on which no component has room.
func (p *setPacker) forget() {
	first := len(p.nodes)
	for i := range p.kinds {
		if p.kinds[i].replicas > 0 {
			first = min(first, p.kinds[i].next)
		}
	}
	if first < 1024 {
		return // moving the rest costs more
	}
	p.nodes = slices.Delete(p.nodes, 0, first)
	for i := range p.kinds {
		p.kinds[i].next -= min(first, p.kinds[i].next)
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

// open adds the next untouched node and reports whether there was one.
func (p *setPacker) open() bool {
	for len(p.room) > 0 {
		if g := &p.room[0]; g.left > 0 {
			if p.opened++; p.opened > maxOpened {
				return false
			}
			g.left--
			p.nodes = append(p.nodes, slices.Clone(g.empty))
			return true
		}
		p.room = p.room[1:]
	}
	return false
}

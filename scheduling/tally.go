package scheduling

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
)

// fitError counts why no node is feasible.
func (r *referencePath) fitError() *FitError {
	e := &FitError{Pod: r.cycle.Pod.Pod.Key(), Nodes: len(r.slots), Restricting: slices.Clone(r.bound.restricting)}
	if !r.bound.rejected.IsSuccess() {
		e.PreFilter = r.bound.rejected.Message()
		e.Rejections = []Rejection{{r.bound.rejectedBy, r.bound.rejected, len(r.slots)}}
		return e
	}
	var counted tally
	for i := range r.verdicts {
		counted.add(r.verdicts[i], r.bound.absent)
	}
	e.Rejections = counted.rejections(r.plugins)
	return e
}

// tally counts equal verdicts.
type tally struct {
	verdicts []verdict
	counts   []int
}

func (t *tally) add(v verdict, absent framework.Status) {
	if v.filter == passed {
		return
	}
	if v.filter < 0 {
		v = verdict{excluded, absent}
	}
	for i := range t.verdicts {
		if t.verdicts[i].filter == v.filter && t.verdicts[i].status.Same(v.status) {
			t.counts[i]++
			return
		}
	}
	t.verdicts, t.counts = append(t.verdicts, v), append(t.counts, 1)
}

// addAbsent counts nodes that no filter was asked about.
func (t *tally) addAbsent(nodes int, absent framework.Status) {
	if nodes > 0 {
		t.add(verdict{filter: excluded}, absent)
		t.counts[len(t.counts)-1] += nodes - 1
	}
}

// rejections lists the counts.
func (t *tally) rejections(p *plugins) []Rejection { return p.rejections(t.list()) }

func (t *tally) list() []counted {
	list := make([]counted, len(t.verdicts))
	for i, v := range t.verdicts {
		list[i] = counted{filter: int(v.filter), status: v.status, nodes: t.counts[i]}
	}
	return list
}

// filterName returns the name of the filter, or the extenders, that rejected a node.
func (p *plugins) filterName(filter int32) string {
	if filter == byExtender {
		return ExtenderPlugin
	}
	return p.filters[filter].name
}

// counted is how many nodes one filter rejected in one way.
type counted struct {
	filter int // index of the profile's filter; negative: none
	status framework.Status
	nodes  int
	text   string // of the status, if it is known
}

// rejections lists the counts by filter, in the profile's order, then by code and
// text of the reasons. Equal reasons are one rejection: what a plugin makes anew for
// each pod is not the same as what rows keep from an earlier one.
func (p *plugins) rejections(list []counted) []Rejection {
	for i := range list {
		if x := &list[i]; x.text == "" {
			x.text = x.status.Message()
		}
	}
	slices.SortStableFunc(list, func(a, b counted) int { return compareCounted(&a, &b) })
	out := make([]Rejection, 0, len(list))
	for i := range list {
		c := &list[i]
		if i > 0 && compareCounted(&list[i-1], c) == 0 {
			out[len(out)-1].Nodes += c.nodes
			continue
		}
		x := Rejection{Status: c.status, Nodes: c.nodes}
		if c.filter >= 0 {
			x.Plugin = p.filterName(int32(c.filter))
		}
		out = append(out, x)
	}
	return out
}

func compareCounted(a, b *counted) int {
	order := cmp.Or(cmp.Compare(a.filter, b.filter), cmp.Compare(a.status.Code(), b.status.Code()), strings.Compare(a.text, b.text))
	if order == 0 { // one reason with a comma may read like two
		order = slices.Compare(a.status.Reasons(), b.status.Reasons())
	}
	return order
}

package scheduling

import (
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine"
	"github.com/berth-sched/berth/resource"
)

// How the incremental path asks extenders. The plugins' verdicts and totals are kept. Most
// extenders answer in the order of the question, so that nodes need not be found by name.

// An interest is what extenders do about a pod.
type interest uint8

const (
	noInterest interest = iota // none is interested
	mereClaim                  // some are, but they neither filter nor score
	takesPart                  // some filter or score
)

// interest asks the extenders whether they are interested in the pod.
func (t *plugins) interest(pod *framework.PodInfo) (most interest) {
	for i := range t.extenders {
		e := &t.extenders[i]
		if !e.interested(pod) {
			continue
		}
		if e.Filter != nil || e.Prioritize != nil {
			return takesPart
		}
		most = mereClaim
	}
	return most
}

// decideWithExtenders ends a decision in which extenders take part, and two nodes or more
// are feasible, or one. It is not ok if the reference path must be taken; that does not
// ask the extenders' filters again.
func (f *incrementalPath) decideWithExtenders(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View, d *Decision) (err error, ok bool) {
	s, r := f.s, &f.s.reference
	var asked candidates
	asked.nodes, asked.slots, asked.names = v.Listed()
	r.rated, f.unnoted = nil, unnoted{}
	a, err := r.answerExtenders(snap, asked, f.takeInOrder)
	if err != nil {
		f.by = byError
		return err, true
	}
	d.Feasible = len(r.feasible)
	f.by = byExtenders
	if len(r.feasible) == 0 || s.profile.Cache.Verify {
		f.noteRefusals(a)
	}
	switch {
	case len(r.feasible) == 0 && len(asked.nodes) == v.AllFeasible():
		return f.refusedFitError(snap, pod, v), true
	case len(r.feasible) == 1:
		return s.chooseFeasible(r, r.cycle.Seed, d), true
	case len(r.feasible) == 0, a.emptied, !f.total(v, asked.slots, a.kept):
		f.noteRefusals(a)
		r.extended.replay = a
		return nil, false
	}
	f.prioritize(r)
	return s.chooseScored(r, r.cycle.Seed, d), true
}

// refusedFitError counts the reasons of plugins and extenders. Together they reject every
// node.
func (f *incrementalPath) refusedFitError(snap *framework.Snapshot, pod *framework.PodInfo, v *engine.View) *FitError {
	var refusals tally
	for _, x := range f.s.reference.extended.answer.refused {
		refusals.add(verdict{byExtender, x.status}, framework.Status{})
	}
	list := append(countReasons(v), refusals.list()...)
	return &FitError{Pod: pod.Pod.Key(), Nodes: snap.Len(), Rejections: f.s.plugins.rejections(list)}
}

// total finds the totals by the plugins of those nodes that are left of the ones asked
// about; false if a scorer failed.
func (f *incrementalPath) total(v *engine.View, asked, left []int) (ok bool) {
	r := &f.s.reference
	if slices.Equal(asked, left) {
		r.totals = r.totals[:0]
		v.Totals(func(_ *framework.NodeInfo, total int64) bool {
			r.totals = append(r.totals, total)
			return true
		})
		return true
	}
	r.totals, ok = v.TotalsAmong(left, r.totals[:0])
	return ok
}

// takeInOrder does what [extenderAnswer.take] does. It is fast if the verdict names nodes
// in the order in which the extender was asked about them. The refusals of the only
// extender of a profile wait for noteRefusals: few decisions need them.
func (f *incrementalPath) takeInOrder(a *extenderAnswer, e *Extender, asked candidates, v ExtenderVerdict) (candidates, error) {
	names := v.Nodes
	if len(names) > len(asked.names) {
		return a.take(e, asked, v)
	}
	taken, refused, last, lone := f.taken[1].grown(len(names)), len(a.refused), a.last, len(f.s.plugins.extenders) == 1
	f.taken[1] = taken
	k := 0
	for i, name := range asked.names {
		if k < len(names) && sameText(name, names[k]) {
			// One by one: between two refusals there are few.
			taken.nodes[k], taken.slots[k], taken.names[k] = asked.nodes[i], asked.slots[i], name
			k++
		} else if !lone {
			a.refuse(asked.slots[i], name, &v)
		}
	}
	if k < len(names) { // they come in another order, twice, or from elsewhere
		a.refused, a.last = a.refused[:refused], last
		return a.take(e, asked, v)
	}
	if lone {
		f.unnoted = unnoted{asked, v, true}
	}
	a.emptied = a.emptied || v.Emptied
	f.taken[0], f.taken[1] = taken, f.taken[0] // the next extender is asked about these
	return taken, nil
}

// unnoted is the verdict of the only extender about nodes. Those that it refuses
// are not noted yet. It is valid until the extender is called again.
type unnoted struct {
	asked   candidates
	verdict ExtenderVerdict
	due     bool
}

// noteRefusals completes what takeInOrder left out.
func (f *incrementalPath) noteRefusals(a *extenderAnswer) {
	u := &f.unnoted
	if !u.due {
		return
	}
	u.due = false
	kept := a.kept
	for i, slot := range u.asked.slots {
		if len(kept) > 0 && kept[0] == slot {
			kept = kept[1:]
		} else {
			a.refuse(slot, u.asked.names[i], &u.verdict)
		}
	}
}

// grown returns n candidates in the same memory, if it is large enough.
func (c candidates) grown(n int) candidates {
	return candidates{slices.Grow(c.nodes[:0], n)[:n], slices.Grow(c.slots[:0], n)[:n], slices.Grow(c.names[:0], n)[:n]}
}

// prioritize does what [referencePath.prioritize] does, but for what explanations show.
func (f *incrementalPath) prioritize(r *referencePath) {
	nodes, x := r.feasible, &r.extended
	names := x.left.names
	x.scores = nil
	x.answered = slices.Grow(x.answered[:0], len(nodes))[:len(nodes)]
	clear(x.answered)
	for i, answer := range r.askPrioritize(nodes) {
		e := &r.plugins.extenders[i]
		switch {
		case len(answer) == 0:
		case areOf(answer, names):
			for k := range x.answered {
				x.answered[k] = true
			}
			e.addWeighted(r.totals, answer)
		default:
			f.given = slices.Grow(f.given[:0], len(nodes))[:len(nodes)]
			clear(f.given)
			at := finder{names: names}
			for _, a := range answer {
				if k := at.find(a.Host); k >= 0 {
					f.given[k] = resource.SatAdd(f.given[k], a.Score)
					x.answered[k] = true
				}
			}
			for k, score := range f.given {
				r.totals[k] = resource.SatAdd(r.totals[k], e.weighted(score))
			}
		}
	}
}

// areOf reports whether the scores are of all the names, in their order.
func areOf(scores []HostScore, names []string) bool {
	if len(scores) != len(names) {
		return false
	}
	for k := range scores {
		if !sameText(scores[k].Host, names[k]) {
			return false
		}
	}
	return true
}

// sameText is a == b, at a third of the time if they are one string in memory, as the names
// in the answers of most extenders are.
func sameText(a, b string) bool {
	return len(a) == len(b) && (unsafe.StringData(a) == unsafe.StringData(b) || a == b)
}

// A finder finds names in a list. While they come in the order of the list, it needs no
// map.
type finder struct {
	names  []string
	next   int
	places map[string]int // once a name was not in the list from next on
}

// find returns the index of the name, -1 if there is none.
func (f *finder) find(name string) int {
	for k := f.next; f.places == nil && k < len(f.names); k++ {
		if f.names[k] == name {
			f.next = k + 1
			return k
		}
	}
	if f.places == nil {
		f.places = make(map[string]int, len(f.names))
		for k, name := range f.names {
			f.places[name] = k
		}
	}
	if k, ok := f.places[name]; ok {
		return k
	}
	return -1
}

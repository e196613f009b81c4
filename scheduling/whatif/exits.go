package whatif

import (
	"cmp"
	"slices"
)

// exits are the pods of a drain with the budgets that let them go. Each budget has a line of
// the pods that wait for it, so a batch costs no more than the pods that it lets go.
type exits struct {
	all  []exit
	open []*exit // the batch that goes now
}

// An exit is a pod that must leave.
type exit struct {
	running
	place   int   // in the order of all
	line    *line // nil if no budget counts its eviction
	several bool  // budgets cover the pod: it cannot leave
}

// A line is the pods that wait for a budget, in order.
type line struct {
	budget *budget
	pods   []*exit
}

// newExits opens the first batch.
func newExits(pods []running, budgets *budgets) *exits {
	e := &exits{all: make([]exit, len(pods))}
	lines := map[*budget]*line{}
	for i, pod := range pods {
		x := &e.all[i]
		x.running, x.place = pod, i
		b, alone := budgets.guard(pod.pod.Pod)
		if x.several = !alone; x.several {
			continue
		}
		if b == nil {
			e.open = append(e.open, x)
			continue
		}
		if x.line = lines[b]; x.line == nil {
			x.line = &line{budget: b}
			lines[b] = x.line
		}
		if b.allowed > 0 {
			b.allowed--
			e.open = append(e.open, x)
			continue
		}
		x.line.pods = append(x.line.pods, x)
	}
	return e
}

// next is the next batch, once the pods of the last one have left: those run again that let
// others go.
func (e *exits) next() []*exit {
	var batch []*exit
	for _, gone := range e.open {
		l := gone.line
		if l == nil || l.budget.allowed <= 0 {
			continue
		}
		n := min(len(l.pods), int(l.budget.allowed))
		l.budget.allowed -= int32(n)
		batch = append(batch, l.pods[:n]...)
		l.pods = l.pods[n:]
	}
	slices.SortFunc(batch, func(a, b *exit) int { return cmp.Compare(a.place, b.place) })
	e.open = batch
	return batch
}

// refuse notes the pods that are left, and why.
func (e *exits) refuse(d *Drain) {
	var left []*exit
	lines := map[*line]bool{}
	for i := range e.all {
		x := &e.all[i]
		if x.several {
			left = append(left, x)
		} else if x.line != nil && !lines[x.line] {
			lines[x.line] = true
			left = append(left, x.line.pods...)
		}
	}
	slices.SortFunc(left, func(a, b *exit) int { return cmp.Compare(a.place, b.place) })
	for _, x := range left {
		why := severalBudgets
		if !x.several {
			why = x.line.budget.refusal()
		}
		d.Stuck = append(d.Stuck, Stuck{Pod: x.pod.Pod.Key(), From: x.node, Message: why})
	}
}

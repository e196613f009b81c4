package preemption

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// MoreImportant compares pods as kube-scheduler does: higher priority first, then
// earlier start. A pod that has not started comes last. The result is negative if a
// is more important than b.
func MoreImportant(a, b *framework.PodInfo) int {
	if a.Priority != b.Priority {
		return cmp.Compare(b.Priority, a.Priority)
	}
	return startOf(a).compare(startOf(b))
}

// start is the start time of a pod. Unlike a time.Time it compares in a step or two.
type start struct {
	seconds     int64
	nanoseconds int32
}

// never is the start of pods that have not started. It is later than all others.
var never = start{math.MaxInt64, math.MaxInt32}

func startOf(p *framework.PodInfo) start {
	t := p.Pod.Status.StartTime
	if t == nil {
		return never
	}
	return start{t.Unix(), int32(t.Nanosecond())}
}

// compare is negative if a is earlier than b.
func (a start) compare(b start) int {
	if a.seconds != b.seconds {
		return cmp.Compare(a.seconds, b.seconds)
	}
	return cmp.Compare(a.nanoseconds, b.nanoseconds)
}

// placed is a pod and its place on the node. Its rank is stored with it: pods are
// scattered in memory, and a sort would read each of them many times.
type placed struct {
	*framework.PodInfo
	start
	priority, at int32
}

func place(p *framework.PodInfo, at int) placed {
	return placed{p, startOf(p), p.Priority, int32(at)}
}

// lower lists the node's pods that may be removed, in the order of the node.
func (r *run) lower(node *framework.NodeInfo) {
	r.potential = r.potential[:0]
	for i, p := range node.Pods {
		if r.plugin.mayPreempt(r.cycle.Pod, p) {
			r.potential = append(r.potential, place(p, i))
		}
	}
}

// rank sorts the pods by importance.
//
// kube-scheduler's sort is not stable, so the order of equals depends on the
// algorithm; rank uses the same one. Pods that have not started are not equals
// there: each gets the time of its comparison.
func (r *run) rank(pods []placed) {
	order := r.plugin.MoreImportant
	slices.SortFunc(pods, func(a, b placed) int {
		var c int
		switch {
		case order != nil:
			c = order(a.PodInfo, b.PodInfo)
		case a.priority != b.priority:
			return cmp.Compare(b.priority, a.priority)
		default:
			c = a.start.compare(b.start)
		}
		if c == 0 && a.start == never && b.start == never {
			c = cmp.Compare(a.at, b.at)
		}
		return c
	})
}

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

// placed is what may be removed from the node: a pod with its place, or a unit that has
// pods there, with the place of the first of them. Its importance is stored with it: pods
// are scattered in memory, and a sort would read each of them many times.
type placed struct {
	*framework.PodInfo
	importance
	at         int32
	violations int32     // how many of its pods violate a budget; see split
	unit       *Unit     // nil for one pod
	here       []UnitPod // those of the unit that are on the node
}

func place(p *framework.PodInfo, at int) placed {
	return placed{PodInfo: p, importance: importance{start: startOf(p), priority: p.Priority, pods: 1}, at: int32(at)}
}

// lower lists the node's pods that may be removed, in the order of the node.
func (r *run) lower(node *framework.NodeInfo) {
	r.potential = r.potential[:0]
	if r.plugin.PodGroups {
		r.lowerUnits(node)
		return
	}
	for i, p := range node.Pods {
		if r.plugin.mayPreempt(r.cycle.Pod, p) {
			r.potential = append(r.potential, place(p, i))
		}
	}
}

// lowerUnits is lower for units. Without groups, each pod is one.
func (r *run) lowerUnits(node *framework.NodeInfo) {
	if !groupsIn(r.cycle.Snapshot) || !hasGroups(node) {
		for i, p := range node.Pods {
			if r.plugin.mayPreempt(r.cycle.Pod, p) {
				r.potential = append(r.potential, placed{PodInfo: p, importance: importanceOf(p, lineage{priority: p.Priority}), at: int32(i)})
			}
		}
		return
	}
	if r.units == nil {
		r.units = unitsByPod(r.cycle.Snapshot)
	}
	seen := map[*Unit]int{} // place in r.potential, -1 for none
	for i, p := range node.Pods {
		u := r.units[p]
		if u == nil {
			continue
		}
		at, known := seen[u]
		if !known {
			at = -1
			if r.plugin.mayRemove(r.cycle.Pod, u) {
				at = len(r.potential)
				r.potential = append(r.potential, placed{PodInfo: p, importance: u.importance, at: int32(i), unit: u})
			}
			seen[u] = at
		}
		if at >= 0 {
			r.potential[at].here = append(r.potential[at].here, UnitPod{p, node})
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
		c := 0
		if order != nil {
			c = order(a.PodInfo, b.PodInfo)
		} else {
			c = a.compare(b.importance)
		}
		if c == 0 && a.start == never && b.start == never {
			c = cmp.Compare(a.at, b.at)
		}
		return c
	})
}

package preemption

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// MoreImportant compares pods as kube-scheduler does: higher priority first,
// then the one that started earlier. A pod that has not started comes last. It
// is negative when a is more important than b.
func MoreImportant(a, b *framework.PodInfo) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), compareStart(a.Pod, b.Pod))
}

// compareStart is negative when a started before b.
func compareStart(a, b *framework.Pod) int {
	switch x, y := a.Status.StartTime, b.Status.StartTime; {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	default:
		return x.Compare(*y)
	}
}

// A Candidate is a node and the pods that would have to go from it.
type Candidate struct {
	// Node is the name of the node.
	Node string
	// Victims are in order of importance, the most important first. There is at
	// least one.
	Victims []framework.Victim
	// Violations is how many victims go in spite of a PodDisruptionBudget.
	Violations int
}

const noVictims framework.Text = "No preemption victims found for incoming pod"

// try finds out who would have to go from the node. Without a candidate the
// status says why not. The snapshot is left as it was.
//
// Source: kube-scheduler 1.37, DefaultPreemption.SelectVictimsOnNode.
func (r *run) try(node *framework.NodeInfo) (*Candidate, framework.Status) {
	r.lower(node)
	if len(r.potential) == 0 {
		return nil, framework.RejectForGood(noVictims)
	}
	t := trial{run: r, snapshot: r.cycle.Snapshot, slot: node.Slot(), filters: r.cycle.Filters.Fork()}
	mark := t.snapshot.Begin()
	defer t.snapshot.Rollback(mark)
	for _, p := range r.potential {
		if status := t.remove(p.PodInfo); !status.IsSuccess() {
			return nil, status
		}
	}
	if status := t.filter(); !status.IsSuccess() {
		return nil, status
	}
	return t.choose(node.Name())
}

// lower lists the node's pods that may go, in the order of the node.
func (r *run) lower(node *framework.NodeInfo) {
	r.potential = r.potential[:0]
	for i, p := range node.Pods {
		if r.plugin.mayPreempt(r.cycle.Pod, p) {
			r.potential = append(r.potential, placed{p, i})
		}
	}
}

// placed is a pod and its place on the node.
type placed struct {
	*framework.PodInfo
	at int
}

// rank sorts the pods by importance.
//
// kube-scheduler sorts with a sort that is not stable, so the order of equals
// is an accident of the algorithm, which this one shares. Pods that have not
// started are not equals there: each takes the time when it was looked at.
func (r *run) rank(pods []placed) {
	order := r.plugin.order()
	slices.SortFunc(pods, func(a, b placed) int {
		c := order(a.PodInfo, b.PodInfo)
		if c == 0 && a.Pod.Status.StartTime == nil && b.Pod.Status.StartTime == nil {
			c = cmp.Compare(a.at, b.at)
		}
		return c
	})
}

// A trial is a what-if about one node, inside a transaction.
type trial struct {
	*run
	snapshot *framework.Snapshot
	slot     int
	filters  framework.FilterUpdater
}

// choose puts the pods back, the most important first and those that a budget
// protects before the others, and makes victims of those with which the pod
// would not fit.
func (t *trial) choose(node string) (*Candidate, framework.Status) {
	t.rank(t.potential)
	violating, others := t.budgets.split(t.potential)
	victims, status := t.reprieve(violating, nil)
	if !status.IsSuccess() {
		return nil, status
	}
	violations := len(victims)
	if victims, status = t.reprieve(others, victims); !status.IsSuccess() {
		return nil, status
	}
	if len(victims) == 0 {
		return nil, framework.AsStatus(&noVictimError{node})
	}
	c := &Candidate{Node: node, Violations: violations, Victims: make([]framework.Victim, len(victims))}
	protected := victims[:violations:violations]
	if len(violating) > 0 && len(others) > 0 {
		protected = slices.Clone(protected)
		t.rank(victims)
	}
	for i, v := range victims {
		c.Victims[i] = framework.Victim{Pod: v.PodInfo, ViolatesBudget: slices.Contains(protected, v)}
	}
	return c, framework.Status{}
}

// noVictimError says that the node has room without anyone leaving, although a
// filter had rejected it.
type noVictimError struct{ node string }

func (e *noVictimError) Error() string {
	return "expected at least one victim pod on node \"" + e.node + "\""
}

// reprieve puts the pods back on the node, in order, and takes those off again
// with which the pod does not fit: they are appended to the victims.
//
// Source: kube-scheduler 1.37, which takes a filter's error here for a no.
func (t *trial) reprieve(pods, victims []placed) ([]placed, framework.Status) {
	for _, p := range pods {
		if status := t.add(p.PodInfo); !status.IsSuccess() {
			return nil, status
		}
		if t.filter().IsSuccess() {
			continue
		}
		if status := t.remove(p.PodInfo); !status.IsSuccess() {
			return nil, status
		}
		victims = append(victims, p)
	}
	return victims, framework.Status{}
}

// filter asks whether the pod fits on the node as it is now.
func (t *trial) filter() framework.Status {
	return t.filters.Filter(t.cycle.Pod, t.node())
}

// node is the node as it is now.
func (t *trial) node() *framework.NodeInfo { return t.snapshot.AtSlot(t.slot) }

// add puts the pod back on the node and tells the filters.
func (t *trial) add(p *framework.PodInfo) framework.Status {
	if err := t.snapshot.Assume(p, t.node()); err != nil {
		return framework.AsStatus(err)
	}
	return t.filters.AddPod(t.cycle, p, t.node())
}

// remove takes the pod off the node and tells the filters.
func (t *trial) remove(p *framework.PodInfo) framework.Status {
	if err := t.snapshot.Forget(p, t.node()); err != nil {
		return framework.AsStatus(err)
	}
	return t.filters.RemovePod(t.cycle, p, t.node())
}

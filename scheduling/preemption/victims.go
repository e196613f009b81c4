package preemption

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/topo"
)

// A Candidate is a node and the pods that would have to leave it.
type Candidate struct {
	// Node is the name of the node.
	Node string
	// Victims are in order of importance, the most important first. There is at
	// least one.
	Victims []framework.Victim
	// Violations is the number of victims whose removal violates a
	// PodDisruptionBudget.
	Violations int
}

func (c *Candidate) clone() *Candidate {
	return &Candidate{c.Node, slices.Clone(c.Victims), c.Violations}
}

const noVictims framework.Text = "No preemption victims found for incoming pod"

// try finds out which pods would have to leave the node. If there is no candidate,
// the status gives the reason. The snapshot stays unchanged.
//
// Source: kube-scheduler 1.37, DefaultPreemption.SelectVictimsOnNode.
func (r *run) try(node *framework.NodeInfo) (*Candidate, framework.Status) {
	r.lower(node)
	if len(r.potential) == 0 {
		return nil, framework.UnresolvableStatus(noVictims)
	}
	topo.DropUnused(r.cycle) // the trial would count in what nobody uses
	t := trial{run: r, snapshot: r.cycle.Snapshot, slot: node.Slot(), filters: r.cycle.Filters.Fork()}
	mark := t.snapshot.Begin()
	defer t.snapshot.Rollback(mark)
	for _, p := range r.potential {
		if status := t.remove(p); !status.IsSuccess() {
			return nil, status
		}
	}
	if status := t.filter(); !status.IsSuccess() {
		return nil, status
	}
	return t.choose(node.Name())
}

// A trial is a what-if about one node, inside a transaction.
type trial struct {
	*run
	snapshot *framework.Snapshot
	slot     int
	filters  framework.FilterUpdater
}

// choose puts the pods back: pods that a budget protects first, and by importance
// within each group. Pods with which the preemptor would not fit become victims.
func (t *trial) choose(node string) (*Candidate, framework.Status) {
	t.rank(t.potential)
	violating, others, asked := t.budgets.split(t.potential)
	t.asked = asked
	victims, status := t.reprieve(violating, t.victims[:0])
	if !status.IsSuccess() {
		return nil, status
	}
	if victims, status = t.reprieve(others, victims); !status.IsSuccess() {
		return nil, status
	}
	t.victims = victims
	if len(victims) == 0 {
		return nil, framework.AsStatus(&noVictimError{node})
	}
	if len(violating) > 0 && len(others) > 0 {
		t.rank(victims)
	}
	c := &Candidate{Node: node, Victims: make([]framework.Victim, 0, len(victims))}
	for _, v := range victims {
		c.Violations += int(v.violations)
		victim := framework.Victim{Pod: v.PodInfo, ViolatesBudget: v.violations > 0}
		if v.unit == nil {
			c.Victims = append(c.Victims, victim)
			continue
		}
		for _, p := range v.unit.Pods {
			victim.Pod = p.Pod
			c.Victims = append(c.Victims, victim)
		}
	}
	return c, framework.Status{}
}

// noVictimError reports that the pod fits on the node without any removal, although
// a filter had rejected the node.
type noVictimError struct{ node string }

func (e *noVictimError) Error() string {
	return "expected at least one victim pod on node \"" + e.node + "\""
}

// reprieve puts the pods back on the node, in order. It removes a pod again, and
// appends it to the victims, if the preemptor does not fit with it.
//
// Source: kube-scheduler 1.37, which treats a filter's error here as a rejection.
func (t *trial) reprieve(pods, victims []placed) ([]placed, framework.Status) {
	for _, p := range pods {
		if status := t.add(p); !status.IsSuccess() {
			return nil, status
		}
		status := t.filter()
		if status.IsSuccess() {
			continue
		}
		t.failed = t.failed || status.Code() == framework.Error
		if status := t.remove(p); !status.IsSuccess() {
			return nil, status
		}
		victims = append(victims, p)
	}
	return victims, framework.Status{}
}

// filter reports whether the pod fits on the node in its current state.
func (t *trial) filter() framework.Status {
	return t.filters.Filter(t.cycle.Pod, t.node())
}

// node is the node in its current state.
func (t *trial) node() *framework.NodeInfo { return t.snapshot.AtSlot(t.slot) }

// add puts the pod, or the pods of the unit, back on the node and updates the filters.
func (t *trial) add(p placed) framework.Status {
	return t.each(p, t.snapshot.AddPodAt, t.filters.AddPod)
}

// remove removes the pod, or the pods of the unit, from the node and updates the filters.
func (t *trial) remove(p placed) framework.Status {
	return t.each(p, t.snapshot.RemovePodAt, t.filters.RemovePod)
}

// each moves the pod, or all pods of the unit wherever they are, and tells the filters:
// the totals of other nodes do not matter here, but what filters sum up over nodes does. If
// no filter does so, it leaves pods on other nodes alone: all nodes may be tried, and a unit
// may have pods on all of them.
func (t *trial) each(p placed, move func(*framework.PodInfo, *framework.NodeInfo) error, tell func(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status) framework.Status {
	one := [1]UnitPod{{p.PodInfo, t.node()}}
	pods := one[:]
	switch {
	case p.unit != nil && t.local:
		pods = p.here
	case p.unit != nil:
		pods = p.unit.Pods
	}
	for _, x := range pods {
		slot := x.Node.Slot()
		if err := move(x.Pod, t.snapshot.AtSlot(slot)); err != nil {
			return framework.AsStatus(err)
		}
		if status := tell(t.cycle, x.Pod, t.snapshot.AtSlot(slot)); !status.IsSuccess() {
			return status
		}
	}
	return framework.Status{}
}

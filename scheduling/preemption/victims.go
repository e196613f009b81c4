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
	Node string
	// Victims are in order of importance, the most important first.
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
	potential := r.lower(node)
	if len(potential) == 0 {
		return nil, framework.RejectForGood(noVictims)
	}
	s := r.cycle.Snapshot
	mark := s.Begin()
	defer s.Rollback(mark)
	filters := r.cycle.Filters.Fork()
	for _, p := range potential {
		if status := r.remove(filters, p, node); !status.IsSuccess() {
			return nil, status
		}
	}
	if status := filters.Filter(r.cycle.Pod, s.AtSlot(node.Slot())); !status.IsSuccess() {
		return nil, status
	}

	slices.SortStableFunc(potential, r.plugin.order())
	violating, others := r.budgets.split(potential)
	c := &Candidate{Node: node.Name()}
	if status := r.reprieve(filters, violating, node, c, true); !status.IsSuccess() {
		return nil, status
	}
	c.Violations = len(c.Victims)
	if status := r.reprieve(filters, others, node, c, false); !status.IsSuccess() {
		return nil, status
	}
	if len(c.Victims) == 0 {
		return nil, framework.AsStatus(&noVictimError{node.Name()})
	}
	slices.SortStableFunc(c.Victims, func(a, b framework.Victim) int { return r.plugin.order()(a.Pod, b.Pod) })
	return c, framework.Status{}
}

// noVictimError says that the node has room without anyone leaving, although a
// filter had rejected it.
type noVictimError struct{ node string }

func (e *noVictimError) Error() string {
	return "expected at least one victim pod on node \"" + e.node + "\""
}

// lower lists the node's pods of lower priority.
func (r *run) lower(node *framework.NodeInfo) []*framework.PodInfo {
	var list []*framework.PodInfo
	for _, p := range node.Pods {
		if r.plugin.mayPreempt(r.cycle.Pod, p) {
			list = append(list, p)
		}
	}
	return list
}

// reprieve puts the pods back on the node, in order, and those with which the
// pod no longer fits become victims.
func (r *run) reprieve(filters framework.FilterUpdater, pods []*framework.PodInfo, node *framework.NodeInfo, c *Candidate, violates bool) framework.Status {
	s := r.cycle.Snapshot
	for _, p := range pods {
		if err := s.Assume(p, node); err != nil {
			return framework.AsStatus(err)
		}
		if status := filters.AddPod(r.cycle, p, s.AtSlot(node.Slot())); !status.IsSuccess() {
			return status
		}
		switch status := filters.Filter(r.cycle.Pod, s.AtSlot(node.Slot())); {
		case status.IsSuccess():
			continue
		case !status.IsRejected():
			return status
		}
		if status := r.remove(filters, p, node); !status.IsSuccess() {
			return status
		}
		c.Victims = append(c.Victims, framework.Victim{Pod: p, ViolatesBudget: violates})
	}
	return framework.Status{}
}

// remove takes the pod off the node and tells the filters.
func (r *run) remove(filters framework.FilterUpdater, p *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	s := r.cycle.Snapshot
	if err := s.Forget(p, node); err != nil {
		return framework.AsStatus(err)
	}
	return filters.RemovePod(r.cycle, p, s.AtSlot(node.Slot()))
}

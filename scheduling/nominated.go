package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
)

// searchNominated looks only at the node that the pod was nominated to, if
// there is one. When it is feasible the search is over.
//
// Source: kube-scheduler 1.37, schedule_one.go, evaluateNominatedNode. An error
// there does not fail the cycle: the node is looked at again with the others.
func (r *road) searchNominated(s *framework.Snapshot) bool {
	name := r.cycle.Pod.Pod.Status.NominatedNodeName
	node := s.Node(name)
	if name == "" || node == nil {
		return false
	}
	v, err := r.tryNominated(s, node)
	if err != nil || v.filter != passed {
		return false
	}
	r.fill(unvisited)
	r.verdicts[slices.Index(s.Order(), node.Slot())] = v
	r.feasible, r.visited, r.nominated = append(r.feasible, node), 1, true
	return true
}

func (r *road) tryNominated(s *framework.Snapshot, node *framework.NodeInfo) (v verdict, err error) {
	p := probe{node: node}
	defer r.catch(&p, &err)
	return r.filterWithNominated(s, &p)
}

// filterWithNominated asks the filters about a node to which pods of the same
// or higher priority are nominated twice: with those pods on it, and without.
// Both answers must be yes, because the nominated pods may come or not.
//
// Source: kube-scheduler 1.37, framework/runtime,
// RunFilterPluginsWithNominatedPods.
func (r *road) filterWithNominated(s *framework.Snapshot, p *probe) (v verdict, err error) {
	if slices.ContainsFunc(p.node.Nominated, r.reckonsWith) {
		slot := p.node.Slot()
		err = r.filterAsIfPlaced(s, p, &v)
		p.node = s.AtSlot(slot)
		if err != nil || v.filter != passed {
			return v, err
		}
	}
	err = r.filter(p, &v)
	return v, err
}

// reckonsWith reports whether a nominated pod counts for the pod of this cycle.
func (r *road) reckonsWith(q *framework.PodInfo) bool {
	pod := r.cycle.Pod
	same := q == pod || q.Pod.UID == pod.Pod.UID && (q.Pod.UID != "" || q.Pod.Key() == pod.Pod.Key())
	return q.Priority >= pod.Priority && !same
}

// filterAsIfPlaced filters with the nominated pods on the node, and takes them
// off again.
func (r *road) filterAsIfPlaced(s *framework.Snapshot, p *probe, v *verdict) error {
	node := p.node
	mark := s.Begin()
	defer s.Rollback(mark)
	filters := slices.Clone(r.bound.filters)
	for i, f := range filters {
		if u, ok := f.filter.(framework.FilterUpdater); ok {
			filters[i].filter = u.Fork()
		}
	}
	for _, q := range node.Nominated {
		if !r.reckonsWith(q) {
			continue
		}
		if err := s.Assume(q, node); err != nil {
			return err
		}
		for i, f := range filters {
			u, ok := f.filter.(framework.FilterUpdater)
			if !ok {
				continue
			}
			if status := u.AddPod(&r.cycle, q, s.AtSlot(node.Slot())); !status.IsSuccess() {
				return r.filterError(i, node, status.Err())
			}
		}
	}
	p.node = s.AtSlot(node.Slot())
	return r.ask(filters, p, v)
}

package framework

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// Nominate notes that the pod is to be placed on the node of that name as soon as it
// fits there, as preemption does. Filters count nominated pods of the same or higher
// priority as if they were on the node. A pod is nominated to at most one node: name
// the node of an earlier nomination in from ("" for none), and Nominate clears it. It
// is an [*api.InvalidError] if there is no such node.
func (s *Snapshot) Nominate(p *PodInfo, node, from string) error {
	p, err := s.Current(p)
	if err != nil {
		return err
	}
	n := s.Node(node)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	s.ClearNomination(p, from)
	s.setNominated(n.Slot(), append(slices.Clip(s.node(n.Slot()).Nominated), p))
	return nil
}

// ClearNomination clears the nomination of the pod to the node, if there is one. It
// recognises pods like [Snapshot.RemovePod].
func (s *Snapshot) ClearNomination(p *PodInfo, node string) {
	if !s.knows(p) {
		return
	}
	n := s.Node(node)
	if n == nil {
		return
	}
	i := slices.IndexFunc(n.Nominated, func(q *PodInfo) bool { return q == p || api.SamePod(q.Pod, p.Pod) })
	if i >= 0 {
		s.setNominated(n.Slot(), slices.Concat(n.Nominated[:i], n.Nominated[i+1:]))
	}
}

// ClearNominations clears all nominations of the pod, as kube-scheduler does where a pod is
// placed. A rollback restores them. It looks at every nominated pod.
func (s *Snapshot) ClearNominations(p *PodInfo) {
	for _, slot := range s.nominated {
		s.ClearNomination(p, s.AtSlot(slot).Name())
	}
}

// Nominations is the number of nominated pods in the snapshot.
func (s *Snapshot) Nominations() int { return s.nominations }

// NominatedSlots lists the slots of the nodes that pods are nominated to, in ascending
// order. The list must not be changed.
func (s *Snapshot) NominatedSlots() []int { return s.nominated }

// countNominated notes that a slot had pods nominated to it, and has others now. The list
// of slots is never changed in place, because forks share it.
func (s *Snapshot) countNominated(slot, had, has int) {
	s.nominations += has - had
	i, _ := slices.BinarySearch(s.nominated, slot)
	switch {
	case had == 0 && has > 0:
		s.nominated = slices.Insert(slices.Clip(s.nominated), i, slot)
	case had > 0 && has == 0:
		s.nominated = slices.Concat(s.nominated[:i], s.nominated[i+1:])
	}
}

// setNominated replaces the list. Lists are never changed in place.
func (s *Snapshot) setNominated(slot int, list []*PodInfo) {
	s.startChange()
	n := s.own(s.node(slot))
	if s.undo.isOpen() && !s.undo.rolling {
		s.Record(&nominationUndo{slot, n.Nominated, n.generation})
	}
	s.countNominated(slot, len(n.Nominated), len(list))
	n.Nominated = list
	s.changed(n)
	s.endChange()
}

// nominationUndo takes back one change of a node's nominations.
type nominationUndo struct {
	slot       int
	old        []*PodInfo
	generation uint64
}

func (u *nominationUndo) Undo(s *Snapshot) {
	n := s.own(s.node(u.slot))
	s.countNominated(u.slot, len(n.Nominated), len(u.old))
	n.Nominated, n.generation = u.old, u.generation
	s.note(u.slot, s.newGeneration())
}

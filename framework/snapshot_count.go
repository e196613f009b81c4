package framework

import (
	"errors"
	"slices"
)

// A stay is a version of a pod on the node of a slot.
type stay struct {
	pod  *PodInfo
	slot int
}

// untold are the extensions that have panicked over a pod that counts nevertheless: their numbers among the watchers of
// pods. They hear nothing of the pod, in transactions neither, until they have been told that it is there.
type untold map[stay][]int

// CountPod is [Snapshot.AddPod] for a pod that is on the node already, as a cluster says, so that no extension can
// refuse it. If some panic over it, that is an error that names them, but the pod counts. These hear of the
// pod with [Snapshot.TellPod], and until then neither that it comes nor that it goes. Other errors are those
// of AddPod, and the pod does not count then. While a transaction is open, it is an [*api.InvalidError].
func (s *Snapshot) CountPod(p *PodInfo, node string) error {
	p, err := s.Current(p)
	if err != nil {
		return err
	}
	n := s.NodeOf(p, node)
	switch {
	case n == nil:
		return podOnNode(p, node, errUnknownNode)
	case s.undo.isOpen():
		return podOnNode(p, node, errCountInTransaction)
	case s.strict:
		if err := s.refuseDuplicate(p, n); err != nil {
			return err
		}
	}
	n, _ = s.enter(p, n)
	if !s.isWatched(p) {
		return nil
	}
	return s.tellNow(n, p, nil)
}

// TellPod tells the extensions of a pod that counts on the node although they have panicked over it; see
// [Snapshot.CountPod]. It does nothing if all know of it. The errors are those of CountPod and [Snapshot.RemovePod].
func (s *Snapshot) TellPod(p *PodInfo, node string) error {
	p, err := s.Current(p)
	if err != nil {
		return err
	}
	n := s.NodeOf(p, node)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	i := n.find(p)
	if i < 0 {
		return podOnNode(p, node, errNotOnNode)
	}
	p = n.Pods[i]
	waiting, some := s.untold[stay{p, n.Slot()}]
	switch {
	case !some:
		return nil
	case s.undo.isOpen():
		return podOnNode(p, node, errCountInTransaction)
	}
	delete(s.untold, stay{p, n.Slot()})
	s.Touch(n) // what they hold for it changes
	n = s.AtSlot(n.Slot())
	return s.tellNow(n, p, waiting)
}

// tellNow tells watchers that the pod is there: those of some numbers, nil for all. It notes those that panic.
func (s *Snapshot) tellNow(n *NodeInfo, p *PodInfo, numbers []int) error {
	var (
		failed []int
		errs   []error
	)
	for from := 0; from < len(s.podWatchers); from++ {
		if numbers != nil && !slices.Contains(numbers, from) {
			continue
		}
		if _, err := s.tellPods(podAdded, from, from+1, n, p); err != nil {
			failed, errs = append(failed, from), append(errs, err)
		}
	}
	if len(failed) > 0 {
		if s.untold == nil {
			s.untold = untold{}
		}
		s.untold[stay{p, n.Slot()}] = failed
	}
	return errors.Join(errs...)
}

// has reports whether a watcher hears nothing of the pod.
func (u untold) has(p *PodInfo, slot, watcher int) bool {
	return len(u) > 0 && slices.Contains(u[stay{p, slot}], watcher)
}

// forgetLeft forgets who was not told of a pod that has left, or has left in a transaction and not come back.
func (s *Snapshot) forgetLeft(p *PodInfo, slot int) {
	if len(s.untold) == 0 {
		return
	}
	if n := s.AtSlot(slot); n == nil || !slices.Contains(n.Pods, p) {
		delete(s.untold, stay{p, slot})
	}
}

var errCountInTransaction = errors.New("what a cluster says cannot be counted while a transaction is open; use Snapshot.AddPod")

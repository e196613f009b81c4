package framework

import (
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// A stay is a version of a pod on the node of a slot.
type stay struct {
	pod  *PodInfo
	slot int
}

// A view is what a watcher of pods, by its number, sees in the place of a version of a pod, because it has panicked over
// it: an earlier version, or nothing.
type view struct {
	watcher int
	pod     *PodInfo
}

// views are the views of versions that count nevertheless. Whatever happens to such a version, also in a transaction, these
// watchers are told that it happens to what they see.
type views map[stay][]view

// of returns what a watcher sees of a pod: mostly the pod.
func (v views) of(p *PodInfo, slot, watcher int) *PodInfo {
	for _, x := range v[stay{p, slot}] {
		if x.watcher == watcher {
			return x.pod
		}
	}
	return p
}

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
	return s.show(n, p, s.viewsOf(nil, n.Slot()))
}

// RenewPod is [Snapshot.ReplacePod] for a newer version of a pod that a cluster has, so that no extension can refuse it. It
// is to ReplacePod what [Snapshot.CountPod] is to AddPod: until [Snapshot.TellPod], those that panic are told of
// the old version when the new one goes.
func (s *Snapshot) RenewPod(old, p *PodInfo, node string) error {
	old, err := s.Current(old)
	if err != nil {
		return err
	}
	if p, err = s.Current(p); err != nil {
		return err
	}
	if s.undo.isOpen() {
		return podOnNode(p, node, errCountInTransaction)
	}
	n, i, err := s.stayOf(old, node)
	if err != nil {
		return err
	}
	if old = n.Pods[i]; old == p && s.views[stay{p, n.Slot()}] != nil {
		return s.renewDespite(n, i, p)
	}
	err = s.ReplacePod(old, p, node)
	var invalid *api.InvalidError
	if err == nil || s.broken != nil || errors.As(err, &invalid) {
		return err
	}
	n = s.AtSlot(n.Slot())
	if still := s.renewDespite(n, i, p); still != nil {
		return still
	}
	return err
}

// renewDespite lets the pod take place i of the node, and tells one watcher after the other.
func (s *Snapshot) renewDespite(n *NodeInfo, i int, p *PodInfo) error {
	old := n.Pods[i]
	s.startChange()
	p.hint.Store(n.slot)
	n = s.own(n)
	s.tallyPod(n.removeAt(i), -1)
	n.add(p)
	s.tallyPod(p, 1)
	s.changed(n)
	s.endChange()
	seen := s.viewsOf(old, n.Slot())
	delete(s.views, stay{old, n.Slot()})
	return s.show(n, p, seen)
}

// TellPod tells the extensions of a pod that counts on the node although they have panicked over it; see
// [Snapshot.CountPod]. It does nothing if all know of it. The errors are those of CountPod and [Snapshot.RemovePod].
func (s *Snapshot) TellPod(p *PodInfo, node string) error {
	p, err := s.Current(p)
	if err != nil {
		return err
	}
	n, i, err := s.stayOf(p, node)
	if err != nil {
		return err
	}
	p = n.Pods[i]
	seen, some := s.views[stay{p, n.Slot()}]
	switch {
	case !some:
		return nil
	case s.undo.isOpen():
		return podOnNode(p, node, errCountInTransaction)
	}
	delete(s.views, stay{p, n.Slot()})
	err = s.show(n, p, seen)
	if len(s.views[stay{p, n.Slot()}]) < len(seen) { // some have been told: what they hold for the node changes
		s.Touch(n)
	}
	return err
}

// stayOf returns the node of that name, and the place of the pod among its pods.
func (s *Snapshot) stayOf(p *PodInfo, node string) (n *NodeInfo, i int, err error) {
	if n = s.NodeOf(p, node); n == nil {
		return nil, 0, podOnNode(p, node, errUnknownNode)
	}
	if i = s.placeOf(p, n); i < 0 {
		return nil, 0, podOnNode(p, node, errNotOnNode)
	}
	return n, i, nil
}

// viewsOf returns what each watcher sees of a pod, which may be nil.
func (s *Snapshot) viewsOf(p *PodInfo, slot int) []view {
	list := make([]view, len(s.podWatchers))
	for i := range list {
		list[i] = view{i, s.views.of(p, slot, i)}
	}
	return list
}

// show tells watchers of the pod, which is there, in the place of what they see. Those that panic see what they saw.
func (s *Snapshot) show(n *NodeInfo, p *PodInfo, seen []view) error {
	var (
		still []view
		errs  []error
	)
	m := s.beginOwn()
	for _, x := range seen {
		if err := s.showOne(n, p, x); err != nil {
			errs = append(errs, err)
			if x.pod != p {
				still = append(still, x)
			}
		}
	}
	broken := s.endOwn(m, nil)
	if len(still) > 0 {
		if s.views == nil {
			s.views = views{}
		}
		s.views[stay{p, n.Slot()}] = still
	}
	return errors.Join(append(errs, broken)...)
}

// showOne tells one watcher of the pod in the place of what it sees, or takes back what it did.
func (s *Snapshot) showOne(n *NodeInfo, p *PodInfo, x view) error {
	start := len(s.undo.entries)
	if x.pod != nil {
		if _, err := s.tellPods(podRemoved, x.watcher, x.watcher+1, n, x.pod); err != nil {
			s.rollTo(start)
			s.rebuildAll()
			return err
		}
	}
	_, err := s.tellPods(podAdded, x.watcher, x.watcher+1, n, p)
	if err == nil {
		return nil
	}
	s.rollTo(start)
	if x.pod != nil {
		s.undo.rolling = true
		s.tellPodsBack(podAdded, x.watcher, x.watcher+1, n, x.pod)
		s.undo.rolling = false
	}
	s.rebuildAll()
	return err
}

// forgetLeft forgets who sees something else of a pod that has left, or has left in a transaction and not come back.
func (s *Snapshot) forgetLeft(p *PodInfo, slot int) {
	if len(s.views) == 0 {
		return
	}
	if n := s.AtSlot(slot); n == nil || !slices.Contains(n.Pods, p) {
		delete(s.views, stay{p, slot})
	}
}

var errCountInTransaction = errors.New("what a cluster says cannot be counted while a transaction is open; use Snapshot.AddPod or ReplacePod")

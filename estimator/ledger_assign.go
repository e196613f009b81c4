package estimator

import (
	"errors"
	"reflect"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Assign enters the pod on the node at the snapshot's time, as a Reserve plugin
// does. Call it only for pods that are not added to the snapshot. If the same
// PodInfo is assigned already, nothing changes; another PodInfo of the pod replaces
// it, with the new time. A finished pod is ignored. Assign returns an
// [*api.InvalidError] for a nil pod or node, and for a node that is not in the
// snapshot.
func (l *Ledger) Assign(p *framework.PodInfo, n *framework.NodeInfo) error {
	n, err := l.current(p, n)
	if err != nil {
		return err
	}
	updated := l.updatedOf(n)
	if before, done := l.assign(p, n, false, nil); !done {
		if l.snapshot.Recording() {
			l.snapshot.Record(&undoPlacement{node: n.Name(), pod: p, before: before, updated: updated})
		}
		l.snapshot.Touch(n)
	}
	return nil
}

// Unassign removes the pod from the node, as Unreserve does. It is not an error if
// the pod is not there. It returns the errors of [Ledger.Assign]. If the pod has
// just left the snapshot, Unassign makes that final: if the pod comes back at the
// same snapshot time, it is not an update.
func (l *Ledger) Unassign(p *framework.PodInfo, n *framework.NodeInfo) error {
	n, err := l.current(p, n)
	if err != nil {
		return err
	}
	l.departedNoMore(p)
	updated := l.updatedOf(n)
	if before := l.unassign(p, n); before != nil {
		if l.snapshot.Recording() {
			l.snapshot.Record(&undoPlacement{node: n.Name(), pod: p, before: before, updated: updated})
		}
		l.snapshot.Touch(n)
	}
	return nil
}

// current returns the node in its current version in the snapshot.
func (l *Ledger) current(p *framework.PodInfo, n *framework.NodeInfo) (*framework.NodeInfo, error) {
	if p == nil || p.Pod == nil {
		return nil, &api.InvalidError{Object: "pod", Err: errors.New("is nil")}
	}
	name := ""
	if n != nil {
		if name = n.Name(); name != "" {
			if now := l.snapshot.AtSlot(n.Slot()); now != nil && now.Name() == name {
				return now, nil
			}
		}
	}
	return nil, &api.InvalidError{Object: "pod " + p.Pod.Key(), Field: "spec.nodeName", Value: name, Err: errNoSuchNode}
}

// PodAdded is called by the snapshot.
func (l *Ledger) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	l.census.arrive(l, n.Slot(), p)
	if l.spare(n, p) {
		return
	}
	var update *placement
	if d := l.departed; l.departedNoMore(p) && d.slot == n.Slot() && d.at.Equal(s.Now()) {
		update = d.was
	}
	updated := l.updatedOf(n)
	if before, done := l.assign(p, n, true, update); done || before != nil || s.Recording() && l.passedOver(n) {
		s.Record(&undoPlacement{node: n.Name(), pod: p, before: before, updated: updated, untouched: done, spare: true})
	}
}

// PodRemoved is called by the snapshot.
func (l *Ledger) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	l.census.depart(l, n.Slot(), p)
	if l.spare(n, p) {
		return
	}
	updated := l.updatedOf(n)
	if twin := l.twin(n, p); twin != nil {
		before, done := l.assign(twin, n, true, l.held(n, p))
		s.Record(&undoPlacement{node: n.Name(), pod: p, before: before, updated: updated, untouched: done, spare: true})
		return
	}
	before := l.unassign(p, n)
	if s.RollingBack() {
		return // a rollback is no departure: the pod was never there
	}
	if s.Recording() {
		u := undoPlacement{node: n.Name(), pod: p, before: before, updated: updated, spare: true}
		s.Record(&undoRemoval{u, l.departed})
	}
	if before != nil {
		l.departed = departure{n.Slot(), s.Now(), before}
	}
}

// held returns the placement of this version of the pod, nil if there is none.
func (l *Ledger) held(n *framework.NodeInfo, p *framework.PodInfo) *placement {
	a := l.account(n.Slot())
	if a == nil {
		return nil
	}
	if i := a.find(podID(p.Pod), p.Pod); i >= 0 && a.pods[i].pod == p {
		return new(a.pods[i])
	}
	return nil
}

// passedOver reports whether a pod of the node in the snapshot is not in the
// account. It may be another version of an assigned pod, and take its place.
func (l *Ledger) passedOver(n *framework.NodeInfo) bool {
	a := l.account(n.Slot())
	return a != nil && len(n.Pods) > len(a.pods)-a.unlisted
}

// twin returns another version of the pod that is still in the snapshot after p has
// left it, or nil. If there are several, it returns the version in the account. An
// update may add the new version before it removes the old one.
func (l *Ledger) twin(n *framework.NodeInfo, p *framework.PodInfo) *framework.PodInfo {
	a := l.account(n.Slot())
	if a == nil || len(n.Pods) < len(a.pods)-a.unlisted {
		return nil // every remaining pod is another pod of the account
	}
	held := a.find(podID(p.Pod), p.Pod)
	if held < 0 {
		return nil
	}
	var twin *framework.PodInfo
	for _, other := range n.Pods {
		if other == a.pods[held].pod {
			return other
		}
		if api.SamePod(other.Pod, p.Pod) && !other.Pod.Status.Phase.HasEnded() {
			twin = other
		}
	}
	return twin
}

// A departure is the placement of the pod that left the snapshot last. The pod may
// come back at once in a newer version.
type departure struct {
	slot int
	at   time.Time
	was  *placement // nil: there is none
}

// departedNoMore clears the departure if it is that pod's, and reports whether it
// was.
func (l *Ledger) departedNoMore(p *framework.PodInfo) bool {
	if l.departed.was == nil || !api.SamePod(l.departed.was.pod.Pod, p.Pod) {
		return false
	}
	if l.snapshot.Recording() {
		l.snapshot.Record(&undoDeparture{l.departed})
	}
	l.departed = departure{}
	return true
}

// undoDeparture restores a departure.
type undoDeparture struct{ before departure }

// Undo restores the departure.
func (u *undoDeparture) Undo(s *framework.Snapshot) { LedgerOf(s).departed = u.before }

// assign enters the pod and returns its previous placement; done reports that there
// was nothing to do. update is the placement that this one continues, if any;
// listed says that the pod is in the snapshot.
func (l *Ledger) assign(p *framework.PodInfo, n *framework.NodeInfo, listed bool, update *placement) (before *placement, done bool) {
	if p.Pod.Status.Phase.HasEnded() {
		return nil, true
	}
	id := podID(p.Pod)
	if a := l.account(n.Slot()); a != nil {
		i := a.find(id, p.Pod)
		if i < 0 && listed {
			i = a.promised(p.Pod)
		}
		if i >= 0 {
			if q := &a.pods[i]; q.pod == p && (q.listed && !q.differs || !listed) {
				return nil, true
			}
			old := a.pods[i]
			l.drop(l.own(n.Slot()), n, i)
			if old.pod == p {
				pl := old
				pl.listed, pl.differs = true, false
				l.enter(n, id, pl)
				return &old, false
			}
			before = &old
		}
	}
	now := l.snapshot.Now()
	pl := placement{pod: p, first: now, last: now, kept: p, keptAt: now, listed: listed}
	if !listed && (before != nil && before.listed || before == nil && l.passedOver(n)) {
		pl.listed, pl.differs = inSnapshot(n, p)
	}
	switch {
	case before != nil:
		pl.first = before.first
	case update != nil:
		pl.first = update.first
	}
	if update != nil && sameForEstimates(update.kept.Pod, p.Pod) {
		pl.kept, pl.keptAt = update.kept, update.keptAt
	}
	l.enter(n, id, pl)
	return before, false
}

// inSnapshot reports whether the node has the pod in the snapshot, and whether it
// has only other versions of it.
func inSnapshot(n *framework.NodeInfo, p *framework.PodInfo) (listed, differs bool) {
	for _, other := range n.Pods {
		if other == p {
			return true, false
		}
		listed = listed || api.SamePod(other.Pod, p.Pod)
	}
	return listed, listed
}

// sameForEstimates reports whether spec and conditions of both versions are equal.
func sameForEstimates(a, b *api.Pod) bool {
	return a == b || reflect.DeepEqual(&a.Spec, &b.Spec) && reflect.DeepEqual(a.Status.Conditions, b.Status.Conditions)
}

// enter appends the placement to the node's account.
func (l *Ledger) enter(n *framework.NodeInfo, id uint64, pl placement) {
	a := l.own(n.Slot())
	a.ids, a.pods = append(a.ids, id), append(a.pods, pl)
	a.matches.enter(a.metric, nameOf(pl.pod.Pod))
	a.unlisted += one(!pl.listed)
	a.differing += one(pl.differs)
	for _, s := range a.sums {
		s.placed(a)
	}
	l.settle(a, n, a.matches.reported(len(a.pods)-1))
}

// settle computes the totals after a pod came or went. If the metric reports the
// pod and there is a census, it rebuilds instead: sums by rules up to 1.6 cannot
// add or subtract a reported pod.
func (l *Ledger) settle(a *account, n *framework.NodeInfo, reported bool) {
	if reported && l.census != nil {
		l.rebuild(a, n)
		return
	}
	for _, s := range a.sums {
		s.settle()
	}
}

// unassign removes the pod from the node's account and returns its placement, or
// nil if it had none.
func (l *Ledger) unassign(p *framework.PodInfo, n *framework.NodeInfo) *placement {
	a := l.account(n.Slot())
	if a == nil {
		return nil
	}
	i := a.find(podID(p.Pod), p.Pod)
	if i < 0 {
		return nil
	}
	a = l.own(n.Slot())
	was := a.pods[i]
	l.drop(a, n, i)
	a.tidy()
	return &was
}

// updatedOf returns the time of the node's last metric with a time.
func (l *Ledger) updatedOf(n *framework.NodeInfo) time.Time {
	if a := l.account(n.Slot()); a != nil {
		return a.updated
	}
	return time.Time{}
}

// drop removes pod i from the account; the last pod takes its place.
func (l *Ledger) drop(a *account, n *framework.NodeInfo, i int) {
	for _, s := range a.sums {
		s.leaving(a, i)
	}
	last, reported, gone := len(a.pods)-1, a.matches.reported(i), &a.pods[i]
	a.unlisted -= one(!gone.listed)
	a.differing -= one(gone.differs)
	a.ids[i], a.pods[i] = a.ids[last], a.pods[last]
	a.pods[last] = placement{}
	a.ids, a.pods = a.ids[:last], a.pods[:last]
	a.matches.drop(i)
	l.settle(a, n, reported)
}

// one returns 1 for true and 0 for false.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// undoPlacement restores the placement of a pod: a nil before means none, and
// untouched that the pod stays as it is.
//
// During a rollback, the snapshot sends the opposite event right after Undo has
// undone the change here. If that event would do harm, spare makes the ledger
// ignore it.
type undoPlacement struct {
	node             string
	pod              *framework.PodInfo
	before           *placement
	updated          time.Time // of the account
	untouched, spare bool
}

// Undo undoes one change of a pod's placement.
func (u *undoPlacement) Undo(s *framework.Snapshot) {
	l, n := LedgerOf(s), s.Node(u.node)
	if !u.untouched {
		l.unassign(u.pod, n)
	}
	if u.before != nil {
		l.enter(n, podID(u.before.pod.Pod), *u.before)
	}
	l.own(n.Slot()).updated = u.updated
	if u.spare {
		l.spared = spared{n.Slot(), u.pod}
	}
	s.Touch(n)
}

// undoRemoval restores a pod that left the snapshot, and the departure before it.
type undoRemoval struct {
	placement undoPlacement
	departed  departure
}

// Undo undoes a pod's departure.
func (u *undoRemoval) Undo(s *framework.Snapshot) {
	u.placement.Undo(s)
	LedgerOf(s).departed = u.departed
}

// spared is a pod whose next event at the node of the slot is ignored.
type spared struct {
	slot int
	pod  *framework.PodInfo
}

// spare reports whether to ignore the pod's event; it returns true once.
func (l *Ledger) spare(n *framework.NodeInfo, p *framework.PodInfo) bool {
	if l.spared.pod != p || l.spared.slot != n.Slot() {
		return false
	}
	l.spared = spared{}
	return true
}

// NodeAdded is called by the snapshot. The node's report may have come before.
func (l *Ledger) NodeAdded(s *framework.Snapshot, n *framework.NodeInfo) { l.findMetric(s, n) }

// NodeRemoved is called by the snapshot. It drops the node's metric, and pods that
// were assigned without being added.
func (l *Ledger) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	l.departed = departure{} // another node may reuse the slot
	a := l.account(n.Slot())
	if a == nil {
		return
	}
	l.census.unwatch(n.Slot(), a.strays)
	l.put(n.Slot(), nil)
}

// NodeUpdated is called by the snapshot. Thresholds and statistics may have
// changed.
func (l *Ledger) NodeUpdated(_ *framework.Snapshot, _, n *framework.NodeInfo) {
	if l.account(n.Slot()) == nil {
		return
	}
	a := l.own(n.Slot())
	for _, s := range a.sums {
		s.nodeChanged()
	}
	l.rebuild(a, n)
}

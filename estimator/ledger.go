package estimator

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// A Ledger records, for one snapshot, which pods were assigned to which node and
// when, and the last report of each node's real use. From these it keeps, per node
// and [Load], the sums that load-aware filters and scorers read. So a decision
// costs O(resources) per node, not O(pods).
//
//	ledger := estimator.LedgerOf(snapshot)
//	err := framework.Put(snapshot, metric) // a new report
//	err = snapshot.AddPod(pod, "n1")       // the ledger follows both
//
// Reports are the snapshot's objects of kind NodeMetric. If you do not need the
// objects themselves, call [Ledger.SetMetric].
//
// A Ledger is an extension of the snapshot. Pods enter and leave it with the
// snapshot, forks have their own ledger, rollbacks undo its changes, and every
// change of a node marks that node as changed. Like the snapshot, it allows
// concurrent reads, but only one goroutine at a time may use it otherwise.
//
// A pod counts as assigned at the snapshot's time. If the pod that left last comes
// back to its node at the same snapshot time, the ledger treats it as updated, even
// if other pods came meanwhile. An updated pod keeps its time; from 1.8 on, only if
// its spec and its conditions are the same. Make the ledger early: it counts the
// pods that it finds as assigned at its own creation.
//
// Source: Koordinator 1.8, podAssignCache.
//
// Differs: changes that are only tried, such as nominated pods or the victims of a
// preemption.
// Original: Koordinator's cache follows its informers and does not show them.
// Here: the ledger follows the snapshot and shows them.
// Why: a pod must see the nodes as they would be.
//
// Differs: a pod whose node changes.
// Original: Koordinator leaves a ghost of it on the old node.
// Here: it leaves the old node.
// Why: a ghost counts use that the node does not have.
//
// Differs: pods without a UID.
// Original: Koordinator knows pods by UID, so all of them share one entry on a node.
// Here: namespace and name identify them.
// Why: pods written by hand often have no UID.
//
// Differs: a pod assigned without a UID that later enters the snapshot with one.
// Original: Koordinator keeps two entries.
// Here: it is the same pod, by its name.
// Why: it would count twice.
//
// Differs: the metric of a deleted node.
// Original: Koordinator keeps it until its NodeMetric is deleted.
// Here: a metric given to [Ledger.SetMetric] is dropped with its node. A metric that
// is an object of the snapshot stays there, and counts again when the node comes
// back.
// Why: nothing else deletes a metric that is no object.
type Ledger struct {
	snapshot *framework.Snapshot
	owner    *ledgerOwner
	accounts cow.Pages[*account] // by slot
	books    []*Load             // the Loads with sums in the accounts
	census   *census             // the existing pods, if a Load needs them
	departed departure
	spared   spared
	matcher  matcher // scratch memory
	strays   []podName
	reports  podReports
	last     int // slot of the node of the last metric
}

// ledgerOwner marks the parts that a ledger may write to; it shares all other parts
// with forks.
type ledgerOwner = cow.Owner

// ledgerKey touches nodes: answers kept by the ledger of another fork are not those by a new one.
var ledgerKey = framework.NewTouchingExtensionKey(newLedger)

// LedgerOf returns the ledger of the snapshot. The first call makes it from the
// pods in the snapshot: O(pods).
func LedgerOf(s *framework.Snapshot) *Ledger { return ledgerKey.Of(s) }

func newLedger(s *framework.Snapshot) *Ledger {
	l := &Ledger{snapshot: s, owner: new(ledgerOwner)}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			l.assign(p, n, true, nil) // no transaction may undo it
		}
		l.findMetric(s, n)
	}
	return l
}

// Rebuild reads the reports again. The snapshot calls it at the end of a rollback, if the ledger
// was made in the transaction, so that those of the transaction do not stay.
func (l *Ledger) Rebuild(s *framework.Snapshot) {
	for _, n := range s.All() {
		if l.Metric(n) != nil {
			a := l.own(n.Slot())
			a.metric, a.updated = nil, time.Time{}
			l.rebuild(a, n)
		}
		l.findMetric(s, n)
	}
}

// findMetric takes the snapshot's report of the node, if any.
func (l *Ledger) findMetric(s *framework.Snapshot, n *framework.NodeInfo) {
	m := framework.Lookup[api.NodeMetric](s, n.Name())
	if m == nil {
		return
	}
	a := l.own(n.Slot())
	if a.metric = m; m.Status.UpdateTime != nil {
		a.updated = *m.Status.UpdateTime
	}
	l.rebuild(a, n)
}

// ObjectChanged is called by the snapshot when a report is added, changed or
// deleted. A report of a node that is not there yet is found when the node is
// added.
func (l *Ledger) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	m, ok := obj.(*api.NodeMetric)
	if !ok || s.Node(key) == nil {
		return
	}
	if m == nil {
		l.RemoveMetric(key)
		return
	}
	_ = l.SetMetric(m) // cannot fail: the metric is not nil, and its node exists
}

// Fork returns the ledger of a fork. It costs O(nodes/64); later changes on either
// side copy the parts that they change.
func (l *Ledger) Fork(s *framework.Snapshot) framework.Extension {
	f := &Ledger{
		snapshot: s, owner: new(ledgerOwner),
		accounts: slices.Clone(l.accounts), books: slices.Clip(l.books), departed: l.departed,
	}
	l.owner = new(ledgerOwner) // its parts are shared now
	f.census = l.census.fork(l.owner, f.owner)
	return f
}

// SetMetric takes the latest report of a node and updates the node's sums: O(pods
// of the node). The report must not change afterwards. A report without an update
// time keeps the time of the previous one. SetMetric does not check the content; it
// does not read unknown resources and statistics.
//
// It returns an [*api.InvalidError] for a nil metric and for a node that is not in
// the snapshot.
func (l *Ledger) SetMetric(m *api.NodeMetric) error {
	if m == nil {
		return &api.InvalidError{Object: "node metric", Err: errors.New("is nil")}
	}
	n := l.nodeOf(m)
	if n == nil {
		return &api.InvalidError{
			Object: "node metric " + m.Name, Field: "metadata.name", Value: m.Name,
			Err: errNoSuchNode,
		}
	}
	a := l.own(n.Slot())
	if l.snapshot.Recording() {
		l.snapshot.Record(&undoMetric{m.Name, a.metric, a.updated})
	}
	a.metric = m
	if t := m.Status.UpdateTime; t != nil {
		a.updated = *t
	}
	l.rebuild(a, n)
	l.snapshot.Touch(n)
	return nil
}

// nodeOf returns the node of the metric, or nil if it is not in the snapshot.
// Metrics come in rounds, so nodeOf first tries the node that followed the last
// metric's node in the previous round. This avoids a look-up by name, a seventh of
// the cost of a metric.
func (l *Ledger) nodeOf(m *api.NodeMetric) *framework.NodeInfo {
	last := l.account(l.last)
	if last != nil {
		if n := l.snapshot.AtSlot(last.then); n != nil && n.Node.Name == m.Name {
			l.last = last.then
			return n
		}
	}
	n := l.snapshot.Node(m.Name)
	if n == nil {
		return nil
	}
	if last != nil && last.owner == l.owner {
		last.then = n.Slot()
	}
	l.last = n.Slot()
	return n
}

// RemoveMetric deletes the report of a node, so the node counts as never measured.
// It is not an error if the node is unknown.
func (l *Ledger) RemoveMetric(node string) {
	n := l.snapshot.Node(node)
	if n == nil || l.Metric(n) == nil {
		return
	}
	a := l.own(n.Slot())
	l.snapshot.Record(&undoMetric{node, a.metric, a.updated})
	a.metric = nil
	a.tidy()
	l.rebuild(a, n)
	l.snapshot.Touch(n)
}

var errNoSuchNode = errors.New("no such node in the snapshot")

// undoMetric undoes a change of a node's metric.
type undoMetric struct {
	node    string
	metric  *api.NodeMetric
	updated time.Time
}

// Undo undoes one change of a node's metric.
func (u *undoMetric) Undo(s *framework.Snapshot) {
	l, n := LedgerOf(s), s.Node(u.node)
	a := l.own(n.Slot())
	a.metric, a.updated = u.metric, u.updated
	l.rebuild(a, n)
	s.Touch(n)
}

// Metric returns the last report of the node, or nil if n is nil or has no report.
func (l *Ledger) Metric(n *framework.NodeInfo) *api.NodeMetric {
	if n == nil {
		return nil
	}
	if a := l.account(n.Slot()); a != nil {
		return a.metric
	}
	return nil
}

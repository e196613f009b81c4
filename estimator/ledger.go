package estimator

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// A Ledger knows, for one snapshot, which pods were assigned to which node and
// since when, and what each node last reported of its real use. From that it
// keeps, per node and [Load], the sums that load-aware filters and scorers
// read: a decision costs O(resources) per node, not O(pods).
//
//	ledger := estimator.LedgerOf(snapshot)
//	err := framework.Put(snapshot, metric) // a report has come in
//	err = snapshot.AddPod(pod, "n1")       // the ledger follows both
//
// Reports are the snapshot's objects of kind NodeMetric; [Ledger.SetMetric] is for
// those who have no use for the objects themselves.
//
// It is an extension of the snapshot: pods enter and leave it as they enter and
// leave the snapshot, forks have their own, transactions take it back, and every
// change of a node marks that node as changed. Like the snapshot it must be used
// by one goroutine at a time, apart from reading.
//
// A pod counts as assigned at the snapshot's time. The last one that left a node
// is taken for an update if it comes back to it at the same moment, whatever other
// pods have come meanwhile: it keeps its time, from 1.8 on unless its spec or its
// conditions differ. Make the ledger early: the pods that it finds count as
// assigned when it was made.
//
// Source: Koordinator 1.8, podAssignCache.
//
// Differs: Koordinator's cache follows its informers; what-if changes, such as
// nominated pods or the victims of a preemption, do not show in it, and here
// they do. A pod whose node changes leaves the old one, where Koordinator leaves
// a ghost. Pods without a UID are told apart by namespace and name, and one that
// was assigned without a UID is the one of that name that comes to the snapshot
// with a UID. What SetMetric was given goes with the node; a metric that is an
// object of the snapshot stays there, and counts again when the node comes back.
type Ledger struct {
	snapshot *framework.Snapshot
	owner    *ledgerOwner
	accounts cow.Pages[*account] // by slot
	books    []*Load             // accounts keep sums for each
	census   *census             // which pods exist, if a Load asks
	departed departure
	spared   spared
	matcher  matcher // scratch memory
	strays   []podName
	reports  podReports
	last     int // slot of the node whose metric came last
}

// ledgerOwner marks what a ledger may write to; everything else is shared with
// a fork.
type ledgerOwner = cow.Owner

var ledgerKey = framework.NewExtensionKey(newLedger)

// LedgerOf returns the ledger of the snapshot, making it at the first call from
// the pods that are there: O(pods).
func LedgerOf(s *framework.Snapshot) *Ledger { return ledgerKey.Of(s) }

func newLedger(s *framework.Snapshot) *Ledger {
	l := &Ledger{snapshot: s, owner: new(ledgerOwner)}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			l.assign(p, n, true, nil) // no transaction is to take it back
		}
		l.findMetric(s, n)
	}
	return l
}

// findMetric takes the report that the snapshot has of the node, if any.
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

// ObjectChanged is for the snapshot: a report has come, or has gone. One of a node
// that is not there yet is found when the node comes.
func (l *Ledger) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	m, ok := obj.(*api.NodeMetric)
	if !ok || s.Node(key) == nil {
		return
	}
	if m == nil {
		l.RemoveMetric(key)
		return
	}
	_ = l.SetMetric(m) // there are the metric and the node, and nothing else can be wrong
}

// Fork returns the ledger of a fork. It costs O(nodes/64); later changes on
// either side copy what they touch.
func (l *Ledger) Fork(s *framework.Snapshot) framework.Extension {
	f := &Ledger{
		snapshot: s, owner: new(ledgerOwner),
		accounts: slices.Clone(l.accounts), books: slices.Clip(l.books), departed: l.departed,
	}
	l.owner = new(ledgerOwner) // what was its own is shared now
	f.census = l.census.fork(l.owner, f.owner)
	return f
}

// SetMetric takes the latest report of a node, which must not change afterwards,
// and brings the node's sums up to date: O(pods of the node). A report without
// an update time keeps the time of the one before. Whatever it says is taken as
// it is; unknown resources and statistics are not read.
//
// A nil metric and one for a node that is not in the snapshot are an
// [*api.InvalidError].
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

// nodeOf returns the node of the metric, nil if it is not in the snapshot.
// Metrics come in rounds, so the node is looked for first behind the one whose
// metric came last, where it stood in the round before: that spares a look-up by
// name, a seventh of the cost of a metric.
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

// RemoveMetric forgets the report of a node: it counts as never measured. An
// unknown node is none the less fine.
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

// undoMetric takes back a change of a node's metric.
type undoMetric struct {
	node    string
	metric  *api.NodeMetric
	updated time.Time
}

// Undo takes back one change of a node's metric.
func (u *undoMetric) Undo(s *framework.Snapshot) {
	l, n := LedgerOf(s), s.Node(u.node)
	a := l.own(n.Slot())
	a.metric, a.updated = u.metric, u.updated
	l.rebuild(a, n)
	s.Touch(n)
}

// Metric returns the last report of the node, nil if there is none, or no node.
func (l *Ledger) Metric(n *framework.NodeInfo) *api.NodeMetric {
	if n == nil {
		return nil
	}
	if a := l.account(n.Slot()); a != nil {
		return a.metric
	}
	return nil
}

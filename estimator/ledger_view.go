package estimator

import (
	"time"

	"github.com/berth-sched/berth/framework"
)

// Basis says which use of a node is asked for.
type Basis uint8

// The uses of a node that rules distinguish. They are those of the pods that are
// on it; the pod to place comes on top where the rules say so.
const (
	// WholeForFilter is the use of the node by the filter's statistic.
	WholeForFilter Basis = iota
	// ProdForFilter is the use of prod pods.
	ProdForFilter
	// WholeForScore is the use of the node by the score's statistic.
	WholeForScore
	// ProdForScore is the use of prod pods.
	ProdForScore

	bases = iota
)

// A View is what a [Ledger] keeps for one [Load]. It stays valid while the
// snapshot changes. Reading it is safe for concurrent use.
type View struct {
	ledger *Ledger
	load   *Load
	book   int
}

// View returns the view that the Load has of the snapshot. The first call for a
// snapshot adds up everything that is there: O(pods).
func (l *Load) View(s *framework.Snapshot) View {
	l = l.ready()
	ledger := LedgerOf(s)
	return View{ledger, l, ledger.bookOf(l)}
}

// Use returns the use of the node in the order of NodeLoad.Resources, before
// 1.6 for filters in thousandths of every resource; nil if it is not known, and
// then filters let the node pass and its score is 0. That of prod pods is known
// only if the configuration or the node asks for it, by LoadAware.ScoreProd or
// NodeLoad.ForProd. It must not be changed, and is valid until the snapshot
// changes.
func (v View) Use(n *framework.NodeInfo, b Basis) []int64 {
	if n == nil || b >= bases {
		return nil
	}
	a := v.ledger.account(n.Slot())
	if a == nil {
		return nil
	}
	return a.sums[v.book].use(b)
}

// Measured reports whether the node has a metric at all.
func (v View) Measured(n *framework.NodeInfo) bool { return v.ledger.Metric(n) != nil }

// Expired reports whether the node's metric has expired at the snapshot's time,
// or does not say from when it is. A node without a metric has not.
//
// Source: Koordinator 1.8, isNodeMetricExpired.
func (v View) Expired(n *framework.NodeInfo) bool {
	m := v.ledger.Metric(n)
	if m == nil {
		return false
	}
	t := m.Status.UpdateTime
	return t == nil || v.ledger.snapshot.Now().Sub(*t) >= v.load.config.Expiration
}

// ValidUntil returns when the node's metric expires, the zero time if it has
// expired already or there is none: no other answer depends on the time.
func (v View) ValidUntil(n *framework.NodeInfo) time.Time {
	m := v.ledger.Metric(n)
	if m == nil || v.Expired(n) {
		return time.Time{}
	}
	return m.Status.UpdateTime.Add(v.load.config.Expiration)
}

// bookOf returns the place of the Load's sums in accounts, adding them if need
// be.
func (l *Ledger) bookOf(load *Load) int {
	for i, other := range l.books {
		if other == load || load.key != "" && other.key == load.key {
			return i
		}
	}
	l.books = append(l.books, load)
	if !load.traits.vectors && l.census == nil {
		l.census = newCensus(l)
	}
	for _, n := range l.snapshot.All() {
		if l.account(n.Slot()) != nil {
			a := l.own(n.Slot())
			a.sums = append(a.sums, load.newSums())
			l.rebuild(a, n)
		}
	}
	return len(l.books) - 1
}

// newSums returns empty sums of the kind that the rules ask for.
func (l *Load) newSums() sums {
	if l.traits.vectors {
		return &vectorSums{load: l}
	}
	return &quantitySums{load: l}
}

// rebuild adds up everything about a node anew.
func (l *Ledger) rebuild(a *account, n *framework.NodeInfo) {
	if a.metric != nil {
		a.windowStart = a.updated.Add(-reportInterval(a.metric))
	}
	oneToOne := l.matcher.run(&a.matches, a.metric)
	a.simple = oneToOne && a.unlisted == 0 && a.differing == 0 && l.census.unambiguous()
	l.census.watch(l, n, a)
	for _, s := range a.sums {
		s.rebuild(l, n, a)
		s.settle()
	}
}

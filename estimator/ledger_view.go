package estimator

import (
	"time"

	"github.com/berth-sched/berth/framework"
)

// Basis selects one of the uses of a node.
type Basis uint8

// The uses of a node that rules distinguish. They cover the pods on the node; the
// caller adds the pod to place if the rules require it.
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

// A View reads the sums of a [Ledger] for one [Load]. It stays valid while the
// snapshot changes. Reading it is safe for concurrent use.
type View struct {
	ledger *Ledger
	load   *Load
	book   int
}

// View returns the Load's view of the snapshot. The first call for a snapshot adds
// up all its pods: O(pods).
func (l *Load) View(s *framework.Snapshot) View {
	l = l.ready()
	ledger := LedgerOf(s)
	return View{ledger, l, ledger.bookOf(l)}
}

// Use returns the use of the node in the order of NodeLoad.Resources. Before 1.6,
// the use for filters is in thousandths of every resource. If the use is not known,
// Use returns nil; filters then let the node pass and its score is 0. The use of
// prod pods is known only if the configuration or the node needs it
// (LoadConfig.ScoreProd or NodeLoad.ForProd). Do not change the result; it is valid
// until the snapshot changes.
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

// UseAfter is element r of Use once so many pods more are on the node, each like p and named in no report. Use must know
// it. O(1).
func (v View) UseAfter(n *framework.NodeInfo, b Basis, p *PodLoad, pods int64, r int) int64 {
	return v.ledger.account(n.Slot()).sums[v.book].after(b, p, pods, r)
}

// Measured reports whether the node has a metric.
func (v View) Measured(n *framework.NodeInfo) bool { return v.ledger.Metric(n) != nil }

// Age returns how old the node's metric is at the snapshot's time; false if there is
// none, or none with a time.
func (v View) Age(n *framework.NodeInfo) (time.Duration, bool) {
	m := v.ledger.Metric(n)
	if m == nil || m.Status.UpdateTime == nil {
		return 0, false
	}
	return v.ledger.snapshot.Now().Sub(*m.Status.UpdateTime), true
}

// Expired reports whether the node's metric has expired at the snapshot's time. A
// metric without an update time has expired; a node without a metric has not.
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

// ValidUntil returns the time when the node's metric expires, or the zero time if
// it has expired or there is none. No other answer depends on the time.
func (v View) ValidUntil(n *framework.NodeInfo) time.Time {
	m := v.ledger.Metric(n)
	if m == nil || v.Expired(n) {
		return time.Time{}
	}
	return m.Status.UpdateTime.Add(v.load.config.Expiration)
}

// bookOf returns the index of the Load's sums in accounts, and adds them if there
// are none yet.
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

// newSums returns empty sums for the Load's rules.
func (l *Load) newSums() sums {
	if l.traits.vectors {
		return &vectorSums{load: l}
	}
	return &quantitySums{load: l}
}

// rebuild recomputes everything about a node.
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

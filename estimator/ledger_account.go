package estimator

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An account is the record of a ledger about one node.
//
//	pods    the assigned pods, and since when
//	metric  the node's last report
//	sums    per Load: the sums over the two
//
// Invariant: ids[i] identifies pods[i], every sums has an entry for each of pods in
// the same order, and its totals equal a fresh rebuild.
type account struct {
	owner   *ledgerOwner
	metric  *api.NodeMetric
	updated time.Time // of the last metric with a time
	// windowStart is one interval before updated: pods placed later are not yet
	// measured for a whole interval.
	windowStart time.Time
	ids         []uint64
	pods        []placement
	matches     matches // of pods and metric
	sums        []sums
	strays      []podName // reported, but not among the node's pods; see census

	// unlisted counts the pods that are not in the snapshot, differing the pods
	// with another version in the snapshot. simple is true if both are 0, each pod
	// is reported at most once, and no two pods anywhere have the same name. Then a
	// report of a name is about the pod in this account; see census.
	unlisted, differing int
	simple              bool

	then int // slot of the node whose metric came next after this one's; a guess
}

// A placement is a pod on a node.
type placement struct {
	pod   *framework.PodInfo // the version seen last
	first time.Time          // when it was first assigned
	last  time.Time          // when it was last seen

	// From 1.8 on, updates that change neither spec nor conditions are ignored: the
	// version and time of the last relevant update.
	kept   *framework.PodInfo
	keptAt time.Time

	listed  bool // the pod is in the snapshot, too
	differs bool // but in another version only
}

// sums are the sums of an account for one Load.
type sums interface {
	clone() sums
	// placed is called after a pod was appended to the account.
	placed(a *account)
	// leaving is called before pod i is removed and the last pod takes its place.
	leaving(a *account, i int)
	// rebuild recomputes everything.
	rebuild(l *Ledger, n *framework.NodeInfo, a *account)
	// nodeChanged is called when the node object changed; rebuild follows.
	nodeChanged()
	// settle computes the totals; it follows any of these changes.
	settle()
	// use returns the total for a purpose, or nil if it is not known.
	use(b Basis) []int64
	// after is element r of use once there are so many pods more that no report names.
	after(b Basis, p *PodLoad, pods int64, r int) int64
	// pods is how many pods have an entry.
	pods() int
}

// account returns the account of a slot for reading, or nil if there is none.
func (l *Ledger) account(slot int) *account { return l.accounts.At(slot) }

// own returns the account of a slot for writing, and makes it if there is none.
func (l *Ledger) own(slot int) *account {
	a := l.accounts.At(slot)
	if a != nil && a.owner == l.owner {
		return a // its page is owned too
	}
	if a == nil {
		a = &account{sums: make([]sums, 0, len(l.books))}
		for _, load := range l.books {
			a.sums = append(a.sums, load.newSums())
		}
	} else {
		a = a.clone()
	}
	a.owner = l.owner
	l.put(slot, a)
	return a
}

// put makes a, which may be nil, the account of the slot.
func (l *Ledger) put(slot int, a *account) { *l.accounts.Own(l.owner, slot) = a }

func (a *account) clone() *account {
	c := *a
	c.ids, c.pods, c.matches = slices.Clone(a.ids), slices.Clone(a.pods), a.matches.clone()
	c.sums = make([]sums, len(a.sums))
	for i, s := range a.sums {
		c.sums[i] = s.clone()
	}
	return &c
}

// tidy clears the time of the last metric if the account has neither metric nor
// pods.
func (a *account) tidy() {
	if a.metric == nil && len(a.pods) == 0 {
		a.updated = time.Time{}
	}
}

// find returns the index of the pod in the account, or -1.
func (a *account) find(id uint64, p *api.Pod) int {
	for i, other := range a.ids {
		if other == id && api.SamePod(a.pods[i].pod.Pod, p) {
			return i
		}
	}
	return -1
}

// promised returns the index of the pod of p's name that was assigned without a UID
// and is not in the snapshot, or -1. p has the UID now.
func (a *account) promised(p *api.Pod) int {
	if a.unlisted == 0 || p.UID == "" {
		return -1
	}
	name := nameOf(p)
	for i, q := range a.pods {
		if !q.listed && q.pod.Pod.UID == "" && a.matches.names[i] == name {
			return i
		}
	}
	return -1
}

// reportInterval returns the report interval in the metric's spec, or 60 s if there
// is none.
func reportInterval(m *api.NodeMetric) time.Duration {
	if p := m.Spec.CollectPolicy; p != nil && p.ReportIntervalSeconds != nil {
		return Seconds(*p.ReportIntervalSeconds)
	}
	return defaultReportInterval
}

// seen returns the time since which the pod counts as placed, by rules up to 1.6.
func (p *placement) seen(t *traits) time.Time {
	if t.firstAssigned {
		return p.first
	}
	return p.last
}

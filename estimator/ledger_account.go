package estimator

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An account is what a ledger holds of one node.
//
//	pods    who was assigned, and since when
//	metric  what the node reported last
//	sums    per Load: what follows from the two
//
// Invariant: ids[i] is the identity of pods[i], every sums has an entry for each
// of pods in the same order, and its totals are those of a fresh rebuild.
type account struct {
	owner   *ledgerOwner
	metric  *api.NodeMetric
	updated time.Time // of the last metric that had one
	// windowStart is one interval before updated: pods placed later have not
	// been measured for a whole interval.
	windowStart time.Time
	ids         []uint64
	pods        []placement
	matches     matches // of pods and metric
	sums        []sums
	strays      []podName // reported, but not among the node's pods; see census

	// unlisted counts the pods that are not in the snapshot, differing those of
	// which it has another version. simple tells that these are none, that each pod
	// is reported once at most, and that no two pods anywhere have one name, so that
	// a report of its name is about the pod as it is here; see census.
	unlisted, differing int
	simple              bool

	then int // slot of the node whose metric came after this one's; a guess
}

// A placement is a pod on a node.
type placement struct {
	pod   *framework.PodInfo // as it was seen last
	first time.Time          // when it was first assigned
	last  time.Time          // when it was last seen

	// From 1.8 on updates that change neither spec nor conditions are not
	// looked at: the pod and the time of the last one that did.
	kept   *framework.PodInfo
	keptAt time.Time

	listed  bool // the pod is in the snapshot, too
	differs bool // but in another version only
}

// sums is what an account keeps for one Load.
type sums interface {
	clone() sums
	// placed is told that the last pod of the account has just come.
	placed(a *account)
	// leaving is told that pod i is about to go, and the last one to take its
	// place.
	leaving(a *account, i int)
	// rebuild adds everything up anew.
	rebuild(l *Ledger, n *framework.NodeInfo, a *account)
	// nodeChanged is told that the node object is another one; rebuild follows.
	nodeChanged()
	// settle makes the totals; it follows any of these changes.
	settle()
	// use returns the total for a purpose, nil if it is not known.
	use(b Basis) []int64
}

// account returns the account of a slot for reading, nil if there is none.
func (l *Ledger) account(slot int) *account { return l.accounts.At(slot) }

// own returns the account of a slot for writing, making it if there is none.
func (l *Ledger) own(slot int) *account {
	a := l.accounts.At(slot)
	if a != nil && a.owner == l.owner {
		return a // and so is its page
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

// tidy forgets the time of the last metric once nothing else is left.
func (a *account) tidy() {
	if a.metric == nil && len(a.pods) == 0 {
		a.updated = time.Time{}
	}
}

// find returns the place of the pod in the account, -1 if it is not there.
func (a *account) find(id uint64, p *api.Pod) int {
	for i, other := range a.ids {
		if other == id && samePod(a.pods[i].pod.Pod, p) {
			return i
		}
	}
	return -1
}

// promised returns the place of a pod that was assigned before it had its UID and
// now comes to the snapshot with it, -1 if there is none.
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

// samePod reports whether two objects are one pod: by UID, and by namespace and
// name where there is none.
func samePod(a, b *api.Pod) bool {
	if a.UID != "" || b.UID != "" {
		return a.UID == b.UID
	}
	return a.Name == b.Name && a.Namespace == b.Namespace
}

// reportInterval is how often the metric says that it is renewed; 60 s if it
// does not say.
func reportInterval(m *api.NodeMetric) time.Duration {
	if p := m.Spec.CollectPolicy; p != nil && p.ReportIntervalSeconds != nil {
		return Seconds(*p.ReportIntervalSeconds)
	}
	return defaultReportInterval
}

// seen returns since when the pod counts as placed by rules up to 1.6.
func (p *placement) seen(t *traits) time.Time {
	if t.firstAssigned {
		return p.first
	}
	return p.last
}

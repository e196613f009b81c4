package estimator

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A census knows which pods exist, by name. Rules up to 1.6 ask: what a metric
// reports of a pod counts only if there is such a pod, wherever it is, and by
// that pod's class. So the pods of one node can change the sums of another, the
// one that reports a pod of that name without having it: it watches the name.
//
// The names are spread over shards, which forks share until they change. A nil
// census stands for none, when no Load asks.
type census struct {
	owner  *ledgerOwner
	shards [64]*censusShard
	shared int // names that several pods have
}

type censusShard struct {
	owner *ledgerOwner
	names map[podName]resident
}

// A resident is what is known of a name. Its slices are never written to.
type resident struct {
	pods     []located
	watchers []int // slots of nodes that report the name without having the pod
}

// A located pod is on the node of the slot, or on nowhere.
type located struct {
	pod  *framework.PodInfo
	slot int
}

const nowhere = -1

// newCensus counts the pods of the ledger's snapshot.
func newCensus(l *Ledger) *census {
	c := &census{owner: l.owner}
	for _, n := range l.snapshot.All() {
		for _, p := range n.Pods {
			c.add(located{p, n.Slot()})
		}
	}
	return c
}

// fork returns a census that shares everything with c. Both get a new owner.
func (c *census) fork(mine, forks *ledgerOwner) *census {
	if c == nil {
		return nil
	}
	c.owner = mine
	f := *c
	f.owner = forks
	return &f
}

func (c *census) shard(n podName) **censusShard {
	return &c.shards[n.hash()%uint64(len(c.shards))]
}

func (c *census) get(n podName) resident {
	if s := *c.shard(n); s != nil {
		return s.names[n]
	}
	return resident{}
}

func (c *census) set(n podName, r resident) {
	at := c.shard(n)
	switch s := *at; {
	case s == nil:
		*at = &censusShard{c.owner, map[podName]resident{}}
	case s.owner != c.owner:
		*at = &censusShard{c.owner, maps.Clone(s.names)}
	}
	if len(r.pods) == 0 && len(r.watchers) == 0 {
		delete((*at).names, n)
		return
	}
	(*at).names[n] = r
}

func (c *census) add(p located) {
	name := nameOf(p.pod.Pod)
	r := c.get(name)
	r.pods = append(slices.Clip(r.pods), p)
	if len(r.pods) == 2 {
		c.shared++
	}
	c.set(name, r)
}

// unambiguous reports whether no two pods have one name.
func (c *census) unambiguous() bool { return c == nil || c.shared == 0 }

// remove takes away the pod of that slot; if it is not there, another version of
// it will do.
func (c *census) remove(p located) bool {
	name := nameOf(p.pod.Pod)
	r := c.get(name)
	i := slices.Index(r.pods, p)
	if i < 0 {
		i = slices.IndexFunc(r.pods, func(o located) bool { return o.slot == p.slot && samePod(o.pod.Pod, p.pod.Pod) })
	}
	if i < 0 {
		return false
	}
	r.pods = slices.Delete(slices.Clone(r.pods), i, i+1)
	if len(r.pods) == 1 {
		c.shared--
	}
	c.set(name, r)
	return true
}

// lookup returns the pod of that name, nil if there is none, and whether one is
// on the node of the slot. Of several, which cannot be in one cluster, the one
// created last counts, then the one with the greatest UID, then the one on the
// node of the last slot, and of the versions on one node the last. Only if objects
// with one UID are on nowhere does it depend on the order in which they came.
func (c *census) lookup(s *framework.Snapshot, name podName, slot int) (found *framework.PodInfo, local bool) {
	var last located
	for _, p := range c.get(name).pods {
		local = local || p.slot == slot
		if last.pod == nil || p.after(s, last) {
			last = p
		}
	}
	return last.pod, local
}

// after reports whether p counts rather than q, which has the same name.
func (p located) after(s *framework.Snapshot, q located) bool {
	if c := cmp.Or(
		p.pod.Pod.CreationTimestamp.Compare(q.pod.Pod.CreationTimestamp),
		cmp.Compare(p.pod.Pod.UID, q.pod.Pod.UID),
		cmp.Compare(p.slot, q.slot),
	); c != 0 {
		return c > 0
	}
	n := s.AtSlot(p.slot)
	return n != nil && slices.Index(n.Pods, p.pod) > slices.Index(n.Pods, q.pod)
}

// arrive counts a pod that came to a node and renews what depends on it.
func (c *census) arrive(l *Ledger, slot int, p *framework.PodInfo) {
	if c != nil {
		c.add(located{p, slot})
		c.renew(l, slot, nameOf(p.Pod))
	}
}

// depart is the opposite of arrive.
func (c *census) depart(l *Ledger, slot int, p *framework.PodInfo) {
	if c != nil && c.remove(located{p, slot}) {
		c.renew(l, slot, nameOf(p.Pod))
	}
}

// renew rebuilds the sums of the nodes that report the name: that of the slot,
// those that watch, and those that have another pod of the name. The snapshot
// knows itself that the first has changed.
func (c *census) renew(l *Ledger, slot int, name podName) {
	r := c.get(name)
	for _, watcher := range r.watchers {
		c.renewNode(l, watcher, slot, name)
	}
	for _, p := range r.pods {
		c.renewNode(l, p.slot, slot, name)
	}
	if a := l.account(slot); a != nil && a.reports(name) {
		l.rebuild(l.own(slot), l.snapshot.AtSlot(slot))
	}
}

func (c *census) renewNode(l *Ledger, slot, except int, name podName) {
	if slot == except || slot == nowhere {
		return
	}
	n, a := l.snapshot.AtSlot(slot), l.account(slot)
	if n != nil && a != nil && a.reports(name) {
		l.rebuild(l.own(slot), n)
		l.snapshot.Touch(n)
	}
}

// reports reports whether the account's metric mentions the name.
func (a *account) reports(name podName) bool {
	return a.metric != nil && slices.ContainsFunc(a.metric.Status.PodsMetric, func(r *framework.PodMetricInfo) bool {
		return r != nil && r.Name == name.name && r.Namespace == name.namespace
	})
}

// watch makes the node watch the names that it reports without having the pods.
func (c *census) watch(l *Ledger, n *framework.NodeInfo, a *account) {
	if c == nil {
		return
	}
	strays := l.strays[:0]
	note := func(r *framework.PodMetricInfo) {
		name := podName{r.Namespace, r.Name}
		if _, local := c.lookup(l.snapshot, name, n.Slot()); !local && !slices.Contains(strays, name) {
			strays = append(strays, name)
		}
	}
	switch {
	case a.metric == nil:
	case a.simple:
		for _, k := range l.matcher.strangers {
			note(a.metric.Status.PodsMetric[k])
		}
	default:
		for _, r := range a.metric.Status.PodsMetric {
			if r != nil {
				note(r)
			}
		}
	}
	l.strays = strays
	if slices.Equal(strays, a.strays) {
		return
	}
	c.unwatch(n.Slot(), a.strays)
	for _, name := range strays {
		r := c.get(name)
		r.watchers = append(slices.Clip(r.watchers), n.Slot())
		c.set(name, r)
	}
	a.strays = slices.Clone(strays)
}

// unwatch is the opposite of watch.
func (c *census) unwatch(slot int, strays []podName) {
	if c == nil {
		return
	}
	for _, name := range strays {
		r := c.get(name)
		if i := slices.Index(r.watchers, slot); i >= 0 {
			r.watchers = slices.Delete(slices.Clone(r.watchers), i, i+1)
			c.set(name, r)
		}
	}
}

// Observe tells the ledger of a pod that exists without being on a node, such as
// one that is still to be placed. It matters up to 1.6 only, where the usage
// that a metric reports of a pod counts only if that pod exists. A nil pod is
// ignored.
func (l *Ledger) Observe(p *framework.PodInfo) {
	if p == nil || p.Pod == nil {
		return
	}
	if l.census == nil {
		l.census = newCensus(l)
	}
	l.census.add(located{p, nowhere})
	l.census.renew(l, nowhere, nameOf(p.Pod))
	l.snapshot.Record(undoObserve{p, false})
}

// Unobserve is the opposite of Observe.
func (l *Ledger) Unobserve(p *framework.PodInfo) {
	if p != nil && p.Pod != nil && l.census != nil && l.census.remove(located{p, nowhere}) {
		l.census.renew(l, nowhere, nameOf(p.Pod))
		l.snapshot.Record(undoObserve{p, true})
	}
}

type undoObserve struct {
	pod  *framework.PodInfo
	back bool
}

// Undo takes back an Observe, or an Unobserve.
func (u undoObserve) Undo(s *framework.Snapshot) {
	if l := LedgerOf(s); u.back {
		l.Observe(u.pod)
	} else {
		l.Unobserve(u.pod)
	}
}

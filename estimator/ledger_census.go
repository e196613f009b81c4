package estimator

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A census indexes all existing pods by name, for the rules up to 1.6. There the
// reported usage of a pod counts only if the pod exists, on whatever node, and by
// the class of that pod. So pods of one node can change the sums of another node
// that reports a pod of the same name without having it. That other node watches
// the name.
//
// The names are spread over shards, and forks share a shard until it changes. A nil
// census is valid: no Load needs one.
type census struct {
	owner  *ledgerOwner
	shards [censusShards]*censusShard
	shared int // number of names with several pods
}

// censusShards is the number of shards. The upper bits of a hash choose the shard,
// and the lower bits the place in it.
const (
	censusShardBits = 8
	censusShards    = 1 << censusShardBits
)

type censusShard struct {
	owner *ledgerOwner
	pods  censusTable
	// watchers are the slots of nodes that report the name without having the pod.
	// The slices are never written to.
	watchers map[podName][]int
}

// A located pod is on the node of the slot, or on no node.
type located struct {
	pod  *framework.PodInfo
	slot int
}

const nowhere = -1

// newCensus indexes the pods of the ledger's snapshot.
func newCensus(l *Ledger) *census {
	c := &census{owner: l.owner}
	for _, n := range l.snapshot.All() {
		for _, p := range n.Pods {
			c.add(located{p, n.Slot()}, nameOf(p.Pod).hash())
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

// shard returns the shard of a name for reading.
func (c *census) shard(hash uint64) *censusShard {
	if s := c.shards[hash>>(64-censusShardBits)]; s != nil {
		return s
	}
	return &censusShard{}
}

// own returns the shard of a name for writing.
func (c *census) own(hash uint64) *censusShard {
	at := &c.shards[hash>>(64-censusShardBits)]
	switch s := *at; {
	case s == nil:
		*at = &censusShard{owner: c.owner}
	case s.owner != c.owner:
		*at = &censusShard{c.owner, censusTable{slices.Clone(s.pods.entries), s.pods.held}, maps.Clone(s.watchers)}
	}
	return *at
}

// add adds the pod and reports whether it is the only one of its name. hash is the
// hash of the name.
func (c *census) add(p located, hash uint64) (only bool) {
	pods, name := &c.own(hash).pods, nameOf(p.pod.Pod)
	namesake := pods.first(name, hash)
	if namesake >= 0 && pods.next(name, hash, namesake) < 0 {
		c.shared++
	}
	pods.add(censusEntry{hash, p})
	return namesake < 0
}

// unambiguous reports whether no two pods have the same name.
func (c *census) unambiguous() bool { return c == nil || c.shared == 0 }

// remove removes the pod at that slot, or another version of it if that one is not
// there. It reports whether it found one.
func (c *census) remove(p located, hash uint64) bool {
	pods, name := &c.shard(hash).pods, nameOf(p.pod.Pod)
	found, exact, namesakes := -1, false, 0
	for at := pods.first(name, hash); at >= 0; at = pods.next(name, hash, at) {
		namesakes++
		switch o := pods.entries[at].located; {
		case exact:
		case o == p:
			found, exact = at, true
		case found < 0 && o.slot == p.slot && api.SamePod(o.pod.Pod, p.pod.Pod):
			found = at
		}
	}
	if found < 0 {
		return false
	}
	if namesakes == 2 {
		c.shared--
	}
	c.own(hash).pods.remove(found)
	return true
}

// lookup returns the pod of that name, or nil, and whether such a pod is on the
// node of the slot. A cluster has at most one. If there are several, the pod
// created last counts, then the greatest UID, then the greatest slot, then the last
// version on the node. Only for versions with the same UID on no node does the
// result depend on their order of arrival.
func (c *census) lookup(s *framework.Snapshot, name podName, slot int) (found *framework.PodInfo, local bool) {
	var last located
	hash := name.hash()
	pods := &c.shard(hash).pods
	for at := pods.first(name, hash); at >= 0; at = pods.next(name, hash, at) {
		p := pods.entries[at].located
		local = local || p.slot == slot
		if last.pod == nil || p.after(s, last) {
			last = p
		}
	}
	return last.pod, local
}

// after reports whether p takes precedence over q, which has the same name.
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

// arrive indexes a pod that came to a node, or exists on none, and updates the
// dependent sums.
func (c *census) arrive(l *Ledger, slot int, p *framework.PodInfo) {
	if c != nil {
		name := nameOf(p.Pod)
		hash := name.hash()
		only := c.add(located{p, slot}, hash)
		c.renew(l, slot, name, hash, only)
	}
}

// depart is the opposite of arrive. It returns false for an unknown pod.
func (c *census) depart(l *Ledger, slot int, p *framework.PodInfo) bool {
	if c == nil {
		return false
	}
	name := nameOf(p.Pod)
	hash := name.hash()
	if !c.remove(located{p, slot}, hash) {
		return false
	}
	c.renew(l, slot, name, hash, false)
	return true
}

// renew rebuilds the sums of the nodes that report the name: the node of the slot,
// the watchers, and nodes with another pod of the name. The snapshot itself marks
// the first as changed. only says that no other node has a pod of the name.
func (c *census) renew(l *Ledger, slot int, name podName, hash uint64, only bool) {
	s := c.shard(hash)
	if len(s.watchers) > 0 {
		for _, watcher := range s.watchers[name] {
			c.renewNode(l, watcher, slot, hash)
		}
	}
	for at := s.pods.first(name, hash); at >= 0 && !only; at = s.pods.next(name, hash, at) {
		c.renewNode(l, s.pods.entries[at].slot, slot, hash)
	}
	if a := l.account(slot); a != nil && a.matches.mentions(hash) {
		l.rebuild(l.own(slot), l.snapshot.AtSlot(slot))
	}
}

func (c *census) renewNode(l *Ledger, slot, except int, hash uint64) {
	if slot == except || slot == nowhere {
		return
	}
	n, a := l.snapshot.AtSlot(slot), l.account(slot)
	if n != nil && a != nil && a.matches.mentions(hash) {
		l.rebuild(l.own(slot), n)
		l.snapshot.Touch(n)
	}
}

// fewStrays is up to how many names are compared one by one.
const fewStrays = 32

// watch makes the node watch the names that it reports without having the pods.
func (c *census) watch(l *Ledger, n *framework.NodeInfo, a *account) {
	if c == nil {
		return
	}
	strays := l.strays[:0]
	var known map[podName]struct{} // what is in strays, if that is much
	note := func(r *api.PodMetricInfo) {
		name := podName{r.Namespace, r.Name}
		if _, local := c.lookup(l.snapshot, name, n.Slot()); local {
			return
		}
		if known == nil && len(strays) == fewStrays {
			known = make(map[podName]struct{}, 2*fewStrays)
			for _, s := range strays {
				known[s] = struct{}{}
			}
		}
		if known == nil {
			if slices.Contains(strays, name) {
				return
			}
		} else {
			if _, again := known[name]; again {
				return
			}
			known[name] = struct{}{}
		}
		strays = append(strays, name)
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
		s := c.own(name.hash())
		if s.watchers == nil {
			s.watchers = map[podName][]int{}
		}
		s.watchers[name] = append(slices.Clip(s.watchers[name]), n.Slot())
	}
	a.strays = slices.Clone(strays)
}

// unwatch is the opposite of watch.
func (c *census) unwatch(slot int, strays []podName) {
	if c == nil {
		return
	}
	for _, name := range strays {
		if !slices.Contains(c.shard(name.hash()).watchers[name], slot) {
			continue
		}
		s := c.own(name.hash())
		left := slices.DeleteFunc(slices.Clone(s.watchers[name]), func(other int) bool { return other == slot })
		if s.watchers[name] = left; len(left) == 0 {
			delete(s.watchers, name)
		}
	}
}

// Observe registers a pod that exists without being on a node, such as a pending
// pod. It matters only up to 1.6: there the usage that a metric reports of a pod
// counts only if that pod exists. A nil pod is ignored.
func (l *Ledger) Observe(p *framework.PodInfo) {
	if p == nil || p.Pod == nil {
		return
	}
	if l.census == nil {
		l.census = newCensus(l)
	}
	l.census.arrive(l, nowhere, p)
	l.snapshot.Record(undoObserve{p, false})
}

// Unobserve is the opposite of Observe.
func (l *Ledger) Unobserve(p *framework.PodInfo) {
	if p != nil && p.Pod != nil && l.census.depart(l, nowhere, p) {
		l.snapshot.Record(undoObserve{p, true})
	}
}

type undoObserve struct {
	pod  *framework.PodInfo
	back bool
}

// Undo undoes an Observe or an Unobserve.
func (u undoObserve) Undo(s *framework.Snapshot) {
	if l := LedgerOf(s); u.back {
		l.Observe(u.pod)
	} else {
		l.Unobserve(u.pod)
	}
}

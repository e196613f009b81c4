package topo

import "slices"

// incremental.DomainTracker renews cached answers. A version identifies the state of
// all counters behind an answer, and the counters' histories give the changes since
// an earlier version. Versions are times of the tables' clock, and every change of
// a counter advances the clock.

// told returns the time before which no changes are known: nodes have changed,
// namespaces have, or a counter that has been dropped.
func (a *Affinity) told() uint64 {
	return max(a.tables.anew, a.tables.named, a.anew, a.found.ended(a.tables))
}

// begun is the least version: that of the time before belongs to another snapshot.
func (a *Affinity) begun() uint64 { return max(a.tables.born, a.told()) }

// FilterVersion returns the version of the data that a filter reads: whether counts
// are above 0.
func (a *Affinity) FilterVersion() uint64 {
	t := a.tables
	v := a.begun()
	v = t.latest(v, a.Attract)
	v = t.latest(v, a.Repel)
	if a.Others != nil {
		v = max(v, a.Others.filterVersion())
	}
	return t.latest(v, a.Barred)
}

// FilterChanged calls dirty with the slots of nodes whose verdict may differ
// between the version since and now. It returns false if the changes are not known.
func (a *Affinity) FilterChanged(since uint64, dirty func(slot int)) bool {
	return since >= a.tables.born && a.filterChanged(since, dirty)
}

// filterChanged is FilterChanged for a time of this snapshot, or of one that it was forked from.
func (a *Affinity) filterChanged(since uint64, dirty func(slot int)) bool {
	t := a.tables
	if since < a.told() {
		return false
	}
	first := false // the first pod of a group was added, or the last one removed
	for _, c := range a.Attract {
		ok := t.changes(c, since, func(e event) {
			first = first || e.started
			t.touch(c, e, e.crossed, dirty)
		})
		if !ok || first && a.Self {
			return false
		}
	}
	for _, list := range [...][]Count{a.Repel, a.Barred} {
		for _, c := range list {
			if !t.changes(c, since, func(e event) { t.touch(c, e, e.crossed, dirty) }) {
				return false
			}
		}
	}
	return a.Others == nil || a.Others.filterChanged(since, dirty)
}

// ScoreVersion and ScoreChanged are the same for a scorer, which reads the counts.
// demand says whether it reads the counts of required affinity of pods in the
// cluster.
func (a *Affinity) ScoreVersion(demand bool) uint64 {
	t := a.tables
	v := a.begun()
	for i := range a.Prefer {
		v = max(v, t.counters[a.Prefer[i].id].log.last)
	}
	if demand {
		v = t.latest(v, a.Demand)
	}
	if a.Others != nil {
		v = max(v, a.Others.scoreVersion(demand))
	}
	return v
}

// ScoreChanged is described at ScoreVersion.
func (a *Affinity) ScoreChanged(demand bool, since uint64, dirty func(slot int)) bool {
	return since >= a.tables.born && a.scoreChanged(demand, since, dirty)
}

// scoreChanged is to ScoreChanged what filterChanged is to FilterChanged.
func (a *Affinity) scoreChanged(demand bool, since uint64, dirty func(slot int)) bool {
	t := a.tables
	if since < a.told() {
		return false
	}
	for i := range a.Prefer {
		c := a.Prefer[i].Count
		if !t.changes(c, since, func(e event) { t.touch(c, e, true, dirty) }) {
			return false
		}
	}
	if a.Others != nil && !a.Others.scoreChanged(demand, since, dirty) {
		return false
	}
	if !demand {
		return true
	}
	for _, c := range a.Demand {
		if !t.changes(c, since, func(e event) { t.touch(c, e, true, dirty) }) {
			return false
		}
	}
	return true
}

// told returns the time before which no changes are known: older answers may belong
// to another Spread that the pod had with other workloads.
func (s *Spread) told() uint64 {
	v := max(s.tables.anew, s.found.ended(s.tables))
	if s.derived {
		v = max(v, s.tables.owned)
	}
	return v
}

// begun is that of [Affinity].
func (s *Spread) begun() uint64 { return max(s.tables.born, s.told()) }

// HardVersion returns the version of the data that a filter reads.
func (s *Spread) HardVersion() uint64 { return s.tables.latest(s.begun(), s.Counts) }

// HardChanged is to HardVersion what FilterChanged is to FilterVersion.
func (s *Spread) HardChanged(since uint64, dirty func(slot int)) bool {
	return since >= s.tables.born && s.hardChanged(since, dirty)
}

// hardChanged is to HardChanged what filterChanged is to FilterChanged.
func (s *Spread) hardChanged(since uint64, dirty func(slot int)) bool {
	t := s.tables
	if since < s.told() {
		return false
	}
	for _, c := range s.Counts {
		counter := t.counters[c.id]
		events, ok := counter.log.since(since)
		if !ok || len(events) > 0 && events[0].is.least != counter.extent.least {
			return false
		}
		for _, e := range events {
			t.touch(c, e.is, true, dirty)
		}
	}
	return true
}

// sizesLimit bounds the number of different lists of sizes of a Spread.
const sizesLimit = 256

// Sized returns the version of the data that a scorer reads to weigh counts by
// these sizes.
func (s *Spread) Sized(sizes []int) uint64 {
	t := s.tables
	i := slices.IndexFunc(s.sizes, func(known []int) bool { return slices.Equal(known, sizes) })
	if i < 0 {
		if len(s.sizes) == sizesLimit {
			t.clock++
			s.sizes, s.resize, s.weighed = s.sizes[:0], t.clock, weighed{}
		}
		i = len(s.sizes)
		s.sizes = append(s.sizes, slices.Clone(sizes))
	}
	return s.sizedVersion(i)
}

// sizedVersion is the version for the sizes with that index.
func (s *Spread) sizedVersion(i int) uint64 {
	return s.tables.latest(max(s.begun(), s.resize), s.Counts)*sizesLimit + uint64(i)
}

// softSince returns the time of a version of Sized, if the sizes were those of now.
func (s *Spread) softSince(since, now uint64) (at uint64, ok bool) {
	at = since / sizesLimit
	return at, since%sizesLimit == now%sizesLimit && at >= max(s.begun(), s.resize)
}

// SoftChanged is to Sized what FilterChanged is to FilterVersion; now is the
// current version.
func (s *Spread) SoftChanged(since, now uint64, dirty func(slot int)) bool {
	at, ok := s.softSince(since, now)
	return ok && s.softChanged(at, dirty)
}

// softChanged is to SoftChanged what filterChanged is to FilterChanged.
func (s *Spread) softChanged(since uint64, dirty func(slot int)) bool {
	t := s.tables
	if since < s.told() {
		return false
	}
	for _, c := range s.Counts {
		if !t.changes(c, since, func(e event) { t.touch(c, e, true, dirty) }) {
			return false
		}
	}
	return true
}

// SoftGroupsChanged is to SoftChanged what groups of SoftGroups are to nodes. It can tell
// for one rule, whose domains are the groups.
func (s *Spread) SoftGroupsChanged(since, now uint64, dirty func(group int)) bool {
	t := s.tables
	at, ok := s.softSince(since, now)
	if !ok || len(s.Counts) != 1 || s.single(0) {
		return false
	}
	events, ok := t.counters[s.Counts[0].id].log.since(at)
	if !ok || len(events) > groupsMost {
		return false
	}
	k, of := t.keys[t.counters[s.Counts[0].id].key], s.SoftGroups().Of
	for _, e := range events {
		if slot := k.first[e.is.domain]; slot != none {
			dirty(int(of[slot]))
		}
	}
	return true
}

// weighed says for which feasible nodes Sized was asked last, while no node has changed.
type weighed struct {
	version uint64 // of the nodes; 0 for none
	nodes   uint64 // Tables.nodesVersion
	sizes   int    // index in Spread.sizes
}

// SizedFor returns the sizes that were remembered for feasible nodes with that version, and
// the version of Sized. It is not ok if they are not known.
func (s *Spread) SizedFor(nodes uint64) (sizes []int, version uint64, ok bool) {
	t, w := s.tables, &s.weighed
	if w.version == nodes && w.nodes == t.nodesVersion {
		return s.sizes[w.sizes], s.sizedVersion(w.sizes), true
	}
	if !t.forks {
		return nil, 0, false
	}
	sizes, ok = t.commons.sizes(s, nodes)
	if ok {
		version = s.Sized(sizes)
		s.weighed = weighed{nodes, t.nodesVersion, int(version % sizesLimit)}
	}
	return sizes, version, ok
}

// RememberSized notes for which feasible nodes Sized was just asked.
func (s *Spread) RememberSized(nodes, version uint64) {
	s.weighed = weighed{nodes, s.tables.nodesVersion, int(version % sizesLimit)}
	if s.tables.forks {
		s.tables.commons.noteSizes(s)
	}
}

// SoftExceptionsChanged is to [Spread.SoftExceptions] what SoftChanged is to the nodes: it
// names those that were or are exceptions and whose counts changed. known are those that
// were exceptions then.
func (s *Spread) SoftExceptionsChanged(since, now uint64, known []int32, visit func(slot int)) bool {
	at, ok := s.softSince(since, now)
	return ok && s.softExceptionsChanged(at, known, visit)
}

// softExceptionsChanged is to SoftExceptionsChanged what filterChanged is to FilterChanged.
func (s *Spread) softExceptionsChanged(since uint64, known []int32, visit func(slot int)) bool {
	t := s.tables
	if since < s.told() {
		return false
	}
	for i, c := range s.Counts {
		events, ok := t.counters[c.id].log.since(since)
		if !ok {
			return false
		}
		k := t.keys[t.counters[c.id].key]
		for n, e := range events {
			switch {
			case s.single(i): // a node that became an exception since has such an event
				k.each(e.is.domain, visit)
			case !slices.ContainsFunc(events[:n], func(x timed[event]) bool { return x.is.domain == e.is.domain }):
				for _, slot := range known {
					if k.of(int(slot)) == e.is.domain {
						visit(int(slot))
					}
				}
			}
		}
	}
	return true
}

// latest returns the time of the latest change of the counters, but at least v.
func (t *Tables) latest(v uint64, counts []Count) uint64 {
	for _, c := range counts {
		v = max(v, t.counters[c.id].log.last)
	}
	return v
}

// changes calls f for every change of a counter since a time. It returns false if
// some changes are no longer known.
func (t *Tables) changes(c Count, since uint64, f func(event)) bool {
	events, ok := t.counters[c.id].log.since(since)
	for _, e := range events {
		f(e.is)
	}
	return ok
}

// touch calls dirty for every node of the domain that changed, if the change
// matters.
func (t *Tables) touch(c Count, e event, matters bool, dirty func(slot int)) {
	if matters {
		t.keys[t.counters[c.id].key].each(e.domain, dirty)
	}
}

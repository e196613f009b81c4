package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/nodelog"
)

// How an engine starts from what another one keeps, for another goroutine.

// A legacy is what an engine keeps at one moment, for those that start from it then. Nothing
// of it changes, so they may all read it, each in its own goroutine.
type legacy struct {
	bases   map[string]*base
	classes map[string]legacyClass
	tracker *nodelog.Tracker // which knows what the bases have read
}

// A legacyClass is how a class is put together again from its base.
type legacyClass struct {
	base                     string // its key
	used                     uint64
	liveFilters, liveScorers bool
	asked                    int // what live plugins were asked in its last decision, as for a class
}

// legacyClasses bounds how many classes there are in a legacy besides those of the engine itself.
const legacyClasses = 4096

// StartFrom makes an engine that is new start from what another one keeps, for snapshots of the same
// origin. The two share nothing that changes, so each may be used by its own goroutine.
// Rows hold for every snapshot in which the generations of the nodes are the same. They are copied
// twice. The other engine copies what it has used since the last copy, for all engines that start from
// it. e copies from that when it is first asked about a class, which is then put together anew.
func (e *Engine) StartFrom(other *Engine) {
	e.budget, e.typical = other.budget, other.typical
	e.schema, e.order, e.clock = other.schema, other.order, other.clock
	e.sightings.first, e.sightings.again = other.sightings.first, other.sightings.again
	e.divisions.list = slices.Clone(other.divisions.list)
	maps.Copy(e.barred, other.barred)
	e.inherited = other.bequeath()
}

// bequeath returns all that e keeps, and what it has inherited itself, as far as the budget goes.
func (e *Engine) bequeath() *legacy {
	if e.bequeathed != nil {
		return e.bequeathed
	}
	l := &legacy{map[string]*base{}, map[string]legacyClass{}, e.latestTracker().Clone()}
	bytes := 0
	for key, b := range e.bases {
		l.bases[key] = b.copied()
		bytes += l.bases[key].bytes
	}
	if e.inherited != nil {
		l.takeOver(e.inherited, e.budget-bytes)
	}
	for key, c := range e.classes {
		l.classes[key] = legacyClass{c.base.key, c.used, c.ask.liveFilters, c.ask.liveScorers, c.ask.asked}
	}
	e.bequeathed = l
	return l
}

// takeOver adds what an older legacy has besides, of bases up to so many bytes: what was used last
// goes first.
func (l *legacy) takeOver(old *legacy, bytes int) {
	bases := slices.SortedFunc(maps.Keys(old.bases), func(a, b string) int {
		return cmp.Or(cmp.Compare(old.bases[b].used, old.bases[a].used), cmp.Compare(a, b))
	})
	for _, key := range bases {
		if b := old.bases[key]; l.bases[key] == nil && b.bytes <= bytes {
			l.bases[key] = b
			bytes -= b.bytes
		}
	}
	classes := slices.SortedFunc(maps.Keys(old.classes), func(a, b string) int {
		return cmp.Or(cmp.Compare(old.classes[b].used, old.classes[a].used), cmp.Compare(a, b))
	})
	for _, key := range classes[:min(len(classes), legacyClasses)] {
		if c := old.classes[key]; l.bases[c.base] != nil {
			l.classes[key] = c
		}
	}
}

// latestTracker returns the tracker, or that which is inherited until the first query.
func (e *Engine) latestTracker() *nodelog.Tracker {
	if e.inherited != nil && e.tracker.Snapshot == nil {
		return e.inherited.tracker
	}
	return e.tracker
}

// copied returns a copy of the base, the last one if the base has not been used since.
func (b *base) copied() *base {
	if b.copy == nil {
		b.copy = b.clone()
		b.copy.used, b.copy.bytes = b.used, b.copy.size()
	}
	return b.copy
}

// inherit makes a class that is inherited, nil if none has the key or there is no room for it.
func (e *Engine) inherit(key string) *class {
	if e.inherited == nil || e.stats.Bytes+e.typical > e.budget {
		return nil
	}
	of, ok := e.inherited.classes[key]
	if !ok {
		return nil
	}
	c := e.addClass(key, e.baseOf(of.base))
	c.ask.liveFilters, c.ask.liveScorers = of.liveFilters, of.liveScorers
	return c
}

// baseOf returns the base with the key that is kept or inherited, nil if there is none.
func (e *Engine) baseOf(key string) *base {
	b := e.bases[key]
	if b != nil || e.inherited == nil {
		return b
	}
	of := e.inherited.bases[key]
	if of == nil {
		return nil
	}
	b = of.clone()
	b.lists, b.guard, b.tracker = e.lists, e.guard, e.tracker
	e.bases[key] = b
	return b
}

// KeepsNone reports whether no class is kept or inherited.
func (e *Engine) KeepsNone() bool {
	return len(e.classes) == 0 && (e.inherited == nil || len(e.inherited.classes) == 0)
}

// KeepsOwn reports whether a class is kept. Those that are inherited do not count before they are asked
// for.
func (e *Engine) KeepsOwn() bool { return len(e.classes) > 0 }

// HasInherited reports whether the class with the key is inherited.
func (e *Engine) HasInherited(key []byte) bool {
	if e.inherited == nil {
		return false
	}
	_, ok := e.inherited.classes[string(key)]
	return ok
}

// keepsInherited is Keeps for what is inherited: the rows of the class are about the nodes and objects
// of the snapshot, but for about so many changes of their pods. What live plugins were asked counts, too.
func (e *Engine) keepsInherited(s *framework.Snapshot, key string) (changes int, ok bool) {
	if e.inherited == nil {
		return 0, false
	}
	of, ok := e.inherited.classes[key]
	if !ok || e.bases[of.base] != nil {
		return 0, false
	}
	at := e.inherited.bases[of.base].at
	if at.nodeSet != s.NodeSet() || at.objects != s.ObjectVersions() {
		return 0, false
	}
	t := e.latestTracker()
	return int(t.End()-at.entry) + t.Distance(s) + e.inherited.bases[of.base].expired(s.Now()) + of.asked/4, true
}

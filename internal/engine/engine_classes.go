package engine

import (
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/memsize"
)

// How an engine makes, finds and drops classes and bases.

// A Ref remembers where the class of a key is, so that asking again for pods of the
// class needs no map. The zero Ref remembers nothing. It keeps no class alive.
type Ref struct{ at int } // index in numbered, from 1 on

// lookUp finds the class, nil if it is neither kept nor inherited.
func (e *Engine) lookUp(q *Query) *class {
	if q.Ref != nil {
		if i := q.Ref.at - 1; i >= 0 && i < len(e.numbered) {
			if c := e.numbered[i]; c.base != nil && c.key == q.Key {
				return c
			}
		}
	}
	c := e.classes[q.Key]
	if c == nil {
		c = e.inherit(q.Key)
	}
	if c != nil && q.Ref != nil {
		q.Ref.at = c.number
	}
	return c
}

// Keeps reports whether the class with the key is kept, and only pods and the time have changed since its base
// was used last: at most so many times. Answers that have run out, about, and what live plugins were asked in its last
// decision count, too.
func (e *Engine) Keeps(s *framework.Snapshot, key string) (changes int, ok bool) {
	if e.schema != s.Schema() {
		return 0, false
	}
	c := e.classes[key]
	if c == nil {
		return e.keepsInherited(s, key)
	}
	if c.base.at.snapshot != s || c.base.at.nodeSet != s.NodeSet() || c.base.at.objects != s.ObjectVersions() || e.tracker.Snapshot != s {
		return 0, false
	}
	return int(e.tracker.End()-c.base.at.entry) + e.tracker.Behind() + c.base.expired(s.Now()) + c.ask.asked/4, true
}

// newClass makes an empty class over its base, which is built if need be. nil means
// that the reference path must be taken.
func (e *Engine) newClass(q *Query) (c *class) {
	if !e.admits(q.Key) {
		return nil
	}
	key := e.source.BaseKey(q.Cycle.Pod)
	b := e.baseOf(key)
	if b == nil {
		if b = e.newBase(key, q); b == nil {
			return nil
		}
	}
	c = e.addClass(q.Key, b)
	e.lists.evaluated += 2 * (ClassCost - refreshCost)
	c.ask.liveFilters, c.ask.liveScorers = e.source.Live()
	return c
}

// addClass adds an empty class over a base.
func (e *Engine) addClass(key string, b *base) (c *class) {
	if k := len(e.spare); k > 0 {
		c, e.spare = e.spare[k-1], e.spare[:k-1]
	} else {
		c = newClass()
		e.number(c)
	}
	c.key = key
	c.reset(b)
	b.users++
	e.classes[key] = c
	return c
}

// ClassCost is what a new class costs besides looking at nodes, in nodes; see Evaluated.
// One that is inherited costs no more than is counted of it in other places. refreshCost is what it
// costs besides to look at all nodes anew, moveCost what it costs to go to another snapshot besides
// evaluating the nodes that differ.
const ClassCost, refreshCost, moveCost = 500, 40, 100

// admits reports whether a class is worth its memory. While the budget has room, it is.
// Then it must have been asked for before, and later than the class that would be dropped
// for it was used: if more classes come in turn than there is room for, those that are
// kept stay.
func (e *Engine) admits(key string) bool {
	if e.stats.Bytes+e.typical <= e.budget || e.recency.oldest == nil {
		return true
	}
	asked, before := e.asked[key]
	e.Expect(key)
	if !before || asked <= e.recency.oldest.used {
		return false
	}
	delete(e.asked, key)
	return true
}

// Expect notes a key as one that was asked for, for a pod that was decided without the engine.
func (e *Engine) Expect(key string) {
	if _, before := e.asked[key]; !before && len(e.asked) >= askedMost {
		clear(e.asked)
	}
	e.asked[key] = e.clock
}

// askedMost bounds how many keys are remembered of classes that were not admitted.
const askedMost = 4096

// number gives the class a number of its own.
func (e *Engine) number(c *class) {
	e.numbered = append(e.numbered, c)
	c.number = len(e.numbered)
}

// forget takes the class's number away: the last class gets it.
func (e *Engine) forget(c *class) {
	last := len(e.numbered) - 1
	e.numbered[last].number = c.number
	e.numbered[c.number-1] = e.numbered[last]
	e.numbered[last] = nil
	e.numbered = e.numbered[:last]
}

// newBase builds a base; nil means that the reference path must be taken.
func (e *Engine) newBase(key string, q *Query) *base {
	worth, first := e.sightings.see(key)
	if !worth || rowBytes*q.Snapshot.SlotLimit() > e.budget {
		return nil
	}
	var b *base
	if k := len(e.spareBases); k > 0 {
		b, e.spareBases = e.spareBases[k-1], e.spareBases[:k-1]
	} else {
		b = &base{lists: e.lists, guard: e.guard, tracker: e.tracker}
	}
	b.key, b.pod, b.users, b.first = key, q.Cycle.Pod, 0, first
	b.podBytes = podBytes(b.pod)
	if !b.build(e.source) {
		return nil
	}
	e.bases[key] = b
	return b
}

// podBytes is about what a pod holds that only its base keeps: the object, in which maps
// take twice what is in them, what is derived from it, and what plugins bind to it.
func podBytes(p *framework.PodInfo) int {
	return 2*memsize.Of(p.Pod) + int(unsafe.Sizeof(*p)) + 3*int(unsafe.Sizeof(framework.UnknownRequest{}))*len(p.Unknown) + 2*8*len(p.Requests) + 1<<10
}

// dropFailed drops a class that could not answer. If its plugins left their bounds, it
// is barred. Nothing that shares its base is trusted then, unless only a gate failed.
func (e *Engine) dropFailed(c *class) {
	switch {
	case c.usable():
		e.drop(c)
	case c.gates.failed && c.state != unusable && c.base.state != broken:
		e.bar(c.key)
		e.drop(c)
	default:
		e.giveUp(c)
	}
}

// giveUp drops a class whose plugins panicked or left their bounds, and all that share
// its base.
func (e *Engine) giveUp(c *class) {
	if !c.usable() {
		e.bar(c.key)
	}
	e.dropBase(c.base)
}

// dropBase drops all classes of a base, and with them the base.
func (e *Engine) dropBase(b *base) {
	e.inherited = nil
	for _, c := range e.classes {
		if c.base == b {
			e.drop(c)
		}
	}
}

// drop drops a class, and with the last one its base, and keeps the memory for others.
func (e *Engine) drop(c *class) {
	b := c.base
	delete(e.classes, c.key)
	e.recency.remove(c)
	e.stats.Bytes -= c.bytes
	c.release()
	if len(e.spare) < 4 {
		e.spare = append(e.spare, c)
	} else {
		e.forget(c)
	}
	if b.users--; b.users > 0 {
		return
	}
	delete(e.bases, b.key)
	e.stats.Bytes -= b.bytes
	b.bytes, b.pod, b.at.snapshot, b.copy = 0, nil, nil, nil
	if len(e.spareBases) < 2 {
		e.spareBases = append(e.spareBases, b)
	}
}

const (
	barFor  = 256
	barMost = 1024
)

// bar leaves a class whose plugins left their bounds to the reference path for a while.
func (e *Engine) bar(key string) {
	if len(e.barred) >= barMost {
		clear(e.barred)
	}
	e.barred[key] = barFor
}

// rowBytes is about how many bytes of a base and a class belong to one node.
const rowBytes = int(unsafe.Sizeof(row(0))+unsafe.Sizeof(nodeRow{})) + 32

// accountEvery is how many decisions of a class come between two looks at what it and its
// base hold, unless it begins or ceases to share a tree: it grows by a few bytes a decision,
// as its base does.
const accountEvery = 64

// account brings the class's share of the budget up to date, and drops the classes used
// longest ago until all fit.
func (e *Engine) account(c *class) {
	if c.unaccounted++; c.bytes > 0 && c.unaccounted < accountEvery && c.accountedShared == c.shares() {
		return
	}
	c.unaccounted, c.accountedShared = 0, c.shares()
	bytes, shared := c.size(), c.base.size()
	if c.bytes == 0 {
		e.typical = bytes
	}
	e.stats.Bytes += bytes - c.bytes + shared - c.base.bytes
	c.bytes, c.base.bytes = bytes, shared
	for e.stats.Bytes > e.budget && e.recency.oldest != c {
		e.drop(e.recency.oldest)
		e.stats.Evictions++
	}
}

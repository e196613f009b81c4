package topo

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// A binding is large if its counters take largePart of the budget. If memory runs short, only the last
// largeKept of these that were used are what the current cycle may hold: else 64 pods might fill the memory.
const largePart, largeKept = 32, 4

// unused is a counter that nobody used from a tick on.
type unused struct {
	id    int32
	born  uint64
	at    uint64
	clock uint64 // of a term that was offered: when it was dropped
}

// lookup counts a lookup and gives up what has not been needed for long. The
// cost is that of the things given up.
func (t *Tables) lookup() {
	if t.steps >= t.limits.stepsBetween {
		t.dropOld(t.costly())
	}
	t.tick++
	if t.tick >= t.weighAt || t.made > t.bytesMost()/2 {
		t.weigh()
	}
	if len(t.affinities)+len(t.spreads) > t.limits.bindings || t.held > t.limits.bindingBytes {
		t.evict(t.bindings())
	}
	if t.setBytes > t.limits.setBytes {
		t.evict(slices.DeleteFunc(t.bindings(), func(b binding) bool { return b.affinity == nil || b.affinity.Others == nil }))
	}
	t.sweep(t.limits.emptyClasses, max(t.tick, t.limits.recent)-t.limits.recent)
}

// sweep gives up classes without pods, except some, and counters without users, if
// they had none since before a tick. Classes stay in a transaction that has changed something.
func (t *Tables) sweep(keep int, since uint64) {
	if (len(t.empty) > keep || t.emptyBytes > t.limits.emptyBytes) && t.dropsClasses() {
		t.sweepClasses(keep, since)
	}
	var dropped []int32
	done := 0
	for done < len(t.unused) && t.unused[done].at < since {
		u := t.unused[done]
		done++
		c := t.counters[u.id]
		switch {
		case c == nil || c.born != u.born:
		case c.term != nil:
			t.freeCounter(u.id)
			t.freed = max(t.freed, u.clock)
		case t.users[u.id] == 0:
			dropped = append(dropped, u.id)
		}
	}
	t.unused = t.unused[done:]
	t.dropQueries(dropped)
}

// sizeOf is about how much memory a binding with this text takes: its parts, and those of
// its counters, repeat the text.
func sizeOf(text string) int { return 1<<10 + 8*len(text) }

// weigh gives up bindings that were not used for long, and more if memory runs short. It
// also gives up all classes without pods and counters without users since the last
// time; a fork begins with some.
func (t *Tables) weigh() {
	t.weighAt, t.made = t.tick+t.limits.weighEvery, 0
	t.expire()
	t.sweep(0, max(t.tick, t.limits.weighEvery)-t.limits.weighEvery)
	bytes := 0
	for id, c := range t.counters {
		if c == nil {
			continue
		}
		if c.term == nil && t.users[id] == 0 {
			t.unused = append(t.unused, unused{id: int32(id), born: c.born, at: t.tick})
		}
		if c.term == nil { // the others go with the pods that have the terms
			bytes += c.bytes()
		}
	}
	t.dropKeys()
	for _, x := range t.termSets {
		x.weigh()
	}
	if bytes > t.bytesMost() {
		t.evict(t.bindings())
		t.dropLarge()
	}
}

// dropLarge drops the large bindings but for the last few, with their counters.
func (t *Tables) dropLarge() {
	large := slices.DeleteFunc(t.bindings(), func(b binding) bool {
		if b.mayBeHeld(t) {
			return true
		}
		bytes := 0
		for _, id := range b.usage.ids {
			bytes += t.counters[id].bytes()
		}
		return bytes < t.bytesMost()/largePart
	})
	if len(large) <= largeKept {
		return
	}
	slices.SortFunc(large, func(a, b binding) int { return cmp.Compare(b.usage.at, a.usage.at) })
	large = large[largeKept:]
	t.dropBindings(large)
	var dropped []int32
	for _, b := range large {
		for _, id := range b.usage.ids {
			if t.users[id] == 0 && t.counters[id].term == nil {
				dropped = append(dropped, id)
			}
		}
	}
	t.dropQueries(dropped)
}

// bytesMost is the memory limit for counters.
func (t *Tables) bytesMost() int { return max(t.limits.budget, t.snapshot.SlotLimit()<<10) }

// keysMost is how many topology keys are kept although nothing needs them: to find one
// again costs a look at all nodes.
const keysMost = 8

// dropKeys gives up the topology keys that no counter and no Spread has, if there are more
// than a few keys.
func (t *Tables) dropKeys() {
	if len(t.keys)-len(t.freeKeys) <= keysMost {
		return
	}
	used := make([]bool, len(t.keys))
	for _, c := range t.counters {
		if c != nil {
			used[c.key] = true
		}
	}
	for _, s := range t.spreads {
		for _, key := range s.keys {
			used[key] = true
		}
	}
	for i, k := range t.keys {
		if k == nil || used[i] {
			continue
		}
		t.keyIndex.Remove(k.name())
		t.keys[i], t.freeKeys = nil, append(t.freeKeys, int32(i))
		t.divisions = slices.DeleteFunc(t.divisions, func(d division) bool {
			return slices.Contains(d.keys, int32(i)) || slices.Contains(d.labels, int32(i))
		})
	}
}

// A usage says which counters a binding holds, and when it was used last.
type usage struct {
	ids     []int32
	at      uint64 // tick of the lookup
	cycle   uint64 // of a Spread: in which cycle of Tables.cycles it was looked up, 0 if in none
	steps   int64  // of its counters, when they were found to be in use last
	cost    int64  // of making them, in such steps
	dropped bool   // the tables have given it up
}

// A binding is an Affinity or a Spread that is kept.
type binding struct {
	usage    *usage
	text     string    // of an Affinity
	affinity *Affinity // nil: a Spread
	spread   spreadKey
	counted  int64 // steps of the counters since they were found to be in use last; only costly finds it
}

// note notes a lookup at the present tick.
func (u *usage) note(t *Tables) {
	u.at = t.tick
	if t.cycles[0] > 0 && t.tick < t.cycles[0]+t.limits.firstLookups {
		u.cycle = t.cycles[0]
	}
}

// mayBeHeld reports whether a cycle that goes on may hold the Spread.
func (b *binding) mayBeHeld(t *Tables) bool {
	return b.affinity == nil && b.usage.cycle > 0 && slices.Contains(t.cycles[:], b.usage.cycle)
}

// bindings returns all that are kept, in any order.
func (t *Tables) bindings() []binding {
	var list []binding
	for text, a := range t.affinities {
		list = append(list, binding{usage: &a.usage, text: text, affinity: a})
	}
	for key, s := range t.spreads {
		list = append(list, binding{usage: &s.usage, spread: key})
	}
	return list
}

// evict drops the half of some bindings that was used longest ago.
func (t *Tables) evict(list []binding) {
	slices.SortFunc(list, func(a, b binding) int { return cmp.Compare(a.usage.at, b.usage.at) })
	t.dropOld(list[:(len(list)+1)/2])
}

// expire drops the bindings that were not used for long.
func (t *Tables) expire() {
	kept := t.limits.lookupsKept()
	if t.tick < kept {
		return
	}
	t.dropOld(slices.DeleteFunc(t.bindings(), func(b binding) bool { return b.usage.at > t.tick-kept }))
}

// dropOld drops all of these that the current cycle cannot hold. Their counters go later.
func (t *Tables) dropOld(list []binding) {
	t.dropBindings(slices.DeleteFunc(list, func(b binding) bool { return b.usage.at+t.limits.recent > t.tick || b.mayBeHeld(t) }))
}

// DropUnused drops the bindings whose counters have counted more often than they are worth, since
// the bindings were used, and all counters that no binding has. It does so once for every
// limits.stepsBetween steps. What the plugins of the cycle have looked up stays (see [In]); who else
// holds an [Affinity] or a [Spread] must ask whether it was Dropped. Pods that move do the same in a transaction, but
// do not know the cycle at hand; see mayBeOfUse.
func DropUnused(c *framework.Cycle) {
	since := c.Runner().Lookup
	Of(c.Snapshot).dropUnused(func(b binding) bool { return since > 0 && b.usage.at >= since })
}

// mayBeOfUse reports whether the binding is of use in a transaction, most likely: the last cycle that looked anything
// up has looked it up, and its counters have not counted much more often than it takes to make them.
func (t *Tables) mayBeOfUse(b binding) bool {
	return b.usage.at >= t.cycles[0] && b.counted < max(b.usage.cost, 2*int64(t.limits.stepsBetween))
}

func neverOfUse(binding) bool { return false }

// dropUnused is DropUnused, but those bindings stay that are of use.
func (t *Tables) dropUnused(isOfUse func(binding) bool) {
	if t.steps < t.limits.stepsBetween {
		return
	}
	t.dropBindings(slices.DeleteFunc(t.costly(), isOfUse))
	var dropped []int32
	for id, c := range t.counters { // a fork has some that were never used
		if c != nil && c.term == nil && t.users[id] == 0 {
			dropped = append(dropped, int32(id))
		}
	}
	t.dropQueries(dropped)
}

// costly returns the bindings whose counters have counted more often than they are worth.
func (t *Tables) costly() []binding {
	var list []binding
	for _, b := range t.bindings() {
		var steps int64
		for _, id := range b.usage.ids {
			steps += t.counters[id].steps
		}
		if b.usage.at > t.looked {
			b.usage.steps = steps
		}
		if b.counted = steps - b.usage.steps; b.counted >= t.limits.stepsKept {
			list = append(list, b)
		}
	}
	t.steps, t.looked = 0, t.tick
	return list
}

// dropBindings drops all of these, also if something holds them.
func (t *Tables) dropBindings(list []binding) {
	if len(list) == 0 {
		return
	}
	t.clock++
	t.vacancy.ended = t.clock
	t.asked, t.recent = nil, nil
	for _, b := range list {
		b.usage.dropped = true
		t.release(b.usage.ids)
		if b.affinity != nil {
			b.affinity.leave()
			delete(t.affinities, b.text)
			t.held -= b.affinity.size
		} else {
			delete(t.spreads, b.spread)
			t.held -= sizeOf(b.spread.text)
		}
	}
}

// costSince returns the cost of making counters since so many looks, in steps of counting.
func (t *Tables) costSince(looks int) int64 { return int64(8 * (t.looks - looks)) }

// hold and release count the bindings that use counters.
func (t *Tables) hold(ids []int32) {
	for _, id := range ids {
		t.users[id]++
	}
}

func (t *Tables) release(ids []int32) {
	for _, id := range ids {
		if t.users[id]--; t.users[id] == 0 {
			t.unused = append(t.unused, unused{id: id, born: t.counters[id].born, at: t.tick})
		}
	}
}

package topo

import (
	"math"
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/internal/cow"
)

// A counter counts pods, or terms of pods, by domain of one key.
//
//	pods  not nil: the pods in the set, on nodes of the nodeSet
//	term  not nil: the pods with the term, once for each occurrence
//
// Invariant: counts.At(d) is the sum over the counted nodes of d, and total the sum
// of all of these. extent, if present, knows the domains with counted nodes.
type counter struct {
	owner *owner
	key   int32 // index of Tables.keys
	nodes int32 // index of Tables.nodeSets, none if all nodes count
	loose bool  // nodes without the label count as if its value were empty
	broad bool  // in Tables.broads

	pods *podSet
	term *Term
	kind int // of the term
	// asleep is set for a term whose topology key no node has had: it can say nothing of any
	// node, so no pod is matched against it. Anybody can make terms with ever new keys.
	asleep bool

	counts pages
	total  int64
	steps  int64 // of counting, since it was made: what it has cost
	extent *extent
	log    history[event]

	text    string   // its key in Tables.index
	anchors []string // its keys in Tables.terms or Tables.queries
	born    uint64   // time when it was made: no two counters have the same
	serial  uint64   // a version of the snapshot, which tells counters apart across forks
	holders int      // of a term: number of classes with it, once for each occurrence
}

func (c *counter) clone(o *owner) *counter {
	copied := *c
	copied.owner = o
	copied.counts = slices.Clone(c.counts)
	if c.extent != nil {
		e := *c.extent
		e.present, e.tally = slices.Clone(e.present), slices.Clone(e.tally)
		copied.extent = &e
	}
	return &copied
}

// add changes the count of a domain by one, at a time of the tables' clock. It reports
// whether the count changed from 0 or to 0.
func (c *counter) add(d, by int32, at uint64) (crossed bool) {
	e := event{domain: d}
	was := c.counts.At(int(d))
	now := addAt(&c.counts, c.owner, d, by)
	c.total += int64(by)
	c.steps++
	e.crossed = (was > 0) != (now > 0)
	e.started = (c.total > 0) != (c.total-int64(by) > 0)
	if c.extent != nil {
		e.least = c.extent.least
		c.extent.changed(c.counts, was, now)
	}
	c.log.add(at, e)
	return e.crossed
}

// forgetChanges invalidates all cached answers. From now on so many changes are known.
func (c *counter) forgetChanges(at uint64, known int) {
	c.log = newHistory[event](at, known)
}

func (c *counter) bytes() int {
	n := int(unsafe.Sizeof(*c)) + len(c.text) + 16*len(c.anchors) + 8*cap(c.counts) + c.log.log.Bytes()
	for _, p := range c.counts {
		if p != nil {
			n += int(unsafe.Sizeof(cow.Page[int32]{}))
		}
	}
	if c.extent != nil {
		n += c.extent.bytes()
	}
	return n
}

// An extent records the domains that have a counted node, and the smallest count
// among them.
//
// Invariant: atLeast of the domains have the count least, and tally[n] of them the count n, for
// all n below tallied. Without domains, least is the largest int32, as in kube-scheduler.
type extent struct {
	present pages // number of counted nodes, by domain
	domains int
	least   int32
	atLeast int
	tally   []int32 // as long as it must be
}

// tallied is up to which count domains are tallied. If there are no lower ones, all domains are
// looked at when the last one with the smallest count gets another.
const tallied = 64

// tallyDomains adds to how many domains have a count.
func (e *extent) tallyDomains(count, by int32) {
	if count >= tallied {
		return
	}
	for int(count) >= len(e.tally) {
		e.tally = append(e.tally, 0)
	}
	e.tally[count] += by
}

func newExtent() *extent { return &extent{least: math.MaxInt32} }

// node adds a node to a domain, or removes it.
func (e *extent) node(o *owner, counts pages, d, by int32) {
	now := addAt(&e.present, o, d, by)
	n := counts.At(int(d))
	switch {
	case by > 0 && now == by:
		e.domains++
		e.tallyDomains(n, 1)
		switch {
		case n < e.least:
			e.least, e.atLeast = n, 1
		case n == e.least:
			e.atLeast++
		}
	case by < 0 && now == 0:
		e.domains--
		e.tallyDomains(n, -1)
		if n == e.least {
			if e.atLeast--; e.atLeast == 0 {
				e.find(counts)
			}
		}
	}
}

// changed updates the extent after the count of a domain changed from was to now.
func (e *extent) changed(counts pages, was, now int32) {
	e.tallyDomains(was, -1)
	e.tallyDomains(now, 1)
	switch {
	case now < e.least:
		e.least, e.atLeast = now, 1
	case now == e.least:
		e.atLeast++
	case was == e.least:
		if e.atLeast--; e.atLeast == 0 {
			e.find(counts)
		}
	}
}

// find recomputes the least count: from the tally if it has one, otherwise over all domains.
func (e *extent) find(counts pages) {
	for n, domains := range e.tally {
		if domains > 0 {
			e.least, e.atLeast = int32(n), int(domains)
			return
		}
	}
	e.least, e.atLeast = math.MaxInt32, 0
	e.each(counts, func(n int32) {
		switch {
		case n < e.least:
			e.least, e.atLeast = n, 1
		case n == e.least:
			e.atLeast++
		}
	})
}

// start finds everything from present.
func (e *extent) start(counts pages) {
	e.each(counts, func(n int32) {
		e.domains++
		e.tallyDomains(n, 1)
	})
	e.find(counts)
}

// each calls f with the count of each domain.
func (e *extent) each(counts pages, f func(count int32)) {
	for i, p := range e.present {
		if p == nil {
			continue
		}
		for k, nodes := range p.Values {
			if nodes == 0 {
				continue
			}
			n := int32(0)
			if i < len(counts) && counts[i] != nil {
				n = counts[i].Values[k]
			}
			f(n)
		}
	}
}

// leastExcept returns the smallest count among all domains but one. It visits them only if
// no other has the smallest count of all.
func (e *extent) leastExcept(counts pages, except int32) int32 {
	if e.atLeast > 1 || counts.At(int(except)) > e.least {
		return e.least
	}
	least := int32(math.MaxInt32)
	for i, p := range e.present {
		if p == nil {
			continue
		}
		for k, nodes := range p.Values {
			if d := int32(i*cow.PageSize + k); nodes > 0 && d != except {
				least = min(least, counts.At(int(d)))
			}
		}
	}
	return least
}

func (e *extent) bytes() int {
	n := int(unsafe.Sizeof(*e)) + 8*cap(e.present) + 4*cap(e.tally)
	for _, p := range e.present {
		if p != nil {
			n += int(unsafe.Sizeof(cow.Page[int32]{}))
		}
	}
	return n
}

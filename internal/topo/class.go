package topo

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/runner"
)

// A class is the set of all pods that count in the same counters: pods with equal
// namespace, labels and terms. Tables know the classes of all pods on nodes, and for
// some time those of pods that have left.
//
// Invariant: if the class is listed, queries has every counter of pods that counts it, but for the broad ones;
// except has those of these, in ascending order, that do not count it although it is of their scope. Both are
// empty if it is not.
type class struct {
	owner   *owner
	text    string
	counted *runner.Counted // text, as its pods without terms keep it
	looks   looks           // of these pods
	pods    int             // on nodes
	places  places
	terms   []int32 // the counters of its terms: each as often as the pods have the term
	listed  bool
	queries []int32
	except  []int32
	left    uint64 // tick when the last pod left
	queued  bool   // the class is in Tables.empty
}

func (t *Tables) ownClass(id int32) *class {
	c := t.classes[id]
	if c.owner != t.owner {
		copied := *c
		copied.owner, copied.places = t.owner, c.places.clone()
		copied.queries, copied.except = slices.Clone(c.queries), slices.Clone(c.except)
		c = &copied
		t.classes[id] = c
	}
	return c
}

// track starts to follow the classes of all pods. Before that, nobody has asked about terms, and
// nothing is counted.
func (t *Tables) track() {
	if t.tracking {
		return
	}
	t.tracking = true
	t.newKeys()
	t.snapshot.AskWatchers()
	for _, n := range t.snapshot.All() {
		for _, p := range n.Pods {
			t.move(t.classOf(p), n.Slot(), 1)
		}
	}
}

// classOf returns the class of a pod, and makes it if necessary. A pod without terms then
// keeps the text of its class: equal pods share it.
func (t *Tables) classOf(p *framework.PodInfo) int32 {
	if hasTerms(p) {
		traits := traitsOf.Of(p)
		if c := t.classAt(t.last); c != nil && c.text == traits.text { // often a pod leaves and comes again
			return t.last
		}
		id, ok := t.classIndex.in(traits.shard, traits.text)
		if !ok {
			id = t.addClass(&runner.Counted{Text: traits.text}, looksOf(p.Pod), traits.terms)
		}
		t.last = id
		return id
	}
	counted := t.countedAs(p)
	if counted == nil {
		t.text = appendTraits(t.text[:0], p.Pod, &noTerms)
		id := t.classOfText(t.text, p)
		t.noteCounted(p, t.classes[id].counted)
		return id
	}
	id := counted.At.Load()
	if c := t.classAt(id); c != nil && c.counted == counted {
		return id
	}
	id, ok := t.classIndex.get(counted.Text)
	if !ok {
		id = t.addClass(counted, looksOf(p.Pod), &noTerms)
	}
	t.noteCounted(p, t.classes[id].counted)
	return id
}

// countedAs is what a pod without terms counts as, nil if that is not known.
func (t *Tables) countedAs(p *framework.PodInfo) *runner.Counted {
	if counted := p.Runner().Counted.Load(); counted != nil {
		return counted
	}
	if like := t.known(p); like != nil {
		return like.count(p)
	}
	return nil
}

// noteCounted notes what a pod without terms counts as.
func (t *Tables) noteCounted(p *framework.PodInfo, counted *runner.Counted) {
	p.Runner().Counted.Store(counted)
	if like := t.note(p); like != nil {
		like.counted = counted
	}
}

// classAt returns the class with that number, nil if it was dropped or never made.
func (t *Tables) classAt(id int32) *class {
	if int(id) >= len(t.classes) {
		return nil
	}
	return t.classes[id]
}

// classOfText returns the class with the text of traits of a pod without terms.
func (t *Tables) classOfText(text []byte, p *framework.PodInfo) int32 {
	if id, ok := t.classIndex.look(text); ok {
		return id
	}
	return t.addClass(&runner.Counted{Text: string(text)}, looksOf(p.Pod), &noTerms)
}

func (t *Tables) addClass(as *runner.Counted, p looks, terms *Terms) int32 {
	c := &class{owner: t.owner, text: as.Text, counted: as, looks: p}
	for kind := range kinds {
		list := terms.list(kind)
		for i := range list {
			id := t.termCounter(kind, &list[i])
			t.ownCounter(id).holders++
			c.terms = append(c.terms, id)
		}
	}
	var id int32
	if last := len(t.freeClasses) - 1; last >= 0 {
		id, t.freeClasses = t.freeClasses[last], t.freeClasses[:last]
		t.classes[id] = c
	} else {
		id = int32(len(t.classes))
		t.classes = append(t.classes, c)
	}
	c.counted.At.Store(id)
	t.classIndex.set(t.owner, c.text, id)
	if t.vacancy.promised {
		t.newKeys()
	}
	for key, value := range p.labels {
		t.labels.add(t.owner, string(labelText(t.text[:0], key, value)), id)
	}
	return id
}

func (t *Tables) dropClass(id int32) {
	c := t.classes[id]
	t.pairs -= c.pairs()
	for _, term := range c.terms {
		held := t.ownCounter(term)
		if held.holders--; held.holders == 0 {
			t.dropTerm(term)
		}
	}
	t.classIndex.remove(t.owner, c.text)
	for key, value := range c.looks.labels {
		t.labels.remove(t.owner, string(labelText(t.text[:0], key, value)), id)
	}
	t.classes[id] = nil
	t.freeClasses = append(t.freeClasses, id)
}

// count counts a pod added to a node (by is 1) or removed from it (-1).
func (t *Tables) count(slot int, p *framework.PodInfo, by int32) {
	if !t.tracking {
		return
	}
	t.enterTransaction()
	t.move(t.classOf(p), slot, by)
}

// move counts a pod of a class.
func (t *Tables) move(id int32, slot int, by int32) {
	c := t.ownClass(id)
	c.pods += int(by)
	c.places.add(t.owner, slot, by, c.pods, &t.tally)
	if c.pods == 0 {
		c.left, c.places = t.tick, c.places.empty()
		if !c.queued {
			c.queued = true
			t.empty = append(t.empty, emptied{id, t.tick})
			t.emptyBytes += len(c.text)
		}
	}
	t.steps += t.recount(id, slot, by)
	switch {
	case t.snapshot.RollingBack():
	case t.snapshot.Transaction() != 0:
		t.dropUnused(t.mayBeOfUse)
	default:
		if by < 0 && t.hasManyEmpty() {
			t.lookup() // nobody looks anything up, and yet pods come and go
		}
		t.dropUnused(neverOfUse) // no cycle holds counts while pods move outside of transactions
	}
}

// hasManyEmpty reports whether classes without pods have piled up, because nothing was looked up for long.
func (t *Tables) hasManyEmpty() bool {
	return len(t.empty) > 4*t.limits.emptyClasses || t.emptyBytes > 4*t.limits.emptyBytes
}

// enterTransaction drops classes without pods, if they are many, before the first change in a transaction. Those that
// lose their last pod in it stay until the next one: their pods may come back.
func (t *Tables) enterTransaction() {
	now := t.snapshot.Transaction()
	if now == 0 || now == t.transaction || t.snapshot.RollingBack() {
		return
	}
	if t.hasManyEmpty() {
		t.lookup()
	}
	t.transaction = now
}

// dropsClasses reports whether classes without pods may go: no transaction is open, or no pod has come or gone in it yet.
func (t *Tables) dropsClasses() bool {
	now := t.snapshot.Transaction()
	return now == 0 || now != t.transaction
}

// recount changes the counters of a class by pods on one node, and returns how many they are.
func (t *Tables) recount(id int32, slot int, by int32) (counters int) {
	c := t.listedClass(id)
	for _, id := range c.terms {
		t.addTo(id, slot, by)
	}
	for _, id := range c.queries {
		t.addTo(id, slot, by)
	}
	counters = len(c.terms) + len(c.queries)
	if len(t.broads) > 0 {
		for id := range t.broads.of(c) {
			t.addTo(id, slot, by)
			counters++
		}
	}
	return counters
}

// addTo changes a counter by pods on one node.
func (t *Tables) addTo(id int32, slot int, by int32) {
	c := t.ownCounter(id)
	d := t.domain(c, slot)
	if d == none {
		return
	}
	t.clock++
	crossed := c.add(d, by, t.clock)
	if c.term != nil && t.logsTerms() {
		t.termLog.add(t.clock, termEvent{
			id: id, born: c.born, kind: c.kind, key: c.key, weight: c.preference(), domain: d, by: by, crossed: crossed,
		})
	}
}

// emptied is a class that lost its last pod at a tick. It may have pods again.
type emptied struct {
	class int32
	at    uint64
}

// sweepClasses drops the classes that had no pods for longest, but keeps some small ones, and
// those that had pods since a tick.
func (t *Tables) sweepClasses(keep int, since uint64) {
	done := 0
	for (len(t.empty)-done > keep || t.emptyBytes > t.limits.emptyBytes) && t.empty[done].at < since {
		id := t.empty[done].class
		c := t.classes[id]
		done++
		t.emptyBytes -= len(c.text)
		switch {
		case c.pods > 0:
			t.ownClass(id).queued = false
		case c.left >= since:
			t.empty = append(t.empty, emptied{id, t.tick})
			t.emptyBytes += len(c.text)
		default:
			t.dropClass(id)
		}
	}
	t.empty = t.empty[done:]
}

package topo

import (
	"iter"
	"maps"
	"slices"
)

// A counter is broad if its pods need no label, as those of a NotIn: it counts most pods there are. Anybody can
// make any number of such selectors. So classes do not list the broad counters that count them, but
// those that do not. And a broad counter begins with the counts of all pods, less those of the classes that
// it does not count (Tables.begin).

// A scope is the pods of one namespace or, if it is not single, of all.
type scope struct {
	single    bool
	namespace string
}

// broads are the broad counters, in ascending order, by the scope of their pods.
type broads map[scope][]int32

func (b broads) clone() broads {
	c := maps.Clone(b)
	for in, list := range c {
		c[in] = slices.Clone(list)
	}
	return c
}

func (b *broads) add(in scope, id int32) {
	if *b == nil {
		*b = broads{}
	}
	(*b)[in] = insertSorted((*b)[in], id)
}

func (b broads) remove(in scope, id int32) {
	list := b[in]
	if at, ok := slices.BinarySearch(list, id); ok {
		list = slices.Delete(list, at, at+1)
	}
	if b[in] = list; len(list) == 0 {
		delete(b, in)
	}
}

func insertSorted(list []int32, n int32) []int32 {
	at, _ := slices.BinarySearch(list, n)
	return slices.Insert(list, at, n)
}

// of returns the broad counters that count a class.
func (b broads) of(c *class) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, in := range [...]scope{{}, {true, c.looks.namespace}} {
			except := c.except
			for _, id := range b[in] {
				for len(except) > 0 && except[0] < id {
					except = except[1:]
				}
				if (len(except) == 0 || except[0] != id) && !yield(id) {
					return
				}
			}
		}
	}
}

// breadth returns the scope of the pods; false if they need a label, or are of several namespaces.
func (s *podSet) breadth() (in scope, ok bool) {
	if len(s.parts) != 1 {
		return in, false
	}
	part, x := &s.parts[0], &s.targets()[0]
	ok = !x.never && len(x.needs) == 0 && (x.single || part.everywhere) && part.pods.Forbids(func(string, []string) {})
	return scope{x.single, x.namespace}, ok
}

// A whole is all pods of a scope, as counters of some nodes count them.
type whole struct {
	counts  pages
	total   int64
	classes []int32
	// terminating are those of these that have terminating pods, labeled those with a label, by its key: nil
	// before somebody asks.
	terminating []int32
	labeled     map[string][]int32
}

// wholes are what the broad counters of one binding begin with: no pod comes between them.
type wholes map[wholeOf]*whole

type wholeOf struct {
	in         scope
	key, nodes int32
	loose      bool
}

// whole returns the pods of a scope, counted as by a counter.
func (t *Tables) whole(in scope, q *query) *whole {
	of := wholeOf{in, q.key, q.nodes, q.loose}
	if w := q.wholes[of]; w != nil {
		return w
	}
	w := new(whole)
	c := &counter{owner: new(owner), key: q.key, nodes: q.nodes, loose: q.loose}
	for k, class := range t.classes {
		if class == nil || in.single && class.looks.namespace != in.namespace {
			continue
		}
		w.classes = append(w.classes, int32(k))
		if class.looks.terminating {
			w.terminating = append(w.terminating, int32(k))
		}
		t.addPlaces(c, class, 1)
	}
	t.looks += len(w.classes)
	w.counts, w.total = c.counts, c.total
	if q.wholes != nil {
		q.wholes[of] = w
	}
	return w
}

// except returns the classes of a whole that are not in a set of pods, in ascending order, until the next call.
func (t *Tables) except(w *whole, in scope, s *podSet) []int32 {
	list := t.found[:0]
	if s.running {
		list = append(list, w.terminating...)
	}
	s.parts[0].pods.Forbids(func(key string, values []string) {
		if len(values) == 0 {
			list = append(list, t.withLabel(w, key)...)
		}
		for _, value := range values {
			t.text = labelText(t.text[:0], key, value)
			list = t.labels.appendTo(list, t.text)
		}
	})
	slices.Sort(list)
	list = slices.Compact(list)
	if in.single {
		list = slices.DeleteFunc(list, func(k int32) bool { return t.classes[k].looks.namespace != in.namespace })
	}
	t.found = list
	return list
}

// withLabel returns the classes of a whole with a label of the key.
func (t *Tables) withLabel(w *whole, key string) []int32 {
	if w.labeled == nil {
		w.labeled = map[string][]int32{}
		for _, k := range w.classes {
			for key := range t.classes[k].looks.labels {
				w.labeled[key] = append(w.labeled[key], k)
			}
		}
	}
	return w.labeled[key]
}

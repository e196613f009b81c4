package subjects

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/podsize"
)

// A Waiter is somebody who waits for events. It is in any number of indexes.
type Waiter[T any] struct {
	Of       T
	mentions []mention[T]
	gathered uint64 // the last gathering that took it
}

// A mention is where a waiter is among the lookers of a subject.
type mention[T any] struct {
	of    *lookers[T]
	place int
}

// lookers are the waiters that look at a subject, in any order.
type lookers[T any] struct {
	of      *Index[T]
	subject queueing.Subject
	list    []looker[T]
}

// A looker is a waiter, and which of its mentions this is.
type looker[T any] struct {
	waiter *Waiter[T]
	at     int
}

// An Index has waiters by the subjects that a hint has for their pods. The hint has Subjects.
type Index[T any] struct {
	hint      queueing.EventHint
	bySubject map[queueing.Subject]*lookers[T]
}

// NewIndex returns an index without waiters.
func NewIndex[T any](hint queueing.EventHint) *Index[T] {
	return &Index[T]{hint, map[queueing.Subject]*lookers[T]{}}
}

// Add adds a waiter for its pod.
func (x *Index[T]) Add(w *Waiter[T], pod *framework.PodInfo) {
	for _, s := range subjectsOf(x.hint, pod) {
		l := x.bySubject[s]
		if l == nil {
			l = &lookers[T]{of: x, subject: s}
			x.bySubject[s] = l
		}
		w.mentions = append(w.mentions, mention[T]{l, len(l.list)})
		l.list = append(l.list, looker[T]{w, len(w.mentions) - 1})
	}
}

// Leave takes the waiter out of all indexes.
func (w *Waiter[T]) Leave() {
	for _, m := range w.mentions {
		l := m.of
		end := len(l.list) - 1
		moved := l.list[end]
		l.list[m.place] = moved
		moved.waiter.mentions[moved.at].place = m.place
		l.list[end] = looker[T]{}
		if l.list = l.list[:end]; end == 0 {
			delete(l.of.bySubject, l.subject)
		}
	}
	w.mentions = nil
}

// most is how many subjects of a waiter an index tells apart. Each costs a waiter some 2 µs when it
// begins to wait, and 260 bytes.
const most = 64

var anything = []queueing.Subject{{}}

// subjectsOf are the subjects of a pod for a hint that has any. A large one has any: to list its subjects may take long.
func subjectsOf(r queueing.EventHint, pod *framework.PodInfo) (list []queueing.Subject) {
	defer func() {
		if recover() != nil {
			list = anything
		}
	}()
	if podsize.IsLarge(pod) {
		return anything
	}
	for _, s := range r.Subjects(pod) {
		list = append(list, plain(s))
	}
	return coarser(list)
}

// plain leaves out what does not count, so that equal subjects are the same key.
func plain(s queueing.Subject) queueing.Subject {
	if s.Key == "" {
		s.AnyValue = false
	}
	if s.Key == "" || s.AnyValue {
		s.Value = ""
	}
	return s
}

// coarser returns at most as many subjects as an index tells apart, which cover those of the list.
// Of too many, values do not count, then labels, and then namespaces.
func coarser(list []queueing.Subject) []queueing.Subject {
	for _, blur := range []func(queueing.Subject) queueing.Subject{
		func(s queueing.Subject) queueing.Subject { return s }, // each counts once
		func(s queueing.Subject) queueing.Subject {
			s.AnyValue = true
			return plain(s)
		},
		func(s queueing.Subject) queueing.Subject { return queueing.Subject{Namespace: s.Namespace} },
	} {
		if len(list) <= most {
			break
		}
		known := map[queueing.Subject]bool{}
		var some []queueing.Subject
		for _, s := range list {
			if s = blur(s); !known[s] {
				known[s] = true
				some = append(some, s)
			}
		}
		list = some
	}
	if len(list) > most {
		return anything
	}
	return list
}

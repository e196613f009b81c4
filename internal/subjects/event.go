package subjects

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// An Event is what happened to an object.
type Event struct {
	queueing.ClusterEvent
	Before, After any
}

// Matters reports whether the event may help any pod, as the hint says.
func Matters(r queueing.EventHint, e Event) (yes bool) {
	if r.Matters == nil {
		return true
	}
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	return r.Matters(e.Before, e.After)
}

// Narrows reports whether the hint is asked only about pods that look at what the event is about.
func Narrows(r queueing.EventHint, e Event) bool {
	switch {
	case r.Subjects == nil, e.Resource == queueing.ResourceTargetPod:
		return false
	case r.About != nil:
		return e.Before != nil || e.After != nil
	}
	before, after := podOf(e.Before), podOf(e.After)
	return e.Resource == queueing.ResourceAssignedPod && (before != nil || after != nil) && (before == nil || !repels(before))
}

func podOf(object any) *framework.PodInfo {
	p, _ := object.(*framework.PodInfo)
	return p
}

// repels reports whether the pod has required anti-affinity terms.
func repels(p *framework.PodInfo) bool {
	a := p.Pod.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// About is what an event is about that a hint narrows. It reports false if that may be anything.
func About(r queueing.EventHint, e Event) (list []queueing.Subject, known bool) {
	if r.About == nil {
		return nil, true // the labels of the pod
	}
	defer func() {
		if recover() != nil {
			list, known = nil, false
		}
	}()
	list = r.About(e.Before, e.After)
	return list, !slices.ContainsFunc(list, func(s queueing.Subject) bool { return s.AnyValue || s == queueing.Subject{} })
}

// A Gathering is those whom an event may concern, each once.
type Gathering[T any] struct {
	List   []T
	number uint64 // no two have the same
}

// Begin begins with nobody.
func (g *Gathering[T]) Begin() { g.List, g.number = g.List[:0], g.number+1 }

// Take takes a waiter.
func (g *Gathering[T]) Take(w *Waiter[T]) {
	if w.gathered != g.number {
		w.gathered = g.number
		g.List = append(g.List, w.Of)
	}
}

func (g *Gathering[T]) takeAll(l *lookers[T]) {
	if l == nil {
		return
	}
	for _, x := range l.list {
		g.Take(x.waiter)
	}
}

// Gather takes the waiters that look at what the event is about. The hint narrows the event, and About
// is known.
func (x *Index[T]) Gather(e Event, about []queueing.Subject, to *Gathering[T]) {
	if x.hint.About != nil && len(about) == 0 {
		return
	}
	to.takeAll(x.bySubject[queueing.Subject{}])
	if len(about) > 0 {
		x.gatherAbout(about, to)
		return
	}
	for _, p := range []*framework.PodInfo{podOf(e.Before), podOf(e.After)} {
		if p != nil {
			x.gatherPod(p, to)
		}
	}
}

func (x *Index[T]) gatherAbout(about []queueing.Subject, to *Gathering[T]) {
	last := ""
	for i := range about {
		s := about[i]
		if s.Namespace != last {
			last = s.Namespace
			to.takeAll(x.bySubject[queueing.Subject{Namespace: last}])
		}
		if s.Key == "" {
			continue
		}
		x.gatherProperty(s.Namespace, s.Key, s.Value, to)
		if s.Namespace != "" {
			x.gatherProperty("", s.Key, s.Value, to)
		}
	}
}

// gatherProperty takes the waiters that look at a property of objects of the namespace.
func (x *Index[T]) gatherProperty(namespace, key, value string, to *Gathering[T]) {
	to.takeAll(x.bySubject[queueing.Subject{Namespace: namespace, Key: key, Value: value}])
	to.takeAll(x.bySubject[queueing.Subject{Namespace: namespace, Key: key, AnyValue: true}])
}

// gatherPod takes the waiters that look at the pod. It walks the pod's labels or the subjects,
// whichever are fewer: a pod may have 100,000 labels.
func (x *Index[T]) gatherPod(p *framework.PodInfo, to *Gathering[T]) {
	namespace, labels := p.Pod.Namespace, p.Pod.Labels
	if len(x.bySubject) < 4*len(labels) {
		for s, l := range x.bySubject {
			if (s.Namespace == "" || s.Namespace == namespace) && isAbout(s, labels) {
				to.takeAll(l)
			}
		}
		return
	}
	to.takeAll(x.bySubject[queueing.Subject{Namespace: namespace}])
	for key, value := range labels {
		x.gatherProperty(namespace, key, value, to)
		x.gatherProperty("", key, value, to)
	}
}

// isAbout reports whether a pod with the labels has the subject's.
func isAbout(s queueing.Subject, labels map[string]string) bool {
	value, ok := labels[s.Key]
	return s.Key == "" || ok && (s.AnyValue || value == s.Value)
}

package queue

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
)

// A listener is what one of a group's rejectors registered for. Once an event has come that the
// registration narrows, this listener and those of later groups have their items by subject.
type listener struct {
	*scheduling.RegisteredEvent
	items map[queueing.Subject]*lookers // nil until then
}

// lookers are the items that look at a subject of a listener, in any order.
type lookers struct {
	of      *listener
	subject queueing.Subject
	list    []looker
}

// A looker is an item, and which of its mentions this is.
type looker struct {
	it *Item
	at int
}

// A mention is where an item is among the lookers of a subject.
type mention struct {
	of    *lookers
	place int
}

// subjectsMost is how many subjects of an item a listener tells apart. Each costs an item some 2 µs when it
// begins to wait, and 260 bytes.
const subjectsMost = 64

var anything = []queueing.Subject{{}}

// coarser returns at most subjectsMost subjects that cover those of the list. Of too many, values do
// not count, then labels, and then namespaces.
func coarser(list []queueing.Subject) []queueing.Subject {
	for _, blur := range []func(queueing.Subject) queueing.Subject{
		func(s queueing.Subject) queueing.Subject { return s }, // each counts once
		func(s queueing.Subject) queueing.Subject {
			s.AnyValue = true
			return plain(s)
		},
		func(s queueing.Subject) queueing.Subject { return queueing.Subject{Namespace: s.Namespace} },
	} {
		if len(list) <= subjectsMost {
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
	if len(list) > subjectsMost {
		return anything
	}
	return list
}

func (g *group) listener(r *scheduling.RegisteredEvent) *listener {
	l := g.listeners[r]
	if l == nil {
		l = &listener{RegisteredEvent: r}
		g.listeners[r] = l
	}
	return l
}

// narrow takes the items of the group that the event may concern. It reports false if that may
// be any of them.
func (g *group) narrow(e event, to *gathering) bool {
	if e.IsWildcard() || g.profile == nil || g.rejectors.none() {
		return false
	}
	list := g.heard[e.ClusterEvent]
	for _, l := range list {
		if !l.narrows(e) && matters(l.EventHint, e.before, e.after) {
			return false
		}
	}
	for _, l := range list {
		if l.narrows(e) && matters(l.EventHint, e.before, e.after) && !g.takeFor(l, e, to) {
			return false
		}
	}
	return true
}

// narrows reports whether the listener's hint is asked only about pods that look at what the event
// is about.
func (l *listener) narrows(e event) bool {
	switch {
	case l.Subjects == nil, e.Resource == queueing.ResourceTargetPod:
		return false
	case l.About != nil:
		return e.before != nil || e.after != nil
	}
	before, after := podOf(e.before), podOf(e.after)
	return e.Resource == queueing.ResourceAssignedPod && (before != nil || after != nil) && (before == nil || !repels(before))
}

// takeFor takes the items of the group that look at what the event is about, as a listener says
// that narrows it. It reports false if that may be any of them.
func (g *group) takeFor(l *listener, e event, to *gathering) bool {
	if l.About == nil {
		g.build(l)
		to.takeAll(l.items[queueing.Subject{}])
		for _, p := range []*framework.PodInfo{podOf(e.before), podOf(e.after)} {
			if p != nil {
				l.takePod(p, to)
			}
		}
		return true
	}
	about := aboutOf(l.EventHint, e)
	switch {
	case slices.ContainsFunc(about, func(s queueing.Subject) bool { return s.AnyValue || s == queueing.Subject{} }):
		return false
	case len(about) > 0:
		g.build(l)
		l.takeAbout(about, to)
	}
	return true
}

// aboutOf is what a hint that says so says that an event is about.
func aboutOf(r queueing.EventHint, e event) (about []queueing.Subject) {
	defer func() {
		if recover() != nil {
			about = anything
		}
	}()
	return r.About(e.before, e.after)
}

// takeAbout takes the items that look at one of the subjects.
func (l *listener) takeAbout(about []queueing.Subject, to *gathering) {
	to.takeAll(l.items[queueing.Subject{}])
	last := ""
	for i := range about {
		s := about[i]
		if s.Namespace != last {
			last = s.Namespace
			to.takeAll(l.items[queueing.Subject{Namespace: last}])
		}
		if s.Key == "" {
			continue
		}
		l.takeProperty(s.Namespace, s.Key, s.Value, to)
		if s.Namespace != "" {
			l.takeProperty("", s.Key, s.Value, to)
		}
	}
}

// takeProperty takes the items that look at a property of objects of the namespace.
func (l *listener) takeProperty(namespace, key, value string, to *gathering) {
	to.takeAll(l.items[queueing.Subject{Namespace: namespace, Key: key, Value: value}])
	to.takeAll(l.items[queueing.Subject{Namespace: namespace, Key: key, AnyValue: true}])
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

// takePod takes the items that look at the pod. It walks the pod's labels or the subjects,
// whichever are fewer: a pod may have 100,000 labels.
func (l *listener) takePod(p *framework.PodInfo, to *gathering) {
	namespace, labels := p.Pod.Namespace, p.Pod.Labels
	if len(l.items) < 4*len(labels) {
		for s, x := range l.items {
			if (s.Namespace == "" || s.Namespace == namespace) && isAbout(s, labels) {
				to.takeAll(x)
			}
		}
		return
	}
	to.takeAll(l.items[queueing.Subject{Namespace: namespace}])
	for key, value := range labels {
		l.takeProperty(namespace, key, value, to)
		l.takeProperty("", key, value, to)
	}
}

// isAbout reports whether a pod with the labels has the subject's.
func isAbout(s queueing.Subject, labels map[string]string) bool {
	value, ok := labels[s.Key]
	return s.Key == "" || ok && (s.AnyValue || value == s.Value)
}

// A gathering is items that an event may concern, each once.
type gathering struct {
	items  []*Item
	number uint64 // no two have the same
}

func (w *gathering) take(it *Item) {
	if it.gathered != w.number {
		it.gathered = w.number
		w.items = append(w.items, it)
	}
}

func (w *gathering) takeAll(l *lookers) {
	if l == nil {
		return
	}
	for _, x := range l.list {
		w.take(x.it)
	}
}

// build has the listener keep the items of the group by subject, and those of later groups do so
// from the beginning: an event must not pay for pods that have come before it.
func (g *group) build(l *listener) {
	if l.items != nil {
		return
	}
	if !slices.Contains(g.profile.narrow, l.RegisteredEvent) {
		g.profile.narrow = append(g.profile.narrow, l.RegisteredEvent)
	}
	l.items = map[queueing.Subject]*lookers{}
	g.indexed = append(g.indexed, l)
	for it := g.first; it != nil; it = it.behind {
		l.add(it)
	}
}

// prepare builds the listeners of a new group for what has narrowed events before.
func (g *group) prepare() {
	if g.profile == nil {
		return
	}
	for _, r := range g.profile.narrow {
		if g.rejectors.wakes(r, r.Event) {
			g.build(g.listener(r))
		}
	}
}

// index notes an item of the group with the listeners that keep them by subject.
func (g *group) index(it *Item) {
	for _, l := range g.indexed {
		l.add(it)
	}
}

func (l *listener) add(it *Item) {
	for _, s := range subjectsOf(l.EventHint, it.Pod) {
		x := l.items[s]
		if x == nil {
			x = &lookers{of: l, subject: s}
			l.items[s] = x
		}
		it.about = append(it.about, mention{x, len(x.list)})
		x.list = append(x.list, looker{it, len(it.about) - 1})
	}
}

// unindex takes an item from all listeners.
func (it *Item) unindex() {
	for _, m := range it.about {
		x := m.of
		end := len(x.list) - 1
		moved := x.list[end]
		x.list[m.place] = moved
		moved.it.about[moved.at].place = m.place
		x.list[end] = looker{}
		if x.list = x.list[:end]; end == 0 {
			delete(x.of.items, x.subject)
		}
	}
	it.about = nil
}

// subjectsOf are the subjects of a pod for a hint that has any.
func subjectsOf(r queueing.EventHint, pod *framework.PodInfo) (list []queueing.Subject) {
	defer func() {
		if recover() != nil {
			list = anything
		}
	}()
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

package queue

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// subjects are the items of a group by the pods on nodes that their hints look at. They are kept
// once an event has come that all hints of the group narrow.
type subjects struct {
	items map[queueing.Subject]*lookers                  // nil until then
	wide  map[queueing.ClusterEvent][]queueing.EventHint // the hints that do not narrow the event
}

// lookers are the items that look at a subject, in any order.
type lookers struct {
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

// subjectsMost is how many subjects of an item are told apart. Each costs an item some 2 µs when it
// begins to wait, and 260 bytes.
const subjectsMost = 64

var anyPod = []queueing.Subject{{}}

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
		return anyPod
	}
	return list
}

// narrow takes the items of the group that the event may concern. It reports false if that may
// be any of them.
func (g *group) narrow(e event, to *gathering) bool {
	if e.Resource != queueing.ResourceAssignedPod || g.profile == nil || g.rejectors.none() || !g.narrows(e) {
		return false
	}
	before, after := podOf(e.before), podOf(e.after)
	if before == nil && after == nil || before != nil && repels(before) {
		return false
	}
	x := &g.subjects
	if x.items == nil {
		x.items = map[queueing.Subject]*lookers{}
		for it := g.first; it != nil; it = it.behind {
			x.add(g, it)
		}
	}
	to.takeAll(x.items[queueing.Subject{}])
	for _, p := range []*framework.PodInfo{before, after} {
		if p != nil {
			x.takeAbout(p, to)
		}
	}
	return true
}

// narrows reports whether all hints that are asked about the event narrow it.
func (g *group) narrows(e event) bool {
	wide, known := g.subjects.wide[e.ClusterEvent]
	if !known {
		for _, r := range g.profile.matching(e.ClusterEvent) {
			if r.Subjects == nil && g.rejectors.wakes(r.Plugin, e.ClusterEvent) {
				wide = append(wide, r.EventHint)
			}
		}
		if g.subjects.wide == nil {
			g.subjects.wide = map[queueing.ClusterEvent][]queueing.EventHint{}
		}
		g.subjects.wide[e.ClusterEvent] = wide
	}
	return !slices.ContainsFunc(wide, func(r queueing.EventHint) bool { return matters(r, e.before, e.after) })
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

// takeAbout takes the items that look at the pod. It walks the pod's labels or the subjects,
// whichever are fewer: a pod may have 100,000 labels.
func (x *subjects) takeAbout(p *framework.PodInfo, to *gathering) {
	namespace, labels := p.Pod.Namespace, p.Pod.Labels
	if len(x.items) < 4*len(labels) {
		for s, l := range x.items {
			if (s.Namespace == "" || s.Namespace == namespace) && isAbout(s, labels) {
				to.takeAll(l)
			}
		}
		return
	}
	to.takeAll(x.items[queueing.Subject{Namespace: namespace}])
	for key, value := range labels {
		for _, n := range [2]string{namespace, ""} {
			to.takeAll(x.items[queueing.Subject{Namespace: n, Key: key, Value: value}])
			to.takeAll(x.items[queueing.Subject{Namespace: n, Key: key, AnyValue: true}])
		}
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

// add notes an item of the group, if its items are kept by subject.
func (x *subjects) add(g *group, it *Item) {
	if x.items == nil {
		return
	}
	list := g.about(it.Pod)
	it.about = make([]mention, 0, len(list))
	for _, s := range list {
		l := x.items[s]
		if l == nil {
			l = &lookers{subject: s}
			x.items[s] = l
		}
		it.about = append(it.about, mention{l, len(l.list)})
		l.list = append(l.list, looker{it, len(it.about) - 1})
	}
}

func (x *subjects) remove(it *Item) {
	for _, m := range it.about {
		l := m.of
		end := len(l.list) - 1
		moved := l.list[end]
		l.list[m.place] = moved
		moved.it.about[moved.at].place = m.place
		l.list[end] = looker{}
		if l.list = l.list[:end]; end == 0 {
			delete(x.items, l.subject)
		}
	}
	it.about = nil
}

// about are the subjects of a pod for all hints of the group that have any.
func (g *group) about(pod *framework.PodInfo) (list []queueing.Subject) {
	defer func() {
		if recover() != nil {
			list = anyPod
		}
	}()
	for i := range g.profile.events {
		if r := &g.profile.events[i]; r.Subjects != nil && g.rejectors.wakes(r.Plugin, r.Event) {
			for _, s := range r.Subjects(pod) {
				list = append(list, plain(s))
			}
		}
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

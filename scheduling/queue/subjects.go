package queue

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// subjects are the items of a group by the pods on nodes that their hints look at. They are kept
// once an event has come that all hints of the group narrow.
type subjects struct {
	items    map[queueing.Subject]map[*Item]bool // nil until then
	narrowed map[queueing.ClusterEvent]bool      // whether all hints narrow the event
}

// subjectsMost is how many subjects of an item are told apart: beyond, it is about any pod.
const subjectsMost = 4096

var anyPod = []queueing.Subject{{}}

// narrow appends the items of the group that the event may concern. It is not ok if that may be
// any of them.
func (g *group) narrow(e event, list []*Item) (narrowed []*Item, ok bool) {
	if e.Resource != queueing.ResourceAssignedPod || g.profile == nil || g.rejectors.none() || !g.narrows(e.ClusterEvent) {
		return list, false
	}
	before, after := podOf(e.before), podOf(e.after)
	if before == nil && after == nil || before != nil && repels(before) {
		return list, false
	}
	x := &g.subjects
	if x.items == nil {
		x.items = map[queueing.Subject]map[*Item]bool{}
		for it := g.first; it != nil; it = it.behind {
			x.add(g, it)
		}
	}
	list = x.appendTo(list, queueing.Subject{})
	for _, p := range []*framework.PodInfo{before, after} {
		if p != nil {
			list = x.appendAbout(list, p)
		}
	}
	return list, true
}

// narrows reports whether all hints that are asked about the event narrow it.
func (g *group) narrows(e queueing.ClusterEvent) bool {
	yes, known := g.subjects.narrowed[e]
	if known {
		return yes
	}
	yes = true
	for _, r := range g.profile.matching(e) {
		yes = yes && (r.Subjects != nil || !g.rejectors.wakes(r.Plugin, e))
	}
	if g.subjects.narrowed == nil {
		g.subjects.narrowed = map[queueing.ClusterEvent]bool{}
	}
	g.subjects.narrowed[e] = yes
	return yes
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

func (x *subjects) appendTo(list []*Item, s queueing.Subject) []*Item {
	for it := range x.items[s] {
		list = append(list, it)
	}
	return list
}

// appendAbout appends the items that look at the pod.
func (x *subjects) appendAbout(list []*Item, p *framework.PodInfo) []*Item {
	namespace := p.Pod.Namespace
	list = x.appendTo(list, queueing.Subject{Namespace: namespace})
	for key, value := range p.Pod.Labels {
		for _, n := range [2]string{namespace, ""} {
			list = x.appendTo(list, queueing.Subject{Namespace: n, Key: key, Value: value})
			list = x.appendTo(list, queueing.Subject{Namespace: n, Key: key, AnyValue: true})
		}
	}
	return list
}

// add notes an item of the group, if its items are kept by subject.
func (x *subjects) add(g *group, it *Item) {
	if x.items == nil {
		return
	}
	it.about = g.about(it.Pod)
	for _, s := range it.about {
		items := x.items[s]
		if items == nil {
			items = map[*Item]bool{}
			x.items[s] = items
		}
		items[it] = true
	}
}

func (x *subjects) remove(it *Item) {
	for _, s := range it.about {
		items := x.items[s]
		if delete(items, it); len(items) == 0 {
			delete(x.items, s)
		}
	}
	it.about = nil
}

// about are the subjects of a pod for all hints of the group that have any.
func (g *group) about(pod *framework.PodInfo) (list []queueing.Subject) {
	defer func() {
		if recover() != nil || len(list) > subjectsMost {
			list = anyPod
		}
	}()
	for i := range g.profile.events {
		if r := &g.profile.events[i]; r.Subjects != nil && g.rejectors.wakes(r.Plugin, r.Event) && len(list) <= subjectsMost {
			for _, s := range r.Subjects(pod) {
				list = append(list, plain(s))
			}
		}
	}
	return list
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

package topo

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// workloadIndex is an extension of the snapshot: it finds the services that may
// select a pod, and counts the objects that DefaultSelector reads.
type workloadIndex struct {
	owner *owner
	stale bool // a rollback took back changes
	keys  shards[*api.Service]
	count int // of keys

	// services has the services by one label that their pods need. Users choose it, so
	// many may share one.
	services shards[*namesakes]
	text     []byte

	version  uint64 // of the snapshot; changes with every object
	defaults defaults
}

var workloadIndexes = framework.NewExtensionKey(func(s *framework.Snapshot) *workloadIndex {
	x := &workloadIndex{}
	x.build(s)
	return x
})

// workloadsOf returns the index, up to date.
func workloadsOf(s *framework.Snapshot) *workloadIndex {
	x := workloadIndexes.Of(s)
	if x.stale {
		x.build(s)
	}
	return x
}

// The prefixes of keys.
const (
	serviceKey     = "s "
	controllerKey  = "c "
	replicaSetKey  = "r "
	statefulSetKey = "t "
)

func (x *workloadIndex) build(s *framework.Snapshot) {
	*x = workloadIndex{owner: new(owner), text: x.text, version: s.NewVersion()}
	for _, o := range framework.List[api.Service](s) {
		x.put(serviceKey+api.KeyOf(o), o, true)
	}
	for _, o := range framework.List[api.ReplicationController](s) {
		x.put(controllerKey+api.KeyOf(o), nil, true)
	}
	for _, o := range framework.List[api.ReplicaSet](s) {
		x.put(replicaSetKey+api.KeyOf(o), nil, true)
	}
	for _, o := range framework.List[api.StatefulSet](s) {
		x.put(statefulSetKey+api.KeyOf(o), nil, true)
	}
	x.follow(s)
}

// follow makes the index stale if the present state is rolled back.
func (x *workloadIndex) follow(s *framework.Snapshot) {
	if s.Recording() && !s.RollingBack() {
		s.Record(staleWorkloads{x})
	}
}

type staleWorkloads struct{ index *workloadIndex }

// Undo implements [framework.Undoer].
func (u staleWorkloads) Undo(*framework.Snapshot) { u.index.stale = true }

// Fork implements [framework.Extension].
func (x *workloadIndex) Fork(*framework.Snapshot) framework.Extension {
	f := *x
	f.owner, f.text, f.defaults = new(owner), nil, defaults{}
	x.owner = new(owner)
	return &f
}

// ObjectChanged implements [framework.ObjectWatcher].
func (x *workloadIndex) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.Service:
		x.put(serviceKey+key, o, o != nil)
	case *api.ReplicationController:
		x.put(controllerKey+key, nil, o != nil)
	case *api.ReplicaSet:
		x.put(replicaSetKey+key, nil, o != nil)
	case *api.StatefulSet:
		x.put(statefulSetKey+key, nil, o != nil)
	default:
		return
	}
	x.version, x.defaults = s.NewVersion(), defaults{}
	x.follow(s)
}

// put sets the object of a key, or removes it. service is nil if it is of another
// kind.
func (x *workloadIndex) put(key string, service *api.Service, present bool) {
	old, had := x.keys.get(key)
	if old != nil {
		x.edit(old, func(byName map[string]*api.Service) { delete(byName, old.Name) })
	}
	if had {
		x.count--
		x.keys.remove(x.owner, key)
	}
	if !present {
		return
	}
	x.count++
	x.keys.set(x.owner, key, service)
	if service != nil {
		x.edit(service, func(byName map[string]*api.Service) { byName[service.Name] = service })
	}
}

// namesakes are services of one namespace with one label in common, by name. Forks share
// them; one that writes copies them first.
type namesakes struct {
	owner  *owner
	byName map[string]*api.Service
}

// edit edits the services among which a service is. One without a selector is among none.
func (x *workloadIndex) edit(o *api.Service, edit func(byName map[string]*api.Service)) {
	if o.Spec.Selector == nil {
		return
	}
	text := string(x.anchor(o))
	list, _ := x.services.get(text)
	switch {
	case list == nil:
		list = &namesakes{x.owner, map[string]*api.Service{}}
		x.services.set(x.owner, text, list)
	case list.owner != x.owner:
		list = &namesakes{x.owner, maps.Clone(list.byName)}
		x.services.set(x.owner, text, list)
	}
	if edit(list.byName); len(list.byName) == 0 {
		x.services.remove(x.owner, text)
	}
}

// anchor returns the text of the label that a service's pods need, of several the one
// with the longest value: short values such as "true" are common.
func (x *workloadIndex) anchor(o *api.Service) []byte {
	kind, key, value := anyLabels, "", ""
	for k, v := range o.Spec.Selector {
		if kind == anyLabels || len(v) > len(value) || len(v) == len(value) && k < key {
			kind, key, value = labelValue, k, v
		}
	}
	x.text = appendAnchor(x.text[:0], kind+withNamespace, o.Namespace, key, value)
	return x.text
}

// of returns the services that select a pod, by name.
func (x *workloadIndex) of(p *api.Pod) []*api.Service {
	var list []*api.Service
	look := func(kind byte, key, value string) {
		x.text = appendAnchor(x.text[:0], kind+withNamespace, p.Namespace, key, value)
		if services, ok := x.services.look(x.text); ok {
			for _, o := range services.byName {
				if hasLabels(p.Labels, o.Spec.Selector) {
					list = append(list, o)
				}
			}
		}
	}
	look(anyLabels, "", "")
	for key, value := range p.Labels {
		look(labelValue, key, value)
	}
	slices.SortFunc(list, func(a, b *api.Service) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// hasLabels reports whether labels has all the wanted ones.
func hasLabels(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

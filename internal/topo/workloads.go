package topo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// workloadIndex is an extension of the snapshot: it finds the services that may
// select a pod, and counts the objects that DefaultSelector reads.
type workloadIndex struct {
	owner *owner
	stale bool            // a rollback may have taken back changes
	built *objectVersions // of the objects, nil once one has changed
	keys  shards[*api.Service]
	count int // of keys

	// services has the services by one label that their pods need. Users choose it, so
	// many may share one.
	services shards[*neighbors]
	text     []byte

	version  uint64 // of the snapshot; changes with every object
	defaults defaults
}

var workloadIndexes = framework.NewExtensionKey(func(s *framework.Snapshot) *workloadIndex {
	return &workloadIndex{owner: new(owner), stale: true}
})

// workloadsOf returns the index, up to date. One that was built in a transaction is as good after its rollback if
// the objects were the same before it.
func workloadsOf(s *framework.Snapshot) *workloadIndex {
	x := workloadIndexes.Of(s)
	if x.isStale(s) {
		x.build(s)
	}
	return x
}

func (x *workloadIndex) isStale(s *framework.Snapshot) bool {
	if x.stale && x.built != nil && *x.built == versionsOf(s) {
		x.stale = false
		x.follow(s) // an outer transaction may have made the objects what they are
	}
	return x.stale
}

// objectVersions are those of the kinds that the index holds.
type objectVersions struct{ services, controllers, replicaSets, statefulSets, deployments uint64 }

func versionsOf(s *framework.Snapshot) objectVersions {
	return objectVersions{
		framework.ObjectsVersion[api.Service](s), framework.ObjectsVersion[api.ReplicationController](s),
		framework.ObjectsVersion[api.ReplicaSet](s), framework.ObjectsVersion[api.StatefulSet](s),
		framework.ObjectsVersion[api.Deployment](s),
	}
}

// The prefixes of keys.
const (
	serviceKey     = "s "
	controllerKey  = "c "
	replicaSetKey  = "r "
	statefulSetKey = "t "
	deploymentKey  = "d "
)

func (x *workloadIndex) build(s *framework.Snapshot) {
	*x = workloadIndex{owner: new(owner), text: x.text, version: s.NewVersion(), built: new(versionsOf(s))}
	x.putAll(s)
	x.follow(s)
}

func (x *workloadIndex) putAll(s *framework.Snapshot) {
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
	for _, o := range framework.List[api.Deployment](s) {
		x.put(deploymentKey+api.KeyOf(o), nil, true)
	}
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
	if x.stale {
		x.built = nil
		return
	}
	switch o := obj.(type) {
	case *api.Service:
		x.put(serviceKey+key, o, o != nil)
	case *api.ReplicationController:
		x.put(controllerKey+key, nil, o != nil)
	case *api.ReplicaSet:
		x.put(replicaSetKey+key, nil, o != nil)
	case *api.StatefulSet:
		x.put(statefulSetKey+key, nil, o != nil)
	case *api.Deployment:
		x.put(deploymentKey+key, nil, o != nil)
	default:
		return
	}
	x.version, x.defaults, x.built = s.NewVersion(), defaults{}, nil
	x.follow(s)
}

// Check implements [framework.Checker]: it makes another index of the same objects.
func (x *workloadIndex) Check(s *framework.Snapshot) error {
	if x.isStale(s) {
		return nil
	}
	anew := &workloadIndex{owner: new(owner)}
	anew.putAll(s)
	if x.count != anew.count {
		return fmt.Errorf("index of services and controllers: it has %d objects, want %d", x.count, anew.count)
	}
	for _, o := range framework.List[api.Service](s) {
		if kept, _ := x.keys.get(serviceKey + api.KeyOf(o)); kept != o {
			return fmt.Errorf("index of services and controllers: service %q is another one", api.KeyOf(o))
		}
	}
	return nil
}

// put sets the object of a key, or removes it. service is nil if it is of another
// kind.
func (x *workloadIndex) put(key string, service *api.Service, present bool) {
	old, had := x.keys.get(key)
	if old != nil {
		x.edit(old, func(list []*api.Service) []*api.Service {
			at, _ := slices.BinarySearchFunc(list, old, byName)
			return slices.Delete(list, at, at+1)
		})
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
		x.edit(service, func(list []*api.Service) []*api.Service {
			at, _ := slices.BinarySearchFunc(list, service, byName)
			return slices.Insert(list, at, service)
		})
	}
}

func byName(a, b *api.Service) int { return cmp.Compare(a.Name, b.Name) }

// neighbors are services of one namespace with one label in common, by the text of their
// selector. Forks share them; one that writes copies them first.
type neighbors struct {
	owner      *owner
	bySelector map[string]*twins
}

// twins are services of one namespace with the same selector: thousands of them say no more of
// a pod than one does.
type twins struct {
	owner  *owner
	labels []label        // of the selector
	list   []*api.Service // by name
}

// edit edits the twins of a service. One without a selector has none.
func (x *workloadIndex) edit(o *api.Service, edit func(list []*api.Service) []*api.Service) {
	if o.Spec.Selector == nil {
		return
	}
	anchor := string(x.anchor(o))
	near, _ := x.services.get(anchor)
	switch {
	case near == nil:
		near = &neighbors{x.owner, map[string]*twins{}}
		x.services.set(x.owner, anchor, near)
	case near.owner != x.owner:
		near = &neighbors{x.owner, maps.Clone(near.bySelector)}
		x.services.set(x.owner, anchor, near)
	}
	x.text = appendLabels(x.text[:0], o.Spec.Selector)
	alike := near.bySelector[string(x.text)]
	switch {
	case alike == nil:
		alike = &twins{owner: x.owner, labels: labelsOf(o.Spec.Selector)}
		near.bySelector[string(x.text)] = alike
	case alike.owner != x.owner:
		alike = &twins{x.owner, alike.labels, slices.Clone(alike.list)}
		near.bySelector[string(x.text)] = alike
	}
	if alike.list = edit(alike.list); len(alike.list) > 0 {
		return
	}
	if delete(near.bySelector, string(x.text)); len(near.bySelector) == 0 {
		x.services.remove(x.owner, anchor)
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

// candidates calls visit with all twins that may select a pod.
func (x *workloadIndex) candidates(p *api.Pod, visit func(*twins)) {
	look := func(kind byte, key, value string) {
		x.text = appendAnchor(x.text[:0], kind+withNamespace, p.Namespace, key, value)
		if near, ok := x.services.look(x.text); ok {
			for _, alike := range near.bySelector {
				visit(alike)
			}
		}
	}
	look(anyLabels, "", "")
	for key, value := range p.Labels {
		look(labelValue, key, value)
	}
}

// of returns the services that select a pod, by name.
func (x *workloadIndex) of(p *api.Pod) []*api.Service {
	var list []*api.Service
	different := 0
	x.candidates(p, func(t *twins) {
		if hasLabels(p.Labels, t.labels) {
			list = append(list, t.list...)
			different++
		}
	})
	if different > 1 {
		slices.SortFunc(list, byName)
	}
	return list
}

// selectors returns the labels that the services which select a pod want, all together.
func (x *workloadIndex) selectors(p *api.Pod) map[string]string {
	merged := map[string]string{}
	x.candidates(p, func(t *twins) {
		if hasLabels(merged, t.labels) || !hasLabels(p.Labels, t.labels) {
			return // the first is often so where users have thousands of services for one pod
		}
		for _, l := range t.labels {
			merged[l.key] = l.value
		}
	})
	return merged
}

// hasLabels reports whether labels has all the wanted ones.
func hasLabels(labels map[string]string, wanted []label) bool {
	for i := range wanted {
		if value, ok := labels[wanted[i].key]; !ok || value != wanted[i].value {
			return false
		}
	}
	return true
}

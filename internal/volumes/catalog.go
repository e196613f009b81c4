package volumes

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// A catalog keeps compiled what decisions about unbound claims look through:
// all volumes and all storage capacities. It is brought up to date when it is
// asked for; objects that stayed are not compiled again.
type catalog struct {
	volumes    []*volume
	capacities []*capacity

	volumesVersion, capacitiesVersion uint64
}

// A volume is a persistent volume with what is derived from it.
type volume struct {
	object   *api.PersistentVolume
	class    string
	size     resource.Quantity
	affinity Affinity
	must     label // the nodes that it can be used from have this label
}

// A capacity is a CSIStorageCapacity with what is derived from it.
type capacity struct {
	object *api.CSIStorageCapacity
	known  bool  // whether the limit is
	limit  int64 // bytes of the largest volume
	nodes  match.LabelSelector
	must   label
}

var catalogKey = framework.NewExtensionKey(func(*framework.Snapshot) *catalog { return new(catalog) })

// Fork implements [framework.Extension]. The lists are never changed in place.
func (c *catalog) Fork(*framework.Snapshot) framework.Extension {
	copied := *c
	return &copied
}

// volumesIn returns all volumes in the order of their names.
func volumesIn(s *framework.Snapshot) []*volume {
	c := catalogKey.Of(s)
	if v := framework.ObjectsVersion[api.PersistentVolume](s); v != c.volumesVersion {
		c.volumes = renew(c.volumes, framework.List[api.PersistentVolume](s),
			(*api.PersistentVolume).Key, func(v *volume) *api.PersistentVolume { return v.object }, compileVolume)
		c.volumesVersion = v
	}
	return c.volumes
}

// capacitiesIn returns all storage capacities in the order of their keys.
func capacitiesIn(s *framework.Snapshot) []*capacity {
	c := catalogKey.Of(s)
	if v := framework.ObjectsVersion[api.CSIStorageCapacity](s); v != c.capacitiesVersion {
		c.capacities = renew(c.capacities, framework.List[api.CSIStorageCapacity](s),
			(*api.CSIStorageCapacity).Key, func(c *capacity) *api.CSIStorageCapacity { return c.object }, compileCapacity)
		c.capacitiesVersion = v
	}
	return c.capacities
}

// renew compiles the objects, but takes from old what was compiled of them
// before. Both lists are in the order of the objects' keys.
func renew[T, C any](old []C, objects []*T, key func(*T) string, object func(C) *T, compile func(*T) C) []C {
	list := make([]C, 0, len(objects))
	for _, o := range objects {
		for len(old) > 0 && object(old[0]) != o && key(object(old[0])) < key(o) {
			old = old[1:]
		}
		if len(old) > 0 && object(old[0]) == o {
			list, old = append(list, old[0]), old[1:]
		} else {
			list = append(list, compile(o))
		}
	}
	return list
}

func compileVolume(object *api.PersistentVolume) *volume {
	v := &volume{
		object: object, class: ClassOfVolume(object), size: object.Spec.Capacity[resource.Storage],
		affinity: AffinityOf(object.Spec.NodeAffinity),
	}
	if a := object.Spec.NodeAffinity; a != nil && a.Required != nil && len(a.Required.NodeSelectorTerms) == 1 {
		v.must = mustOfTerm(&a.Required.NodeSelectorTerms[0])
	}
	return v
}

// compileCapacity takes a selector that is malformed for one that selects
// nothing, as upstream does.
func compileCapacity(object *api.CSIStorageCapacity) *capacity {
	c := &capacity{object: object, must: mustOfSelector(object.NodeTopology)}
	c.nodes, _ = match.NewLabelSelector(object.NodeTopology)
	limit := object.MaximumVolumeSize
	if limit == nil {
		limit = object.Capacity
	}
	if limit != nil {
		c.known, c.limit = true, limit.Value()
	}
	return c
}

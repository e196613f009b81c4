package volumes

import (
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// A catalog caches compiled objects for decisions about unbound claims: all volumes
// and all storage capacities. It is updated on demand; unchanged objects are not
// compiled again.
type catalog struct {
	volumes    []*volume
	capacities []*capacity

	volumeLabels, capacityLabels rarity

	volumesVersion, capacitiesVersion uint64
}

// A volume is a persistent volume with derived data.
type volume struct {
	object   *api.PersistentVolume
	class    string
	size     resource.Quantity
	affinity Affinity
	musts    musts // of every node that can use the volume
}

// A capacity is a CSIStorageCapacity with derived data.
type capacity struct {
	object *api.CSIStorageCapacity
	known  bool  // the limit is known
	limit  int64 // bytes of the largest volume
	nodes  match.LabelSelector
	musts  musts
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
		c.volumeLabels = rank(c.volumeLabels, c.volumes, func(v *volume) *musts { return &v.musts })
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
		c.capacityLabels = rank(c.capacityLabels, c.capacities, func(c *capacity) *musts { return &c.musts })
		c.capacitiesVersion = v
	}
	return c.capacities
}

// renew compiles the objects, and reuses results for unchanged objects from old.
// Both lists are in the order of the objects' keys.
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
		v.musts = mustsOfTerm(&a.Required.NodeSelectorTerms[0])
	}
	return v
}

// compileCapacity treats a malformed selector as one that selects nothing, as
// upstream does.
func compileCapacity(object *api.CSIStorageCapacity) *capacity {
	c := &capacity{object: object, musts: mustsOfSelector(object.NodeTopology)}
	c.nodes, _ = match.NewLabelSelector(object.NodeTopology)
	c.limit, c.known = limitOf(object)
	return c
}

// limitOf returns the size of the largest volume that can be made, or false if it is not
// known.
func limitOf(c *api.CSIStorageCapacity) (bytes int64, known bool) {
	limit := c.MaximumVolumeSize
	if limit == nil {
		limit = c.Capacity
	}
	if limit == nil {
		return 0, false
	}
	return limit.Value(), true
}

// MayOffer reports whether a capacity may offer a volume that it did not offer before its
// change: it has grown, or counts for other classes or nodes.
func MayOffer(before, after *api.CSIStorageCapacity) bool {
	was, wasKnown := limitOf(before)
	now, known := limitOf(after)
	return known && (!wasKnown || now > was || before.StorageClassName != after.StorageClassName ||
		!reflect.DeepEqual(before.NodeTopology, after.NodeTopology))
}

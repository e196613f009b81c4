package volumes

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// A catalog knows, for decisions about unbound claims, which volumes and storage capacities there are of each
// class, with a version for each class. It follows objects, so that a volume that belongs to a claim already
// changes nothing for other claims. Lists are made on demand; unchanged objects are not compiled again.
type catalog struct {
	snapshot *framework.Snapshot

	volumes  cow.Map[string, whose]    // by name
	reserved cow.Map[string, []string] // names of volumes, sorted, by the key of the claim that they are for
	free     cow.Map[string, crowd]    // the volumes that are for no claim, by class
	rooms    cow.Map[string, string]   // classes of capacities, by key
	offered  cow.Map[string, crowd]    // the capacities, by class

	spent   *atomic.Int64           // how many volumes were looked at for selectors; forks count together
	lists   map[string]*freeVolumes // by class
	touched map[string][]string     // names of volumes that may have changed since the list of a class was made
	offers  map[string]*offer       // by class

	listsMost int // how many lists there may be before dropLists looks at them

	capacities        []*capacity
	capacityLabels    rarity
	capacitiesVersion uint64
}

// A crowd is how many objects there are of a class, and their version. There is none for a class without any: classes come
// and go, too.
type crowd struct {
	version uint64
	n       int
}

// crowdChanged gives a crowd a new version, after so many more have come than have gone.
func crowdChanged(s *framework.Snapshot, m *cow.Map[string, crowd], class string, more int) {
	was, _ := m.Get(class)
	if was.n+more == 0 {
		change(s, m, class, nil)
		return
	}
	change(s, m, class, &crowd{s.NewVersion(), was.n + more})
}

// whose says whom a volume is for: any claim of a class, or one claim.
type whose struct{ class, claim string }

func whoseIs(v *api.PersistentVolume) whose {
	if ref := v.Spec.ClaimRef; ref != nil {
		return whose{claim: key(ref.Namespace, ref.Name)}
	}
	return whose{class: ClassOfVolume(v)}
}

// A volume is a persistent volume with derived data.
type volume struct {
	object   *api.PersistentVolume
	class    string
	modes    modes
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

var catalogKey = framework.NewExtensionKey(func(s *framework.Snapshot) *catalog {
	c := &catalog{spent: new(atomic.Int64)}
	c.Rebuild(s)
	return c
})

// Spent returns at how many volumes claims with selectors have looked so far.
func Spent(s *framework.Snapshot) int64 {
	if !hasVolumes(s) {
		return 0
	}
	return catalogKey.Of(s).spent.Load()
}

// Rebuild reads all objects: the snapshot calls it after a rollback of the transaction in which c was
// made.
func (c *catalog) Rebuild(s *framework.Snapshot) {
	*c = catalog{snapshot: s, spent: c.spent}
	version := s.NewVersion()
	for _, v := range framework.List[api.PersistentVolume](s) {
		w := whoseIs(v)
		c.volumes.Set(v.Key(), w)
		if w.claim != "" {
			names, _ := c.reserved.Get(w.claim)
			c.reserved.Set(w.claim, append(slices.Clip(names), v.Key()))
			continue
		}
		of, _ := c.free.Get(w.class)
		c.free.Set(w.class, crowd{version, of.n + 1})
	}
	for _, o := range framework.List[api.CSIStorageCapacity](s) {
		c.rooms.Set(o.Key(), o.StorageClassName)
		of, _ := c.offered.Get(o.StorageClassName)
		c.offered.Set(o.StorageClassName, crowd{version, of.n + 1})
	}
}

// Fork implements [framework.Extension]. The lists are never changed in place.
func (c *catalog) Fork(s *framework.Snapshot) framework.Extension {
	return &catalog{
		snapshot: s, spent: c.spent, volumes: c.volumes.Fork(), reserved: c.reserved.Fork(), free: c.free.Fork(), rooms: c.rooms.Fork(), offered: c.offered.Fork(),
		lists: maps.Clone(c.lists), touched: c.touchedNow(), offers: maps.Clone(c.offers), listsMost: c.listsMost,
		capacities: c.capacities, capacityLabels: c.capacityLabels, capacitiesVersion: c.capacitiesVersion,
	}
}

// ObjectChanged implements [framework.ObjectWatcher].
func (c *catalog) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.PersistentVolume:
		c.volumeChanged(s, key, o)
	case *api.CSIStorageCapacity:
		c.capacityChanged(s, key, o)
	}
}

func (c *catalog) volumeChanged(s *framework.Snapshot, name string, v *api.PersistentVolume) {
	was, there := c.volumes.Get(name)
	var is *whose
	if v != nil {
		is = new(whoseIs(v))
	}
	switch {
	case !there || was.claim != "":
	case is != nil && was == *is:
		c.freeChanged(s, was.class, name, 0)
	default:
		c.freeChanged(s, was.class, name, -1)
	}
	if is != nil && is.claim == "" && (!there || was != *is) {
		c.freeChanged(s, is.class, name, 1)
	}
	if is != nil && there && was == *is {
		return
	}
	if there && was.claim != "" {
		c.reserve(s, was.claim, func(names []string) []string {
			return slices.DeleteFunc(names, func(n string) bool { return n == name })
		})
	}
	if is != nil && is.claim != "" {
		c.reserve(s, is.claim, func(names []string) []string {
			i, _ := slices.BinarySearch(names, name)
			return slices.Insert(names, i, name)
		})
	}
	change(s, &c.volumes, name, is)
}

// freeChanged notes that a volume of a class is free, or was, and how many more there are.
func (c *catalog) freeChanged(s *framework.Snapshot, class, name string, more int) {
	crowdChanged(s, &c.free, class, more)
	c.touch(class, name)
	if s.Recording() {
		s.Record(touchUndo{c, class, name})
	}
}

// touchUndo notes that a volume is as it was: a list may have been made meanwhile.
type touchUndo struct {
	c           *catalog
	class, name string
}

func (u touchUndo) Undo(*framework.Snapshot) { u.c.touch(u.class, u.name) }

// fewTouched is up to how many volumes of a class are noted as touched, or as many as its list has. With more, the
// list is made anew.
const fewTouched = 64

func (c *catalog) touch(class, name string) {
	l := c.lists[class]
	if l == nil {
		return
	}
	names := append(c.touched[class], name)
	if len(names) > max(fewTouched, len(l.all)) {
		delete(c.lists, class)
		delete(c.touched, class)
		return
	}
	if c.touched == nil {
		c.touched = map[string][]string{}
	}
	c.touched[class] = names
}

// touchedNow returns touched as it is now, for a fork.
func (c *catalog) touchedNow() map[string][]string {
	now := maps.Clone(c.touched)
	for class, names := range now {
		now[class] = slices.Clip(names)
	}
	return now
}

// reserve changes the names of the volumes that are for a claim.
func (c *catalog) reserve(s *framework.Snapshot, claim string, do func(names []string) []string) {
	names, _ := c.reserved.Get(claim)
	if names = do(slices.Clone(names)); len(names) == 0 {
		change(s, &c.reserved, claim, nil)
		return
	}
	change(s, &c.reserved, claim, &names)
}

func (c *catalog) capacityChanged(s *framework.Snapshot, key string, o *api.CSIStorageCapacity) {
	was, there := c.rooms.Get(key)
	if there && o != nil && was == o.StorageClassName {
		crowdChanged(s, &c.offered, was, 0)
		return
	}
	if there {
		crowdChanged(s, &c.offered, was, -1)
	}
	if o == nil {
		change(s, &c.rooms, key, nil)
		return
	}
	crowdChanged(s, &c.offered, o.StorageClassName, 1)
	change(s, &c.rooms, key, &o.StorageClassName)
}

// freeOf returns the volumes of a class that are for no claim.
func (c *catalog) freeOf(class string) *freeVolumes {
	of, _ := c.free.Get(class)
	l := c.lists[class]
	if l != nil && l.version == of.version {
		return l
	}
	next := &freeVolumes{version: of.version}
	switch {
	case of.n == 0:
	case l != nil:
		next.all, next.labels = c.renewed(class, l.all), l.labels
	default:
		for _, v := range framework.List[api.PersistentVolume](c.snapshot) {
			if isFree(v, class) {
				next.all = append(next.all, compileVolume(v))
			}
		}
	}
	delete(c.touched, class)
	next.labels = rank(next.labels, next.all, func(v *volume) *musts { return &v.musts })
	if l == nil {
		c.dropLists()
	}
	c.lists[class] = next
	return next
}

// fewLists is how many lists are kept besides those of the classes that have free volumes.
const fewLists = 64

// dropLists makes room for a list: classes that have no free volumes need none.
func (c *catalog) dropLists() {
	if c.lists == nil {
		c.lists = map[string]*freeVolumes{}
	}
	if len(c.lists) < c.listsMost {
		return
	}
	for class := range c.lists {
		if _, ok := c.free.Get(class); !ok {
			delete(c.lists, class)
			delete(c.touched, class)
		}
	}
	c.listsMost = 2*len(c.lists) + fewLists
}

// isFree reports whether a volume is of a class, and for no claim.
func isFree(v *api.PersistentVolume, class string) bool {
	return v != nil && v.Spec.ClaimRef == nil && ClassOfVolume(v) == class
}

// renewed returns the free volumes of a class as they are now. Only those that were touched are looked at: most
// volumes belong to claims, or did not change.
func (c *catalog) renewed(class string, old []*volume) []*volume {
	names := slices.Clone(c.touched[class])
	slices.Sort(names)
	names = slices.Compact(names)
	list := make([]*volume, 0, len(old)+len(names))
	for _, name := range names {
		i, found := slices.BinarySearchFunc(old, name, func(v *volume, name string) int { return strings.Compare(v.object.Key(), name) })
		list = append(list, old[:i]...)
		old = old[i:]
		var was *volume
		if found {
			was, old = old[0], old[1:]
		}
		switch v := framework.Lookup[api.PersistentVolume](c.snapshot, name); {
		case !isFree(v, class):
		case was != nil && was.object == v:
			list = append(list, was)
		default:
			list = append(list, compileVolume(v))
		}
	}
	return append(list, old...)
}

// reservedFor returns the volumes that are for a claim of that key, in the order of their names.
func (c *catalog) reservedFor(claim string) (list []*api.PersistentVolume) {
	names, _ := c.reserved.Get(claim)
	for _, name := range names {
		list = append(list, framework.Lookup[api.PersistentVolume](c.snapshot, name))
	}
	return list
}

// A freeVolumes holds the volumes of a class that are for no claim, by name. all never changes.
type freeVolumes struct {
	version uint64
	all     []*volume
	labels  rarity
	pools   []*pool // for kinds of claims; see poolFor
}

// capacitiesIn returns all storage capacities in the order of their keys.
func (c *catalog) capacitiesIn() []*capacity {
	s := c.snapshot
	if v := framework.ObjectsVersion[api.CSIStorageCapacity](s); v != c.capacitiesVersion {
		c.capacities = compileCapacities(c.capacities, framework.List[api.CSIStorageCapacity](s))
		c.capacityLabels = rank(c.capacityLabels, c.capacities, func(c *capacity) *musts { return &c.musts })
		c.capacitiesVersion = v
	}
	return c.capacities
}

// compileCapacities compiles the capacities, and reuses results for unchanged objects from old. Both lists are in the
// order of the objects' keys.
func compileCapacities(old []*capacity, objects []*api.CSIStorageCapacity) []*capacity {
	list := make([]*capacity, 0, len(objects))
	for _, o := range objects {
		for len(old) > 0 && old[0].object != o && old[0].object.Key() < o.Key() {
			old = old[1:]
		}
		if len(old) > 0 && old[0].object == o {
			list, old = append(list, old[0]), old[1:]
		} else {
			list = append(list, compileCapacity(o))
		}
	}
	return list
}

func compileVolume(object *api.PersistentVolume) *volume {
	v := &volume{
		object: object, class: ClassOfVolume(object), modes: modesOf(object.Spec.AccessModes), size: object.Spec.Capacity[resource.Storage],
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

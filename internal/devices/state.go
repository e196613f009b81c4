package devices

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
	"github.com/berth-sched/berth/resource"
)

// State is what a snapshot knows about devices: the slices, what of them is allocated,
// and what pods have been given but nobody has written yet (in flight).
type State struct {
	cataloged atomic.Pointer[cataloged] // nil only while the state is made
	checked   atomic.Uint64             // the version of all objects that cataloged is known to be of
	programs  *programs                 // shared by forks

	slices  cow.Map[string, *api.ResourceSlice] // as of the last change, when the catalog may be of earlier or, after a rollback, later ones
	uses    cow.Map[PoolID, *poolUse]
	charged cow.Map[string, *api.AllocationResult] // by claim: what the uses include of it
	flights cow.Map[objectID, *flight]             // by claim, those of claims that are objects
	holds   cow.Map[objectID, []*flight]           // by pod, all
	special cow.Map[ownerPod, ownClaims]           // the claims of a pod's extended resources, by the owner in them
	owners  cow.Map[string, ownerPod]              // the pods in special, by claim
	left    map[objectID]int                       // how many nodes more a pod with flights has left in a transaction than it has come to; never 0

	owner   *cow.Owner // of the pools that may be written to
	origin  uint64     // identifies the snapshot that the state was read from in full
	flown   uint64     // identifies which claims that are objects are in flight
	changes uint64     // how often the use of a device has changed

	pools, poolsMost int // the entries of uses, and how many there may be before dropGone looks at them

	spent    *atomic.Int64 // steps of searches, also in forks
	searches sync.Pool     // memory to use again
	costly   costly

	version versions
	refs    podRefs   // the last that were asked for
	copies  *replicas // the last that were asked for
	plain   plainText
	key     podKey  // the last that was asked for
	last    *Finder // the last that was prepared
	recent  *flight // the last that began, as long as no flight has ended since
	demands demands
	noted   annotations
	share   share
}

// A share is among how many nodes the steps of searches are shared, and the version since
// when.
type share struct {
	nodes   int
	version uint64
}

// spread is how many nodes may have devices, rounded up to a power of two: the bound of the
// search follows from it, and is to change seldom. Slices of nodes that do not exist count.
func (x *State) spread(s *framework.Snapshot) int {
	c := x.catalogOf(s)
	n := c.nodes
	if len(c.wide) > 0 {
		n = max(n, s.Len())
	}
	if n <= fullNodes {
		return fullNodes
	}
	return 1 << bits.Len(uint(n-1))
}

// shared returns the version since when the steps are shared as they are now.
func (x *State) shared(s *framework.Snapshot) uint64 {
	if n := x.spread(s); n != x.share.nodes {
		x.share = share{n, s.NewVersion()}
	}
	return x.share.version
}

// stateKey holds the state of a snapshot.
var stateKey = framework.NewTouchingExtensionKey(func(s *framework.Snapshot) *State {
	x := &State{programs: new(programs), spent: new(atomic.Int64)}
	x.Rebuild(s)
	return x
})

// Rebuild reads all claims. Nothing is in flight then. The snapshot also calls it after a
// rollback, if the state was made in the transaction.
func (x *State) Rebuild(s *framework.Snapshot) {
	x.owner, x.origin, x.flown = new(cow.Owner), s.NewVersion(), s.NewVersion()
	list := framework.List[api.ResourceSlice](s)
	x.slices = cow.NewMap[string, *api.ResourceSlice](len(list))
	for _, slice := range list {
		x.slices.Set(api.KeyOf(slice), slice)
	}
	x.uses, x.charged = cow.Map[PoolID, *poolUse]{}, cow.Map[string, *api.AllocationResult]{}
	x.special, x.owners = cow.Map[ownerPod, ownClaims]{}, cow.Map[string, ownerPod]{}
	x.left, x.last, x.recent = nil, nil, nil
	x.pools, x.poolsMost = 0, fewPools
	x.changes++
	waiting := 0
	for _, c := range framework.List[api.ResourceClaim](s) {
		x.readSpecial(c)
		if a := c.Status.Allocation; a != nil {
			x.apply(a, 1)
			x.charged.Set(api.KeyOf(c), a)
		} else {
			waiting++
		}
	}
	x.flights, x.holds = cow.NewMap[objectID, *flight](waiting), cow.NewMap[objectID, []*flight](waiting)
	x.catalogOf(s) // else changes would still touch no node, when a fork has the state, too
}

// StateOf returns the state of a snapshot.
func StateOf(s *framework.Snapshot) *State {
	x := stateKey.Of(s)
	x.catalogOf(s)
	return x
}

// Spent returns how many steps searches for devices took so far, in the snapshot and those that
// share its state's counter: forks that were made when there was one.
func Spent(s *framework.Snapshot) int64 { return stateKey.Of(s).spent.Load() }

// cataloged is a catalog and the versions of its slices and rules.
type cataloged struct {
	catalog       *catalog
	slices, rules uint64
}

// catalogOf returns the catalog of the snapshot's slices. Several goroutines may call it.
func (x *State) catalogOf(s *framework.Snapshot) *catalog {
	all, checked := s.Objects(), x.checked.Load()
	old := x.cataloged.Load() // after checked, which is set after it
	if old != nil && checked == all {
		return old.catalog
	}
	slices, rules := framework.ObjectsVersion[api.ResourceSlice](s), framework.ObjectsVersion[api.DeviceTaintRule](s)
	if old != nil && old.slices == slices && old.rules == rules {
		x.checked.Store(all)
		return old.catalog
	}
	var before *catalog
	if old != nil {
		before = old.catalog
	}
	c := newCatalog(before, framework.List[api.ResourceSlice](s), framework.List[api.DeviceTaintRule](s), s.SlotLimit())
	x.cataloged.Store(&cataloged{c, slices, rules})
	x.checked.Store(all)
	return c
}

// Fork implements [framework.Extension].
func (x *State) Fork(s *framework.Snapshot) framework.Extension {
	x.owner = new(cow.Owner)
	y := &State{
		owner: new(cow.Owner), programs: x.programs, spent: x.spent, slices: x.slices.Fork(), uses: x.uses.Fork(), charged: x.charged.Fork(), flights: x.flights.Fork(), holds: x.holds.Fork(), special: x.special.Fork(), owners: x.owners.Fork(), demands: x.demands.fork(),
		flown: x.flown, changes: x.changes, origin: x.origin, share: x.share, left: maps.Clone(x.left), pools: x.pools, poolsMost: x.poolsMost,
	}
	y.cataloged.Store(x.cataloged.Load())
	y.checked.Store(x.checked.Load())
	y.Committed(s) // what an open transaction has changed stays in the fork
	return y
}

// change sets an entry, and records that for a rollback.
func change[K comparable, V any](s *framework.Snapshot, m *cow.Map[K, V], k K, v V) {
	recordChange(s, m, k)
	m.Set(k, v)
}

// cut deletes an entry, and records that for a rollback.
func cut[K comparable, V any](s *framework.Snapshot, m *cow.Map[K, V], k K) {
	recordChange(s, m, k)
	m.Remove(k)
}

func recordChange[K comparable, V any](s *framework.Snapshot, m *cow.Map[K, V], k K) {
	if s.Recording() {
		before, ok := m.Get(k)
		s.Record(&changeUndo[K, V]{m, k, before, ok})
	}
}

type changeUndo[K comparable, V any] struct {
	m      *cow.Map[K, V]
	key    K
	before V
	was    bool // there was an entry
}

func (u *changeUndo[K, V]) Undo(*framework.Snapshot) { putBack(u.m, u.key, u.before, u.was) }

// putBack sets an entry, or removes it if there was none.
func putBack[K comparable, V any](m *cow.Map[K, V], k K, before V, was bool) {
	if was {
		m.Set(k, before)
	} else {
		m.Remove(k)
	}
}

// A use says how a device is used. It never changes after the pass that made it.
type use struct {
	dedicated int                          // claims that have all of the device
	shares    int                          // results that have a part of it
	capacity  map[string]resource.Quantity // consumed by shares; no amount is 0
	amounts   int                          // shares with consumed capacity
	pass      *pass
}

// A pass applies one allocation with many results: what it has made of a device it changes
// in place. nil stands for those with few results, which change nothing in place.
type pass struct{ _ byte } // with a size, so that each has its own address

// passOf returns the pass for an allocation.
func passOf(a *api.AllocationResult) *pass {
	if len(a.Devices.Results) <= fewClaims {
		return nil
	}
	return new(pass)
}

// isDedicated reports whether one claim has all of the device.
func (u *use) isDedicated() bool { return u != nil && u.dedicated > 0 }

// isShared reports whether claims share the device.
func (u *use) isShared() bool { return u != nil && (u.shares > 0 || u.amounts > 0) }

// consumed returns the capacity that shares consume.
func (u *use) consumed() map[string]resource.Quantity {
	if u == nil {
		return nil
	}
	return u.capacity
}

// dedicatedOnce is the use of most devices in use.
var dedicatedOnce = &use{dedicated: 1}

// with returns the use with one more result, or with one less if sign is -1. A use that the
// pass has made is changed in place.
func (u *use) with(r *api.DeviceRequestAllocationResult, sign int, by *pass) *use {
	switch {
	case r.ShareID != nil:
	case u == nil && sign > 0:
		return dedicatedOnce
	case u == dedicatedOnce && sign < 0:
		return nil
	}
	next := u
	if u == nil || by == nil || u.pass != by {
		next = new(use)
		if u != nil {
			*next = *u
			next.capacity = maps.Clone(u.capacity)
		}
		next.pass = by
	}
	if r.ShareID == nil {
		next.dedicated += sign
	} else {
		next.shares += sign
		next.consume(r.ConsumedCapacity, sign)
	}
	if next.dedicated == 0 && next.shares == 0 && next.amounts == 0 {
		return nil
	}
	return next
}

// consume adds the capacity of a share, or takes it out.
func (u *use) consume(capacity map[string]resource.Quantity, sign int) {
	if capacity == nil {
		return
	}
	if u.amounts += sign; u.amounts == 0 {
		u.capacity = nil
		return
	}
	if u.capacity == nil {
		u.capacity = map[string]resource.Quantity{}
	}
	for name, q := range capacity {
		if sign < 0 {
			q = q.Neg()
		}
		if q = u.capacity[name].Add(q); q.Sign() == 0 {
			delete(u.capacity, name) // as if nobody had consumed any
		} else {
			u.capacity[name] = q
		}
	}
}

// count adds the devices of an allocation to the uses, or takes them out.
func (x *State) count(s *framework.Snapshot, a *api.AllocationResult, sign int) {
	if a == nil {
		return
	}
	if s.Recording() {
		s.Record(x.usesBefore(a))
	}
	x.applyAndTouch(s, a, sign)
}

// apply changes the uses by an allocation, and nothing else.
func (x *State) apply(a *api.AllocationResult, sign int) {
	by := passOf(a)
	for i := range a.Devices.Results {
		if r := &a.Devices.Results[i]; !isSet(r.AdminAccess) {
			x.ownUses(PoolID{r.Driver, r.Pool}).add(r, sign, by)
		}
	}
}

// applyAndTouch is apply, and makes the answers that are kept for the nodes of the pools
// invalid.
func (x *State) applyAndTouch(s *framework.Snapshot, a *api.AllocationResult, sign int) {
	var last *poolUse
	by := passOf(a)
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		if isSet(r.AdminAccess) {
			continue
		}
		id := PoolID{r.Driver, r.Pool}
		p := x.ownUses(id)
		p.add(r, sign, by)
		if p != last {
			x.touch(s, id, p, nil)
			last = p
		}
	}
}

// isExact reports whether apply with the other sign restores the uses exactly.
func isExact(a *api.AllocationResult) bool {
	return !slices.ContainsFunc(a.Devices.Results, func(r api.DeviceRequestAllocationResult) bool { return r.ShareID != nil })
}

// usesUndo takes back one call of count.
type usesUndo struct {
	state *State
	list  []useBefore
	one   [1]useBefore // memory for list
}

// useBefore is how a device was used.
type useBefore struct {
	pool   PoolID
	device string
	use    *use
}

// usesBefore remembers how the devices of an allocation are used.
func (x *State) usesBefore(a *api.AllocationResult) *usesUndo {
	u := &usesUndo{state: x}
	u.list = u.one[:0]
	for i := range a.Devices.Results {
		if r := &a.Devices.Results[i]; !isSet(r.AdminAccess) {
			b := useBefore{pool: PoolID{r.Driver, r.Pool}, device: r.Device}
			if p, ok := x.uses.Get(b.pool); ok {
				b.use = p.named(r.Device)
			}
			u.list = append(u.list, b)
		}
	}
	return u
}

func (u *usesUndo) Undo(*framework.Snapshot) {
	for i := range u.list {
		b := &u.list[i]
		u.state.ownUses(b.pool).put(b.device, b.use)
	}
}

// recharge makes the uses include another allocation of a claim.
func (x *State) recharge(s *framework.Snapshot, key string, a *api.AllocationResult) {
	old, _ := x.charged.Get(key)
	if old == a {
		return
	}
	x.count(s, old, -1)
	x.count(s, a, 1)
	if a == nil {
		cut(s, &x.charged, key)
	} else {
		change(s, &x.charged, key, a)
	}
}

// ObjectChanged implements [framework.ObjectWatcher].
func (x *State) ObjectChanged(s *framework.Snapshot, key string, obj any) {
	switch o := obj.(type) {
	case *api.ResourceClaim:
		var a *api.AllocationResult
		if o != nil {
			a = o.Status.Allocation
		}
		x.noteSpecial(s, key, o)
		if a != nil {
			x.landed(s, o)
		}
		x.recharge(s, key, a)
	case *api.ResourceClaimTemplate:
		x.noted = annotations{} // the old one need not be kept
	case *api.ResourceSlice:
		x.sliceChanged(s, key, o)
	}
}

package devices

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// A poolUse says which devices of a pool are in use. Only its owner changes it.
//
// Invariant: if slice is set, dense has the uses of its devices, in their order, and others
// has none of them.
type poolUse struct {
	owner   *cow.Owner
	changed uint64 // State.changes at the last change

	slice  *slice // the only one of the pool, as at the last change
	dense  []*use
	others map[string]*use // by the name of the device

	catalog *catalogID // as at the last change
	slices  []*slice   // of the pool, there
}

// of returns the use of a device, nil if it is free.
func (p *poolUse) of(d *Device) *use {
	switch {
	case p == nil:
		return nil
	case p.slice == d.slice:
		return p.dense[d.index]
	}
	return p.named(d.Name)
}

// named returns the use of the device of a name, nil if it is free.
func (p *poolUse) named(device string) *use {
	if i, ok := p.index(device); ok {
		return p.dense[i]
	}
	return p.others[device]
}

// index returns the place of a device in dense.
func (p *poolUse) index(device string) (i int, ok bool) {
	if p.slice == nil {
		return 0, false
	}
	return p.slice.named(device)
}

// put replaces the use of a device; nil if it is free.
func (p *poolUse) put(device string, u *use) {
	if i, ok := p.index(device); ok {
		p.dense[i] = u
		return
	}
	p.putOther(device, u)
}

func (p *poolUse) putOther(device string, u *use) {
	switch {
	case u == nil:
		delete(p.others, device)
	case p.others == nil:
		p.others = map[string]*use{device: u}
	default:
		p.others[device] = u
	}
}

// add adds a result to the use of its device or, if sign is -1, takes it out.
func (p *poolUse) add(r *api.DeviceRequestAllocationResult, sign int, by *pass) {
	if i, ok := p.index(r.Device); ok {
		p.dense[i] = p.dense[i].with(r, sign, by)
		return
	}
	p.putOther(r.Device, p.others[r.Device].with(r, sign, by))
}

// all visits the devices in use.
func (p *poolUse) all(yield func(device string, u *use) bool) {
	for i, u := range p.dense {
		if u != nil && !yield(p.slice.devices[i].Name, u) {
			return
		}
	}
	for device, u := range p.others {
		if !yield(device, u) {
			return
		}
	}
}

// follow makes the uses of a pool dense if it has one slice, whose devices have names of
// their own.
func (p *poolUse) follow(c *catalog, id PoolID) {
	if p.catalog == c.id {
		return
	}
	p.catalog, p.slices = c.id, c.pool(id)
	var only *slice
	if len(p.slices) == 1 && p.slices[0].hasNames() {
		only = p.slices[0]
	}
	if only == p.slice {
		return
	}
	known := *p
	p.slice, p.dense, p.others = only, nil, nil
	if only != nil {
		p.dense = make([]*use, len(only.devices))
	}
	for device, u := range known.all {
		p.put(device, u)
	}
}

// usesOf returns the use of the pool of a slice, nil if it has none. Several goroutines may
// call it. The slice remembers the last that belonged to its state, so it is mostly there.
func (x *State) usesOf(s *slice) *poolUse {
	if p := s.use.Load(); p != nil && p.owner == x.owner {
		return p
	}
	p, _ := x.uses.Get(s.pool)
	if p != nil && p.owner == x.owner {
		s.use.Store(p)
	}
	return p
}

// usesOfPool is usesOf for a pool, which may have no slice that counts.
func (x *State) usesOfPool(p *pool) *poolUse {
	if len(p.slices) > 0 {
		return x.usesOf(p.slices[0])
	}
	u, _ := x.uses.Get(p.id)
	return u
}

// ownUses returns the use of a pool, for a change.
func (x *State) ownUses(id PoolID) *poolUse {
	p, _ := x.uses.Get(id)
	return x.own(p, id)
}

// own returns the use of a pool for a change, given what it is now. The owner of a use
// never changes, so for each pool there is one of the state's owner at most.
func (x *State) own(p *poolUse, id PoolID) *poolUse {
	x.changes++
	if p == nil {
		x.dropGone()
	}
	if p == nil || p.owner != x.owner {
		next := new(poolUse)
		if p != nil {
			*next = *p
			next.others, next.dense = maps.Clone(p.others), slices.Clone(p.dense)
		}
		next.owner = x.owner
		x.uses.Set(id, next)
		p = next
	}
	p.changed = x.changes
	if c := x.cataloged.Load(); c != nil {
		p.follow(c.catalog, id)
	}
	return p
}

// fewPools is how many pools with uses may come before dropGone looks at them.
const fewPools = 64

// dropGone forgets the uses of pools that have no slices, and no device in use, whenever there are twice as many uses as it left
// the last time: pools are called like nodes, which come and go. A pool that has slices stays, because outcomes are kept
// by its last change.
func (x *State) dropGone() {
	c := x.cataloged.Load()
	if x.pools++; x.pools < x.poolsMost || c == nil {
		return
	}
	var gone []PoolID
	for id, p := range x.uses.All() {
		if p.isFree() && len(c.catalog.pool(id)) == 0 {
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		x.uses.Remove(id)
	}
	if len(gone) > 0 {
		x.owner = new(cow.Owner) // a slice of such a pool may remember its use
	}
	x.pools = x.uses.Len()
	x.poolsMost = 2*x.pools + fewPools
}

// isFree reports whether no device is in use.
func (p *poolUse) isFree() bool {
	for range p.all {
		return false
	}
	return true
}

// takeDevice notes that one claim has all of a device of the node.
func (x *State) takeDevice(s *framework.Snapshot, node *framework.NodeInfo, d *Device) {
	p := x.own(x.usesOf(d.slice), d.slice.pool)
	if p.slice == d.slice {
		p.dense[d.index] = p.dense[d.index].with(&dedicated, 1, nil)
	} else {
		p.add(&api.DeviceRequestAllocationResult{Device: d.Name}, 1, nil)
	}
	x.touch(s, d.slice.pool, p, node)
}

// dedicated stands for the result of a claim that has all of a device.
var dedicated api.DeviceRequestAllocationResult

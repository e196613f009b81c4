package devices

import (
	"maps"
	"slices"

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

	catalog *catalog // as at the last change
	slices  []*slice // of the pool, there
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
	i, ok = p.slice.indexes()[device]
	return i, ok
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
func (p *poolUse) add(r *api.DeviceRequestAllocationResult, sign int) {
	if i, ok := p.index(r.Device); ok {
		p.dense[i] = p.dense[i].with(r, sign)
		return
	}
	p.putOther(r.Device, p.others[r.Device].with(r, sign))
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
	if p.catalog == c {
		return
	}
	p.catalog, p.slices = c, c.byPool[id]
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

// hasNames reports whether the devices have names of their own.
func (s *slice) hasNames() bool { return len(s.indexes()) == len(s.devices) }

// ownUses returns the use of a pool, for a change.
func (x *State) ownUses(id PoolID) *poolUse {
	x.changes++
	p, ok := x.uses.get(id)
	if !ok || p.owner != x.owner {
		next := new(poolUse)
		if ok {
			*next = *p
			next.others, next.dense = maps.Clone(p.others), slices.Clone(p.dense)
		}
		next.owner = x.owner
		x.uses.set(id, next)
		p = next
	}
	p.changed = x.changes
	if c := x.cataloged.Load(); c != nil {
		p.follow(c.catalog, id)
	}
	return p
}

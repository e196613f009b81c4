package devices

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/internal/cow"
)

// A poolUse says which devices of a pool are in use. Only its owner changes it.
//
// Invariant: if slice is set, dense has the uses of its devices, in their order, as devices
// has them by name.
type poolUse struct {
	owner   *cow.Owner
	devices map[string]*use
	changed uint64 // State.changes at the last change

	slice *slice // the only one of the pool, as at the last change
	dense []*use

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
	return p.devices[d.Name]
}

// put replaces the use of a device; nil if it is free.
func (p *poolUse) put(device string, u *use) {
	if u == nil {
		delete(p.devices, device)
	} else {
		p.devices[device] = u
	}
	if p.slice != nil {
		if i, ok := p.slice.indexes()[device]; ok {
			p.dense[i] = u
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
	switch list := p.slices; {
	case len(list) == 1 && list[0] == p.slice:
		return
	case len(list) != 1 || len(list[0].indexes()) != len(list[0].devices):
		p.slice, p.dense = nil, nil
		return
	}
	p.slice = p.slices[0]
	p.dense = make([]*use, len(p.slice.devices))
	for i := range p.dense {
		p.dense[i] = p.devices[p.slice.devices[i].Name]
	}
}

// ownUses returns the use of a pool, for a change.
func (x *State) ownUses(id PoolID) *poolUse {
	x.changes++
	p, ok := x.uses.get(id)
	if !ok || p.owner != x.owner {
		next := &poolUse{owner: x.owner, devices: map[string]*use{}}
		if ok {
			*next = *p
			next.owner, next.devices, next.dense = x.owner, maps.Clone(p.devices), slices.Clone(p.dense)
		}
		x.uses.set(id, next)
		p = next
	}
	p.changed = x.changes
	if c := x.cataloged.Load(); c != nil {
		p.follow(c.catalog, id)
	}
	return p
}

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

// index makes the uses of a pool dense if it has one slice, whose devices have names of
// their own.
func (p *poolUse) index(list []*slice) {
	switch {
	case len(list) == 1 && list[0] == p.slice:
		return
	case len(list) != 1 || len(list[0].indexes()) != len(list[0].devices):
		p.slice, p.dense = nil, nil
		return
	}
	p.slice, p.dense = list[0], make([]*use, len(list[0].devices))
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
			next.devices, next.slice, next.dense = maps.Clone(p.devices), p.slice, slices.Clone(p.dense)
		}
		x.uses.set(id, next)
		p = next
	}
	p.changed = x.changes
	if c := x.cataloged.Load(); c != nil {
		p.index(c.catalog.byPool[id])
	}
	return p
}

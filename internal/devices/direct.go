package devices

import "github.com/berth-sched/berth/framework/api"

// Most claims ask for one device, whichever it is of those that match. If nothing but its
// being in use can keep such a device from them, the search is the first that is free in a
// list. The list is the same for all pods that ask for the same.

// A direct is that list for one demand on one node.
type direct struct {
	valid bool // otherwise the search decides
	list  []directDevice
	steps int // that a search may take at most
}

// maxDirect bounds the steps.
const maxDirect = 100_000

// A directDevice is a device with what tells whether it is free.
type directDevice struct {
	*Device
	slice *slice
	index int // in the slice
}

// mayBeDirect reports whether the claims of the pod are one that asks for one device.
func (f *Finder) mayBeDirect() bool {
	if len(f.plans) != 1 || f.resources != nil || f.options.Choice != FirstFit {
		return false
	}
	p := &f.plans[0]
	if len(p.requests) != 1 || len(p.constraints) > 0 || len(p.claim.Spec.Devices.Config) > 0 {
		return false
	}
	a := &p.requests[0].asks
	return !p.requests[0].alternatives && (*a)[0].isOne()
}

// isOne reports whether the ask is for one device that nobody else has.
func (a *ask) isOne() bool {
	return a.fault == "" && !a.all && !a.admin && a.count == 1 && len(a.class.Spec.Config) == 0
}

// directOn returns the list for a node, nil if the search must decide.
func (f *Finder) directOn(p *pools) *direct {
	if !f.direct {
		return nil
	}
	d, known := p.directs.find(f.plans[0].tag)
	if !known {
		d = p.directs.add(f.plans[0].tag, newDirect(p, &f.plans[0].requests[0].asks[0]))
	}
	if !d.valid || d.steps > f.steps {
		return nil
	}
	return d
}

func newDirect(p *pools, a *ask) *direct {
	if p.odd {
		return new(direct)
	}
	for i := range p.devices {
		if d := p.devices[i].device; d.shareable || len(d.ConsumesCounters) > 0 || !d.isPinned() {
			return new(direct)
		}
	}
	list := &direct{valid: true, list: make([]directDevice, 0, len(p.devices)), steps: len(p.devices)}
	for i := range p.devices {
		c := &p.devices[i]
		answer := a.about(c.device, maxDirect-list.steps)
		if answer.err != nil {
			return new(direct)
		}
		list.steps += answer.steps
		switch x := a.consumption(c.device); {
		case x.err != nil:
			return new(direct)
		case answer.ok && c.here && !x.no && c.device.tolerated(a.tolerations):
			list.list = append(list.list, directDevice{c.device, c.device.slice, c.device.index})
		}
	}
	return list
}

// free returns the first device that is not in use, nil if there is none.
func (d *direct) free(x *State) *Device {
	var uses *poolUse
	var of *slice
	for i := range d.list {
		c := &d.list[i]
		if c.slice != of {
			of = c.slice
			if uses = x.usesOf(of); uses == nil {
				return c.Device
			}
		}
		var u *use
		if uses.slice == of { // then the device itself is not looked at
			u = uses.dense[c.index]
		} else {
			u = uses.of(c.Device)
		}
		if !u.isDedicated() {
			return c.Device
		}
	}
	return nil
}

// isGiven reports whether it is filled in what the claims get. It is left out for a device
// that needs no search.
func (x *Found) isGiven() bool { return x.device == nil || len(x.Allocations) > 0 }

// give fills in what the claim gets, in the memory of g.
func (x *Found) give(f *Finder, g *grant) {
	g.allocation.NodeSelector = x.pools.pinned()
	g.allocation.Devices.Results = append(g.device[:0], f.plans[0].requests[0].asks[0].result(x.device))
	x.claim[0], x.allocation[0] = f.claims[f.allocate[0]].PodClaim, &g.allocation
	x.Claims, x.Allocations = x.claim[:], x.allocation[:]
}

// result returns the result of an ask that got a device, without what is special to
// administrators and to devices that can be shared.
func (a *ask) result(d *Device) api.DeviceRequestAllocationResult {
	return api.DeviceRequestAllocationResult{
		Request: a.full, Driver: d.slice.pool.Driver, Pool: d.slice.pool.Pool, Device: d.Name,
		Tolerations: a.tolerations, BindingConditions: d.BindingConditions, BindingFailureConditions: d.BindingFailureConditions,
	}
}

package devices

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Check implements [framework.Checker]: it counts the devices in use again, from the claims
// and from what pods have in flight. It also looks for claims of extended resources again.
func (x *State) Check(s *framework.Snapshot) error {
	for _, check := range []func(*framework.Snapshot) error{x.checkCatalog, x.checkCharged, x.checkFlights, x.checkUses, x.checkSpecial} {
		if err := check(s); err != nil {
			return fmt.Errorf("devices: %w", err)
		}
	}
	return nil
}

// checkCatalog sorts the slices by node and pool again.
func (x *State) checkCatalog(s *framework.Snapshot) error {
	c, list := x.catalogOf(s), framework.List[api.ResourceSlice](s)
	want := &catalog{slices: c.slices}
	want.fill()
	for i, o := range list {
		if i >= len(c.slices) || c.slices[i].object != o {
			return fmt.Errorf("slice %s is not in its place", o.Name)
		}
		if now, _ := x.slices.Get(api.KeyOf(o)); now != o {
			return fmt.Errorf("slice %s was another when it changed last", o.Name)
		}
	}
	switch {
	case len(c.slices) != len(list) || x.slices.Len() != len(list):
		return fmt.Errorf("%d slices are known, and %d as of the last change, want %d", len(c.slices), x.slices.Len(), len(list))
	case !slices.Equal(c.wide, want.wide):
		return fmt.Errorf("%d slices are for no single node, want %d", len(c.wide), len(want.wide))
	case c.nodes != want.byNode.Len() || c.byNode.Len() != c.nodes || c.byPool.Len() != want.byPool.Len():
		return fmt.Errorf("slices of %d nodes and %d pools are known, want %d and %d", c.nodes, c.byPool.Len(), want.byNode.Len(), want.byPool.Len())
	}
	for node, x := range want.byNode.All() {
		if !slices.Equal(c.on(node), x.list) {
			return fmt.Errorf("node %s: %d slices are known, want %d", node, len(c.on(node)), len(x.list))
		}
	}
	for id, list := range want.byPool.All() {
		if !slices.Equal(c.pool(id), list) {
			return fmt.Errorf("pool %v: %d slices are known, want %d", id, len(c.pool(id)), len(list))
		}
	}
	return nil
}

// checkCharged compares what the uses include of claims with the claims.
func (x *State) checkCharged(s *framework.Snapshot) error {
	allocated := 0
	for _, c := range framework.List[api.ResourceClaim](s) {
		if c.Status.Allocation == nil {
			continue
		}
		allocated++
		if a, _ := x.charged.Get(api.KeyOf(c)); a != c.Status.Allocation {
			return fmt.Errorf("claim %s: another allocation counts than its own", api.KeyOf(c))
		}
	}
	if n := x.charged.Len(); n != allocated {
		return fmt.Errorf("%d allocated claims count, want %d", n, allocated)
	}
	return nil
}

// checkFlights checks that each flight is held by its pod, and found by its claim.
func (x *State) checkFlights(*framework.Snapshot) error {
	objects := 0
	for pod, held := range x.holds.All() {
		if len(held) == 0 {
			return fmt.Errorf("pod %v holds nothing", pod)
		}
		for _, f := range held {
			if f.pod != pod {
				return fmt.Errorf("pod %v holds a flight of %v", pod, f.pod)
			}
			if f.entry != "" {
				continue
			}
			objects++
			if found, _ := x.flights.Get(claimIDOf(f.claim)); found != f {
				return fmt.Errorf("claim %s: pod %v holds its flight, which is not found", f.claim.Key(), pod)
			}
		}
	}
	if n := x.flights.Len(); n != objects {
		return fmt.Errorf("%d claims are in flight, but pods hold %d", n, objects)
	}
	return nil
}

// checkUses counts the devices in use again.
func (x *State) checkUses(*framework.Snapshot) error {
	want, by := map[PoolID]map[string]*use{}, new(pass)
	count := func(a *api.AllocationResult) {
		for i := range a.Devices.Results {
			r := &a.Devices.Results[i]
			if isSet(r.AdminAccess) {
				continue
			}
			id := PoolID{r.Driver, r.Pool}
			if want[id] == nil {
				want[id] = map[string]*use{}
			}
			want[id][r.Device] = want[id][r.Device].with(r, 1, by)
		}
	}
	for _, a := range x.charged.All() {
		count(a)
	}
	for _, held := range x.holds.All() {
		for _, f := range held {
			count(f.claim.Status.Allocation)
		}
	}
	for id, p := range x.uses.All() {
		for name := range p.others {
			if _, ok := p.index(name); ok {
				return fmt.Errorf("pool %s: device %s counts twice", id, name)
			}
		}
		for name, got := range p.all {
			if u := want[id][name]; !got.same(u) {
				return fmt.Errorf("device %s of pool %s is used by %+v, want %+v", name, id, got, u)
			}
			delete(want[id], name)
		}
	}
	for id, devices := range want {
		for _, name := range slices.Sorted(maps.Keys(devices)) {
			return fmt.Errorf("device %s of pool %s is free, want %+v", name, id, devices[name])
		}
	}
	return nil
}

// same reports whether both uses say the same; nil is a device that is free.
func (u *use) same(o *use) bool {
	if u == nil || o == nil {
		return u == o
	}
	return u.dedicated == o.dedicated && u.amounts == o.amounts && u.shares == o.shares &&
		maps.EqualFunc(u.capacity, o.capacity, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

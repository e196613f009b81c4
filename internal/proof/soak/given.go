package soak

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// deviceID identifies a device of the driver.
type deviceID struct{ pool, device string }

// claimsOnDevices is who has each device. It is read from the pods and claims of the cluster,
// and from nothing that the plugin counts.
type claimsOnDevices map[deviceID][]*api.DeviceRequestAllocationResult

func (x claimsOnDevices) add(a *api.AllocationResult) {
	if a == nil {
		return
	}
	for i := range a.Devices.Results {
		if r := &a.Devices.Results[i]; !isTrue(r.AdminAccess) {
			id := deviceID{r.Pool, r.Device}
			x[id] = append(x[id], r)
		}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

// claimsOnDevices finds who has each device.
func (w *world) claimsOnDevices() claimsOnDevices {
	x := claimsOnDevices{}
	for _, c := range framework.List[api.ResourceClaim](w.snap) {
		x.add(c.Status.Allocation)
	}
	nodes := slices.Clone(w.lost)
	for _, n := range w.snap.All() {
		nodes = append(nodes, lostNode{pods: n.Pods})
	}
	for _, n := range nodes {
		for _, p := range n.pods {
			if len(p.Pod.Spec.ResourceClaims) == 0 && !p.HasExtended() {
				continue
			}
			for _, c := range filter.DeviceClaimsOf(w.snap, p) {
				x.add(c.Claim.Status.Allocation)
			}
		}
	}
	return x
}

// unwritten counts a pod's claims in flight that do not exist: only the pod can end their flights.
func (w *world) unwritten(p *framework.PodInfo) (n int) {
	for _, c := range filter.DeviceClaimsOf(w.snap, p) {
		if c.Entry != "" {
			n++
		}
	}
	return n
}

// checkGiven checks the devices that a pod has just got: nobody else has one that is not
// shared, and neither capacities nor counters are exceeded.
func (h *history) checkGiven(p *framework.PodInfo) error {
	given := claimsOnDevices{}
	for _, c := range filter.DeviceClaimsOf(h.snap, p) {
		given.add(c.Claim.Status.Allocation)
	}
	if len(given) == 0 {
		return nil
	}
	have := h.claimsOnDevices()
	for id, results := range given {
		h.res.Given.Checked++
		if err := h.checkDevice(id, results[0].ShareID != nil, have); err != nil {
			return fmt.Errorf("pod %s got device %s of pool %s: %w", p.Pod.Key(), id.device, id.pool, err)
		}
	}
	return nil
}

func (h *history) checkDevice(id deviceID, shared bool, have claimsOnDevices) error {
	d, counters := h.device(id)
	if d == nil {
		return fmt.Errorf("there is no such device")
	}
	whole, used := 0, map[string]resource.Quantity{}
	for _, r := range have[id] {
		if r.ShareID == nil {
			whole++
		}
		for name, q := range r.ConsumedCapacity {
			used[name] = used[name].Add(q)
		}
	}
	// Shares of a device that could be shared before do not count for one claim that wants
	// all of it.
	if shared && whole > 0 || whole > 1 {
		return fmt.Errorf("%d claims have all of it", whole)
	}
	for name, q := range used {
		if shared && q.Cmp(d.Capacity[name].Value) > 0 {
			return fmt.Errorf("claims consume %v %s, it has %v", q, name, d.Capacity[name].Value)
		}
	}
	return h.checkCounters(id, d, counters, have)
}

// checkCounters checks the counters that a device consumes, against all devices of its pool
// that somebody has.
func (h *history) checkCounters(id deviceID, d *api.Device, sets []api.CounterSet, have claimsOnDevices) error {
	for _, c := range d.ConsumesCounters {
		used := map[string]resource.Quantity{}
		for other := range have {
			if other.pool != id.pool {
				continue
			}
			o, _ := h.device(other)
			if o == nil {
				continue // it has gone, and nobody knows what it consumed
			}
			for _, x := range o.ConsumesCounters {
				if x.CounterSet == c.CounterSet {
					for name, counter := range x.Counters {
						used[name] = used[name].Add(counter.Value)
					}
				}
			}
		}
		i := slices.IndexFunc(sets, func(s api.CounterSet) bool { return s.Name == c.CounterSet })
		for _, name := range slices.Sorted(maps.Keys(used)) {
			if i < 0 || used[name].Cmp(sets[i].Counters[name].Value) > 0 {
				return fmt.Errorf("devices consume %v of counter %s of set %s: more than it has", used[name], name, c.CounterSet)
			}
		}
	}
	return nil
}

// device finds a device and the counters of its pool; nil if it is not there.
func (h *history) device(id deviceID) (d *api.Device, counters []api.CounterSet) {
	for _, s := range framework.List[api.ResourceSlice](h.snap) {
		if s.Spec.Driver != deviceDriver || s.Spec.Pool.Name != id.pool {
			continue
		}
		counters = append(counters, s.Spec.SharedCounters...)
		if i := slices.IndexFunc(s.Spec.Devices, func(d api.Device) bool { return d.Name == id.device }); i >= 0 {
			d = &s.Spec.Devices[i]
		}
	}
	return d, counters
}

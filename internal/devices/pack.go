package devices

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// A Choice says which of a node's devices a pod gets, if several solutions are legal.
type Choice uint8

const (
	// FirstFit takes the first solution in the order of pools, slices and devices, as
	// kube-scheduler does.
	FirstFit Choice = iota
	// LeastLeftover prefers devices that leave the least unused: small devices before
	// large ones, shared devices that are nearly full, and partitions that consume few
	// counters. It decides which devices of the chosen node the pod gets, and nothing
	// else: verdicts, scores and alternatives are those of FirstFit.
	//
	// The leftover of a device is what it holds beyond what the pod asks of it, or what is
	// free after the pod's share: for each capacity, as a part of the largest one of that
	// name on the node. What it consumes of counters, as a part of each, is added. Devices
	// are tried from the least leftover up. The solution counts if its devices together
	// leave less than those of FirstFit; so it never leaves more.
	LeastLeftover
)

// pack returns the better of a search that is solved and one that tries devices from the
// least leftover up.
func (f *Finder) pack(first *search) *search {
	s, _ := f.state.searches.Get().(*search)
	if s == nil {
		s = new(search)
	}
	s.begin(first.pools, first.plans, f.state, first.limit)
	s.devices = s.byLeftover()
	if s.run() != solved || s.leftover() >= first.leftover() {
		f.state.searches.Put(s)
		return first
	}
	f.state.searches.Put(first)
	return s
}

// byLeftover returns the devices in the order of what each alone would leave. Those of
// pools with binding conditions still come last.
func (s *search) byLeftover() []candidate {
	type ranked struct {
		candidate
		late bool
		left int64
	}
	largest := s.largest()
	list := make([]ranked, len(s.pools.devices))
	for i, c := range s.pools.devices {
		list[i] = ranked{c, s.pools.list[c.pool].bindings(), s.left(&c, largest, nil) + s.counted(&c)}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		if order := compareBool(a.late, b.late); order != 0 {
			return order
		}
		return int(min(max(a.left-b.left, -1), 1))
	})
	devices := make([]candidate, len(list))
	for i := range list {
		devices[i] = list[i].candidate
	}
	return devices
}

// largest returns the largest capacity of each name on the node.
func (s *search) largest() map[string]int64 {
	largest := map[string]int64{}
	for i := range s.pools.devices {
		for name, c := range s.pools.devices[i].device.Capacity {
			largest[name] = max(largest[name], c.Value.Value())
		}
	}
	return largest
}

// leftover is what the devices of a solution leave together.
func (s *search) leftover() (sum int64) {
	largest := s.largest()
	for i := range s.placed {
		p := &s.placed[i]
		c := candidate{device: p.device, pool: p.pool}
		if !slices.ContainsFunc(s.placed[:i], func(x placed) bool { return x.device == p.device }) {
			sum += s.left(&c, largest, s.placed)
		}
		if p.charged {
			sum += s.counted(&c)
		}
	}
	return sum
}

// million is the unit of leftovers: parts of the largest.
const million = 1_000_000

// left is what a device leaves of its capacities, given what was placed.
func (s *search) left(c *candidate, largest map[string]int64, all []placed) (sum int64) {
	d := c.device
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		capacity := d.Capacity[name]
		rest := capacity.Value
		if d.shareable {
			rest = rest.Sub(s.uses[c.pool].of(d).consumed()[name])
		}
		for i := range all {
			if all[i].device == d {
				rest = rest.Sub(all[i].asked(name))
			}
		}
		sum += partOf(rest.Value(), largest[name])
	}
	return sum
}

// asked is what the pod asks of a capacity of the device.
func (p *placed) asked(name string) resource.Quantity {
	if p.device.shareable {
		return p.consumed[name]
	}
	if p.ask.capacity == nil {
		return resource.Quantity{}
	}
	return p.ask.capacity.Requests[name]
}

// counted is what a device consumes of counters.
func (s *search) counted(c *candidate) (sum int64) {
	for i := range c.device.ConsumesCounters {
		consumed := &c.device.ConsumesCounters[i]
		for _, set := range s.pools.list[c.pool].counters {
			if set.Name != consumed.CounterSet {
				continue
			}
			for name, x := range consumed.Counters {
				has := set.Counters[name]
				sum += partOf(x.Value.Value(), has.Value.Value())
			}
		}
	}
	return sum
}

// partOf returns n as a part of all, in millionths from 0 to a million.
func partOf(n, all int64) int64 {
	if n <= 0 || all <= 0 {
		return 0
	}
	if n >= all {
		return million
	}
	return int64(resource.MulDiv(uint64(n), million, 0, uint64(all)))
}

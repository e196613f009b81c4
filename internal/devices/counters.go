package devices

import (
	"github.com/berth-sched/berth/resource"
)

// A meter is what the devices in use leave of the counters of a pool, by the name of the set.
// A search reads it once, when a device first needs it.
type meter struct {
	left      map[string]map[string]resource.Quantity
	overdrawn bool // devices in use consume more of some counter than there is
}

// meterOf returns the meter of a pool. Each counter set and each device that consumes counters
// is an eighth of a step.
func (s *search) meterOf(at int) *meter {
	m := &s.meters[at]
	if m.left != nil {
		return m
	}
	pool := &s.pools.list[at]
	s.steps += (len(pool.counters) + len(pool.consumers)) / 8
	m.left = make(map[string]map[string]resource.Quantity, len(pool.counters))
	for _, set := range pool.counters {
		left := make(map[string]resource.Quantity, len(set.Counters))
		for name, x := range set.Counters {
			left[name] = x.Value
		}
		m.left[set.Name] = left
	}
	for _, d := range pool.consumers {
		if u := s.uses[at].of(d); !u.isDedicated() && !u.isShared() {
			continue
		}
		for _, c := range d.ConsumesCounters {
			for name, x := range c.Counters {
				m.left[c.CounterSet][name] = m.left[c.CounterSet][name].Sub(x.Value)
			}
		}
	}
	for _, left := range m.left {
		m.overdrawn = m.overdrawn || isOverdrawn(left)
	}
	return m
}

func isOverdrawn(left map[string]resource.Quantity) bool {
	for _, q := range left {
		if q.Sign() < 0 {
			return true
		}
	}
	return false
}

// countersAdmit reports whether no counter of the pool is overdrawn with the device. What is
// placed has overdrawn none, so only the counters matter that the device consumes. Each of
// these is an eighth of a step for the device, and for each that is placed.
func (s *search) countersAdmit(c *candidate) bool {
	m := s.meterOf(c.pool)
	if m.overdrawn {
		return false
	}
	d := c.device
	for i := range d.ConsumesCounters {
		consumed := &d.ConsumesCounters[i]
		left := m.left[consumed.CounterSet]
		s.steps += len(consumed.Counters) * (1 + len(s.placed)) / 8
		for name := range consumed.Counters {
			rest := left[name]
			for i := range s.placed {
				if p := &s.placed[i]; p.pool == c.pool && p.charged {
					rest = without(rest, p.device, consumed.CounterSet, name)
				}
			}
			if without(rest, d, consumed.CounterSet, name).Sign() < 0 {
				return false
			}
		}
	}
	return true
}

// without returns what a device leaves of a counter.
func without(rest resource.Quantity, d *Device, set, counter string) resource.Quantity {
	for i := range d.ConsumesCounters {
		if x := &d.ConsumesCounters[i]; x.CounterSet == set {
			if used, ok := x.Counters[counter]; ok {
				rest = rest.Sub(used.Value)
			}
		}
	}
	return rest
}

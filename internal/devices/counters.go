package devices

import (
	"github.com/berth-sched/berth/resource"
)

// A meter is what the devices in use leave of the counters of a pool, by the name of the set.
// A search reads it once, when a device first needs it.
type meter struct {
	left      map[string]map[string]resource.Quantity
	overdrawn []counterName // devices in use consume more of these than there is
}

// A counterName names a counter of a pool.
type counterName struct{ set, counter string }

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
	for set, left := range m.left {
		for name, q := range left {
			if q.Sign() < 0 {
				m.overdrawn = append(m.overdrawn, counterName{set, name})
			}
		}
	}
	return m
}

// countersAdmit reports whether no counter of the pool is overdrawn with the device. What is
// placed has overdrawn none, so only the counters matter that the device consumes, and those
// that devices in use have overdrawn: a device may give back what it does not consume. Each
// consumption that is looked at for a counter is half a step. All are counted at once: which of
// the counters is found first depends on the order of maps.
func (s *search) countersAdmit(c *candidate) bool {
	m := s.meterOf(c.pool)
	d := c.device
	each := len(d.ConsumesCounters)
	for i := range s.placed {
		if p := &s.placed[i]; p.pool == c.pool && p.charged {
			each += len(p.device.ConsumesCounters)
		}
	}
	counters := len(m.overdrawn)
	for i := range d.ConsumesCounters {
		counters += len(d.ConsumesCounters[i].Counters)
	}
	s.eighths(4 * each * counters)
	admits := func(x counterName) bool {
		rest := m.left[x.set][x.counter]
		for i := range s.placed {
			if p := &s.placed[i]; p.pool == c.pool && p.charged {
				rest = without(rest, p.device, x.set, x.counter)
			}
		}
		return without(rest, d, x.set, x.counter).Sign() >= 0
	}
	for _, x := range m.overdrawn {
		if !admits(x) {
			return false
		}
	}
	for i := range d.ConsumesCounters {
		consumed := &d.ConsumesCounters[i]
		for name := range consumed.Counters {
			if !admits(counterName{consumed.CounterSet, name}) {
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

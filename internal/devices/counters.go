package devices

import (
	"maps"

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
// placed has overdrawn none, so only the sets matter that the device consumes. A counter of
// these is an eighth of a step for the device, and for each that is placed.
func (s *search) countersAdmit(c *candidate) bool {
	m := s.meterOf(c.pool)
	if m.overdrawn {
		return false
	}
	for _, consumed := range c.device.ConsumesCounters {
		left := maps.Clone(m.left[consumed.CounterSet])
		s.steps += len(left) * (1 + len(s.placed)) / 8
		for i := range s.placed {
			if p := &s.placed[i]; p.pool == c.pool && p.charged {
				charge(left, consumed.CounterSet, p.device)
			}
		}
		charge(left, consumed.CounterSet, c.device)
		if isOverdrawn(left) {
			return false
		}
	}
	return true
}

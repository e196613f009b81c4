package devices

import "slices"

// A branch of the search can be left out if it cannot have a solution, and if no error
// can come up in it: an error would end the search. The checks of this file need both.

// wantsSeveral reports whether a solution may have several devices. For a single one, the
// search itself is as quick.
func (s *search) wantsSeveral() bool {
	if len(s.chosen) > 1 {
		return true
	}
	for _, p := range s.plans {
		for i := range p.requests {
			for k := range p.requests[i].asks {
				if p.requests[i].asks[k].count > 1 {
					return true
				}
			}
		}
	}
	return false
}

// isClean reports whether no selector, no node selection and no capacity can be an error
// for any device of the node. To find out must not take more than half of the steps, because
// the search may do with fewer answers.
func (s *search) isClean() bool {
	for claim, p := range s.plans {
		for i := range p.requests {
			for k := range p.requests[i].asks {
				a := &p.requests[i].asks[k]
				if a.all || a.capacity != nil && len(a.capacity.Requests) > 0 || !s.isCleanFor(claim, a) {
					return false
				}
			}
		}
	}
	return !s.pools.odd
}

func (s *search) isCleanFor(claim int, a *ask) bool {
	if a.asksNothing() {
		return true
	}
	most := s.limit
	defer func() { s.limit = most }()
	s.limit /= 2
	for i := range s.devices {
		if _, err := s.selectable(claim, a, &s.devices[i]); err != nil {
			return false
		}
	}
	return true
}

// hopeless reports whether requests want more devices than the node has for them: one request
// alone, or all that can have the same devices. A single request is looked at when its first
// device is placed.
//
// Finding out takes a quarter of the steps at most. If that is not enough, they are taken back,
// and the search goes on without.
func (s *search) hopeless() bool {
	before, until := s.steps, min(s.limit, s.steps+s.limit/4)
	defer func() {
		if s.steps > until {
			s.steps = before
		}
	}()
	if len(s.plans) == 1 && len(s.plans[0].requests) == 1 {
		return false
	}
	for claim, p := range s.plans {
		for i := range p.requests {
			r := &p.requests[i]
			few := !r.alternatives && s.tooFew(claim, &r.asks[0], 0, r.asks[0].count)
			if few || s.steps > until {
				return few && s.steps <= until
			}
		}
	}
	return s.tooFewTogether(until)
}

// tooFewTogether reports whether the requests that can have the same devices want more than
// these. A device that can be shared, or that is looked at with admin access, may go to
// several. Each device that it looks at is a step, and until bounds these.
func (s *search) tooFewTogether(until int) bool {
	wanted := map[string]int64{}
	has := make([]byte, len(s.devices))
	for claim, p := range s.plans {
		for i := range p.requests {
			r := &p.requests[i]
			a := &r.asks[0]
			if r.alternatives || a.admin {
				continue
			}
			free := int64(0)
			for k := range s.devices {
				if s.step(); s.steps > until {
					return false
				}
				c := &s.devices[k]
				if has[k] = 0; !s.mayHave(claim, a, c) {
					continue
				}
				if c.device.shareable {
					return false
				}
				if len(c.device.ConsumesCounters) > 0 && !s.countersAdmit(c) {
					continue // nor will they with others placed
				}
				has[k] = 1
				free++
			}
			if s.steps > until {
				return false
			}
			if wanted[string(has)] += a.count; wanted[string(has)] > free {
				return true
			}
		}
	}
	return false
}

// mayHave reports whether a device is not in use and no selector or taint keeps the ask off.
func (s *search) mayHave(claim int, a *ask, c *candidate) bool {
	if s.taken(claim, a, c) || !s.tolerates(claim, a, c) || c.device.plain.no {
		return false
	}
	ok, _ := s.selectable(claim, a, c)
	return ok
}

// mayShrink reports whether the devices that a request can have, with device number i next,
// may be fewer than when the one before was placed: at first, once the first device has
// decided what all must match, and always if all must differ.
func (s *search) mayShrink(claim int, i int64) bool {
	constraints := s.plans[claim].constraints
	return i == 0 || i == 1 && len(constraints) > 0 || slices.ContainsFunc(constraints, func(x constraint) bool { return x.distinct })
}

// tooFew reports whether fewer than count devices after at can go to the ask. It counts a
// device unless it is in use, a selector or a taint keeps the ask off, or a constraint
// forbids it beside the devices that are placed. Each device that it looks at is a step.
func (s *search) tooFew(claim int, a *ask, at int, count int64) bool {
	for ; at < len(s.devices) && count > 0; at++ {
		s.step()
		c := &s.devices[at]
		if !s.mayHave(claim, a, c) {
			continue
		}
		admits := true
		for i := range s.plans[claim].constraints {
			admits = admits && s.constraintAdmits(claim, i, a, c)
		}
		if admits {
			count--
		}
	}
	return count > 0
}

package devices

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

// hopeless reports whether a request alone wants more devices than the node has for it. A
// single request is looked at when its first device is placed.
func (s *search) hopeless() bool {
	if len(s.plans) == 1 && len(s.plans[0].requests) == 1 {
		return false
	}
	for claim, p := range s.plans {
		for i := range p.requests {
			if r := &p.requests[i]; !r.alternatives && s.tooFew(claim, &r.asks[0], 0, r.asks[0].count) {
				return true
			}
		}
	}
	return false
}

// mayShrink reports whether the devices that a request can have, with device number i next,
// may be fewer than when the one before was placed: at first, once the first device has
// decided what all must match, and always if all must differ.
func (s *search) mayShrink(claim int, i int64) bool {
	constraints := s.plans[claim].constraints
	for k := range constraints {
		if constraints[k].distinct {
			return true
		}
	}
	return i == 0 || i == 1 && len(constraints) > 0
}

// tooFew reports whether fewer than count devices after at can go to the ask. It counts a
// device unless it is in use, a selector or a taint keeps the ask off, or a constraint
// forbids it beside the devices that are placed. Each device that it looks at is a step.
func (s *search) tooFew(claim int, a *ask, at int, count int64) bool {
	for ; at < len(s.devices) && count > 0; at++ {
		s.step()
		c := &s.devices[at]
		if s.taken(claim, a, c) || !c.device.tolerated(a.tolerations) || c.device.plain.no {
			continue
		}
		if ok, _ := s.selectable(claim, a, c); !ok {
			continue
		}
		admits := true
		for i := range s.plans[claim].constraints {
			admits = admits && s.constraintAdmits(claim, &s.plans[claim].constraints[i], a, c.device)
		}
		if admits {
			count--
		}
	}
	return count > 0
}

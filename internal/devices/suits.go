package devices

// A suit says whether the selectors of an ask hold for a device, and whether it tolerates the taints of the
// device. 0 means that neither was asked.
type suit uint8

const (
	unsuitable suit = 1 << iota
	suitable
	untolerated
	tolerated
)

// bytesOfStep is how many bytes of suits are a step.
const bytesOfStep = 64

// memory is the steps for the memory of suits. If they are beyond the limit, there are none.
func (s *search) memory() int { return len(s.takes) * len(s.pools.devices) / bytesOfStep }

// selectable reports whether all selectors hold for a device. The first time, it counts the
// steps that it takes to find out.
func (s *search) selectable(claim int, a *ask, c *candidate) (bool, error) {
	if a.asksNothing() {
		return c.here, c.err
	}
	known := s.suitOf(claim, a, c)
	if *known&(suitable|unsuitable) == 0 {
		x := a.about(c.device, s.limit-s.steps)
		s.steps += x.steps
		switch {
		case x.err == errSteps:
			return false, &StepsError{Steps: s.limit}
		case x.err != nil:
			return false, x.failed.fault(s.plans[claim], c.device, x.err)
		}
		if x.ok {
			*known |= suitable
		} else {
			*known |= unsuitable
		}
	}
	if *known&unsuitable != 0 {
		return false, nil
	}
	return c.here, c.err
}

func (s *search) suitOf(claim int, a *ask, c *candidate) *suit {
	return &s.suits[(s.asks[claim]+a.number)*len(s.pools.devices)+int(c.number)]
}

// tolerates reports whether an ask tolerates all taints of a device. The first time, a taint with a toleration
// is an eighth of a step.
func (s *search) tolerates(claim int, a *ask, c *candidate) bool {
	taints := len(c.device.taints) + len(c.device.slice.taints)
	if taints == 0 {
		return true
	}
	known := s.suitOf(claim, a, c)
	if *known&(tolerated|untolerated) == 0 {
		s.eighths(taints * len(a.tolerations))
		if c.device.tolerated(a.tolerations) {
			*known |= tolerated
		} else {
			*known |= untolerated
		}
	}
	return *known&tolerated != 0
}

package devices

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A search looks for devices on one node for the claims of a pod: depth first, in the
// order of requests and devices. The first full solution is the answer.
//
// Everything that depends on what has been placed is derived from the stack of results,
// which is short.
type search struct {
	pools   *pools
	devices []candidate // of the pools, in the order in which they are tried
	uses    []*poolUse  // by pool
	meters  []meter     // by pool
	plans   []plan
	lists   [][]candidate // devices for asks with mode All, in the order of the asks

	placed   []placed
	chosen   []int  // alternative of each request, by claim and request
	requests []int  // index of the first request of each claim in chosen
	after    []int  // the next claim that has requests, by claim; len(plans) if there is none
	asks     []int  // number of the first ask of each claim
	suits    []suit // by ask and candidate
	// relations are the numbers of the first constraint of each claim, and values the attributes
	// of all candidates for each constraint that was asked about.
	relations []int
	values    [][]*api.DeviceAttribute
	takes     [][]*consumption               // by ask and candidate, of asks for capacity; nil if not known
	beside    []map[string]resource.Quantity // memory of fitsCapacity
	steps     int
	rest      int // eighths of a step
	limit     int
	err       error
	clean     bool // more than one device is wanted, and no device can fail with an error
}

// A placed is a device that was chosen for a request.
type placed struct {
	claim    int
	ask      *ask
	device   *Device
	pool     int
	number   int32                        // of the candidate
	consumed map[string]resource.Quantity // of a device that can be shared
	charged  bool                         // its counters count
}

// begin makes the search ready for a node.
func (s *search) begin(p *pools, plans []plan, state *State, limit int) {
	s.pools, s.devices, s.plans, s.steps, s.limit, s.err = p, p.devices, plans, 0, limit, nil
	s.rest = 0
	s.uses, s.meters, s.lists, s.placed = s.uses[:0], s.meters[:0], s.lists[:0], s.placed[:0]
	for i := range p.list {
		s.meters = append(s.meters, meter{})
		s.uses = append(s.uses, state.usesOfPool(&p.list[i]))
	}
	s.chosen, s.requests, s.asks = s.chosen[:0], s.requests[:0], s.asks[:0]
	s.relations = s.relations[:0]
	asks, relations := 0, 0
	for _, p := range plans {
		s.relations = append(s.relations, relations)
		relations += len(p.constraints)
		s.asks = append(s.asks, asks)
		asks += p.demand.asks
		s.requests = append(s.requests, len(s.chosen))
		for range p.requests {
			s.chosen = append(s.chosen, 0)
		}
	}
	s.after = slices.Grow(s.after[:0], len(plans))[:len(plans)]
	for i, next := len(plans)-1, len(plans); i >= 0; i-- {
		if s.after[i] = next; len(plans[i].requests) > 0 {
			next = i
		}
	}
	s.takes = slices.Grow(s.takes[:0], asks)[:asks]
	for i := range s.takes {
		s.takes[i] = s.takes[i][:0]
	}
	s.suits = s.suits[:0]
	if n := asks * len(p.devices); s.memory() <= limit {
		s.suits = slices.Grow(s.suits, n)[:n]
		clear(s.suits)
	}
	s.values = slices.Grow(s.values[:0], relations)[:relations]
	for i := range s.values {
		s.values[i] = s.values[i][:0]
	}
}

// An outcome is the result of a branch of the search.
type outcome uint8

const (
	failed  outcome = iota
	solved          // all claims have their devices
	limited         // a claim would have too many devices
	fatal           // search.err ends the search
)

func (s *search) fail(err error) outcome {
	s.err = err
	return fatal
}

// run searches. The result is failed, solved or fatal.
func (s *search) run() outcome {
	if s.steps += s.memory(); s.steps > s.limit {
		return s.fail(&StepsError{Steps: s.limit})
	}
	if err := s.validate(); err != nil {
		return s.fail(err)
	}
	s.clean = s.wantsSeveral() && s.isClean()
	if s.clean && s.hopeless() {
		return failed
	}
	o := s.next(0, 0)
	if o == failed && s.steps > s.limit {
		return s.fail(&StepsError{Steps: s.limit})
	}
	return o
}

// validate checks all claims, and lists the devices of asks with mode All.
func (s *search) validate() error {
	for claim, p := range s.plans {
		sum := int64(0)
		for i := range p.requests {
			r := &p.requests[i]
			least := int64(-1)
			for k := range r.asks {
				n, err := s.validateAsk(claim, &r.asks[k])
				if err != nil {
					return err
				}
				if least < 0 || n < least {
					least = n
				}
			}
			least = max(least, 0)
			if sum > maxDevices-least {
				return fmt.Errorf("claim %s, request %s: adding %d devices exceeds the claim limit of %d, with %d already accounted for",
					p.claim.Key(), r.name, least, maxDevices, sum)
			}
			sum += least
		}
		for i := range p.constraints {
			if fault := p.constraints[i].fault; fault != "" {
				return fmt.Errorf("claim %s, %s", p.claim.Key(), fault)
			}
		}
	}
	return nil
}

// validateAsk returns the number of devices that an ask wants.
func (s *search) validateAsk(claim int, a *ask) (int64, error) {
	p := s.plans[claim]
	switch {
	case a.fault != "":
		return 0, fmt.Errorf("claim %s, request %s%s", p.claim.Key(), a.name, a.fault)
	case !a.all:
		s.lists = append(s.lists, nil)
		return a.count, nil
	}
	var list []candidate
	at := 0
	for i := range s.pools.list {
		pool := &s.pools.list[i]
		state := ""
		switch {
		case pool.incomplete:
			state = "being updated"
		case pool.invalid:
			state = "invalid"
		}
		if state != "" {
			return 0, fmt.Errorf("claim %s, request %s: asks for all devices, but resource pool %s is currently %s", p.claim.Key(), a.name, pool.id, state)
		}
		for ; at < len(s.pools.devices) && s.pools.devices[at].pool == i; at++ {
			c := s.pools.devices[at]
			if !s.stepWithin() {
				return 0, &StepsError{Steps: s.limit}
			}
			ok, err := s.selectable(claim, a, &c)
			if err != nil {
				return 0, err
			}
			if !ok {
				continue
			}
			switch x := s.consumption(claim, a, &c); {
			case x.err != nil:
				return 0, fmt.Errorf("claim %s, request %s: checking capacity for device %s: %w", p.claim.Key(), a.name, c.device.Name, x.err)
			case !x.no:
				list = append(list, c)
			}
		}
	}
	if list == nil {
		list = []candidate{}
	}
	s.lists = append(s.lists, list)
	return int64(len(list)), nil
}

// listOf returns the devices for an ask with mode All.
func (s *search) listOf(claim int, a *ask) []candidate { return s.lists[s.asks[claim]+a.number] }

// next goes on with a request of a claim.
func (s *search) next(claim, req int) outcome {
	if claim == len(s.plans) {
		return solved
	}
	p := s.plans[claim]
	if req == len(p.requests) {
		o := s.next(s.after[claim], 0) // claims without requests would cost each branch time, and count no step
		if o == limited {
			return failed
		}
		return o
	}
	r := &p.requests[req]
	if !r.alternatives {
		return s.place(claim, req, &r.asks[0], 0, 0)
	}
	allLimited := true
	for k := range r.asks {
		if k > 0 && !s.stepWithin() {
			return s.fail(&StepsError{Steps: s.limit})
		}
		s.chosen[s.requests[claim]+req] = k
		switch o := s.place(claim, req, &r.asks[k], 0, 0); o {
		case solved, fatal:
			return o
		case failed:
			allLimited = false
		}
	}
	if allLimited {
		return limited
	}
	return failed
}

// place places device number i of a request, and goes on. at is where the search among
// the devices begins.
func (s *search) place(claim, req int, a *ask, i int64, at int) outcome {
	var list []candidate
	count := a.count
	if a.all {
		list = s.listOf(claim, a)
		count = int64(len(list))
		if count == 0 {
			return failed
		}
	}
	if i == count {
		if i == 0 && !s.stepWithin() {
			return s.fail(&StepsError{Steps: s.limit})
		}
		return s.next(claim, req+1)
	}
	if count-i > int64(maxDevices-s.devicesOf(claim)) {
		return limited
	}
	if a.all {
		return s.placeListed(claim, req, a, i, list)
	}
	return s.placeAny(claim, req, a, i, at, count)
}

// placeListed places the device of a list that is next. It is a step, as alternatives may place
// the same devices again and again.
func (s *search) placeListed(claim, req int, a *ask, i int64, list []candidate) outcome {
	if !s.stepWithin() {
		return s.fail(&StepsError{Steps: s.limit})
	}
	c := &list[i]
	if s.taken(claim, a, c) {
		return failed
	}
	switch o := s.try(claim, a, c, true); o {
	case solved:
	default:
		return o
	}
	o := s.place(claim, req, a, i+1, 0)
	if o != solved {
		s.placed = s.placed[:len(s.placed)-1]
	}
	return o
}

// placeAny places the first device after at that lets the search succeed.
func (s *search) placeAny(claim, req int, a *ask, i int64, at int, count int64) outcome {
	if s.clean && count-i > 1 && s.mayShrink(claim, i) {
		none := s.tooFew(claim, a, at, count-i)
		switch {
		case s.steps > s.limit:
			return s.fail(&StepsError{Steps: s.limit})
		case none:
			return failed
		}
	}
	for ; at < len(s.devices); at++ {
		if !s.stepWithin() {
			return s.fail(&StepsError{Steps: s.limit})
		}
		c := &s.devices[at]
		if s.taken(claim, a, c) {
			continue
		}
		switch ok, err := s.selectable(claim, a, c); {
		case err != nil:
			return s.fail(err)
		case !ok:
			continue
		}
		x := s.consumption(claim, a, c)
		if x.err != nil {
			return s.fail(fmt.Errorf("claim %s, request %s: checking capacity for device %s: %w", s.plans[claim].claim.Key(), a.name, c.device.ID(), x.err))
		}
		if x.no || !s.fitsCapacity(c, x) {
			continue
		}
		if s.try(claim, a, c, false) != solved {
			continue
		}
		switch o := s.place(claim, req, a, i+1, at+1); o {
		case failed:
			s.placed = s.placed[:len(s.placed)-1]
		case solved:
			return o
		default:
			s.placed = s.placed[:len(s.placed)-1]
			return o
		}
	}
	return failed
}

// step counts the work for one device, which is compared with those that are placed. A
// few of them are no more than the device itself.
func (s *search) step() { s.steps += 1 + len(s.placed)/8 }

// stepWithin is step, and reports whether the search is still within its bound.
func (s *search) stepWithin() bool {
	s.step()
	return s.steps <= s.limit
}

// devicesOf counts the devices of a claim.
func (s *search) devicesOf(claim int) (n int) {
	for i := range s.placed {
		if s.placed[i].claim == claim {
			n++
		}
	}
	return n
}

// taken reports whether a device is in use for the ask.
func (s *search) taken(claim int, a *ask, c *candidate) bool {
	if !a.admin && s.uses[c.pool].of(c.device).isDedicated() {
		return true
	}
	if c.device.shareable {
		return false // never marked
	}
	for i := range s.placed {
		if p := &s.placed[i]; p.device == c.device && (!a.admin || p.claim == claim) {
			return true
		}
	}
	return false
}

// try places a device if everything else admits it. The result is solved if it was
// placed.
func (s *search) try(claim int, a *ask, c *candidate, listed bool) outcome {
	d := c.device
	p := placed{claim: claim, ask: a, device: d, pool: c.pool, number: c.number}
	if len(d.ConsumesCounters) > 0 && !(d.shareable && s.shared(c)) {
		p.charged = true
		if !s.countersAdmit(c) {
			return failed
		}
	}
	if !s.tolerates(claim, a, c) {
		return failed
	}
	for i := range s.plans[claim].constraints {
		if !s.constraintAdmits(claim, i, a, c) {
			if listed {
				return s.fail(fmt.Errorf("claim %s, request %s: cannot add device %s because a claim constraint would not be satisfied",
					s.plans[claim].claim.Key(), a.name, d.ID()))
			}
			return failed
		}
	}
	x := s.consumption(claim, a, c)
	switch {
	case x.err != nil:
		return s.fail(fmt.Errorf("claim %s, request %s: checking capacity for device %s: %w", s.plans[claim].claim.Key(), a.name, d.ID(), x.err))
	case x.no || !s.fitsCapacity(c, x):
		return failed
	}
	if d.shareable {
		p.consumed = x.amounts
	}
	s.placed = append(s.placed, p)
	return solved
}

// shared reports whether the device is shared already, in this search or before.
func (s *search) shared(c *candidate) bool {
	if s.uses[c.pool].of(c.device).isShared() {
		return true
	}
	for i := range s.placed {
		if s.placed[i].device == c.device {
			return true
		}
	}
	return false
}

// fitsCapacity reports whether a device has enough capacity left. Each amount that others
// have of it is a quarter of a step.
func (s *search) fitsCapacity(c *candidate, x *consumption) bool {
	if !c.device.shareable || len(x.amounts) == 0 {
		return true // nothing is ever consumed, or it asks for nothing
	}
	used := s.beside[:0]
	if u := s.uses[c.pool].of(c.device).consumed(); u != nil {
		used = append(used, u)
	}
	for i := range s.placed {
		if s.placed[i].device == c.device {
			used = append(used, s.placed[i].consumed)
		}
	}
	s.beside = used
	s.eighths(2 * len(used) * len(x.amounts))
	return len(used) == 0 || fitsBeside(c.device, x, used...)
}

package devices

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A consumption is what one request takes of the capacities of a device.
type consumption struct {
	amounts map[string]resource.Quantity // by capacity, of a device that can be shared
	err     error                        // an amount that cannot be computed
	no      bool                         // the device does not have it, or its policies forbid it
}

// consumption returns what an ask takes of a candidate. To find it out counts as half a step for
// each capacity of the device, and as a whole one if the amounts are kept. For each candidate it
// is an eighth of a step more, the first time.
func (s *search) consumption(claim int, a *ask, c *candidate) *consumption {
	if a.capacity == nil || len(a.capacity.Requests) == 0 {
		return &c.device.plain
	}
	row := &s.takes[s.asks[claim]+a.number]
	if n := len(s.pools.devices); len(*row) < n {
		s.eighths(n)
		*row = slices.Grow(*row, n)[:n]
		clear(*row)
	}
	known := &(*row)[c.number]
	if *known == nil {
		each := 4
		if c.device.shareable {
			each = 8
		}
		s.eighths(each * len(c.device.Capacity))
		x := a.consumption(c.device)
		*known = &x
	}
	return *known
}

var maxWhole = resource.New(math.MaxInt64, resource.DecimalSI)

// consume returns what requests take of a device that nobody else uses.
func consume(d *Device, requests map[string]resource.Quantity) consumption {
	for name := range requests {
		if _, ok := d.Capacity[name]; !ok {
			return consumption{no: true}
		}
	}
	if len(d.Capacity) == 0 {
		return consumption{}
	}
	var c consumption
	if d.shareable {
		c.amounts = make(map[string]resource.Quantity, len(d.Capacity))
	}
	first := "" // of the names with an error
	for name, capacity := range d.Capacity {
		var request *resource.Quantity
		if r, ok := requests[name]; ok {
			request = &r
		}
		amount, err := consumed(&capacity, request)
		if err == nil && amount.Sign() < 0 {
			err = errNegative
		}
		if err != nil {
			if c.err == nil || name < first {
				first, c.err = name, fmt.Errorf("capacity %q: %w", name, err)
			}
			continue
		}
		if d.shareable {
			c.amounts[name] = amount
		}
		if violates(&capacity, amount) || amount.Cmp(capacity.Value) > 0 {
			c.no = true
		}
	}
	if c.err != nil {
		return consumption{err: c.err}
	}
	return c
}

var errNegative = fmt.Errorf("capacity value is negative")

// consumed returns the amount of one capacity that a request takes; nil is none.
func consumed(c *api.DeviceCapacity, request *resource.Quantity) (resource.Quantity, error) {
	p := c.RequestPolicy
	switch {
	case request == nil && p != nil && p.Default != nil:
		return *p.Default, nil
	case request == nil:
		return c.Value, nil
	case p == nil:
		return *request, nil
	case p.ValidRange != nil && p.ValidRange.Min != nil:
		return roundUp(*request, p.ValidRange)
	}
	for _, v := range p.ValidValues {
		if request.Cmp(v) <= 0 {
			return v, nil
		}
	}
	return *request, nil
}

// roundUp returns the least amount of a range that is not below the request. Steps count
// in whole units, which fractions are rounded up to.
func roundUp(request resource.Quantity, r *api.CapacityRequestPolicyRange) (resource.Quantity, error) {
	if request.Cmp(*r.Min) < 0 {
		return *r.Min, nil
	}
	if r.Step == nil {
		return request, nil
	}
	if request.Cmp(maxWhole) > 0 {
		return request, fmt.Errorf("capacity request cannot be represented in the device's range arithmetic: request %s exceeds MaxInt64", request)
	}
	least, step, want := r.Min.Value(), r.Step.Value(), request.Value()
	if step <= 0 {
		return request, nil
	}
	if rest := resource.SatSub(want, least) % step; rest > 0 {
		if want > math.MaxInt64-(step-rest) {
			return request, fmt.Errorf("capacity request cannot be represented in the device's range arithmetic: rounding request %s up to the next step passes MaxInt64", request)
		}
		want += step - rest
	}
	return resource.New(want, request.Format()), nil
}

// violates reports whether the policy of a capacity forbids an amount.
func violates(c *api.DeviceCapacity, amount resource.Quantity) bool {
	p := c.RequestPolicy
	if p == nil || p.Default != nil && amount.Equal(*p.Default) {
		return false
	}
	if r := p.ValidRange; r != nil {
		if r.Max != nil && amount.Cmp(*r.Max) > 0 {
			return true
		}
		if r.Step == nil {
			return false
		}
		least := int64(0)
		if r.Min != nil {
			least = whole(*r.Min)
		}
		step := r.Step.Value()
		return step <= 0 || resource.SatSub(whole(amount), least)%step != 0
	}
	return len(p.ValidValues) > 0 && !slices.ContainsFunc(p.ValidValues, amount.Equal)
}

// whole returns an amount, rounded up, as steps count it. Like kube-scheduler it reads one beyond
// the largest int64, such as 20E, as 0.
func whole(q resource.Quantity) int64 {
	if q.Cmp(maxWhole) > 0 {
		return 0
	}
	return q.Value()
}

// fitsBeside reports whether an amount of every capacity is left beside what others
// use.
func fitsBeside(d *Device, c *consumption, used ...map[string]resource.Quantity) bool {
	for name, amount := range c.amounts {
		for _, u := range used {
			if q, ok := u[name]; ok {
				amount = amount.Add(q)
			}
		}
		if amount.Cmp(d.Capacity[name].Value) > 0 {
			return false
		}
	}
	return true
}

package devices

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// constraintAdmits reports whether the claim's devices meet a constraint of the claim with one
// more. The constraint is an eighth of a step, and so is each device that is placed, and each
// device of the node when the constraint is first asked about.
func (s *search) constraintAdmits(claim, at int, a *ask, c *candidate) bool {
	x := &s.plans[claim].constraints[at]
	if s.eighths(1); !x.applies[a.number] {
		return true
	}
	values := s.valuesFor(s.relations[claim]+at, x)
	value := values[c.number]
	if value == nil {
		return false
	}
	for i := range s.placed {
		p := &s.placed[i]
		if s.eighths(1); p.claim != claim || !x.applies[p.ask.number] {
			continue
		}
		same, comparable := sameAttribute(values[p.number], value)
		switch {
		case !comparable:
			return false
		case x.distinct && same, !x.distinct && !same:
			return false
		case !x.distinct:
			return true // the others have the same value
		}
	}
	return true
}

// eighths counts eighths of a step.
func (s *search) eighths(n int) {
	s.rest += n
	s.steps += s.rest / 8
	s.rest %= 8
}

// valuesFor returns the attribute of each candidate for a constraint, of all claims, with that
// number.
func (s *search) valuesFor(number int, x *constraint) []*api.DeviceAttribute {
	values := s.values[number]
	if len(values) == 0 {
		s.eighths(len(s.pools.devices))
		for i := range s.pools.devices {
			values = append(values, attributeOf(s.pools.devices[i].device, x.attribute))
		}
		s.values[number] = values
	}
	return values
}

// attributeOf returns a device's attribute by its full name, nil if there is none.
func attributeOf(d *Device, name string) *api.DeviceAttribute {
	values, ok := d.slice.values.find(name)
	if !ok {
		values = d.slice.values.add(name, d.slice.valuesOf(name))
	}
	return values[d.index]
}

// valuesOf returns the attribute of that full name of each device.
func (s *slice) valuesOf(name string) []*api.DeviceAttribute {
	short, ok := strings.CutPrefix(name, s.pool.Driver+"/")
	values := make([]*api.DeviceAttribute, len(s.devices))
	for i := range s.devices {
		v, known := s.devices[i].Attributes[name]
		if !known && ok {
			v, known = s.devices[i].Attributes[short]
		}
		if known {
			values[i] = &v
		}
	}
	return values
}

// sameAttribute reports whether a device's attribute a equals b, that of a later device.
// A later list cannot be compared; an earlier one differs from every single value.
func sameAttribute(a, b *api.DeviceAttribute) (same, comparable bool) {
	switch {
	case b.StringValue != nil:
		return a.StringValue != nil && *a.StringValue == *b.StringValue, true
	case b.IntValue != nil:
		return a.IntValue != nil && *a.IntValue == *b.IntValue, true
	case b.BoolValue != nil:
		return a.BoolValue != nil && *a.BoolValue == *b.BoolValue, true
	case b.VersionValue != nil:
		return a.VersionValue != nil && *a.VersionValue == *b.VersionValue, true
	}
	return false, false
}

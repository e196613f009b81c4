package devices

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// applies reports whether a constraint is about an ask.
func (x *constraint) applies(a *ask, request string) bool {
	if len(x.requests) == 0 {
		return true
	}
	for _, name := range x.requests {
		if name == request || name == a.full {
			return true
		}
	}
	return false
}

// requestOf returns the name of the request of an ask.
func requestOf(a *ask) string {
	if len(a.full) > len(a.name) {
		return a.full[:len(a.full)-len(a.name)-1]
	}
	return a.full
}

// constraintAdmits reports whether the claim's devices meet a constraint with one more.
func (s *search) constraintAdmits(claim int, x *constraint, a *ask, d *Device) bool {
	if !x.applies(a, requestOf(a)) {
		return true
	}
	value := attributeOf(d, x.attribute)
	if value == nil {
		return false
	}
	for i := range s.placed {
		p := &s.placed[i]
		if p.claim != claim || !x.applies(p.ask, requestOf(p.ask)) {
			continue
		}
		same, comparable := sameAttribute(attributeOf(p.device, x.attribute), value)
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

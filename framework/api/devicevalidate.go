package api

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/internal/qualified"
	"github.com/berth-sched/berth/internal/semver"
	"github.com/berth-sched/berth/resource"
)

// The API server's limits for devices.
const (
	maxSliceDevices     = 128
	maxSliceRichDevices = 64 // if some device has taints, counters or binding conditions
	maxClaimRequests    = 32
	maxAlternatives     = 8
	maxSelectors        = 32
	maxExpression       = 10 << 10
	maxAttribute        = 64 // bytes
)

// An invalidFunc makes the error of a field of an object.
type invalidFunc func(field string, value any, text string) error

// invalidIn returns the function for the fields of an object below a path.
func invalidIn(object, path string) invalidFunc {
	return func(field string, value any, text string) error {
		return &InvalidError{Object: object, Field: path + field, Value: fmt.Sprint(value), Err: errors.New(text)}
	}
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in a slice, as far as scheduling reads it and is not lenient: the pool, where the devices
// can be used, how many there are, their attributes, taints and policies. It also returns one
// for a negative amount. The API server takes some of these. Scheduling takes slices as they are.
func (s *ResourceSlice) Validate() error {
	spec := &s.Spec
	invalid := invalidIn("resourceslice "+s.Name, "spec.")
	where := 0
	for _, given := range []bool{
		spec.NodeName != nil, spec.NodeSelector != nil, spec.AllNodes != nil && *spec.AllNodes, spec.PerDeviceNodeSelection != nil && *spec.PerDeviceNodeSelection,
	} {
		if given {
			where++
		}
	}
	most := maxSliceDevices
	seen := map[string]bool{}
	for i := range spec.Devices {
		d := &spec.Devices[i]
		if seen[d.Name] {
			return invalid(fmt.Sprintf("devices[%d].name", i), d.Name, "must not be there twice")
		}
		seen[d.Name] = true
		if len(d.Taints)+len(d.ConsumesCounters)+len(d.BindingConditions) > 0 {
			most = maxSliceRichDevices
		}
		if err := d.validate(invalid, fmt.Sprintf("devices[%d].", i)); err != nil {
			return err
		}
	}
	for i := range spec.SharedCounters {
		if err := validateCounters(invalid, fmt.Sprintf("sharedCounters[%d].counters", i), spec.SharedCounters[i].Counters); err != nil {
			return err
		}
	}
	switch {
	case spec.Driver == "":
		return invalid("driver", "", "must not be empty")
	case spec.Pool.Name == "":
		return invalid("pool.name", "", "must not be empty")
	case spec.Pool.Generation < 0:
		return invalid("pool.generation", spec.Pool.Generation, "must not be negative")
	case spec.Pool.ResourceSliceCount < 1:
		return invalid("pool.resourceSliceCount", spec.Pool.ResourceSliceCount, "must be greater than zero")
	case where != 1:
		return invalid("nodeName", where, "exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection must be set")
	case len(spec.Devices) > 0 && len(spec.SharedCounters) > 0:
		return invalid("sharedCounters", len(spec.SharedCounters), "must not be set beside devices")
	case len(spec.Devices) > most:
		return invalid("devices", len(spec.Devices), "must have at most "+strconv.Itoa(most)+" items")
	}
	return nil
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in the spec of a claim, as far as scheduling reads it. It wants defaults to be set; see
// [Objects.Default].
func (c *ResourceClaim) Validate() error {
	return c.Spec.Devices.validate(invalidIn("resourceclaim "+c.Key(), "spec.devices."))
}

// Validate does for the claims of a template what [ResourceClaim.Validate] does.
func (t *ResourceClaimTemplate) Validate() error {
	return t.Spec.Spec.Devices.validate(invalidIn("resourceclaimtemplate "+t.Key(), "spec.spec.devices."))
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in a class, as far as scheduling reads it.
func (c *DeviceClass) Validate() error {
	invalid := invalidIn("deviceclass "+c.Name, "spec.")
	if e := c.Spec.ExtendedResourceName; e != nil && !resource.Name(*e).IsExtended() {
		return invalid("extendedResourceName", *e, "must be the name of an extended resource")
	}
	return validateSelectors(invalid, "selectors", c.Spec.Selectors)
}

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in a rule, as far as scheduling reads it.
func (r *DeviceTaintRule) Validate() error {
	invalid := invalidIn("devicetaintrule "+r.Name, "spec.")
	if s := r.Spec.DeviceSelector; s != nil {
		for _, x := range []struct {
			field string
			value *string
		}{{"driver", s.Driver}, {"pool", s.Pool}, {"device", s.Device}} {
			if x.value != nil && *x.value == "" {
				return invalid("deviceSelector."+x.field, "", "must not be empty")
			}
		}
	}
	return r.Spec.Taint.validate(invalid, "taint.")
}

func (c *DeviceClaim) validate(invalid invalidFunc) error {
	if n := len(c.Requests); n > maxClaimRequests {
		return invalid("requests", n, "must have at most "+strconv.Itoa(maxClaimRequests)+" items")
	}
	for i := range c.Requests {
		r, field := &c.Requests[i], fmt.Sprintf("requests[%d]", i)
		switch {
		case (r.Exactly != nil) == (len(r.FirstAvailable) > 0):
			return invalid(field, r.Name, "exactly one of exactly and firstAvailable must be set")
		case len(r.FirstAvailable) > maxAlternatives:
			return invalid(field+".firstAvailable", len(r.FirstAvailable), "must have at most "+strconv.Itoa(maxAlternatives)+" items")
		}
		if e := r.Exactly; e != nil {
			if err := validateExact(invalid, field+".exactly", e.DeviceClassName, e.AllocationMode, e.Count, e.Selectors); err != nil {
				return err
			}
		}
		for k := range r.FirstAvailable {
			x := &r.FirstAvailable[k]
			if err := validateExact(invalid, fmt.Sprintf("%s.firstAvailable[%d]", field, k), x.DeviceClassName, x.AllocationMode, x.Count, x.Selectors); err != nil {
				return err
			}
		}
	}
	for i := range c.Constraints {
		if x := &c.Constraints[i]; (x.MatchAttribute != nil) == (x.DistinctAttribute != nil) {
			return invalid(fmt.Sprintf("constraints[%d]", i), len(x.Requests), "exactly one of matchAttribute and distinctAttribute must be set")
		}
	}
	return nil
}

func validateExact(invalid invalidFunc, field, class string, mode DeviceAllocationMode, count int64, selectors []DeviceSelector) error {
	switch {
	case class == "":
		return invalid(field+".deviceClassName", "", "must not be empty")
	case mode == DeviceAllocationModeExactCount && count < 1:
		return invalid(field+".count", count, "must be greater than zero")
	case mode == DeviceAllocationModeAll && count != 0:
		return invalid(field+".count", count, "must not be set for allocationMode All")
	case mode != DeviceAllocationModeExactCount && mode != DeviceAllocationModeAll:
		return invalid(field+".allocationMode", mode, "must be ExactCount or All")
	}
	return validateSelectors(invalid, field+".selectors", selectors)
}

func validateSelectors(invalid invalidFunc, field string, selectors []DeviceSelector) error {
	if n := len(selectors); n > maxSelectors {
		return invalid(field, n, "must have at most "+strconv.Itoa(maxSelectors)+" items")
	}
	for i := range selectors {
		at := fmt.Sprintf("%s[%d].cel", field, i)
		switch {
		case selectors[i].CEL == nil:
			return invalid(at, "", "must be set")
		case len(selectors[i].CEL.Expression) > maxExpression:
			return invalid(at+".expression", len(selectors[i].CEL.Expression), "must have at most "+strconv.Itoa(maxExpression)+" bytes")
		}
	}
	return nil
}

func (d *Device) validate(invalid invalidFunc, path string) error {
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		if err := d.Attributes[name].validate(invalid, path+"attributes["+name+"]"); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		c, field := d.Capacity[name], path+"capacity["+name+"]"
		if c.Value.Sign() < 0 {
			return invalid(field+".value", c.Value, "must not be negative")
		}
		if c.RequestPolicy != nil {
			if err := c.RequestPolicy.validate(invalid, field+".requestPolicy."); err != nil {
				return err
			}
		}
	}
	for i := range d.ConsumesCounters {
		if err := validateCounters(invalid, fmt.Sprintf("%sconsumesCounters[%d].counters", path, i), d.ConsumesCounters[i].Counters); err != nil {
			return err
		}
	}
	for i := range d.Taints {
		if err := d.Taints[i].validate(invalid, fmt.Sprintf("%staints[%d].", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func (a DeviceAttribute) validate(invalid invalidFunc, field string) error {
	given := 0
	for _, is := range []bool{
		a.IntValue != nil, a.BoolValue != nil, a.StringValue != nil, a.VersionValue != nil,
		len(a.IntValues) > 0, len(a.BoolValues) > 0, len(a.StringValues) > 0, len(a.VersionValues) > 0,
	} {
		if is {
			given++
		}
	}
	if given != 1 {
		return invalid(field, given, "must have exactly one value, or one list of values")
	}
	check := func(field, value string, version bool) error {
		switch {
		case len(value) > maxAttribute:
			return invalid(field, value, "must have at most "+strconv.Itoa(maxAttribute)+" bytes")
		case version && !semver.Valid(value):
			return invalid(field, value, "must be a semantic version (semver.org 2.0.0)")
		}
		return nil
	}
	switch {
	case a.StringValue != nil:
		return check(field+".string", *a.StringValue, false)
	case a.VersionValue != nil:
		return check(field+".version", *a.VersionValue, true)
	}
	for i, value := range a.StringValues {
		if err := check(fmt.Sprintf("%s.strings[%d]", field, i), value, false); err != nil {
			return err
		}
	}
	for i, value := range a.VersionValues {
		if err := check(fmt.Sprintf("%s.versions[%d]", field, i), value, true); err != nil {
			return err
		}
	}
	return nil
}

// validate checks the signs of the amounts. The API server checks only those that its
// arithmetic uses.
func (p *CapacityRequestPolicy) validate(invalid invalidFunc, path string) error {
	check := func(field string, q *resource.Quantity) error {
		if q != nil && q.Sign() < 0 {
			return invalid(path+field, *q, "must not be negative")
		}
		return nil
	}
	if err := check("default", p.Default); err != nil {
		return err
	}
	for i := range p.ValidValues {
		if err := check(fmt.Sprintf("validValues[%d]", i), &p.ValidValues[i]); err != nil {
			return err
		}
	}
	r := p.ValidRange
	switch {
	case r == nil:
		return nil
	case r.Min == nil:
		return invalid(path+"validRange.min", "", "must be set")
	case r.Step != nil && r.Step.Sign() <= 0:
		return invalid(path+"validRange.step", *r.Step, "must be greater than zero")
	}
	return cmp.Or(check("validRange.min", r.Min), check("validRange.max", r.Max))
}

func validateCounters(invalid invalidFunc, field string, counters map[string]Counter) error {
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if v := counters[name].Value; v.Sign() < 0 {
			return invalid(field+"["+name+"].value", v, "must not be negative")
		}
	}
	return nil
}

func (t *DeviceTaint) validate(invalid invalidFunc, path string) error {
	switch {
	case t.Key == "":
		return invalid(path+"key", "", "must not be empty")
	case !resource.Name(t.Key).IsQualified():
		return invalid(path+"key", t.Key, "must be a label key")
	case t.Value != "" && (len(t.Value) > qualified.MaxLocal || !qualified.IsLocal(t.Value)):
		return invalid(path+"value", t.Value, "must be a label value")
	}
	switch t.Effect {
	case DeviceTaintEffectNone, DeviceTaintEffectNoSchedule, DeviceTaintEffectNoExecute:
		return nil
	}
	return invalid(path+"effect", t.Effect, "must be None, NoSchedule or NoExecute")
}

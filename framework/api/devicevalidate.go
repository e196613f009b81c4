package api

import (
	"errors"
	"fmt"
	"strconv"
)

// The API server's limits for devices.
const (
	maxSliceDevices     = 128
	maxSliceRichDevices = 64 // if some device has taints, counters or binding conditions
	maxClaimRequests    = 32
	maxAlternatives     = 8
	maxClaimSelectors   = 32
	maxExpression       = 10 << 10
)

// Validate returns an [*InvalidError] for what the API server of Kubernetes 1.37 refuses
// in a slice, as far as scheduling reads it and is not lenient: the pool, where the devices
// can be used, and how many there are. Scheduling takes slices as they are.
func (s *ResourceSlice) Validate() error {
	spec := &s.Spec
	invalid := func(field string, value any, text string) error {
		return &InvalidError{Object: "resourceslice " + s.Name, Field: "spec." + field, Value: fmt.Sprint(value), Err: errors.New(text)}
	}
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
		for name, c := range d.Capacity {
			if c.Value.Sign() < 0 {
				return invalid(fmt.Sprintf("devices[%d].capacity[%s].value", i, name), c.Value, "must not be negative")
			}
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
	return c.Spec.Devices.validate("resourceclaim "+c.Key(), "spec.devices.")
}

// Validate does for the claims of a template what [ResourceClaim.Validate] does.
func (t *ResourceClaimTemplate) Validate() error {
	return t.Spec.Spec.Devices.validate("resourceclaimtemplate "+t.Key(), "spec.spec.devices.")
}

func (c *DeviceClaim) validate(object, path string) error {
	invalid := func(field string, value any, text string) error {
		return &InvalidError{Object: object, Field: path + field, Value: fmt.Sprint(value), Err: errors.New(text)}
	}
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

func validateExact(invalid func(field string, value any, text string) error, field, class string, mode DeviceAllocationMode, count int64, selectors []DeviceSelector) error {
	switch {
	case class == "":
		return invalid(field+".deviceClassName", "", "must not be empty")
	case mode == DeviceAllocationModeExactCount && count < 1:
		return invalid(field+".count", count, "must be greater than zero")
	case mode == DeviceAllocationModeAll && count != 0:
		return invalid(field+".count", count, "must not be set for allocationMode All")
	case mode != DeviceAllocationModeExactCount && mode != DeviceAllocationModeAll:
		return invalid(field+".allocationMode", mode, "must be ExactCount or All")
	case len(selectors) > maxClaimSelectors:
		return invalid(field+".selectors", len(selectors), "must have at most "+strconv.Itoa(maxClaimSelectors)+" items")
	}
	for i := range selectors {
		at := fmt.Sprintf("%s.selectors[%d].cel", field, i)
		switch {
		case selectors[i].CEL == nil:
			return invalid(at, "", "must be set")
		case len(selectors[i].CEL.Expression) > maxExpression:
			return invalid(at+".expression", len(selectors[i].CEL.Expression), "must have at most "+strconv.Itoa(maxExpression)+" bytes")
		}
	}
	return nil
}

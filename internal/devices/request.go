package devices

import (
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// maxDevices is how many devices a claim may have.
const maxDevices = 32

// A plan is a claim to allocate, as the search needs it. It is the same for all nodes.
type plan struct {
	claim *api.ResourceClaim
	*demand
}

// A demand is what claims ask for. It knows no claim, so claims that ask for the same
// share it.
type demand struct {
	requests    []request
	constraints []constraint
	checked     atomic.Bool // all of its classes exist
	text        string      // see appendDemand
}

// A request is one of a claim: exactly one ask, or alternatives.
type request struct {
	name         string
	asks         []ask
	alternatives bool
}

// An ask is an exact request or one alternative.
type ask struct {
	name        string // of the request or alternative alone
	full        string // in results: "request" or "request/alternative"
	class       *api.DeviceClass
	conditions  []condition
	all         bool
	count       int64
	admin       bool
	tolerations []api.DeviceToleration
	capacity    *api.CapacityRequirements
	fault       string // why it can never be granted, "" if it may be
}

// A constraint relates the values of an attribute.
type constraint struct {
	attribute string
	distinct  bool
	requests  []string
	fault     string // "" if there is none
}

// demands keeps the demands of claims by their text; see [appendDemand].
type demands struct {
	compiler api.DeviceSelectorCompiler
	classes  uint64 // their version
	known    map[string]*demand
	shared   bool // a fork has known, too

	last *demand // the last that was asked for: most pods ask for the same
}

// fork returns a copy; later changes of either do not show in the other.
func (k *demands) fork() demands {
	k.shared = true
	return demands{compiler: k.compiler, classes: k.classes, known: k.known, shared: true}
}

func (k *demands) add(text string, d *demand) {
	if k.shared {
		k.known, k.shared = maps.Clone(k.known), false
	}
	k.known[text] = d
}

// maxDemands bounds the memory for demands. Beyond it, all are prepared anew.
const maxDemands = 1 << 10

// demandOf returns the demand of a claim, given its text. It belongs to the goroutine of the snapshot.
func (x *State) demandOf(s *framework.Snapshot, compiler api.DeviceSelectorCompiler, c *api.DeviceClaim, text []byte) *demand {
	k := &x.demands
	if v := x.version.of(s).classes; k.known == nil || k.classes != v || k.compiler != compiler || len(k.known) >= maxDemands {
		k.known, k.shared, k.classes, k.compiler, k.last = map[string]*demand{}, false, v, compiler, nil
	}
	if k.last != nil && k.last.text == string(text) {
		return k.last
	}
	d := k.known[string(text)]
	if d == nil {
		d = x.demand(s, compiler, c)
		d.text = string(text)
		k.add(d.text, d)
	}
	k.last = d
	return d
}

// demand prepares what a claim asks for. Faults come to light when devices are looked for.
func (x *State) demand(s *framework.Snapshot, compiler api.DeviceSelectorCompiler, c *api.DeviceClaim) *demand {
	p := &demand{requests: make([]request, len(c.Requests))}
	for i := range c.Requests {
		r := &c.Requests[i]
		to := &p.requests[i]
		to.name = r.Name
		if e := r.Exactly; e != nil {
			to.asks = []ask{x.ask(s, compiler, r.Name, r.Name, e)}
			continue
		}
		to.alternatives = true
		for k := range r.FirstAvailable {
			sub := &r.FirstAvailable[k]
			to.asks = append(to.asks, x.ask(s, compiler, sub.Name, r.Name+"/"+sub.Name, exactly(sub)))
		}
	}
	for i := range c.Constraints {
		from := &c.Constraints[i]
		to := constraint{requests: from.Requests}
		switch {
		case from.MatchAttribute != nil:
			to.attribute = *from.MatchAttribute
		case from.DistinctAttribute != nil:
			to.attribute, to.distinct = *from.DistinctAttribute, true
		default:
			to.fault = fmt.Sprintf("constraint #%d: empty constraint (unsupported constraint type?)", i)
		}
		p.constraints = append(p.constraints, to)
	}
	return p
}

// exactly returns an alternative as if it were the whole request.
func exactly(sub *api.DeviceSubRequest) *api.ExactDeviceRequest {
	return &api.ExactDeviceRequest{
		DeviceClassName: sub.DeviceClassName, Selectors: sub.Selectors, AllocationMode: sub.AllocationMode, Count: sub.Count,
		Tolerations: sub.Tolerations, Capacity: sub.Capacity, DerivedAttributes: sub.DerivedAttributes,
	}
}

func (x *State) ask(s *framework.Snapshot, compiler api.DeviceSelectorCompiler, name, full string, e *api.ExactDeviceRequest) ask {
	a := ask{
		name: name, full: full, all: e.AllocationMode == api.DeviceAllocationModeAll, count: e.Count, admin: isSet(e.AdminAccess),
		tolerations: e.Tolerations, capacity: e.Capacity,
	}
	fault := func(format string, args ...any) ask {
		a.fault = fmt.Sprintf(format, args...)
		return a
	}
	if len(e.DerivedAttributes) > 0 {
		return fault(": cannot handle request with derived attributes, the feature is disabled")
	}
	for i := range e.Selectors {
		if e.Selectors[i].CEL == nil {
			return fault(", selector #%d: CEL expression empty (unsupported selector type?)", i)
		}
	}
	if e.DeviceClassName == "" {
		return fault(": missing device class name (unsupported request type?)")
	}
	if a.class = framework.Lookup[api.DeviceClass](s, e.DeviceClassName); a.class == nil {
		return fault(": could not retrieve device class %s: not found", e.DeviceClassName)
	}
	if !a.all && e.AllocationMode != api.DeviceAllocationModeExactCount {
		return fault(": unsupported count mode %s", e.AllocationMode)
	}
	if a.count < 0 {
		return fault(": the count %d is negative", a.count)
	}
	a.conditions = x.conditions(nil, compiler, a.class.Name, a.class.Spec.Selectors)
	a.conditions = x.conditions(a.conditions, compiler, "", e.Selectors)
	return a
}

// consumption returns what the ask takes of a device.
func (a *ask) consumption(d *Device) consumption {
	if a.capacity == nil || len(a.capacity.Requests) == 0 {
		return d.plain
	}
	return consume(d, a.capacity.Requests)
}

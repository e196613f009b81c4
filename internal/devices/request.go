package devices

import (
	"fmt"
	"maps"
	"slices"
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
	asks        int         // how many there are in the requests
	checked     atomic.Bool // all of its classes exist
	text        string      // see appendDemand
	tag         *tag
	answers     *account // for the questions of requests
	counted     atomic.Int64
	expense     // without the answers that are kept
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
	number      int    // of the ask in the claim
	class       *api.DeviceClass
	questions   [2]*questions // of the class, and of the request
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
	applies   []bool // to the ask of that number
	fault     string // "" if there is none
}

// demands keeps the demands of claims by their text; see [appendDemand].
type demands struct {
	compiler api.DeviceSelectorCompiler
	classes  uint64 // their version
	known    map[string]*demand
	shared   bool // a fork has known, too
	made     uint64
	bytes    int // without the answers of last

	last *demand // the last that was asked for: most pods ask for the same
}

// fork returns a copy; later changes of either do not show in the other.
func (k *demands) fork() demands {
	k.shared = true
	return demands{compiler: k.compiler, classes: k.classes, known: k.known, shared: true, made: k.made, bytes: k.bytes}
}

func (k *demands) add(text string, d *demand) {
	if k.shared {
		k.known, k.shared = maps.Clone(k.known), false
	}
	k.known[text] = d
}

// The bounds of the memory for demands. Beyond them, those are dropped that their owners have
// had longest; see overspent.
const (
	maxDemandBytes = 64 << 20
	maxDemands     = 1 << 10 // each is at least its part of maxDemandBytes
)

// demandOf returns the demand of a claim, given its text. It belongs to the goroutine of the snapshot.
func (x *State) demandOf(s *framework.Snapshot, compiler api.DeviceSelectorCompiler, c *api.ResourceClaim, text []byte) *demand {
	k := &x.demands
	if v := x.version.of(s).classes; k.known == nil || k.classes != v || k.compiler != compiler {
		*k = demands{known: map[string]*demand{}, classes: v, compiler: compiler, made: k.made}
	}
	if k.last != nil && k.last.text == string(text) {
		return k.last
	}
	if k.last != nil {
		k.bytes += k.last.grown()
	}
	d := k.known[string(text)]
	if d == nil {
		d = x.demand(s, compiler, c)
		d.text = string(text)
		d.bytes += max(maxDemandBytes/maxDemands, len(d.text))
		k.made++
		d.born = k.made
		k.bytes += d.bytes
		k.add(d.text, d)
	}
	k.last = d
	if k.bytes > maxDemandBytes {
		k.drop(maxDemandBytes * 3 / 4)
	}
	return d
}

// drop keeps demands of at most so many bytes, and the last one.
func (k *demands) drop(most int) {
	var list []expense
	var all []*demand
	k.bytes = 0
	for _, d := range k.known {
		d.grown()
		e := d.expense
		e.bytes += d.answers.size()
		k.bytes += e.bytes
		if d != k.last {
			list, all = append(list, e), append(all, d)
		} else {
			most -= e.bytes
		}
	}
	if k.bytes <= maxDemandBytes {
		return // another fork has dropped some
	}
	if k.shared {
		k.known, k.shared = maps.Clone(k.known), false
	}
	for _, i := range overspent(list, max(0, most)) {
		delete(k.known, all[i].text)
		all[i].forget()
		k.bytes -= list[i].bytes
	}
}

// grown returns how many bytes of answers have been kept since the last call.
func (d *demand) grown() int {
	now := int64(d.answers.size())
	return int(now - d.counted.Swap(now))
}

// forget drops all answers.
func (d *demand) forget() {
	for i := range d.requests {
		for k := range d.requests[i].asks {
			if q := d.requests[i].asks[k].questions[1]; q != nil {
				q.forget()
			}
		}
	}
}

// demand prepares what a claim asks for. Faults come to light when devices are looked for.
func (x *State) demand(s *framework.Snapshot, compiler api.DeviceSelectorCompiler, claim *api.ResourceClaim) *demand {
	c := &claim.Spec.Devices
	p := &demand{requests: make([]request, len(c.Requests)), tag: new(tag), answers: new(account)}
	reader := &selectorReader{programs: x.programs, compiler: compiler, owner: claim.Namespace}
	ask := func(name, full string, e *api.ExactDeviceRequest) ask {
		a := x.ask(s, reader, name, full, e)
		if a.questions[1] != nil {
			a.questions[1].account = p.answers
		}
		a.number = p.asks
		p.asks++
		return a
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		to := &p.requests[i]
		to.name = r.Name
		if e := r.Exactly; e != nil {
			to.asks = append(to.asks, ask(r.Name, r.Name, e))
			continue
		}
		to.alternatives = true
		for k := range r.FirstAvailable {
			sub := &r.FirstAvailable[k]
			to.asks = append(to.asks, ask(sub.Name, r.Name+"/"+sub.Name, exactly(sub)))
		}
	}
	for i := range c.Constraints {
		if (i+1)*p.asks > maxApplied {
			p.constraints = append(p.constraints, constraint{
				applies: make([]bool, p.asks), fault: fmt.Sprintf("constraint #%d: too many constraints on %d requests", i, p.asks),
			})
			break
		}
		from := &c.Constraints[i]
		to := constraint{applies: p.appliedTo(from.Requests)}
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
	p.expense = expense{owner: reader.owner, bytes: reader.bytes}
	return p
}

// maxApplied bounds constraints times asks: an API server stores 32 constraints on 256 asks.
const maxApplied = 1 << 20

// appliedTo says for each ask whether a constraint is about it, given the requests that the
// constraint names; all if it names none.
func (d *demand) appliedTo(names []string) []bool {
	applies := make([]bool, 0, d.asks)
	named := namedIn(names)
	for i := range d.requests {
		r := &d.requests[i]
		all := len(names) == 0 || named(r.name)
		for k := range r.asks {
			applies = append(applies, all || named(r.asks[k].full))
		}
	}
	return applies
}

// fewNames is up to how many names are compared one by one.
const fewNames = 16

// namedIn returns a function that reports whether a name is in the list.
func namedIn(names []string) func(name string) bool {
	if len(names) <= fewNames {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return func(name string) bool { return set[name] }
}

// exactly returns an alternative as if it were the whole request.
func exactly(sub *api.DeviceSubRequest) *api.ExactDeviceRequest {
	return &api.ExactDeviceRequest{
		DeviceClassName: sub.DeviceClassName, Selectors: sub.Selectors, AllocationMode: sub.AllocationMode, Count: sub.Count,
		Tolerations: sub.Tolerations, Capacity: sub.Capacity, DerivedAttributes: sub.DerivedAttributes,
	}
}

func (x *State) ask(s *framework.Snapshot, reader *selectorReader, name, full string, e *api.ExactDeviceRequest) ask {
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
	if i := withoutExpression(e.Selectors); i >= 0 {
		return fault(", selector #%d: %v", i, errNoExpression)
	}
	if e.DeviceClassName == "" {
		return fault(": missing device class name (unsupported request type?)")
	}
	if a.class = framework.Lookup[api.DeviceClass](s, e.DeviceClassName); a.class == nil {
		return fault(": could not retrieve device class %s: not found", shown(e.DeviceClassName))
	}
	if i := reader.withoutExpression(a.class); i >= 0 {
		return fault(", class %s, selector #%d: %v", a.class.Name, i, errNoExpression)
	}
	if !a.all && e.AllocationMode != api.DeviceAllocationModeExactCount {
		return fault(": unsupported count mode %s", shown(string(e.AllocationMode)))
	}
	if a.count < 0 {
		return fault(": the count %d is negative", a.count)
	}
	if len(a.class.Spec.Selectors) > 0 {
		a.questions[0] = x.programs.ofClass(reader.compiler, a.class, false)
	}
	if len(e.Selectors) > 0 {
		a.questions[1] = &questions{conditions: reader.read(e.Selectors)}
	}
	return a
}

// asksNothing reports whether the ask has no selectors.
func (a *ask) asksNothing() bool { return a.questions == [2]*questions{} }

// about asks all selectors about a device; see [questions.about].
func (a *ask) about(d *Device, most int) (x answer) {
	x.ok = true
	for _, q := range a.questions {
		if q != nil && x.ok {
			next := q.about(d, most-x.steps)
			next.steps += x.steps
			x = next
		}
	}
	return x
}

// consumption returns what the ask takes of a device.
func (a *ask) consumption(d *Device) consumption {
	if a.capacity == nil || len(a.capacity.Requests) == 0 {
		return d.plain
	}
	return consume(d, a.capacity.Requests)
}

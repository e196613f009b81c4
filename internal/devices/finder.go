package devices

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// Options are what a plugin is configured with.
type Options struct {
	Compiler       api.DeviceSelectorCompiler // nil means the built-in one
	BindingTimeout time.Duration
	Steps          int // of the search for devices on a node
	Choice         Choice
}

// DefaultSteps bounds the search if the options do not.
const DefaultSteps = 5_000_000

// steps is the bound of the search.
func (o *Options) steps() int {
	if o.Steps <= 0 {
		return DefaultSteps
	}
	return o.Steps
}

// The reasons for rejections.
const (
	ErrAllocate    framework.Text = "cannot allocate all claims"
	ErrInvalidPool framework.Text = "invalid resource pools were encountered"
	ErrUnavailable framework.Text = "resourceclaim not available on the node"
	ErrExtended    framework.Text = "cannot schedule extended resource claim"
	ErrNotListed   framework.Text = "cannot fit resource"
)

// A Finder finds the devices that each node has for the claims of one pod. Prepare fills
// it once per cycle. Several goroutines may then ask it about many nodes.
type Finder struct {
	options  Options
	snapshot *framework.Snapshot
	state    *State
	catalog  *catalog
	pod      *framework.PodInfo
	now      time.Time

	claims    []finderClaim
	allocate  []int // indexes of the claims to allocate
	plans     []plan
	steps     int  // the bound of the search on each node
	direct    bool // see mayBeDirect
	resources []extendedResource
	replicas  *replicas // nil without resources
	variants  variants

	version uint64    // of what verdicts read besides nodes and the pod's key
	until   time.Time // when a claim that waits for binding conditions times out; 0 for none
	at      moment
	holders int              // how many bound filters may ask it; see Renew
	status  framework.Status // of Prepare
	found   foundAt
	sum     atomic.Pointer[[32]byte] // see demandSum

	// Memory for a pod with one claim.
	claim [1]finderClaim
	index [1]int
	plan  [1]plan
}

// A moment is all that Prepare reads.
type moment struct {
	pod            *framework.PodInfo
	options        Options
	objects, flown uint64
	nodes          int // see State.spread
	now            time.Time
}

// is reports whether the moments are the same. Pods that come one after the other differ, so
// they are compared first.
func (m *moment) is(o *moment) bool {
	return m.pod == o.pod && m.objects == o.objects && m.flown == o.flown && m.nodes == o.nodes && m.now == o.now && m.options == o.options
}

// A foundAt is what a node was found to have while the use of no device changed.
type foundAt struct {
	node    *api.Node // nil if there is nothing yet
	changes uint64
	found   Found
	status  framework.Status
}

// A finderClaim is a claim of the pod.
type finderClaim struct {
	PodClaim
	allocated bool
	anywhere  bool
	where     match.NodeSelector // of an allocated claim
	skipsNode bool               // needs a node that declares optional node operations
	unusable  bool               // a binding condition failed, or took too long
	score     int64              // of an allocated claim; see scoreOf
}

// FinderOf returns a Finder that is prepared for a pod, with the status of Prepare. The
// snapshot keeps the last one: the plugins ask for it several times per pod.
func FinderOf(s *framework.Snapshot, pod *framework.PodInfo, o Options) (*Finder, framework.Status) {
	if !Needs(s, pod) {
		return nil, framework.SkipStatus()
	}
	x := StateOf(s)
	at := x.moment(s, pod, o)
	if x.last == nil || !x.last.at.is(&at) {
		x.last = new(Finder)
		x.last.prepareAt(s, at)
	}
	return x.last, x.last.status
}

// Renew is FinderOf for a bound filter, whose pod needs devices. f is what it had in its
// last cycle, nil for none: its memory is used again if no other bound filter has it.
func (f *Finder) Renew(s *framework.Snapshot, pod *framework.PodInfo, o Options) (*Finder, framework.Status) {
	x := StateOf(s)
	at := x.moment(s, pod, o)
	if f != nil && f.state != x {
		f = nil // another goroutine may count its holders
	}
	if x.last == nil || !x.last.at.is(&at) {
		if x.last = f; f == nil || f.holders > 1 {
			x.last = new(Finder)
		}
		x.last.prepareAt(s, at)
	}
	if next := x.last; next != f && next.status.IsSuccess() {
		next.holders++
		if f != nil {
			f.holders--
		}
	}
	return x.last, x.last.status
}

func (x *State) moment(s *framework.Snapshot, pod *framework.PodInfo, o Options) moment {
	return moment{pod, o, s.Objects(), x.flown, x.spread(s), s.Now()}
}

// prepareAt prepares the Finder for a moment, which is now.
func (f *Finder) prepareAt(s *framework.Snapshot, at moment) {
	f.status = f.Prepare(s, at.pod, at.options)
	f.at = at
}

// Prepare reads the claims of a pod. The status is Skip for a pod that needs no devices.
func (f *Finder) Prepare(s *framework.Snapshot, pod *framework.PodInfo, o Options) framework.Status {
	f.options, f.snapshot, f.pod, f.now = o, s, pod, s.Now()
	f.claims, f.allocate, f.plans = f.claim[:0], f.index[:0], f.plan[:0]
	f.variants.reset()
	if f.sum.Load() != nil {
		f.sum.Store(nil)
	}
	f.until, f.found.node = time.Time{}, nil
	f.state = StateOf(s)
	f.catalog = f.state.catalogOf(s)
	v := f.state.version.of(s)
	f.version = max(f.state.origin, v.classes, v.rules, f.state.shared(s))
	f.steps = f.options.stepsAmong(f.state.share.nodes)
	refs, err := f.state.refsOf(s, pod)
	if err != nil {
		return framework.UnresolvableStatus(framework.Text(err.Error()))
	}
	f.resources, f.replicas = extendedResources(s, pod), nil
	if len(refs) == 0 && f.resources == nil {
		return framework.SkipStatus()
	}
	for i := range refs {
		if status := f.prepareClaim(refs[i].of(pod.Pod, &f.state.noted), f.state.refs.text(i)); !status.IsSuccess() {
			return status
		}
	}
	if f.resources != nil {
		f.replicas = f.state.replicasOf(pod, f.resources)
		c := f.state.extendedClaim(s, pod.Pod)
		if status := f.prepareClaim(c, appendDemand(nil, &c.Claim.Spec.Devices)); !status.IsSuccess() {
			return status
		}
	}
	f.direct = f.mayBeDirect()
	if !f.until.IsZero() {
		f.version = s.NewVersion() // time may change the answer for any node
	}
	return framework.Status{}
}

// Dropped reports whether other claims are in flight than when it was prepared: Prepare may answer
// differently then.
func (f *Finder) Dropped() bool { return f.at.flown != f.state.flown }

// Version implements [incremental.DomainTracker]: it identifies what verdicts read besides
// nodes and what [AppendKey] has appended.
func (f *Finder) Version() uint64 { return f.version }

// Changed implements [incremental.DomainTracker].
func (f *Finder) Changed(since uint64, _ func(slot int)) bool { return since == f.version }

// ValidUntil implements [incremental.Expirer].
func (f *Finder) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time { return f.until }

// prepareClaim adds a claim of the pod, given the text of what it asks for.
func (f *Finder) prepareClaim(pc PodClaim, text []byte) framework.Status {
	c := pc.Claim
	x := finderClaim{PodClaim: pc, anywhere: true}
	reject := func(format string, args ...any) framework.Status {
		return framework.UnresolvableStatus(framework.Text(fmt.Sprintf(format, args...)))
	}
	if a := c.Status.Allocation; a != nil {
		x.allocated = true
		if a.NodeSelector != nil {
			x.anywhere, x.where = false, match.NewNodeSelector(a.NodeSelector)
			if err := x.where.Err(); err != nil {
				return framework.AsStatus(err)
			}
		}
		x.skipsNode, x.score = skipsNode(a), scoreOf(c, a)
		x.unusable = f.awaitConditions(c)
		f.claims = append(f.claims, x)
		return framework.Status{}
	}
	if pc.Entry == "" && f.state.flies(c) {
		return reject("resource claim %s is in the process of being allocated", c.Key())
	}
	d := f.state.demandOf(f.snapshot, f.options.Compiler, c, text)
	if !pc.Extended && !d.checked.Load() {
		for i := range c.Spec.Devices.Requests {
			if status := f.checkRequest(c, &c.Spec.Devices.Requests[i]); !status.IsSuccess() {
				return status
			}
		}
		d.checked.Store(true)
	}
	f.allocate = append(f.allocate, len(f.claims))
	f.claims = append(f.claims, x)
	f.plans = append(f.plans, plan{c, d})
	return framework.Status{}
}

// skipsNode reports whether some device needs a node that declares optional node operations.
func skipsNode(a *api.AllocationResult) bool {
	return slices.ContainsFunc(a.Devices.Results, func(r api.DeviceRequestAllocationResult) bool { return len(r.SkipNodeOperations) > 0 })
}

// awaitConditions reports whether a binding condition of an allocated claim failed, or took too long. Else it
// notes when the claim will have waited too long.
func (f *Finder) awaitConditions(c *api.ResourceClaim) (unusable bool) {
	t := c.Status.Allocation.AllocationTimestamp
	switch ready, failed, _ := bindingState(c); {
	case failed:
		return true
	case ready || t == nil:
		return false
	case f.timedOut(c):
		return true
	}
	if end := t.Add(f.options.BindingTimeout + 1); f.until.IsZero() || end.Before(f.until) {
		f.until = end
	}
	return false
}

// checkRequest rejects a pod if a class of a request does not exist.
func (f *Finder) checkRequest(c *api.ResourceClaim, r *api.DeviceRequest) framework.Status {
	check := func(name, class string) framework.Status {
		switch {
		case class == "":
			return framework.AsStatus(fmt.Errorf("request %s: unsupported request type", shown(name)))
		case framework.Lookup[api.DeviceClass](f.snapshot, class) == nil:
			return framework.UnresolvableStatus(framework.Text(fmt.Sprintf("request %s: device class %s does not exist", shown(name), shown(class))))
		}
		return framework.Status{}
	}
	switch {
	case r.Exactly != nil:
		return check(r.Name, r.Exactly.DeviceClassName)
	case len(r.FirstAvailable) == 0:
		return framework.UnresolvableStatus(framework.Text(fmt.Sprintf("resource claim %s, request %s: unknown request type", c.Key(), shown(r.Name))))
	}
	for i := range r.FirstAvailable {
		if status := check(r.Name+"/"+r.FirstAvailable[i].Name, r.FirstAvailable[i].DeviceClassName); !status.IsSuccess() {
			return status
		}
	}
	return framework.Status{}
}

// A Found holds the devices that a node has for the claims of a pod.
type Found struct {
	// Claims are the claims to allocate, and Allocations what each gets.
	Claims      []PodClaim
	Allocations []*api.AllocationResult
	// Requests and Mappings are those of the claim of the extended resources.
	Requests []api.DeviceRequest
	Mappings []Mapping

	onlyNames  bool        // of results, only the names of their requests are wanted
	device     *Device     // if it is the only one
	pools      *pools      // of the node
	claim      [1]PodClaim // memory for one claim
	allocation [1]*api.AllocationResult
}

// Find looks for devices on a node. If found is nil, only the verdict is wanted.
func (f *Finder) Find(node *framework.NodeInfo, found *Found) framework.Status {
	status := f.find(node, found)
	if found != nil && status.IsSuccess() && !found.isGiven() {
		found.give(f, new(grant))
	}
	return status
}

// find is Find without what [Found.give] adds.
func (f *Finder) find(node *framework.NodeInfo, found *Found) framework.Status {
	if f.direct && len(f.claims) == 1 {
		return f.search(node, nil, found)
	}
	extended, status := f.extendedOn(node)
	if !status.IsSuccess() {
		return status
	}
	users := len(f.claims)
	if f.resources != nil {
		users--
	}
	if users == 0 && len(extended) == 0 {
		return framework.Status{}
	}
	available := len(f.unavailable(node, nil)) == 0
	if len(f.allocate) > 0 {
		if status := f.search(node, extended, found); !status.IsSuccess() {
			return status
		}
	}
	if !available {
		return framework.NewStatus(framework.UnschedulableAndUnresolvable, ErrUnavailable)
	}
	return framework.Status{}
}

// foundOn returns what find finds on a node. Unlike find, it must be called by the
// goroutine of the snapshot; it keeps the last answer. What it returns stands until the
// next call.
func (f *Finder) foundOn(node *framework.NodeInfo) (*Found, framework.Status) {
	if x := &f.found; x.node != node.Node || x.changes != f.state.changes {
		*x = foundAt{node: node.Node, changes: f.state.changes}
		x.status = f.find(node, &x.found)
	}
	return &f.found.found, f.found.status
}

// extendedOn returns the resources to allocate devices for on a node: the others the
// node offers itself.
func (f *Finder) extendedOn(node *framework.NodeInfo) ([]extendedResource, framework.Status) {
	if f.resources == nil {
		return nil, framework.Status{}
	}
	if special := &f.claims[len(f.claims)-1]; len(special.Claim.Spec.Devices.Requests) > 0 {
		return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, ErrExtended)
	}
	var list []extendedResource
	for _, r := range f.resources {
		switch {
		case r.class != nil && node.Allocatable.At(r.index) == 0:
			list = append(list, r)
		default:
			if _, listed := node.Node.Status.Allocatable[r.name]; !listed {
				return nil, framework.NewStatus(framework.UnschedulableAndUnresolvable, ErrNotListed)
			}
		}
	}
	return list, framework.Status{}
}

// unavailable appends the allocated claims that a node cannot use.
func (f *Finder) unavailable(node *framework.NodeInfo, to []*api.ResourceClaim) []*api.ResourceClaim {
	for i := range f.claims {
		c := &f.claims[i]
		if !c.allocated {
			continue
		}
		switch {
		case !c.anywhere && !c.where.Matches(node.Node),
			c.skipsNode && !slices.Contains(node.Node.Status.DeclaredFeatures, "DRAOptionalNodeOperations"),
			c.unusable:
			to = append(to, c.Claim)
		}
	}
	return to
}

// timedOut reports whether a claim has waited too long for its binding conditions.
func (f *Finder) timedOut(c *api.ResourceClaim) bool {
	a := c.Status.Allocation
	return a.AllocationTimestamp != nil && a.AllocationTimestamp.Add(f.options.BindingTimeout).Before(f.now)
}

// search looks for devices on a node.
func (f *Finder) search(node *framework.NodeInfo, extended []extendedResource, found *Found) framework.Status {
	pools := f.catalog.poolsOf(node)
	if pools.err != nil {
		return framework.AsStatus(pools.err)
	}
	if list := f.directOn(pools); list != nil {
		d := list.free(f.state)
		if d == nil {
			return pools.failure()
		}
		if found != nil {
			found.device, found.pools = d, pools
		}
		return framework.Status{}
	}
	plans, variant := f.plansFor(extended)
	s, _ := f.state.searches.Get().(*search)
	if s == nil {
		s = new(search)
	}
	defer func() { f.state.searches.Put(s) }()
	s.begin(pools, plans, f.state, f.stepsOn(pools, plans))
	switch f.runOn(node, s) {
	case failed:
		return pools.failure()
	case fatal:
		var steps *StepsError
		if errors.As(s.err, &steps) {
			if steps.Steps < f.options.steps() {
				return framework.DetailedStatus(framework.UnschedulableAndUnresolvable, SearchGivenUp, uint64(steps.Steps))
			}
			steps.Node = node.Name()
		}
		return framework.AsStatus(s.err)
	}
	if found != nil && f.options.Choice == LeastLeftover {
		s = f.pack(s)
	}
	if found != nil {
		found.Claims, found.Allocations, found.device = found.claim[:0], found.allocation[:0], nil
		if len(s.placed) == 1 {
			found.device = s.placed[0].device
		}
	}
	for i := range plans {
		if found == nil {
			if _, err := s.terms(i); err != nil {
				return framework.AsStatus(err)
			}
			continue
		}
		allocation := s.allocation
		if found.onlyNames {
			allocation = s.namesOf
		}
		a, err := allocation(i)
		if err != nil {
			return framework.AsStatus(err)
		}
		found.Claims = append(found.Claims, f.claims[f.allocate[i]].PodClaim)
		found.Allocations = append(found.Allocations, a)
	}
	if found != nil && variant != nil {
		found.Requests, found.Mappings = variant.requests, variant.mappings
	}
	return framework.Status{}
}

// failure is the status of a node without the devices.
func (p *pools) failure() framework.Status {
	if p.invalid {
		return framework.NewStatus(framework.UnschedulableAndUnresolvable, ErrInvalidPool)
	}
	return framework.NewStatus(framework.UnschedulableAndUnresolvable, ErrAllocate)
}

package devices

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Details tells, for a node that was rejected, what each request asks for and what the node
// has of it. If requests have enough devices each, it tells how far constraints keep them
// apart.
func (f *Finder) Details(node *framework.NodeInfo) []framework.Detail {
	found := f.Find(node, nil)
	if found.IsSuccess() || found.Code() == framework.Error {
		return nil
	}
	var list []framework.Detail
	for _, c := range f.unavailable(node, nil) {
		list = append(list, framework.Detail{Subject: "claim " + c.Key() + ": its devices cannot be used on the node"})
	}
	extended, status := f.extendedOn(node)
	if !status.IsSuccess() {
		return append(list, f.notListed(node)...)
	}
	if len(f.allocate) == 0 {
		return list
	}
	s := f.searchOn(node, extended)
	tooLong := []framework.Detail{{Subject: fmt.Sprintf("it takes more than %d steps to ask the selectors about all devices", s.limit)}}
	if s.memory() > s.limit {
		return tooLong
	}
	for i := range s.pools.list {
		switch p := &s.pools.list[i]; {
		case p.invalid:
			list = append(list, framework.Detail{Subject: "pool " + p.id.String() + " is invalid"})
		case p.incomplete:
			list = append(list, framework.Detail{Subject: "pool " + p.id.String() + " is being updated"})
		}
	}
	list = append(list, s.shortages()...)
	if s.steps > s.limit {
		return tooLong
	}
	if len(list) > 0 {
		return list
	}
	if found.Is(SearchGivenUp) {
		return []framework.Detail{{Subject: found.Message()}}
	}
	for claim := range s.plans {
		list = append(list, s.apart(claim)...)
	}
	if len(list) == 0 {
		list = append(list, s.together())
	}
	if s.steps > s.limit {
		return tooLong
	}
	return list
}

// notListed names the extended resources that the node neither offers nor has devices for.
func (f *Finder) notListed(node *framework.NodeInfo) (list []framework.Detail) {
	for _, r := range f.resources {
		if _, listed := node.Node.Status.Allocatable[r.name]; !listed && r.class == nil {
			list = append(list, framework.Detail{Subject: fmt.Sprintf("resource %s: the node does not list it", r.name)})
		}
	}
	return list
}

// searchOn returns a search on the node that has not begun.
func (f *Finder) searchOn(node *framework.NodeInfo, extended []extendedResource) *search {
	plans, _ := f.plansFor(extended)
	s := new(search)
	p := f.catalog.poolsOf(node)
	s.begin(p, plans, f.state, f.stepsOn(p, plans))
	return s
}

// shortages tells which requests want more devices than there are for them alone. An
// alternative is told only if none of its request would do.
func (s *search) shortages() (list []framework.Detail) {
	for claim, p := range s.plans {
		for i := range p.requests {
			var short []framework.Detail
			asks := p.requests[i].asks
			for k := range asks {
				if d := s.detail(claim, &asks[k]); d.Asked > d.Free() {
					short = append(short, d)
				}
			}
			if len(short) == len(asks) {
				list = append(list, short...)
			}
		}
	}
	return list
}

// detail counts the devices for a request: Limit match its selectors, and Used of them are
// in use, tainted or lack capacity.
func (s *search) detail(claim int, a *ask) framework.Detail {
	p := s.plans[claim]
	d := framework.Detail{Subject: fmt.Sprintf("devices for request %s of claim %s", a.full, p.claim.Key()), Asked: a.count}
	var inUse, tainted, small int64
	for i := range s.pools.devices {
		c := &s.pools.devices[i]
		if !s.stepWithin() {
			break
		}
		if ok, _ := s.selectable(claim, a, c); !ok {
			continue
		}
		d.Limit++
		switch s.obstacle(claim, a, c) {
		case deviceInUse:
			inUse++
		case deviceTainted:
			tainted++
		case deviceSmall:
			small++
		}
	}
	d.Used = inUse + tainted + small
	if a.all {
		d.Asked = max(d.Limit, 1)
	}
	for _, x := range []framework.Fact{
		{Name: "devices", Value: int64(len(s.pools.devices))},
		{Name: "matching", Value: d.Limit},
		{Name: "in use", Value: inUse},
		{Name: "tainted", Value: tainted},
		{Name: "without capacity", Value: small},
	} {
		if x.Value > 0 || x.Name == "matching" {
			d.Facts = append(d.Facts, x)
		}
	}
	return d
}

// together compares all exact requests with the devices for any of them.
func (s *search) together() framework.Detail {
	d := framework.Detail{Subject: "devices for all requests together"}
	matching, free := map[*Device]bool{}, map[*Device]bool{}
	for claim, p := range s.plans {
		for i := range p.requests {
			r := &p.requests[i]
			if r.alternatives || r.asks[0].all {
				continue
			}
			d.Asked += r.asks[0].count
			for k := range s.pools.devices {
				c := &s.pools.devices[k]
				if !s.stepWithin() {
					break
				}
				if ok, _ := s.selectable(claim, &r.asks[0], c); ok {
					matching[c.device] = true
					free[c.device] = free[c.device] || s.obstacle(claim, &r.asks[0], c) == deviceFree
				}
			}
		}
	}
	for device := range matching {
		d.Limit++
		if !free[device] {
			d.Used++
		}
	}
	if d.Asked <= d.Free() {
		return framework.Detail{Subject: "each request has enough devices, but not all together"}
	}
	return d
}

// What keeps a request from a device that its selectors match.
const (
	deviceFree = iota
	deviceInUse
	deviceTainted
	deviceSmall
)

func (s *search) obstacle(claim int, a *ask, c *candidate) int {
	x := s.consumption(claim, a, c)
	switch {
	case !a.admin && s.uses[c.pool].of(c.device).isDedicated():
		return deviceInUse
	case !s.tolerates(claim, a, c):
		return deviceTainted
	case x.err != nil || x.no:
		return deviceSmall
	case !s.fitsCapacity(c, x):
		return deviceInUse // others share it
	case len(c.device.ConsumesCounters) > 0 && !(c.device.shareable && s.shared(c)) && !s.countersAdmit(c):
		return deviceInUse // by way of its counters
	}
	return deviceFree
}

// apart tells how many free devices agree, or differ, in the attribute of each constraint
// that applies to exact requests only.
func (s *search) apart(claim int) (list []framework.Detail) {
	p := s.plans[claim]
	for i := range p.constraints {
		x := &p.constraints[i]
		asked, groups, known := int64(0), map[string]int64{}, map[*Device]bool{}
		exact := true
		for k := range p.requests {
			r := &p.requests[k]
			for n := range r.asks {
				a := &r.asks[n]
				if !x.applies[a.number] {
					continue
				}
				exact = exact && !r.alternatives && !a.all
				asked += a.count
				s.group(claim, x, a, groups, known)
			}
		}
		if !exact || asked == 0 {
			continue
		}
		d := framework.Detail{Subject: fmt.Sprintf("free devices of claim %s with one %s", p.claim.Key(), x.attribute), Asked: asked}
		for _, n := range groups {
			d.Limit = max(d.Limit, n)
		}
		if x.distinct {
			d.Subject = fmt.Sprintf("free devices of claim %s that differ in %s", p.claim.Key(), x.attribute)
			d.Limit = int64(len(groups))
		}
		if d.Asked > d.Limit {
			list = append(list, d)
		}
	}
	return list
}

// group counts the free devices for an ask by the value of a constraint's attribute.
func (s *search) group(claim int, x *constraint, a *ask, groups map[string]int64, known map[*Device]bool) {
	for i := range s.pools.devices {
		c := &s.pools.devices[i]
		if !s.stepWithin() {
			return
		}
		if ok, _ := s.selectable(claim, a, c); !ok || known[c.device] || s.obstacle(claim, a, c) != deviceFree {
			continue
		}
		if v := attributeOf(c.device, x.attribute); v != nil {
			known[c.device] = true
			groups[attributeText(v)]++
		}
	}
}

// attributeText returns a text that is the same for equal values only.
func attributeText(v *api.DeviceAttribute) string {
	switch {
	case v.StringValue != nil:
		return "string " + *v.StringValue
	case v.IntValue != nil:
		return fmt.Sprint("int ", *v.IntValue)
	case v.BoolValue != nil:
		return fmt.Sprint("bool ", *v.BoolValue)
	case v.VersionValue != nil:
		return "version " + *v.VersionValue
	}
	return "list"
}

// Words says which devices a pod has, if the node counts it, or would get on the node: the
// pools, each followed by the names of the devices. It is "" if there are none.
func Words(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo, o Options) string {
	x := stateKey.Of(s)
	// What is allocated the pod has on this node in both cases, so it need not be looked for among those of the node.
	settled := x.isSettled(s, pod)
	if !settled && node.HasPod(pod) {
		return x.wordsOfHeld(s, pod)
	}
	text := wordsOfFound(s, pod, node, o)
	if text == "" && settled && node.HasPod(pod) {
		return x.wordsOfHeld(s, pod)
	}
	return text
}

// isSettled reports whether all claims of the pod have their devices, as the claims say.
func (x *State) isSettled(s *framework.Snapshot, pod *framework.PodInfo) bool {
	if pod.HasExtended() {
		return false
	}
	refs, err := x.refsOf(s, pod)
	return err == nil && !slices.ContainsFunc(refs, func(r claimRef) bool { return r.claim == nil || r.claim.Status.Allocation == nil })
}

// wordsOfFound is Words for a pod that may come to the node.
func wordsOfFound(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo, o Options) string {
	f, status := FinderOf(s, pod, o)
	if !status.IsSuccess() {
		return ""
	}
	found, status := f.foundOn(node)
	switch {
	case !status.IsSuccess():
		return ""
	case found.device != nil && len(f.claims) == 1:
		return found.device.words()
	}
	if !found.isGiven() {
		found.give(f, new(grant))
	}
	var list []*api.AllocationResult
	rest := found.Allocations
	for i := range f.claims {
		if c := &f.claims[i]; c.allocated {
			list = append(list, c.Claim.Status.Allocation)
		} else if len(rest) > 0 {
			list, rest = append(list, rest[0]), rest[1:]
		}
	}
	return wordsOf(list)
}

// wordsOfHeld is Words for a pod on a node.
func (x *State) wordsOfHeld(s *framework.Snapshot, pod *framework.PodInfo) string {
	id := podIDOf(pod.Pod)
	if f := x.recent; f != nil && f.pod == id && f.only && f.device != nil {
		return f.device.words()
	}
	refs, err := x.refsOf(s, pod)
	if err != nil {
		return ""
	}
	held, _ := x.holds.Get(id)
	var few [4]*api.AllocationResult // memory
	list := few[:0]
	flights := flightsOf(held)
	add := func(r *claimRef) {
		if r.claim != nil && r.claim.Status.Allocation != nil {
			list = append(list, r.claim.Status.Allocation)
		} else if f := flights.of(r); f != nil {
			list = append(list, f.claim.Status.Allocation)
		}
	}
	for i := range refs {
		add(&refs[i])
	}
	if extendedResources(s, pod) != nil {
		add(&claimRef{entry: ExtendedClaimName, claim: x.madeExtendedClaim(s, pod.Pod)})
	}
	return wordsOf(list)
}

func wordsOf(list []*api.AllocationResult) string {
	var b strings.Builder
	if len(list) > 0 && len(list[0].Devices.Results) > 0 {
		r := &list[0].Devices.Results[0]
		b.Grow(len(r.Driver) + len(r.Pool) + len(r.Device) + 2)
	}
	var pool PoolID
	for _, a := range list {
		for i := range a.Devices.Results {
			r := &a.Devices.Results[i]
			if id := (PoolID{r.Driver, r.Pool}); b.Len() == 0 || id != pool {
				if b.Len() > 0 {
					b.WriteString(", ")
				}
				pool = id
				b.WriteString(id.Driver)
				b.WriteByte('/')
				b.WriteString(id.Pool)
			}
			b.WriteByte(' ')
			b.WriteString(r.Device)
		}
	}
	return b.String()
}

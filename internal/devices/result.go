package devices

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/internal/match"
)

// A grant is the memory of an allocation of one device.
type grant struct {
	allocation api.AllocationResult
	device     [1]api.DeviceRequestAllocationResult
}

// allocation returns what a claim got, in a search that is solved.
func (s *search) allocation(claim int) (*api.AllocationResult, error) {
	selector, err := s.nodeSelector(claim)
	if err != nil {
		return nil, err
	}
	var a *api.AllocationResult
	switch n := s.devicesOf(claim); n {
	case 0:
		a = new(api.AllocationResult)
	case 1:
		g := new(grant)
		a = &g.allocation
		a.Devices.Results = g.device[:0]
	default:
		a = new(api.AllocationResult)
		a.Devices.Results = make([]api.DeviceRequestAllocationResult, 0, n)
	}
	a.NodeSelector = selector
	for i := range s.placed {
		p := &s.placed[i]
		if p.claim != claim {
			continue
		}
		r := p.ask.result(p.device)
		if p.ask.admin {
			r.AdminAccess = new(true)
		}
		if p.device.shareable {
			r.ShareID, r.ConsumedCapacity = new(s.shareID(i)), p.consumed
		}
		a.Devices.Results = append(a.Devices.Results, r)
	}
	a.Devices.Config, err = s.config(claim)
	return a, err
}

// namesOf returns which requests of a claim got a device, and nothing else about that.
func (s *search) namesOf(claim int) (*api.AllocationResult, error) {
	if _, err := s.terms(claim); err != nil {
		return nil, err
	}
	a := new(api.AllocationResult)
	for i := range s.placed {
		if p := &s.placed[i]; p.claim == claim {
			a.Devices.Results = append(a.Devices.Results, api.DeviceRequestAllocationResult{Request: p.ask.full})
		}
	}
	return a, nil
}

// shareID returns an identifier of a share. kube-scheduler draws one; this one depends on
// the claim, the device and the place among its shares.
func (s *search) shareID(i int) api.UID {
	p := &s.placed[i]
	c := s.plans[p.claim].claim
	sum := digest.Sum(fmt.Appendf(nil, "%q %q %q %q %d", c.UID, c.Key(), ownerUID(c), p.device.ID(), i))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // the form of a random UUID
	return api.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

func ownerUID(c *api.ResourceClaim) api.UID {
	if o := c.ControllerRef(); o != nil {
		return o.UID
	}
	return ""
}

// terms checks the node selections of a claim's devices. pinned says that one of them can
// be used on this node only.
func (s *search) terms(claim int) (pinned bool, err error) {
	for i := range s.placed {
		p := &s.placed[i]
		if p.claim != claim {
			continue
		}
		if p.device.isPinned() {
			return true, nil
		}
		where := p.device.selectionOf()
		if where.all || where.object == nil {
			continue
		}
		if n := len(where.object.NodeSelectorTerms); n != 1 {
			return false, fmt.Errorf("create NodeSelector for claim %s: unsupported ResourceSlice.NodeSelector with %d terms", s.plans[claim].claim.Name, n)
		}
	}
	return false, nil
}

// nodeSelector returns the selector of the nodes that can use the claim's devices, nil
// for all.
func (s *search) nodeSelector(claim int) (*api.NodeSelector, error) {
	switch pinned, err := s.terms(claim); {
	case err != nil:
		return nil, err
	case pinned:
		return s.pools.pinned(), nil
	}
	var expressions, fields requirements
	var last *api.NodeSelector
	for i := range s.placed {
		p := &s.placed[i]
		if where := p.device.selectionOf(); p.claim == claim && !where.all && where.object != nil && where.object != last {
			last = where.object
			t := &last.NodeSelectorTerms[0]
			expressions.add(t.MatchExpressions)
			fields.add(t.MatchFields)
		}
	}
	if len(expressions.list) == 0 && len(fields.list) == 0 {
		return nil, nil
	}
	term := api.NodeSelectorTerm{MatchExpressions: expressions.list, MatchFields: fields.list}
	return &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}}, nil
}

// requirements are those of several terms, each once: the order of values does not count, nor how often one is there.
type requirements struct {
	list  []api.NodeSelectorRequirement
	known map[string]bool // texts of the list
}

// add adds the requirements that the list does not have.
func (q *requirements) add(from []api.NodeSelectorRequirement) {
	if q.known == nil {
		q.known = make(map[string]bool, len(from))
	}
	var text []byte
	for _, r := range from {
		values := slices.Clone(r.Values)
		slices.Sort(values)
		text = match.AppendString(match.AppendString(text[:0], r.Key), string(r.Operator))
		for _, v := range slices.Compact(values) {
			text = match.AppendString(text, v)
		}
		if !q.known[string(text)] {
			q.known[string(text)] = true
			q.list = append(q.list, r)
		}
	}
}

// configures reports whether the claim or a class of it has parameters.
func (s *search) configures(claim int) bool {
	p := s.plans[claim]
	some := len(p.claim.Spec.Devices.Config) > 0
	for i := range p.requests {
		some = some || len(p.requests[i].asks[s.chosen[s.requests[claim]+i]].class.Spec.Config) > 0
	}
	return some
}

// config returns the parameters for the drivers: those of the classes, then those of the
// claim.
func (s *search) config(claim int) ([]api.DeviceAllocationConfiguration, error) {
	p := s.plans[claim]
	if !s.configures(claim) {
		return nil, nil
	}
	var list []api.DeviceAllocationConfiguration
	starts := map[string]int{} // of the entries of a class
	var names []string         // of each request in results
	for i := range p.requests {
		r := &p.requests[i]
		a := &r.asks[s.chosen[s.requests[claim]+i]]
		names = append(names, a.full)
		configs := a.class.Spec.Config
		start, known := starts[a.class.Name]
		if !known {
			start = len(list)
			starts[a.class.Name] = start
			for _, c := range configs {
				list = append(list, api.DeviceAllocationConfiguration{Source: api.AllocationConfigSourceClass, DeviceConfiguration: c.DeviceConfiguration})
			}
		}
		for k := range configs {
			list[start+k].Requests = append(list[start+k].Requests, a.full)
		}
	}
	if n := len(list) + len(p.claim.Spec.Devices.Config); n*len(p.requests) > maxApplied {
		return nil, fmt.Errorf("claim %s: too many parameters (%d) on %d requests", p.claim.Key(), n, len(p.requests))
	}
	// isFor says for each request whether parameters with a list of requests are for it.
	isFor := func(requests []string) func(i int) bool {
		named := namedIn(requests)
		return func(i int) bool { return named(p.requests[i].name) || named(names[i]) }
	}
	for _, c := range p.claim.Spec.Devices.Config {
		applies, is := len(c.Requests) == 0, isFor(c.Requests)
		for i := 0; i < len(p.requests) && !applies; i++ {
			applies = is(i)
		}
		if applies {
			list = append(list, api.DeviceAllocationConfiguration{
				Source: api.AllocationConfigSourceClaim, Requests: slices.Clone(c.Requests), DeviceConfiguration: c.DeviceConfiguration,
			})
		}
	}
	for k := range list {
		covers, is := true, isFor(list[k].Requests)
		for i := 0; i < len(p.requests) && covers; i++ {
			covers = is(i)
		}
		if covers {
			list[k].Requests = nil
		}
	}
	return list, nil
}

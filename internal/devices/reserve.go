package devices

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// DeviceClaims lists what has to be written for a placed pod before it is bound.
type DeviceClaims struct {
	// Claims are the pod's claims that are not reserved for it yet.
	Claims []DeviceClaim
	// Mappings go to pod.status.extendedResourceClaimStatus, with the name of the claim
	// that is made for the extended resources.
	Mappings []Mapping
}

// A DeviceClaim is a claim to write.
type DeviceClaim struct {
	// Claim is the claim with its allocation. It may be an old version; see
	// [DeviceClaim.Write].
	Claim *api.ResourceClaim
	// Entry is set if the claim does not exist: to the name of the pod's entry, which
	// the claim is made for from a template, or to "<extended-resources>".
	Entry string
	// Allocated is set if the claim had its devices before.
	Allocated bool
}

// Write returns the claim to write for the pod, given its present version: with the
// allocation, its time, and the pod among its users. The writer must also make sure that
// the claim has the finalizer [api.FinalizerClaim]. current is nil for a claim that does
// not exist. The error says what has happened to the claim in the meantime.
//
// What was written must get into the snapshot before the binding can fail, because Unreserve
// frees the devices of claims that were not written: filter.DeviceClaim has the duties.
//
// Source: kube-scheduler 1.37, dynamicresources, bindClaim.
func (c DeviceClaim) Write(current *api.ResourceClaim, pod *api.Pod, now time.Time) (*api.ResourceClaim, error) {
	next := new(api.ResourceClaim)
	switch {
	case current != nil:
		*next = *current
	case c.Entry != "":
		*next = *c.Claim
		next.Annotations = maps.Clone(next.Annotations) // claims of one template share them
		next.Status.Allocation = nil
	}
	failed := func(what string) (*api.ResourceClaim, error) {
		return nil, errors.New("claim " + c.Claim.Key() + " got " + what + " in the meantime")
	}
	switch {
	case current == nil && c.Entry == "", current != nil && current.DeletionTimestamp != nil,
		c.Entry == "" && c.Claim.UID != "" && current.UID != "" && current.UID != c.Claim.UID: // another one of its name
		return failed("deleted")
	case c.Allocated && next.Status.Allocation == nil:
		return failed("deallocated elsewhere")
	case !c.Allocated && next.Status.Allocation != nil, c.Allocated && !sameDevices(c.Claim.Status.Allocation, next.Status.Allocation):
		return failed("allocated elsewhere")
	case !c.Allocated:
		next.Status.Allocation = c.Claim.Status.Allocation
	}
	if next.Status.Allocation.AllocationTimestamp == nil {
		a := *next.Status.Allocation
		a.AllocationTimestamp = &now
		a.Devices.Results = slices.Clone(a.Devices.Results) // else the claim would keep the memory of its flight
		next.Status.Allocation = &a
	}
	if !IsReservedFor(next, pod) {
		next.Status.ReservedFor = append(slices.Clone(next.Status.ReservedFor), api.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
	}
	return next, nil
}

// MayNeed reports whether a pod may need devices: it has claims, or requests a resource
// that a class may stand behind.
func MayNeed(pod *framework.PodInfo) bool {
	return pod.HasClaims() || pod.HasExtended()
}

// Needs reports whether a pod needs devices: it has claims, or requests a resource that a
// class stands behind.
func Needs(s *framework.Snapshot, pod *framework.PodInfo) bool {
	return pod.HasClaims() || Backed(s, pod)
}

// ScopeOf declares what an answer about a pod depends on. The parts of a pod that may need
// devices are in the key that [AppendKey] finds. Devices that are given or taken touch
// their nodes; other changes show in the version of a [Finder].
func ScopeOf(pod *framework.PodInfo) framework.Scope {
	if !MayNeed(pod) {
		return framework.Scope{}
	}
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsDomain | framework.ReadsDevices}
}

// MayName is Names, but also true for a claim that was made for an entry which the pod has no
// more, or twice. One for extended resources must be for a pod that requests some. It costs little, and no
// memory.
func MayName(pod *framework.PodInfo, c *api.ResourceClaim) bool {
	if c.Namespace != pod.Pod.Namespace {
		return false
	}
	for name := range NamesIn(pod.Pod) {
		if name == c.Name {
			return true
		}
	}
	return pod.HasExtended() && isExtendedClaimOf(c, pod.Pod)
}

// NamesIn yields the names of claims in a pod: in its spec, and in its status those of claims that were made
// for it. A name may come more than once.
func NamesIn(pod *api.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range pod.Spec.ResourceClaims {
			if name := pod.Spec.ResourceClaims[i].ResourceClaimName; name != nil && !yield(*name) {
				return
			}
		}
		for i := range pod.Status.ResourceClaimStatuses {
			if name := pod.Status.ResourceClaimStatuses[i].ResourceClaimName; name != nil && !yield(*name) {
				return
			}
		}
	}
}

// Names reports whether a pod uses the claim.
func Names(pod *api.Pod, c *api.ResourceClaim) bool {
	if c.Namespace != pod.Namespace {
		return false
	}
	made := madeClaimsOf(pod)
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := made.name(&pod.Spec.ResourceClaims[i]); err == nil && name == c.Name {
			return true
		}
	}
	return isExtendedClaimOf(c, pod)
}

var errNotFound = fmt.Errorf("claim allocation not found for node")

// Reserve gives the devices of a node to the claims of the pod. The Finder is then of no
// further use, because claims that are no objects are not copied.
func (f *Finder) Reserve(node *framework.NodeInfo) (DeviceClaims, framework.Status) {
	x, s := f.state, f.snapshot
	var found *Found
	var d *departingClaim // memory for the next claim
	if len(f.allocate) > 0 {
		var status framework.Status
		if found, status = f.foundOn(node); !status.IsSuccess() {
			return DeviceClaims{}, status
		}
		if !found.isGiven() {
			x := new(givenClaim)
			d = &x.departingClaim
			found.give(f, &x.grant)
		}
		if len(found.Claims) == 0 && !f.claims[f.allocate[0]].Extended {
			return DeviceClaims{}, framework.AsStatus(errNotFound)
		}
		x.forget(f)
	}
	var result DeviceClaims
	pod := podIDOf(f.pod.Pod)
	held := slices.Clip(x.releaseVirtual(s, pod)) // forks may share the rest
	at := 0
	for i := range f.claims {
		c := &f.claims[i]
		if c.allocated {
			if !IsReservedFor(c.Claim, f.pod.Pod) {
				result.Claims = append(result.Claims, DeviceClaim{c.Claim, "", true})
			}
			continue
		}
		if found == nil || at == len(found.Claims) {
			continue
		}
		a := found.Allocations[at]
		at++
		if c.Extended && len(found.Mappings) == 0 {
			continue // the node offers the resources itself
		}
		if d == nil {
			d = new(departingClaim)
		}
		d.flight = flight{claim: d.written(c), entry: c.Entry, pod: pod, only: len(f.claims) == 1}
		if len(found.Allocations) == 1 {
			d.flight.device = found.device
		}
		claim := d.flight.claim
		claim.Status.Allocation = a
		if c.Extended {
			claim.Spec.Devices.Requests = found.Requests
			result.Mappings = found.Mappings
		}
		held = x.depart(s, node, held, &d.departure)
		if result.Claims == nil {
			result.Claims = d.listed[:0]
		}
		result.Claims = append(result.Claims, DeviceClaim{claim, c.Entry, false})
		d = nil
	}
	return result, framework.Status{}
}

// A departingClaim is the memory of a claim that comes into flight.
type departingClaim struct {
	departure
	claim api.ResourceClaim
}

// A givenClaim is a departingClaim with the memory of what it gets.
type givenClaim struct {
	departingClaim
	grant
}

// written returns the claim to write the allocation into.
func (d *departingClaim) written(c *finderClaim) *api.ResourceClaim {
	if c.Entry != "" {
		return c.Claim // it belongs to the Finder
	}
	d.claim = *c.Claim
	return &d.claim
}

// forget makes sure that the Finder is not used for another cycle.
func (x *State) forget(f *Finder) {
	if x.last == f {
		x.last = nil
	}
}

// releaseVirtual takes back what a pod has in flight of claims that are no objects. It
// returns what the pod has in flight then.
func (x *State) releaseVirtual(s *framework.Snapshot, pod objectID) []*flight {
	held, _ := x.holds.Get(pod)
	if !slices.ContainsFunc(held, func(f *flight) bool { return f.entry != "" }) {
		return held
	}
	for _, f := range held {
		if f.entry != "" {
			x.land(s, f)
		}
	}
	held, _ = x.holds.Get(pod)
	return held
}

// Release takes back what a pod has in flight.
func Release(s *framework.Snapshot, pod *framework.PodInfo) {
	stateKey.Of(s).release(s, podIDOf(pod.Pod))
}

// HasLeft reports whether a pod that has devices in flight has left a node in an open transaction. It
// has them until the transaction is committed, but in a fork they are free.
func HasLeft(s *framework.Snapshot) bool {
	for _, n := range stateKey.Of(s).left {
		if n > 0 {
			return true
		}
	}
	return false
}

// InFlight returns the claims that a pod has in flight, sorted by key.
func InFlight(s *framework.Snapshot, pod *framework.PodInfo) []DeviceClaim {
	var list []DeviceClaim
	for _, f := range holdsOf(s, pod) {
		list = append(list, DeviceClaim{Claim: f.claim, Entry: f.entry})
	}
	slices.SortFunc(list, func(a, b DeviceClaim) int { return cmp.Compare(a.Claim.Key(), b.Claim.Key()) })
	return list
}

// Stuck returns a claim whose devices should be given back so that the pod may fit, or
// else a claim of extended resources to delete. unavailable reports whether a node was
// rejected because it cannot use an allocated claim.
func (f *Finder) Stuck(unavailable func(*framework.NodeInfo) bool) (free, gone *api.ResourceClaim) {
	candidates := f.Unavailable(unavailable)
	for _, c := range candidates {
		only := len(c.Status.ReservedFor) == 0 || len(c.Status.ReservedFor) == 1 && c.Status.ReservedFor[0].UID == f.pod.Pod.UID
		if only {
			if isExtendedClaimOf(c, f.pod.Pod) {
				return nil, c
			}
			return c, nil
		}
	}
	if f.resources != nil {
		if c := f.claims[len(f.claims)-1]; c.Entry == "" {
			return nil, c.Claim
		}
	}
	return nil, nil
}

// Unavailable returns the claims that a rejected node cannot use, by key.
func (f *Finder) Unavailable(rejected func(*framework.NodeInfo) bool) []*api.ResourceClaim {
	var list []*api.ResourceClaim
	for _, n := range f.snapshot.All() {
		if rejected(n) {
			list = f.unavailable(n, list)
		}
	}
	slices.SortFunc(list, func(a, b *api.ResourceClaim) int { return cmp.Compare(a.Key(), b.Key()) })
	return slices.Compact(list)
}

// Score returns how well the alternatives of the claims' requests went on a node: the
// first of a request counts 8, the next 7, and so on.
//
// Source: kube-scheduler 1.37, dynamicresources, Score.
func (f *Finder) Score(node *framework.NodeInfo) int64 {
	if len(f.allocate) == 0 || !f.HasAlternatives() {
		return 0
	}
	found := Found{onlyNames: true}
	if status := f.Find(node, &found); !status.IsSuccess() || len(found.Allocations) == 0 {
		return 0
	}
	sum, at := int64(0), 0
	for i := range f.claims {
		c := &f.claims[i]
		if c.allocated {
			sum += c.score
			continue
		}
		sum += scoreOf(c.Claim, found.Allocations[at])
		at++
	}
	return sum
}

// HasAlternatives reports whether a request of some claim has alternatives.
func (f *Finder) HasAlternatives() bool {
	return slices.ContainsFunc(f.claims, func(c finderClaim) bool { return hasAlternatives(&c.Claim.Spec.Devices) })
}

// MayHaveAlternatives reports whether a request of some claim of the pod may have
// alternatives. Pods of equal keys (see [AppendKey]) are alike in this.
func MayHaveAlternatives(s *framework.Snapshot, pod *framework.PodInfo) bool {
	if !pod.HasClaims() {
		return false
	}
	refs, err := stateKey.Of(s).refsOf(s, pod)
	if err != nil {
		return false // the pod must wait
	}
	return Backed(s, pod) || slices.ContainsFunc(refs, func(r claimRef) bool { return hasAlternatives(r.spec()) })
}

func hasAlternatives(c *api.DeviceClaim) bool {
	return slices.ContainsFunc(c.Requests, func(r api.DeviceRequest) bool { return r.Exactly == nil })
}

// scoreOf is what the alternatives that a claim got count.
func scoreOf(c *api.ResourceClaim, a *api.AllocationResult) (sum int64) {
	const most = 8
	if !hasAlternatives(&c.Spec.Devices) {
		return 0
	}
	names := make([]string, len(a.Devices.Results))
	for i := range names {
		names[i] = a.Devices.Results[i].Request
	}
	got := namedIn(names)
	for i := range c.Spec.Devices.Requests {
		r := &c.Spec.Devices.Requests[i]
		if r.Exactly != nil {
			continue
		}
		for k := range r.FirstAvailable {
			name := r.Name + "/" + r.FirstAvailable[k].Name
			if got(name) {
				sum += int64(most - k)
			}
		}
	}
	return sum
}

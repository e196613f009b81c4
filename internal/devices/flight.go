package devices

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An objectID identifies a pod or a claim: by its UID or, without one, by "/namespace/name".
type objectID string

func idOf(uid api.UID, namespace, name string) objectID {
	if uid != "" {
		return objectID(uid)
	}
	return objectID("/" + namespace + "/" + name)
}

func podIDOf(p *api.Pod) objectID { return idOf(p.UID, p.Namespace, p.Name) }

// claimIDOf identifies a claim that is an object.
func claimIDOf(c *api.ResourceClaim) objectID { return idOf(c.UID, c.Namespace, c.Name) }

// A flight is a claim whose devices have been chosen for a pod, but not written. It never
// changes.
//
// Invariant: a pod holds its flights. Those of claims that are objects are in State.flights,
// too, by claim.
type flight struct {
	claim  *api.ResourceClaim // with the allocation
	entry  string             // of the pod, if the claim is no object
	pod    objectID
	device *Device // if it is the only one that the claim got
	only   bool    // the pod has no other claim
}

// flies reports whether a claim that is an object is in flight.
func (x *State) flies(c *api.ResourceClaim) bool {
	_, ok := x.flights.Get(claimIDOf(c))
	return ok
}

// A claimID identifies a claim of a pod: an object, or one of an entry that is no object.
type claimID struct {
	object objectID
	entry  string
}

func (r *claimRef) id() claimID {
	if r.claim == nil {
		return claimID{entry: r.entry}
	}
	return claimID{object: claimIDOf(r.claim)}
}

func (f *flight) id() claimID {
	if f.entry != "" {
		return claimID{entry: f.entry}
	}
	return claimID{object: claimIDOf(f.claim)}
}

// podFlights finds the flights of a pod by their claims. It costs O(1) a claim.
type podFlights struct {
	held []*flight
	byID map[claimID]*flight // nil for few flights, which are looked through
}

// fewClaims are so few that to look through them is faster than a map.
const fewClaims = 8

func flightsOf(held []*flight) podFlights {
	x := podFlights{held: held}
	if len(held) > fewClaims {
		x.byID = make(map[claimID]*flight, len(held))
		for _, f := range slices.Backward(held) { // the first of a claim counts
			x.byID[f.id()] = f
		}
	}
	return x
}

// of returns the flight of a claim of the pod, nil if it has none.
func (x *podFlights) of(r *claimRef) *flight {
	if len(x.held) == 0 {
		return nil
	}
	id := r.id()
	if x.byID != nil {
		return x.byID[id]
	}
	for _, f := range x.held {
		if f.id() == id {
			return f
		}
	}
	return nil
}

// A departure is the memory of a flight, and takes it back.
type departure struct {
	flight flight
	alone  [1]*flight // what the pod holds, if it is nothing else
	listed [1]DeviceClaim

	state *State
	held  []*flight // by the pod before
	flown uint64    // of the state before
	exact bool      // whether Undo restores the uses, too
}

// depart puts a claim with its allocation, which is not in flight, into flight for a pod
// that holds some flights already. node is where the devices were found. It returns what
// the pod holds then.
func (x *State) depart(s *framework.Snapshot, node *framework.NodeInfo, held []*flight, d *departure) []*flight {
	f := &d.flight
	d.state, d.held, d.flown = x, held, x.flown
	a := f.claim.Status.Allocation
	d.exact = isExact(a)
	if s.Recording() {
		s.Record(d)
	}
	switch {
	case d.exact && f.device != nil && !isSet(a.Devices.Results[0].AdminAccess):
		x.takeDevice(s, node, f.device)
	case d.exact:
		x.applyAndTouch(s, a, 1)
	default:
		x.count(s, a, 1)
	}
	if f.entry == "" {
		x.flown = s.NewVersion()
		x.flights.Set(claimIDOf(f.claim), f)
	}
	if d.alone[0] = f; len(held) == 0 {
		held = d.alone[:]
	} else {
		held = append(held, f)
	}
	x.holds.Set(f.pod, held)
	x.recent = f
	return held
}

// Undo takes back the departure. Uses that are not exact have a record of their own.
func (d *departure) Undo(*framework.Snapshot) {
	x, f := d.state, &d.flight
	x.recent = nil
	if d.exact {
		x.apply(f.claim.Status.Allocation, -1)
	}
	if f.entry == "" {
		x.flights.Remove(claimIDOf(f.claim))
		x.flown = d.flown
	}
	putBack(&x.holds, f.pod, d.held, len(d.held) > 0)
}

// release takes back what a pod has in flight.
func (x *State) release(s *framework.Snapshot, pod objectID) {
	held, _ := x.holds.Get(pod)
	if len(held) == 0 {
		return
	}
	x.recent = nil
	x.settle(s, pod)
	cut(s, &x.holds, pod)
	for _, f := range held {
		x.end(s, f)
	}
}

// land ends a flight.
func (x *State) land(s *framework.Snapshot, f *flight) {
	x.recent = nil
	held, _ := x.holds.Get(f.pod)
	rest := slices.DeleteFunc(slices.Clone(held), func(o *flight) bool { return o == f })
	if len(rest) == 0 {
		cut(s, &x.holds, f.pod)
	} else {
		change(s, &x.holds, f.pod, rest)
	}
	x.end(s, f)
}

// end ends a flight that its pod does not hold any more.
func (x *State) end(s *framework.Snapshot, f *flight) {
	if f.entry == "" {
		if s.Recording() {
			s.Record(&flownUndo{x, x.flown})
		}
		x.flown = s.NewVersion()
		cut(s, &x.flights, claimIDOf(f.claim))
	}
	x.count(s, f.claim.Status.Allocation, -1)
}

type flownUndo struct {
	state *State
	flown uint64
}

func (u *flownUndo) Undo(*framework.Snapshot) { u.state.flown = u.flown }

// arrivesAs reports whether a claim, which is the flight's or says that it was made for the flight's
// pod and entry, is what the pod's binding has written. Any user can write that into a claim, but
// not get the devices that are in flight. A claim that another scheduler has given other devices may
// lose them again, and the binding may then write its own.
func (f *flight) arrivesAs(c *api.ResourceClaim) bool {
	return c.Namespace == f.claim.Namespace && sameDevices(f.claim.Status.Allocation, c.Status.Allocation)
}

func sameDevices(a, b *api.AllocationResult) bool {
	return a != nil && b != nil && slices.EqualFunc(a.Devices.Results, b.Devices.Results, func(a, b api.DeviceRequestAllocationResult) bool {
		return a.Driver == b.Driver && a.Pool == b.Pool && a.Device == b.Device && isSet(a.AdminAccess) == isSet(b.AdminAccess) && shareIDOf(a) == shareIDOf(b)
	})
}

func shareIDOf(r api.DeviceRequestAllocationResult) api.UID {
	if r.ShareID == nil {
		return ""
	}
	return *r.ShareID
}

// landed ends the flight of a claim that has been written.
func (x *State) landed(s *framework.Snapshot, c *api.ResourceClaim) {
	land := func(f *flight) {
		x.land(s, f)
		if _, holds := x.holds.Get(f.pod); !holds {
			x.settle(s, f.pod)
		}
	}
	if f, ok := x.flights.Get(claimIDOf(c)); ok && f.arrivesAs(c) {
		land(f)
	}
	o := c.ControllerRef()
	if o == nil {
		return
	}
	entry := c.Annotations[api.AnnPodClaimName]
	if c.Annotations[api.AnnExtendedResourceClaim] == "true" {
		entry = ExtendedClaimName
	}
	if entry == "" {
		return
	}
	for _, pod := range [2]objectID{idOf(o.UID, c.Namespace, o.Name), idOf("", c.Namespace, o.Name)} {
		if held, ok := x.holds.Get(pod); ok {
			if i := slices.IndexFunc(held, func(f *flight) bool { return f.entry == entry && f.arrivesAs(c) }); i >= 0 {
				land(held[i])
			}
		}
	}
}

// PodAdded implements [framework.PodWatcher].
func (x *State) PodAdded(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if s.Recording() && !s.LosesNode() {
		x.leave(podIDOf(p.Pod), -1)
	}
}

// PodRemoved implements [framework.PodWatcher]. What was never written goes with the pod, when the transaction is
// committed, and then only if the pod has not come back: another extension may refuse to let it go; kube-scheduler's
// preemption counts the devices of its victims as in use; and a pod that is replaced by a newer version of itself
// keeps them. A pod whose node is lost keeps them, too: it still exists.
func (x *State) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if s.Recording() && !s.LosesNode() {
		x.leave(podIDOf(p.Pod), 1)
	}
}

// PodReleased takes back what a pod had in flight that is on no node and has gone.
func (x *State) PodReleased(s *framework.Snapshot, p *framework.PodInfo) {
	x.release(s, podIDOf(p.Pod))
}

// leave counts in a transaction that a pod has left a node; -1 is that it has come to one.
func (x *State) leave(pod objectID, by int) {
	if _, holds := x.holds.Get(pod); !holds {
		return
	}
	x.setLeft(pod, x.left[pod]+by)
}

func (x *State) setLeft(pod objectID, n int) {
	switch {
	case n == 0:
		delete(x.left, pod)
	case x.left == nil:
		x.left = map[objectID]int{pod: n}
	default:
		x.left[pod] = n
	}
	if len(x.left) == 0 {
		x.left = nil // as it was before: a rollback restores all exactly
	}
}

// settle forgets that a pod has left a node in the transaction: it holds nothing more. What it
// gets later, the commit must not take back.
func (x *State) settle(s *framework.Snapshot, pod objectID) {
	if n, ok := x.left[pod]; ok {
		s.Record(&leftUndo{x, pod, n})
		x.setLeft(pod, 0)
	}
}

type leftUndo struct {
	state *State
	pod   objectID
	left  int
}

func (u *leftUndo) Undo(*framework.Snapshot) { u.state.setLeft(u.pod, u.left) }

// Committed takes back what the pods had in flight that have left in the transaction.
func (x *State) Committed(s *framework.Snapshot) {
	if len(x.left) == 0 {
		return
	}
	for _, pod := range slices.Sorted(maps.Keys(x.left)) {
		if x.left[pod] > 0 {
			x.release(s, pod)
		}
	}
	x.left = nil
}

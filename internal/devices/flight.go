package devices

import (
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

// A flightKey identifies a claim in flight. A claim that is no object yet is identified by
// its pod and the name of the pod's entry.
type flightKey struct {
	of    objectID // the claim or, with an entry, the pod
	entry string
}

// keyOf returns the key of a claim that is an object.
func keyOf(c *api.ResourceClaim) flightKey {
	return flightKey{of: idOf(c.UID, c.Namespace, c.Name)}
}

// A flight is a claim whose devices have been chosen, but not written. It never changes.
type flight struct {
	claim *api.ResourceClaim // with the allocation
	entry string             // of the pod, if the claim is no object
	pods  []objectID
}

// A departure is the memory of a flight, and of what is first kept about it.
type departure struct {
	flight flight
	pod    [1]objectID
	key    [1]flightKey
	listed [1]DeviceClaim
	state  *State // for a rollback
	flown  uint64 // of the state before
	exact  bool   // whether a rollback restores the uses, too
}

// depart puts a claim with its allocation into flight for a pod. If it is in flight
// already, the pod shares it.
func (x *State) depart(s *framework.Snapshot, key flightKey, pod objectID, entry string, claim *api.ResourceClaim, d *departure) {
	d.pod[0], d.key[0], d.state, d.flown = pod, key, x, x.flown
	f := &d.flight
	*f = flight{claim, entry, d.pod[:]}
	before, flies := x.flights.get(key)
	held, holds := x.holds.get(pod)
	if a := claim.Status.Allocation; !flies && !holds {
		if s.Recording() {
			s.Record(d)
		}
		if d.exact = isExact(a); d.exact {
			x.applyAndTouch(s, a, 1)
		} else {
			x.count(s, a, 1)
		}
		x.renewFlown(s, key)
		x.flights.set(key, f)
		x.holds.set(pod, d.key[:])
		return
	}
	if s.Recording() {
		s.Record(&departUndo{x, key, pod, before, held, holds, x.flown})
	}
	if flies {
		f.claim, f.pods = before.claim, slices.Clone(before.pods)
		if !slices.Contains(f.pods, pod) {
			f.pods = append(f.pods, pod)
		}
	} else {
		x.count(s, claim.Status.Allocation, 1)
	}
	x.renewFlown(s, key)
	x.flights.set(key, f)
	if !slices.Contains(held, key) {
		x.holds.set(pod, append(slices.Clone(held), key))
	}
}

// Undo takes back the departure of a claim that was not in flight, for a pod that had none
// in flight. Uses that are not exact have a record of their own.
func (d *departure) Undo(*framework.Snapshot) {
	x := d.state
	if d.exact {
		x.apply(d.flight.claim.Status.Allocation, -1)
	}
	x.flights.remove(d.key[0])
	x.holds.remove(d.pod[0])
	x.flown = d.flown
}

// departUndo takes back any departure, but for the uses of devices.
type departUndo struct {
	state  *State
	key    flightKey
	pod    objectID
	flight *flight // nil if there was none
	held   []flightKey
	holds  bool // whether there was held
	flown  uint64
}

func (u *departUndo) Undo(*framework.Snapshot) {
	x := u.state
	x.flights.put(u.key, u.flight, u.flight != nil)
	x.holds.put(u.pod, u.held, u.holds)
	x.flown = u.flown
}

// renewFlown notes that the claim of that key comes into flight, or leaves it.
func (x *State) renewFlown(s *framework.Snapshot, key flightKey) {
	if key.entry == "" {
		x.flown = s.NewVersion()
	}
}

// setFlight sets or deletes a flight.
func (x *State) setFlight(s *framework.Snapshot, key flightKey, f *flight) {
	if s.Recording() {
		s.Record(&flownUndo{x, x.flown})
	}
	x.renewFlown(s, key)
	if f == nil {
		cut(s, &x.flights, key)
	} else {
		change(s, &x.flights, key, f)
	}
}

type flownUndo struct {
	state *State
	flown uint64
}

func (u *flownUndo) Undo(*framework.Snapshot) { u.state.flown = u.flown }

// release takes back what a pod has in flight. Claims that other pods share stay.
func (x *State) release(s *framework.Snapshot, pod objectID) {
	held, ok := x.holds.get(pod)
	if !ok {
		return
	}
	cut(s, &x.holds, pod)
	for _, key := range held {
		f, ok := x.flights.get(key)
		if !ok {
			continue
		}
		if len(f.pods) > 1 {
			rest := slices.DeleteFunc(slices.Clone(f.pods), func(p objectID) bool { return p == pod })
			x.setFlight(s, key, &flight{f.claim, f.entry, rest})
			continue
		}
		x.land(s, key, f)
	}
}

// land ends a flight.
func (x *State) land(s *framework.Snapshot, key flightKey, f *flight) {
	x.setFlight(s, key, nil)
	x.count(s, f.claim.Status.Allocation, -1)
}

// landed ends the flight of a claim that has been written.
func (x *State) landed(s *framework.Snapshot, c *api.ResourceClaim) {
	keys := []flightKey{keyOf(c)}
	if o := c.ControllerRef(); o != nil {
		entry := c.Annotations[api.AnnPodClaimName]
		if c.Annotations[api.AnnExtendedResourceClaim] == "true" {
			entry = ExtendedClaimName
		}
		keys = append(keys,
			flightKey{idOf(o.UID, c.Namespace, o.Name), entry},
			flightKey{idOf("", c.Namespace, o.Name), entry})
	}
	for _, key := range keys {
		f, ok := x.flights.get(key)
		if !ok {
			continue
		}
		x.land(s, key, f)
		for _, pod := range f.pods {
			x.drop(s, pod, key)
		}
	}
}

// drop takes a claim off the list of a pod.
func (x *State) drop(s *framework.Snapshot, pod objectID, key flightKey) {
	held, _ := x.holds.get(pod)
	rest := slices.DeleteFunc(slices.Clone(held), func(k flightKey) bool { return k == key })
	if len(rest) == 0 {
		cut(s, &x.holds, pod)
	} else {
		change(s, &x.holds, pod, rest)
	}
}

// PodAdded implements [framework.PodWatcher].
func (x *State) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

// PodRemoved implements [framework.PodWatcher]: what was never written goes with the
// pod. In a transaction nothing goes: kube-scheduler's preemption counts the devices of
// its victims as in use.
func (x *State) PodRemoved(s *framework.Snapshot, _ *framework.NodeInfo, p *framework.PodInfo) {
	if !s.Recording() && !s.RollingBack() {
		x.release(s, podIDOf(p.Pod))
	}
}

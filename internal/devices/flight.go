package devices

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// podID identifies a pod: by its UID or, without one, by its key.
type podID struct{ uid, key string }

func idOf(p *api.Pod) podID {
	if p.UID != "" {
		return podID{uid: string(p.UID)}
	}
	return podID{key: p.Key()}
}

// A flightKey identifies a claim in flight: by its UID or, without one, by its key. A
// claim that is no object yet belongs to a pod, and has the name of the pod's entry.
type flightKey struct {
	claim string
	pod   podID
	entry string
}

// keyOf returns the key of a claim that is an object.
func keyOf(c *api.ResourceClaim) flightKey {
	if c.UID != "" {
		return flightKey{claim: string(c.UID)}
	}
	return flightKey{claim: "/" + c.Key()}
}

// A flight is a claim whose devices have been chosen, but not written. It never changes.
type flight struct {
	claim *api.ResourceClaim // with the allocation
	entry string             // of the pod, if the claim is no object
	pods  []podID
}

// A departure is the memory of a claim that goes into flight, and of what is first kept
// about it.
type departure struct {
	claim  api.ResourceClaim
	flight flight
	pod    [1]podID
	key    [1]flightKey
	listed [1]DeviceClaim
}

// depart puts a claim with its allocation into flight for a pod. If it is in flight
// already, the pod shares it.
func (x *State) depart(s *framework.Snapshot, key flightKey, pod podID, entry string, d *departure) {
	f := &d.flight
	*f = flight{&d.claim, entry, d.pod[:0]}
	before, flies := x.flights.get(key)
	held, holds := x.holds.get(pod)
	if s.Recording() {
		s.Record(&departUndo{x, key, pod, before, held, holds, x.flown})
	}
	if flies {
		f.claim, f.pods = before.claim, slices.Clone(before.pods)
	} else {
		x.count(s, d.claim.Status.Allocation, 1)
	}
	if !slices.Contains(f.pods, pod) {
		f.pods = append(f.pods, pod)
	}
	x.renewFlown(s, key)
	x.flights.set(key, f)
	if !holds {
		d.key[0] = key
		x.holds.set(pod, d.key[:])
	} else if !slices.Contains(held, key) {
		x.holds.set(pod, append(slices.Clone(held), key))
	}
}

// departUndo takes back a departure, but for the uses of devices.
type departUndo struct {
	state  *State
	key    flightKey
	pod    podID
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
func (x *State) release(s *framework.Snapshot, pod podID) {
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
			rest := slices.DeleteFunc(slices.Clone(f.pods), func(p podID) bool { return p == pod })
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
			flightKey{pod: podID{uid: string(o.UID)}, entry: entry},
			flightKey{pod: podID{key: c.Namespace + "/" + o.Name}, entry: entry})
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
func (x *State) drop(s *framework.Snapshot, pod podID, key flightKey) {
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
		x.release(s, idOf(p.Pod))
	}
}

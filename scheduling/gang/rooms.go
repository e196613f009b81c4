package gang

import (
	"slices"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// roomByClass keeps how many pods of each class every node takes.
type roomByClass struct {
	schema  *resource.Schema
	classes map[string]*room
}

// room is how many pods of one class fit on each node.
//
// Invariant: counts[slot] holds for the node as it has the generation generations[slot],
// for the set of nodes, the objects and the time below. All counts of a run of slots hold
// if the snapshot's run has the generation in runs.
type room struct {
	nodeSet, objects uint64
	now              time.Time
	generations      []uint64
	runs             []uint64
	counts           []int32
	filtering        *scheduling.Filtering // bound for this attempt
	placements       int                   // how many pods may still be placed to count
	tooFew           int                   // how many were too few, once
}

// roomsMost bounds how many classes are kept, and countMost how many pods of a node are
// counted. placementsLeast is how many pods may be placed at least to count, where a plugin cannot: about 50 ms, and
// placementsMost at most if trying would take more decisions than an attempt may make: 5 s. So many parts of a pod as
// partsOfAPlacement cost up to four times as much as a placement without.
const (
	roomsMost       = 256
	countMost       = 1 << 16
	placementsLeast = 20_000
	placementsMost  = 2_000_000

	partsOfAPlacement = 16
)

// of returns the room of the pods' class; nil if they are not of one class, if a
// plugin may read more than one node for it, or if it takes more than so many placements to count.
func (r *roomByClass) of(sched *scheduling.Scheduler, snap *framework.Snapshot, pods []*framework.PodInfo, placements int) (*room, error) {
	if snap.Nominations() > 0 {
		return nil, nil // a pod that is placed gives up its nomination, so counts change
	}
	for _, pod := range pods {
		if pod.IsNominated() || readsOtherPods(pod.Pod) || pod.Priority != pods[0].Priority {
			return nil, nil
		}
	}
	key, ok, err := sched.CommonClassKey(snap, pods...)
	if !ok || err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, nil
	}
	f, err := sched.Filtering(snap, pods[0])
	if err != nil {
		return nil, nil // the attempt will find it again
	}
	if !f.NodeOnly() || f.ReservesByOthers() || holdsClaims(pods[0]) {
		return nil, nil
	}
	if r.schema != snap.Schema() || len(r.classes) >= roomsMost {
		*r = roomByClass{schema: snap.Schema(), classes: map[string]*room{}}
	}
	key = strconv.Itoa(int(pods[0].Priority)) + "/" + key
	x := r.classes[key]
	if x == nil {
		x = new(room)
		r.classes[key] = x
	}
	if placements <= x.tooFew {
		return nil, nil
	}
	x.filtering, x.placements = f, placements
	x.follow(snap)
	if err := x.refresh(snap); err != nil {
		return nil, err
	}
	if x.placements <= 0 {
		x.tooFew = placements
		return nil, nil
	}
	if ok, err := x.staysNodeOnly(snap, pods[0]); !ok || err != nil {
		return nil, err
	}
	return x, nil
}

// staysNodeOnly reports whether the filters still read one node only once a pod of the class stands: a
// plugin may have nothing to do before.
func (r *room) staysNodeOnly(snap *framework.Snapshot, pod *framework.PodInfo) (bool, error) {
	slot := slices.IndexFunc(r.counts, func(n int32) bool { return n > 0 })
	if slot < 0 {
		return true, nil
	}
	replica, err := pod.Named(pod.Pod.Name + "~0") // no pod of a cluster has it
	if err != nil {
		return false, err
	}
	mark := snap.Begin()
	err = r.filtering.Place(replica, snap.AtSlot(slot))
	ok := err == nil && r.filtering.Rebind() == nil && r.filtering.NodeOnly()
	snap.Rollback(mark)
	if !ok {
		return false, nil // the attempt will find the error again
	}
	return true, r.filtering.Rebind()
}

// readsOtherPods reports whether the pod's own terms make its filters read other pods. Its
// class need not say so: a term that matches no pod yet may match one of its group.
func readsOtherPods(p *api.Pod) bool {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return true
	}
	return needsOtherPods(p)
}

// needsOtherPods reports whether the pod's own terms may let it fit only after others:
// required affinity, and constraints that must hold.
func needsOtherPods(p *api.Pod) bool {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return true
	}
	return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c api.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != api.ScheduleAnyway
	})
}

// follow forgets all counts if they may not hold.
func (r *room) follow(snap *framework.Snapshot) {
	if r.nodeSet == snap.NodeSet() && r.objects == snap.Objects() && r.now.Equal(snap.Now()) {
		return
	}
	r.nodeSet, r.objects, r.now = snap.NodeSet(), snap.Objects(), snap.Now()
	r.generations = make([]uint64, snap.SlotLimit())
	r.runs = make([]uint64, (snap.SlotLimit()+framework.RunSize-1)/framework.RunSize)
	r.counts = make([]int32, snap.SlotLimit())
}

// refresh counts nodes that have changed. It looks at one number for each run of slots,
// and at the nodes of runs that differ.
func (r *room) refresh(snap *framework.Snapshot) error {
	for run := range r.runs {
		generation := snap.RunGeneration(run)
		if r.runs[run] == generation {
			continue
		}
		for slot := run * framework.RunSize; slot < (run+1)*framework.RunSize; slot++ {
			if err := r.renew(snap.AtSlot(slot)); r.placements <= 0 || err != nil {
				return err
			}
		}
		r.runs[run] = generation
	}
	return nil
}

// renew counts a node if it has changed. n may be nil.
func (r *room) renew(n *framework.NodeInfo) error {
	if n == nil || r.generations[n.Slot()] == n.Generation() {
		return nil
	}
	count, placed, err := r.filtering.ReplicasWithin(n, countMost, r.placements)
	if r.placements -= placed; r.placements <= 0 || err != nil {
		return err
	}
	r.generations[n.Slot()], r.counts[n.Slot()] = n.Generation(), int32(count)
	return nil
}

// capped reports whether one of the nodes takes as many pods as are counted, and maybe more.
func (r *room) capped(slots []int) bool {
	return slices.ContainsFunc(slots, func(slot int) bool { return r.counts[slot] >= countMost })
}

// sum returns how many pods fit on nodes together, after refresh.
func (r *room) sum(slots []int) (sum int) {
	for _, slot := range slots {
		sum += int(r.counts[slot])
	}
	return sum
}

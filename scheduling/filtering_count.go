package scheduling

import (
	"strconv"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/replica"
)

// Replicas returns how many replicas of the pod fit on the node one after the other, at
// most a number. The snapshot stays as it is. It may be asked only while
// [Filtering.NodeOnly] is true.
//
// It asks every filter about the node as it is. If each filter that reads the node's pods
// can count ([replica.Counter]), these counts are the answer. Otherwise it
// places replicas until one is rejected, and takes them back.
func (f *Filtering) Replicas(node *framework.NodeInfo, most int) (int, error) {
	count, _, err := f.ReplicasWithin(node, most, most)
	return count, err
}

// ReplicasWithin is Replicas, but places at most so many replicas to count them, and returns how many it has placed: 0 if all
// filters can count. If it has placed as many as it may, there may be more than it returns.
func (f *Filtering) ReplicasWithin(node *framework.NodeInfo, most, placements int) (count, placed int, err error) {
	v, err := f.Node(node)
	if err != nil || !v.Status.IsSuccess() || most <= 0 {
		return 0, 0, err
	}
	if count, ok := f.counted(node); ok {
		return int(min(count, int64(most))), 0, nil
	}
	count, err = f.fill(node, min(most, placements))
	return count, count, err
}

// Count is Replicas without a limit, and what rejects the next replica. It places none; ok
// is false if that cannot be told without.
func (f *Filtering) Count(node *framework.NodeInfo) (count int, next NodeVerdict, ok bool, err error) {
	next, err = f.Node(node)
	if err != nil || !next.Status.IsSuccess() {
		return 0, next, err == nil, err
	}
	n, ok := f.counted(node)
	if !ok {
		return 0, NodeVerdict{}, false, nil
	}
	r := f.path
	for _, b := range r.bound.filters {
		if counter, can := b.Filter.(replica.Counter); can {
			if status := counter.FilterAfter(r.cycle.Pod, node, n); !status.IsSuccess() {
				return int(n), NodeVerdict{r.plugins.filters[b.At].name, status}, true, nil
			}
		}
	}
	return 0, NodeVerdict{}, false, nil // nothing limits the replicas
}

// counted asks the filters for their counts.
func (f *Filtering) counted(node *framework.NodeInfo) (count int64, ok bool) {
	r := f.path
	pod := r.cycle.Pod
	if len(node.Nominated) > 0 || !f.ReservesNothing() {
		return 0, false
	}
	const most = 1 << 30
	count = most
	for _, b := range r.bound.filters {
		if r.plugins.filters[b.At].scope.of(pod).Reads&framework.ReadsPods == 0 {
			continue
		}
		counter, can := b.Filter.(replica.Counter)
		if !can {
			return 0, false
		}
		n, can := counter.Replicas(pod, node)
		if !can {
			return 0, false
		}
		count = min(count, n)
	}
	return count, true
}

// ReservesNothing reports whether no Reserve plugin takes claims or volumes for the pod. A
// plugin that the pod concerns counts as busy (see [incremental.Concerned]), except estimator.Assigner, for which a pod on a node
// is there already, and VolumeBinding and DynamicResources without claims: if the latter must find devices for extended
// resources, its filter reads more than the node, and says so.
func (f *Filtering) ReservesNothing() bool {
	pod := f.path.cycle.Pod
	for i := range f.path.plugins.reserve {
		p := &f.path.plugins.reserve[i]
		if !p.concern.of(pod) {
			continue
		}
		switch p.plugin.(type) {
		case estimator.Assigner:
		case filter.DynamicResources:
			if pod.HasClaims() {
				return false
			}
		case filter.VolumeBinding:
			if pod.HasVolumeClaims() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// ReservesByOthers reports whether a Reserve plugin that is not of this module concerns the pod. It may
// refuse by more than the filters look at.
func (f *Filtering) ReservesByOthers() bool {
	for i := range f.path.plugins.reserve {
		p := &f.path.plugins.reserve[i]
		if p.concern.of(f.path.cycle.Pod) && !isModules(p.plugin) {
			return true
		}
	}
	return false
}

// isModules reports whether a Reserve plugin is one of this module.
func isModules(p framework.Plugin) bool {
	if _, ok := framework.As[filter.VolumeBinding](p); ok {
		return true
	}
	if _, ok := framework.As[filter.DynamicResources](p); ok {
		return true
	}
	_, ok := framework.As[estimator.Assigner](p)
	return ok
}

// fill places replicas on the node until one is rejected, and takes them back.
func (f *Filtering) fill(node *framework.NodeInfo, most int) (count int, err error) {
	s, slot := f.path.cycle.Snapshot, node.Slot()
	mark := s.Begin()
	defer s.Rollback(mark)
	for ; count < most; count++ {
		pod := f.path.cycle.Pod
		replica, err := pod.Named(pod.Pod.Name + "~" + strconv.Itoa(count)) // no pod of a cluster has it
		if err != nil {
			return count, err
		}
		if placed, err := f.TryPlace(replica, s.AtSlot(slot)); !placed || err != nil {
			return count, err
		}
	}
	return count, nil
}

// SpreadConstraints returns the constraints by which the profile's filter PodTopologySpread may reject
// the pod: its own, or the profile's default ones if it has none. Some may have
// [api.ScheduleAnyway], and default ones hold only if a service or a controller selects the pod.
func (s *Scheduler) SpreadConstraints(pod *framework.PodInfo) []api.TopologySpreadConstraint {
	if own := pod.Pod.Spec.TopologySpreadConstraints; len(own) > 0 {
		return own
	}
	for _, p := range s.profile.Filter {
		if spread, ok := framework.As[filter.PodTopologySpread](p); ok && spread.ListDefaulting {
			return spread.DefaultConstraints
		}
	}
	return nil
}

// CountsResources reports whether the profile has this module's filter NodeResourcesFit,
// so that no node is given more CPU, memory, storage or pods than it has.
func (s *Scheduler) CountsResources() bool {
	for _, p := range s.profile.Filter {
		if _, ok := framework.As[filter.NodeResourcesFit](p); ok {
			return true
		}
	}
	return false
}

package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Without is Node as if some pods had left the node, which they must be on. The filters are told of
// each, as in preemption, so the PreFilter plugins do not run for every node that is asked about;
// they do if one has rejected the pod, unless no pod that leaves may help
// ([framework.UnschedulableAndUnresolvable]). Afterwards the pods are back. If several pods hold one host
// port of the node, or one claim that only one pod may use, the first that leaves frees it, as in
// preemption; and terminating pods, and all pods for a spread constraint with an empty selector, are
// taken from counts that they were not in.
func (f *Filtering) Without(pods []*framework.PodInfo, node *framework.NodeInfo) (v NodeVerdict, err error) {
	if node == nil {
		return NodeVerdict{}, &api.InvalidError{Object: "node", Err: errNilNode}
	}
	if err := f.follow(); err != nil {
		return NodeVerdict{}, err
	}
	snap, slot := f.path.cycle.Snapshot, node.Slot()
	rejected := f.path.bound.rejected
	again := !rejected.IsSuccess() && rejected.Code() != framework.UnschedulableAndUnresolvable
	mark := snap.Begin()
	defer func() {
		snap.Rollback(mark)
		f.basis.version = snap.Version() // everything is as it was
		if again {
			f.basis.found = false // but what the PreFilter plugins found without the pods
		}
	}()
	set := (&filterSet{f.path, snap, f.path.bound.filters}).copy()
	for _, p := range slices.Clone(pods) { // they may be a part of the node's own list
		if err := snap.RemovePodAt(p, snap.AtSlot(slot)); err != nil {
			return NodeVerdict{}, err
		}
		if status := set.RemovePod(&f.path.cycle, p, snap.AtSlot(slot)); !status.IsSuccess() {
			return NodeVerdict{}, status.Err()
		}
	}
	switch b := &f.path.bound; {
	case again:
		return f.Node(snap.AtSlot(slot))
	case !rejected.IsSuccess():
		return NodeVerdict{b.rejectedBy, rejected}, nil
	case b.restrict && !b.allows(node.Name()):
		return NodeVerdict{Status: b.absent}, nil
	}
	found, err := set.ask(&probe{node: snap.AtSlot(slot)})
	if err != nil || found.filter == passed {
		return NodeVerdict{}, err
	}
	return NodeVerdict{f.path.plugins.filterName(found.filter), found.status}, nil
}

package estimator

import "github.com/berth-sched/berth/framework"

// Assigner is the reserve plugin of load-aware scheduling. It enters the chosen pod
// in the ledger, and removes it if the placement fails. If a runner adds the pod to
// the snapshot before it reserves, as package scheduling does, the pod is in the
// ledger already and the plugin changes nothing.
//
// Source: Koordinator 1.8, plugin LoadAwareScheduling, Reserve and Unreserve.
type Assigner struct{}

// LoadAwareName is the name of the load-aware plugins in configurations.
const LoadAwareName = "LoadAwareScheduling"

// Name returns "LoadAwareScheduling".
func (Assigner) Name() string { return LoadAwareName }

// Reserve enters the pod on the node.
func (Assigner) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	return framework.AsStatus(LedgerOf(c.Snapshot).Assign(c.Pod, n))
}

// Unreserve removes the pod from the node. It may be called again, and without
// Reserve.
func (Assigner) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	// It fails only if the node is gone, and then the pod is gone too.
	_ = LedgerOf(c.Snapshot).Unassign(c.Pod, n)
}

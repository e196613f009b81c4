package estimator

import "github.com/berth-sched/berth/framework"

// Assigner is the reserve plugin of load-aware scheduling: it enters the chosen
// pod in the ledger, and takes it out again when the placement fails. A runner
// that adds the pod to the snapshot before it reserves, as package scheduling
// does, has entered it by that already; the plugin then changes nothing.
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

// Unreserve takes the pod off the node. It may be called again, and without
// Reserve.
func (Assigner) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	// The only failure is a node that is gone, and the pod with it.
	_ = LedgerOf(c.Snapshot).Unassign(c.Pod, n)
}

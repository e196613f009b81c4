package whatif

import (
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// barred holds which nodes take no pod in the present question, although they stay in
// the snapshot. A transaction covers it, so that a question about the loss of a node
// costs what its pods cost.
var barred = framework.NewNodeStateKey(framework.NodeHooks[bool]{})

// cordons holds which nodes reject all pods as cordoned nodes do; see likeCordon.
var cordons = framework.NewNodeStateKey(framework.NodeHooks[bool]{})

// bars is the filter that rejects barred nodes.
type bars struct{ state, cordoned framework.NodeState[bool] }

const (
	barsName     = "WhatIf"
	cordonReason = framework.Text("node(s) were unschedulable") // of NodeUnschedulable
)

// withBarred returns the profile with the filter before all others.
func withBarred(p scheduling.Profile) scheduling.Profile {
	if p.PreFilter != nil {
		p.PreFilter = slices.Insert(slices.Clone(p.PreFilter), 0, framework.Plugin(bars{}))
	}
	p.Filter = slices.Insert(slices.Clone(p.Filter), 0, framework.Plugin(bars{}))
	return p
}

// Name returns "WhatIf".
func (bars) Name() string { return barsName }

// Scope declares that the answer reads the node's state.
func (bars) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsPods}
}

// PreFilter finds the state of the snapshot.
func (bars) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	f := framework.Scratch[bars](c)
	f.state, f.cordoned = barred.Of(c.Snapshot), cordons.Of(c.Snapshot)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// Filter rejects barred nodes.
func (b *bars) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch {
	case b.state.Get(n):
		return framework.UnresolvableStatus("node(s) take no pods in this question")
	case b.cordoned.Get(n):
		return framework.UnresolvableStatus(cordonReason)
	}
	return framework.Status{}
}

// Replicas implements [replica.Counter]: a node that takes one takes any number.
func (b *bars) Replicas(_ *framework.PodInfo, n *framework.NodeInfo) (int64, bool) {
	if b.state.Get(n) || b.cordoned.Get(n) {
		return 0, true
	}
	return math.MaxInt64, true
}

// FilterAfter implements [replica.Counter].
func (b *bars) FilterAfter(pod *framework.PodInfo, n *framework.NodeInfo, _ int64) framework.Status {
	return b.Filter(pod, n)
}

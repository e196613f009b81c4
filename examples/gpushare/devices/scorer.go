package devices

import "github.com/berth-sched/berth/framework"

// A formula scores a node by what is free there.
type formula func(free Free, d Demand) int64

// scorer is a formula that is bound to the demand of a pod.
type scorer struct {
	gpus    *GPUs
	state   framework.NodeState[*ledger]
	demand  Demand
	formula formula
}

// bind returns the formula as a scorer for the pod of the cycle.
func (g *GPUs) bind(c *framework.Cycle, f formula) (framework.NodeScorer, framework.Status) {
	g = g.orUsual()
	s := framework.Scratch[scorer](c)
	*s = scorer{g, g.held.Of(c.Snapshot), g.Demand(c.Pod), f}
	return s, framework.Status{}
}

// Score implements [framework.NodeScorer].
func (s *scorer) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return s.formula(s.gpus.leftOn(n, s.state.Get(n)).with(freeCPU(n)), s.demand)
}

// ScoreNodes implements [incremental.BatchScorer].
func (s *scorer) ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	for i, n := range nodes {
		scores[i] = s.Score(pod, n)
	}
}

// The largest node of the trace, which amounts are measured by.
const (
	largestCPU = 128_000 // thousandths
	largestGPU = 8_000
)

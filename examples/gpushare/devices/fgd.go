package devices

import (
	"errors"

	"github.com/berth-sched/berth/framework"
)

var errNoWorkload = errors.New("FGD: Workload: is nil")

// FGD (fragmentation gradient descent) prefers the node whose [Fragmentation] grows least,
// or shrinks most, if the pod is placed there. For a share it tries every GPU of the node
// and counts the best. Use it with the [Choice] LeastFragmentation of the same workload,
// so that pods get the GPU that the score is made of.
//
// Source: the policy FGD of the simulator.
type FGD struct {
	*GPUs
	// Workload holds the typical pods. It must not be nil.
	Workload *Workload
}

// Name returns "FGD".
func (FGD) Name() string { return "FGD" }

// Validate reports a missing workload.
func (p FGD) Validate() error {
	if p.Workload == nil {
		return errNoWorkload
	}
	return nil
}

// PreScore binds [FGDScore].
func (p FGD) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if p.Workload == nil {
		return nil, framework.AsStatus(errNoWorkload)
	}
	g := p.orUsual()
	s := framework.Scratch[descent](c)
	*s = descent{g, g.held.Of(c.Snapshot), g.Demand(c.Pod), p.Workload}
	return s, framework.Status{}
}

// descent scores nodes for one pod.
type descent struct {
	gpus     *GPUs
	state    framework.NodeState[*ledger]
	demand   Demand
	workload *Workload
}

// Score implements [framework.NodeScorer].
func (s *descent) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	score, _ := s.workload.descend(s.gpus.leftOn(n, s.state.Get(n)), freeCPU(n), s.demand)
	return score
}

// ScoreNodes implements [incremental.BatchScorer].
func (s *descent) ScoreNodes(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	for i, n := range nodes {
		scores[i] = s.Score(pod, n)
	}
}

// AppendNodeKey implements [incremental.NodeKeyer]: a score is the sum of all typical pods,
// and most nodes of a cluster are as some others are.
func (s *descent) AppendNodeKey(b []byte, _ *framework.PodInfo, n *framework.NodeInfo) []byte {
	return s.workload.appendKey(b, s.gpus.leftOn(n, s.state.Get(n)), freeCPU(n), s.demand)
}

// FGDScore maps the change of fragmentation to a score from 0 to 100 by a sigmoid:
//
//	100 / (1 + exp(-(F(node) - F(node with the pod)) / 1000)), rounded down
func FGDScore(free Free, d Demand, w *Workload) int64 {
	score, _ := w.descendFrom(&free, d)
	return score
}

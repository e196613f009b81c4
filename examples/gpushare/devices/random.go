package devices

import "github.com/berth-sched/berth/framework"

// Random prefers one of the feasible nodes, each with the same chance. Every node draws a
// number from its name and the random word of the decision, and the smallest wins, so the
// order of the nodes does not matter. It reads the whole cluster, so its answers are never
// kept; a profile without scorers and with the tie rule Random does the same faster.
//
// Source: the policy Random of the simulator.
type Random struct{}

// Name returns "Random".
func (Random) Name() string { return "Random" }

// Scope declares that the pod itself does not matter.
func (Random) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsCluster}
}

// PreScore draws the node.
func (Random) PreScore(c *framework.Cycle, feasible []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if len(feasible) == 0 {
		return nil, framework.SkipStatus()
	}
	s := framework.Scratch[drawn](c)
	s.node = feasible[0].Name()
	least := draw(c.Seed, s.node)
	for _, n := range feasible[1:] {
		if d := draw(c.Seed, n.Name()); d < least {
			s.node, least = n.Name(), d
		}
	}
	return s, framework.Status{}
}

// draw mixes a seed and a name: FNV-1a, and then the last steps of splitmix64, so that
// names that differ in one letter draw alike seldom.
func draw(seed uint64, name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	h ^= seed
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// drawn is the node that was drawn.
type drawn struct{ node string }

// Score implements [framework.NodeScorer].
func (s *drawn) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if n.Name() == s.node {
		return framework.MaxNodeScore
	}
	return 0
}

package filter

import (
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
)

// ReplicaSpread implements [replica.Spreader]. It can tell if at most one
// constraint counts the replicas; what others say of a node then stays as it is.
func (f *podTopologySpread) ReplicaSpread(pod *framework.PodInfo) (spread replica.Spread, ok bool) {
	counting := -1
	for i := range f.rules {
		if _, counted := f.rules[i].Selects(pod); !counted {
			continue
		}
		if counting >= 0 {
			return spread, false
		}
		counting = i
	}
	spread.Filter = func(node *framework.NodeInfo, pods, fewest int64) framework.Status {
		return f.verdict(node, counting, pods, fewest)
	}
	if counting < 0 { // each node for itself, without bound
		spread.MaxSkew, spread.FromZero = math.MaxInt32, true
		spread.Place = func(node *framework.NodeInfo) replica.Place {
			return replica.Place{Domain: node.Slot(), Counts: true}
		}
		return spread, len(f.extra) == 0
	}
	rule, c := &f.rules[counting], &f.spread.Counts[counting]
	spread.Key, spread.MaxSkew, spread.FromZero = rule.Key, rule.MaxSkew, int64(c.Domains()) < rule.MinDomains
	spread.Place = func(node *framework.NodeInfo) replica.Place {
		d := c.Domain(node)
		return replica.Place{Domain: int(d), Pods: c.In(d), Counts: c.Counts(node)}
	}
	return spread, len(f.extra) == 0 && rule.MaxSkew >= 1
}

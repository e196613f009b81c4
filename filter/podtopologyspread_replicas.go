package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
)

// ReplicaSpread implements [replica.Spreader]: one rule for each constraint that
// counts the replicas. What the others say of a node stays as it is.
func (f *podTopologySpread) ReplicaSpread(pod *framework.PodInfo) (spread replica.Spread, ok bool) {
	var counting []int
	for i := range f.rules {
		rule := &f.rules[i]
		if _, counted := rule.Selects(pod); !counted {
			continue
		}
		if rule.MaxSkew < 1 {
			return spread, false
		}
		counting = append(counting, i)
		spread.Rules = append(spread.Rules, replica.Rule{
			Key: rule.Key, MaxSkew: rule.MaxSkew, FromZero: int64(f.current().Counts[i].Domains()) < rule.MinDomains,
			Place: func(node *framework.NodeInfo) replica.Place {
				c := f.current().Counts[i]
				d := c.Domain(node)
				return replica.Place{Domain: int(d), Pods: c.In(d), Counts: c.Counts(node)}
			},
		})
	}
	spread.Filter = func(node *framework.NodeInfo, counts []replica.Count) framework.Status {
		f.current()
		return f.verdict(node, counting, counts)
	}
	return spread, len(f.extra) == 0
}

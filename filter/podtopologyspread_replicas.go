package filter

import "github.com/berth-sched/berth/framework"

// ReplicaSpread implements [framework.ReplicaSpreader]: one rule for each constraint that
// counts the replicas. What the others say of a node stays as it is.
func (f *podTopologySpread) ReplicaSpread(pod *framework.PodInfo) (spread framework.ReplicaSpread, ok bool) {
	var counting []int
	for i := range f.rules {
		rule, c := &f.rules[i], &f.spread.Counts[i]
		if _, counted := rule.Selects(pod); !counted {
			continue
		}
		if rule.MaxSkew < 1 {
			return spread, false
		}
		counting = append(counting, i)
		spread.Rules = append(spread.Rules, framework.ReplicaRule{
			Key: rule.Key, MaxSkew: rule.MaxSkew, FromZero: int64(c.Domains()) < rule.MinDomains,
			Place: func(node *framework.NodeInfo) framework.ReplicaPlace {
				d := c.Domain(node)
				return framework.ReplicaPlace{Domain: int(d), Pods: c.In(d), Counts: c.Counts(node)}
			},
		})
	}
	spread.Filter = func(node *framework.NodeInfo, counts []framework.ReplicaCount) framework.Status {
		return f.verdict(node, counting, counts)
	}
	return spread, len(f.extra) == 0
}

package loadaware

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func (g *generator) metric(node string) *api.NodeMetric {
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: node}}
	if g.chance(60) {
		m.Spec.CollectPolicy = &api.NodeMetricCollectPolicy{}
		if g.chance(80) {
			m.Spec.CollectPolicy.ReportIntervalSeconds = new(oneOf[int64](g, 0, 30, 60, 120, -30))
			if g.chance(8) {
				m.Spec.CollectPolicy.ReportIntervalSeconds = new(oneOf[int64](g, 1, 7, -3600, 604800, 1e9))
			}
		}
	}
	if g.chance(95) {
		m.Status.UpdateTime = new(g.recent())
	}
	if g.chance(92) {
		m.Status.NodeMetric = g.nodeInfo()
	}
	for _, p := range g.pods {
		if g.chance(60) {
			r := &api.PodMetricInfo{Name: p.Name, Namespace: p.Namespace, PodUsage: g.usage(4)}
			r.Priority = string(estimator.PodPriorityClass(p))
			if g.chance(25) {
				r.Priority = oneOf(g, "", "koord-prod", "koord-batch")
			}
			m.Status.PodsMetric = append(m.Status.PodsMetric, r)
		}
	}
	if g.chance(10) {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{
			Name: "ghost", Namespace: "default", PodUsage: g.usage(4), Priority: string(estimator.PriorityProd),
		})
	}
	if k := len(m.Status.PodsMetric); k > 0 && g.chance(5) { // one twice
		twice := *m.Status.PodsMetric[g.IntN(k)]
		twice.PodUsage = g.usage(4)
		if g.chance(30) {
			twice.PodUsage = api.ResourceMap{}
		}
		m.Status.PodsMetric = append(m.Status.PodsMetric, &twice)
	}
	if g.chance(4) { // a null in the list
		m.Status.PodsMetric = slices.Insert(m.Status.PodsMetric, g.IntN(len(m.Status.PodsMetric)+1), nil)
	}
	return m
}

func (g *generator) nodeInfo() *api.NodeMetricInfo {
	info := &api.NodeMetricInfo{NodeUsage: g.usage(1), SystemUsage: g.usage(8)}
	for range g.IntN(4) {
		a := api.AggregatedUsage{
			Duration: api.Duration{Duration: oneOf[time.Duration](g, 0, 5, 10, 15, 30) * time.Minute},
			Usage:    map[api.AggregationType]api.ResourceMap{},
		}
		for _, kind := range []api.AggregationType{api.AVG, api.P50, api.P90, api.P95, api.P99} {
			if g.chance(80) {
				a.Usage[kind] = g.usage(1)
			}
		}
		info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, a)
	}
	return info
}

// usage returns up to a fraction of what nodes have.
func (g *generator) usage(fraction int64) api.ResourceMap {
	if g.chance(6) {
		return api.ResourceMap{}
	}
	list := resource.List{}
	for i, name := range names {
		if g.IntN(100) < 95>>(i/2*2) {
			list[name] = g.amount(name, g.most(name)/fraction)
			if g.chance(2) {
				list[name] = g.negative(name)
			}
		}
	}
	if g.chance(8) {
		name := oneOf(g, rare...)
		list[name] = g.amount(name, g.most(name)/fraction)
	}
	return api.ResourceMapOf(list)
}

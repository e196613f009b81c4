package simulate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// startTimers begins what happens at regular intervals.
func (w *world) startTimers() {
	if a := w.config.Autoscaler; a != nil {
		w.scaler = scaler{nodes: map[string]string{}, serial: map[string]int{}, helped: map[*life]help{}}
		w.every(cmp.Or(a.Every, lookEvery), func() { w.scaler.look(w) })
	}
	if w.config.Usage != nil {
		every := cmp.Or(w.config.ReportEvery, time.Minute)
		w.clock.AfterFunc(0, func() { w.report(every) })
		w.every(every, func() { w.report(every) })
	}
	if every := cmp.Or(w.config.SampleEvery, time.Hour); every > 0 {
		w.clock.AfterFunc(0, w.sample)
		w.every(every, w.sample)
	}
}

// report lets every node report what its pods use.
func (w *world) report(every time.Duration) {
	now := w.clock.Now()
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		m := &api.NodeMetric{TypeMeta: api.TypeMeta{Kind: "NodeMetric", APIVersion: "slo.koordinator.sh/v1alpha1"}, ObjectMeta: api.ObjectMeta{Name: name}}
		total := resource.List{}
		for _, l := range byArrival(n.pods) {
			use := w.config.Usage(l.pod, now.Sub(l.since))
			for r, q := range use {
				total[r] = total[r].Add(q)
			}
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Namespace: l.pod.Namespace, Name: l.pod.Name, PodUsage: api.ResourceMapOf(use)})
		}
		m.Status.UpdateTime = &now
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(total)}
		w.update(item{"NodeMetric", m.Name, m, lifecycle.Update(m)})
	}
}

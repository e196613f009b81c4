package main

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/estimator/nodemetric"
)

// system returns the use of a node without its pods, in thousandths of a core. Two
// nodes are busy with work that no request shows.
func system(node int) int64 {
	if node == 2 || node == 7 {
		return 6000
	}
	return 500
}

// use returns the real use of the nodes, in percent, and how many pods each has.
func (w *world) use() (percent []float64, count []int) {
	percent, count = make([]float64, nodes), make([]int, nodes)
	for i := range percent {
		percent[i] = float64(system(i))
	}
	for _, r := range w.running {
		percent[r.node] += w.apps[r.pod.Pod.UID].part * 1000
		count[r.node]++
	}
	for i := range percent {
		percent[i] /= cores * 10
	}
	return percent, count
}

// sample lets every agent measure, updates the statistics of the story, and tries
// waiting pods again.
func (w *world) sample() {
	on := make([][]nodemetric.PodUse, nodes)
	for _, r := range w.running {
		use := nodemetric.Use{CPU: int64(w.apps[r.pod.Pod.UID].part * 1000), Memory: 1 << 30}
		on[r.node] = append(on[r.node], nodemetric.PodUse{Pod: r.pod.Pod, Use: use})
	}
	for i, agent := range w.agents {
		agent.Add(w.clock.Now(), nodemetric.Use{CPU: system(i), Memory: 1 << 30}, on[i])
	}
	percent, count := w.use()
	for i, p := range percent {
		if p > hot {
			w.hotNodes[i] += tick
			w.hotPods += tick * time.Duration(count[i])
		}
	}
	w.peak = max(w.peak, slices.Max(percent))
	w.spread += slices.Max(percent) - slices.Min(percent)
	w.samples++
	w.place()
}

// report lets all agents except the silent ones report their measurements.
func (w *world) report() {
	for i, agent := range w.agents {
		if i < silent && w.since() >= silentFrom && w.since() < silentUntil {
			continue
		}
		w.fail(estimator.LedgerOf(w.snapshot).SetMetric(agent.Report(nodeName(i), w.clock.Now())))
	}
}

// look records the moment for the chart.
func (w *world) look() {
	percent, _ := w.use()
	m := moment{at: w.since(), hottest: slices.Max(percent), coolest: slices.Min(percent)}
	for _, p := range percent {
		if p > hot {
			m.hot++
		}
	}
	view := w.load.View(w.snapshot)
	for _, n := range w.snapshot.All() {
		if view.Expired(n) {
			m.expired++
		}
	}
	w.moments = append(w.moments, m)
}

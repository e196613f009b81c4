package loadaware

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

func (g *generator) event() Event {
	switch k := g.IntN(100); {
	case k < 25:
		return g.metricEvent()
	case k < 40:
		p := g.unplaced()
		if g.chance(50) {
			p = g.newPod()
		}
		return Event{Type: Question, Pod: p}
	case k < 45:
		i := g.IntN(len(g.nodes))
		return Event{Type: NodeUpdate, Object: g.node(i)}
	case k < 56:
		d := time.Duration(oneOf[int64](g, 1, 29, 30, 60, 61, 120, 180, 300)) * time.Second
		if g.chance(10) {
			d = oneOf(g, time.Nanosecond, 500*time.Millisecond, 59999*time.Millisecond, 48*time.Hour)
		}
		g.now = g.now.Add(d)
		return Event{Type: TimePass, Passed: api.Duration{Duration: d}}
	case k < 67:
		p := g.unplaced()
		if g.chance(60) {
			return Event{Type: PodReserve, Node: g.anyNode(), Pod: p}
		}
		return Event{Type: PodUnreserve, Node: g.anyNode(), Pod: p}
	case k < 75 || len(g.pods) == 0:
		p := *g.newPod()
		p.Spec.NodeName = g.anyNode()
		g.pods[len(g.pods)-1] = &p
		return Event{Type: PodAdd, Pod: &p}
	case k < 81:
		p := *oneOf(g, g.pods...)
		if p.Spec.NodeName == "" {
			p.Spec.NodeName = g.anyNode()
		}
		return Event{Type: PodDelete, Pod: &p}
	}
	return g.update()
}

func (g *generator) metricEvent() Event {
	if g.chance(15) {
		return Event{Type: MetricDelete, Node: g.anyNode()}
	}
	return Event{Type: MetricApply, Metric: g.metric(g.anyNode())}
}

// update changes a pod in one way.
func (g *generator) update() Event {
	i := g.IntN(len(g.pods))
	p := *g.pods[i]
	if p.Spec.NodeName == "" && g.chance(80) {
		p.Spec.NodeName = g.anyNode()
	}
	switch g.IntN(6) {
	case 0: // nothing else
	case 1:
		p.Labels, p.Annotations = nil, nil
		g.classify(&p)
		p.Spec.Priority = g.pods[i].Spec.Priority
		g.annotatePod(&p)
	case 2:
		p.Spec.Containers = []api.Container{{Name: "c0", Resources: g.resources()}}
	case 3:
		g.setStatus(&p)
	case 4:
		p.Spec.NodeName = g.anyNode()
	case 5:
		p.Status.Phase = oneOf(g, api.PodSucceeded, api.PodFailed, api.PodRunning)
	}
	g.pods[i] = &p
	return Event{Type: PodUpdate, Pod: &p}
}

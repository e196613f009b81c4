package loadaware

import (
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// Random returns a random case that begins at the given time. It has a few nodes,
// pods and metrics of all kinds, arguments that are mostly valid, and a sequence of
// events. There are few different amounts, so that many meet a threshold exactly.
func Random(r *rand.Rand, now time.Time) *Case {
	g := &generator{Rand: r, now: now, enormous: r.IntN(20) == 0}
	c := &Case{Now: now, Mode: "random", Args: g.args()}
	for i := range 1 + g.IntN(4) {
		c.Nodes = append(c.Nodes, g.node(i))
		g.nodes = append(g.nodes, c.Nodes[i].Name)
	}
	for range g.IntN(7) {
		p := g.newPod()
		if g.chance(85) {
			p.Spec.NodeName = g.anyNode()
		}
		c.Pods = append(c.Pods, p)
	}
	for _, node := range g.nodes {
		if g.chance(85) {
			c.NodeMetrics = append(c.NodeMetrics, g.metric(node))
		}
	}
	for range g.IntN(3) {
		c.Reserve = append(c.Reserve, Reservation{g.anyNode(), g.unplaced()})
	}
	if len(c.Reserve) > 0 && g.chance(40) {
		c.Unreserve = append(c.Unreserve, c.Reserve[g.IntN(len(c.Reserve))])
	}
	if g.chance(70) {
		for range 1 + g.IntN(12) {
			c.Events = append(c.Events, g.event())
		}
	}
	c.Pod = g.newPod()
	return c
}

// generator makes the parts of a case.
type generator struct {
	*rand.Rand
	now      time.Time
	enormous bool // amounts reach the ends of int64
	nodes    []string
	pods     []*api.Pod // all pods so far, each in its last version
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func oneOf[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) anyNode() string { return oneOf(g, g.nodes...) }

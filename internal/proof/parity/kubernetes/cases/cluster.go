package cases

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
)

// generator fills a case.
type generator struct {
	*dice
	family
	c *golden.Case

	classes []string // names of storage classes
	claims  []string // names of claims
	sound   bool     // most of the storage is valid, so nodes are filtered and scored
}

// flaw is chance for flaws that would hide everything else. They are rare in sound
// cases.
func (g *generator) flaw(percent int) bool { return g.chance(percent) && (!g.sound || g.chance(5)) }

// noon is the time of all events.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// namespaces are the namespaces of pods. The last has no Namespace object.
var namespaces = []string{"default", "default", "default", "ns-a", "ns-b", "ns-x"}

func (g *generator) cluster() {
	c := g.c
	g.sound = g.volumes > 0 && g.chance(65)
	for i := range g.between(g.nodes[0], g.nodes[1]) {
		c.Nodes = append(c.Nodes, g.node(i))
	}
	if g.interpod > 0 || g.spread > 0 {
		c.Namespaces = []*api.Namespace{
			namespace("default", "team", "core"), namespace("ns-a", "team", "a", "env", "prod"), namespace("ns-b", "team", "b"),
		}
		if g.chance(10) {
			c.Namespaces[g.IntN(3)].Labels = nil
		}
		if g.chance(10) {
			i := g.IntN(3)
			c.Namespaces = append(c.Namespaces[:i], c.Namespaces[i+1:]...)
		}
	}
	if g.spread > 0 {
		g.workloads()
	}
	if g.volumes > 0 {
		g.storage()
	}
	for i := range g.between(g.pods[0], g.pods[1]) {
		c.Pods = append(c.Pods, g.placed(fmt.Sprintf("p%d", i)))
	}
	if g.priorities > 0 {
		g.budgets()
		g.nominees()
	}
	c.Pod = g.pending("in")
}

func namespace(name string, labels ...string) *api.Namespace {
	n := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

// nominees adds pending pods that preemption has nominated to a node.
func (g *generator) nominees() {
	if !g.chance(30) {
		return
	}
	for i := range g.between(1, 3) {
		p := g.pod(fmt.Sprintf("nom%d", i))
		p.Status.NominatedNodeName = g.nodeName()
		g.c.Nominated = append(g.c.Nominated, p)
	}
}

// nodeName returns the name of some node.
func (g *generator) nodeName() string { return g.c.Nodes[g.IntN(len(g.c.Nodes))].Name }

// budgets adds budgets that protect some pods.
func (g *generator) budgets() {
	if !g.chance(60) {
		return
	}
	for i := range g.between(1, 3) {
		b := &api.PodDisruptionBudget{
			ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("pdb%d", i), Namespace: pick(g.dice, "default", "default", "ns-a")},
			Spec:       api.PodDisruptionBudgetSpec{Selector: g.labelSelector()},
			Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(pick(g.dice, 0, 0, 0, 1, 1, 2, 5))},
		}
		if g.chance(15) && len(g.c.Pods) > 0 {
			b.Status.DisruptedPods = map[string]time.Time{g.c.Pods[g.IntN(len(g.c.Pods))].Name: noon}
		}
		g.c.PodDisruptionBudgets = append(g.c.PodDisruptionBudgets, b)
	}
}

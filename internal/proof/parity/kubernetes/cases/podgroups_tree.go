package cases

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
)

// PodGroupTree returns case number i of a seed: a cluster and a tree of groups whose pods
// wait. The root is called "root".
func PodGroupTree(seed, i uint64) *golden.PodGroupCase {
	g := &groupMaker{Rand: rand.New(rand.NewPCG(seed, i+1<<40)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c := &golden.PodGroupCase{
		ID: fmt.Sprintf("podgrouptrees-%d-%d", seed, i), Group: "root",
		Gates: map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true, "CompositePodGroup": true},
	}
	g.nodes(c)
	priority := pickOf(g, int32(0), 20)
	g.composite(c, "root", "", priority, 2)
	leaves := c.PodGroups
	g.others(c)
	g.on(c, leaves, priority)
	for _, leaf := range leaves {
		g.waiting(c, leaf, priority)
	}
	if len(c.Members) == 0 {
		g.waiting(c, leaves[0], priority)
	}
	return c
}

// PodGroupVictims returns case number i of a seed: a cluster with groups that leave as a
// whole, and a pod of no group that waits.
func PodGroupVictims(seed, i uint64) *golden.PodGroupCase {
	g := &groupMaker{Rand: rand.New(rand.NewPCG(seed, i+1<<41)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c := &golden.PodGroupCase{
		ID:    fmt.Sprintf("podgroupvictims-%d-%d", seed, i),
		Gates: map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true, "CompositePodGroup": true},
	}
	g.nodes(c)
	g.others(c)
	g.on(c, nil, 0)
	b := api.MakePod("m0").Labels("app", "single").Container("c").Image("app").Request("cpu", pickOf(g, "1", "2", "3500m", "4", "8")).Request("memory", "1Gi")
	switch g.IntN(6) {
	case 0:
		b = b.PodAntiAffinity(api.LabelHostname, "app=a")
	case 1:
		b = b.HostPort(8080)
	case 2:
		b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=single")
	}
	c.Members = append(c.Members, g.meta(b, "m0", pickOf(g, int32(5), 20, 20, 20)))
	return c
}

// composite adds a group of groups, with children of at most a number of generations.
func (g *groupMaker) composite(c *golden.PodGroupCase, name, parent string, priority int32, generations int) {
	p := &api.CompositePodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID("uid-" + name), CreationTimestamp: g.tick()}}
	p.Spec.Priority = &priority
	if parent != "" {
		p.Spec.ParentCompositePodGroupName = &parent
	}
	if g.IntN(2) == 0 {
		key := pickOf(g, groupRack, api.LabelTopologyZone)
		p.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: key}}}
	}
	c.CompositePodGroups = append(c.CompositePodGroups, p)
	children := 1 + g.IntN(3)
	if g.IntN(4) == 0 {
		p.Spec.SchedulingPolicy.Basic = &api.BasicSchedulingPolicy{}
	} else {
		p.Spec.SchedulingPolicy.Gang = &api.CompositeGangSchedulingPolicy{MinGroupCount: int32(1 + g.IntN(children))}
	}
	for k := range children {
		own := fmt.Sprintf("%s-%d", name, k)
		if generations > 1 && g.IntN(3) == 0 {
			g.composite(c, own, name, priority, generations-1)
			continue
		}
		leaf := g.podGroup(own, priority)
		leaf.Spec.Priority, leaf.Spec.ParentCompositePodGroupName = &priority, &name
		if g.IntN(4) == 0 {
			leaf.Spec.SchedulingPolicy.Basic = &api.BasicSchedulingPolicy{}
		} else {
			leaf.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: int32(1 + g.IntN(3))}
		}
		if g.IntN(4) == 0 {
			key := pickOf(g, groupRack, api.LabelTopologyZone, "disk")
			leaf.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: key}}}
		}
		if g.IntN(3) == 0 { // names decide
			leaf.CreationTimestamp = p.CreationTimestamp
		}
		c.PodGroups = append(c.PodGroups, leaf)
	}
}

// others adds groups whose pods run, some of them below a group of groups.
func (g *groupMaker) others(c *golden.PodGroupCase) {
	parent := ""
	if g.IntN(2) == 0 {
		parent = "others"
		p := &api.CompositePodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: parent, UID: "uid-others", CreationTimestamp: g.tick()}}
		priority := pickOf(g, int32(0), 5, 10)
		p.Spec.Priority, p.Spec.DisruptionMode = &priority, g.disruption()
		p.Spec.SchedulingPolicy.Gang = &api.CompositeGangSchedulingPolicy{MinGroupCount: 1}
		c.CompositePodGroups = append(c.CompositePodGroups, p)
	}
	for k := range g.IntN(4) {
		p := g.other(k)
		if parent != "" && g.IntN(2) == 0 {
			p.Spec.ParentCompositePodGroupName = &parent
		}
		c.PodGroups = append(c.PodGroups, p)
	}
}

// on adds pods that run: of no group, of the other groups, and a few of the tree's.
func (g *groupMaker) on(c *golden.PodGroupCase, leaves []*api.PodGroup, priority int32) {
	running, present := g.load(c), 0
	if len(leaves) > 0 && g.IntN(5) == 0 {
		present = 1
	}
	for i := range running {
		p := g.pod(c, i)
		if i < present {
			*p.Spec.Priority = priority
			inGroup(p, leaves[g.IntN(len(leaves))].Name)
		} else {
			g.join(p, c.PodGroups[len(leaves):])
		}
		start := g.now.Add(time.Duration(i) * 7 * time.Second)
		p.Status.StartTime = &start
	}
	g.budgets(c)
}

// waiting adds pods of a group of the tree that wait.
func (g *groupMaker) waiting(c *golden.PodGroupCase, leaf *api.PodGroup, priority int32) {
	n := g.IntN(4)
	if p := leaf.Spec.SchedulingPolicy.Gang; p != nil && g.IntN(10) > 0 {
		n = max(n, int(p.MinCount))
	}
	if len(c.Members) == 0 {
		n = max(n, 1)
	}
	for range n {
		name := fmt.Sprintf("m%d", len(c.Members))
		b := g.requests(api.MakePod(name).Labels("app", "gang"))
		switch g.IntN(14) {
		case 0:
			b = b.Tolerates("dedicated=x:NoSchedule")
		case 1:
			b = b.NodeSelector("disk", "ssd")
		case 2:
			b = b.PodAntiAffinity(api.LabelHostname, "app=gang")
		case 3:
			b = b.HostPort(8080)
		}
		c.Members = append(c.Members, inGroup(g.meta(b, name, priority), leaf.Name))
	}
}

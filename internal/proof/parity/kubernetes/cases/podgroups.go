package cases

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
)

// The labels of the nodes of groups.
const (
	groupRack = "example.com/rack"
	groupGPU  = "example.com/gpu"
)

// PodGroup returns case number i of a seed: a cluster of at most 14 nodes and a group of
// pods that wait.
func PodGroup(seed, i uint64, topology bool) *golden.PodGroupCase {
	g := &groupMaker{Rand: rand.New(rand.NewPCG(seed, i)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c := &golden.PodGroupCase{
		ID: fmt.Sprintf("podgroups-%d-%d", seed, i), Group: "gang",
		Gates: map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": topology},
	}
	g.nodes(c)
	priority := int32(0)
	if g.IntN(2) == 0 {
		priority = 20
	}
	g.group(c, priority)
	g.running(c, priority)
	g.members(c, priority)
	return c
}

type groupMaker struct {
	*rand.Rand
	now time.Time
}

// tick returns a later time at each call.
func (g *groupMaker) tick() time.Time {
	g.now = g.now.Add(time.Second)
	return g.now
}

func pickOf[T any](g *groupMaker, list ...T) T { return list[g.IntN(len(list))] }

func (g *groupMaker) nodes(c *golden.PodGroupCase) {
	for i := range 1 + g.IntN(14) {
		name := fmt.Sprintf("n%02d", i)
		n := api.MakeNode(name, pickOf(g, "2", "3500m", "4", "8"), pickOf(g, "4Gi", "8Gi", "16Gi")).UID(api.UID("uid-"+name)).
			Zone(pickOf(g, "z0", "z1")).Labels(api.LabelHostname, name)
		if g.IntN(8) > 0 {
			n = n.Labels(groupRack, pickOf(g, "r0", "r1", "r2", "r3", ""))
		}
		if g.IntN(2) == 0 {
			n = n.Labels("disk", pickOf(g, "ssd", "hdd"))
		}
		if g.IntN(3) == 0 {
			n = n.Resource(groupGPU, pickOf(g, "1", "4", "8"))
		}
		if g.IntN(10) == 0 {
			n = n.Taint("dedicated=x:NoSchedule")
		}
		if g.IntN(12) == 0 {
			n = n.Unschedulable()
		}
		if g.IntN(4) == 0 {
			n = n.Allocatable("pods", pickOf(g, "2", "3", "5"))
		}
		c.Nodes = append(c.Nodes, n.Obj())
	}
}

func (g *groupMaker) podGroup(name string, priority int32) *api.PodGroup {
	p := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name, UID: api.UID("uid-" + name), CreationTimestamp: g.tick()}}
	if priority != 0 || g.IntN(2) == 0 {
		p.Spec.Priority = &priority
	}
	return p
}

func (g *groupMaker) group(c *golden.PodGroupCase, priority int32) {
	p := g.podGroup("gang", priority)
	if g.IntN(5) == 0 {
		p.Spec.SchedulingPolicy.Basic = &api.BasicSchedulingPolicy{}
	} else {
		p.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: int32(1 + g.IntN(6))}
	}
	if c.Gates["TopologyAwareWorkloadScheduling"] && g.IntN(4) > 0 {
		key := pickOf(g, groupRack, groupRack, api.LabelTopologyZone, api.LabelHostname, "disk")
		p.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: key}}}
	}
	c.PodGroups = append(c.PodGroups, p)
}

// meta gives a pod what every pod of a cluster has.
func (g *groupMaker) meta(b api.PodBuilder, name string, priority int32) *api.Pod {
	p := b.UID(api.UID("uid-" + name)).Priority(priority).Scheduler("default-scheduler").Obj()
	p.Namespace, p.CreationTimestamp = "default", g.tick()
	return p
}

func inGroup(p *api.Pod, name string) *api.Pod {
	p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
	return p
}

// running adds pods on nodes: of no group, of other groups, and members of the group.
func (g *groupMaker) running(c *golden.PodGroupCase, priority int32) {
	others := make([]*api.PodGroup, g.IntN(3))
	for k := range others {
		others[k] = g.other(k)
	}
	c.PodGroups = append(c.PodGroups, others...)
	present := 0
	if g.IntN(4) == 0 {
		present = 1 + g.IntN(2)
	}
	for i := range g.load(c) {
		p := g.pod(c, i)
		if i < present {
			*p.Spec.Priority = priority
			inGroup(p, "gang")
		} else {
			g.join(p, others)
		}
		start := g.now.Add(time.Hour - time.Duration(g.IntN(1000))*time.Minute/10 + time.Duration(i)*7*time.Second)
		p.Status.StartTime = &start
	}
	g.budgets(c)
}

// other returns a group whose pods run.
func (g *groupMaker) other(k int) *api.PodGroup {
	p := g.podGroup(fmt.Sprintf("other%d", k), pickOf(g, int32(0), 5, 10, 20))
	p.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: 1}
	p.Spec.DisruptionMode = g.disruption()
	return p
}

func (g *groupMaker) disruption() *api.DisruptionMode {
	switch g.IntN(3) {
	case 0:
		return &api.DisruptionMode{All: &api.AllDisruptionMode{}}
	case 1:
		return &api.DisruptionMode{Single: &api.SingleDisruptionMode{}}
	}
	return nil
}

// load is how many pods run: some, or so many that the cluster is full.
func (g *groupMaker) load(c *golden.PodGroupCase) int {
	n := g.IntN(3*len(c.Nodes) + 1)
	if g.IntN(2) == 0 {
		n = 4 * len(c.Nodes)
	}
	return n
}

// pod adds a pod that runs, of no group yet.
func (g *groupMaker) pod(c *golden.PodGroupCase, i int) *api.Pod {
	name := fmt.Sprintf("p%03d", i)
	b := g.requests(api.MakePod(name).Labels("app", pickOf(g, "a", "b", "c")).Node(c.Nodes[g.IntN(len(c.Nodes))].Name))
	p := g.meta(b, name, pickOf(g, int32(0), 0, 5, 10, 20))
	p.Status.Phase = api.PodRunning
	c.Pods = append(c.Pods, p)
	return p
}

// join puts half of the pods into one of the groups.
func (g *groupMaker) join(p *api.Pod, groups []*api.PodGroup) {
	if len(groups) > 0 && g.IntN(2) == 0 {
		inGroup(p, groups[g.IntN(len(groups))].Name)
	}
}

// budgets adds budgets of pods that run.
func (g *groupMaker) budgets(c *golden.PodGroupCase) {
	for k := range g.IntN(3) {
		if g.IntN(2) == 0 {
			continue
		}
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("b%d", k), UID: api.UID(fmt.Sprintf("uid-b%d", k))}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": []string{"a", "b", "c"}[k]}} // no pod is under two
		b.Status.DisruptionsAllowed = int32(g.IntN(3))
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, b)
	}
}

func (g *groupMaker) requests(b api.PodBuilder) api.PodBuilder {
	b = b.Container("c").Image("app")
	if g.IntN(8) > 0 {
		b = b.Request("cpu", pickOf(g, "100m", "300m", "500m", "750m", "1", "2"))
	}
	if g.IntN(4) > 0 {
		b = b.Request("memory", pickOf(g, "128Mi", "512Mi", "1Gi", "1536Mi", "2Gi"))
	}
	return b
}

// members adds the pods that wait, alike or mixed.
func (g *groupMaker) members(c *golden.PodGroupCase, priority int32) {
	n := 1 + g.IntN(7)
	if p := c.PodGroups[0].Spec.SchedulingPolicy.Gang; p != nil && g.IntN(12) > 0 {
		n = max(n, int(p.MinCount)) // otherwise it may be gated
	}
	seed := g.Uint64()
	alike := g.IntN(2) == 0
	never := g.IntN(12) == 0
	for i := range n {
		from := g
		if alike {
			from = &groupMaker{Rand: rand.New(rand.NewPCG(seed, 1))}
		}
		name := fmt.Sprintf("m%d", i)
		b := from.requests(api.MakePod(name).Labels("app", "gang"))
		switch from.IntN(14) {
		case 0:
			b = b.Request(groupGPU, "1").Limit(groupGPU, "1")
		case 1:
			b = b.Tolerates("dedicated=x:NoSchedule")
		case 2:
			b = b.NodeSelector("disk", "ssd")
		case 3:
			b = b.PodAntiAffinity(api.LabelHostname, "app=gang")
		case 4:
			b = b.PodAffinity(api.LabelTopologyZone, "app=gang")
		case 5:
			b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=gang")
		case 6:
			b = b.Spread(1, groupRack, api.DoNotSchedule, "app=gang")
		case 7:
			b = b.HostPort(8080)
		}
		p := inGroup(g.meta(b, name, priority), "gang")
		if never {
			policy := api.PreemptNever
			p.Spec.PreemptionPolicy = &policy
		}
		c.Members = append(c.Members, p)
	}
	if g.IntN(25) == 0 {
		*c.Members[len(c.Members)-1].Spec.Priority++
	}
}

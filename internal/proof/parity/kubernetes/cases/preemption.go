package cases

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/resource"
)

// preemptionConfig bounds the search for candidates.
func (d *dice) preemptionConfig() json.RawMessage {
	args := object{}
	percentage, absolute := pick(d, 0, 1, 10, 25, 50, 100), pick(d, 0, 1, 1, 2, 3, 5, 100)
	if percentage == 0 && absolute == 0 {
		absolute = 1
	}
	if percentage == 0 || d.chance(80) {
		args["minCandidateNodesPercentage"] = percentage
	}
	if absolute == 0 || d.chance(80) {
		args["minCandidateNodesAbsolute"] = absolute
	}
	if percentage == 0 {
		args["minCandidateNodesAbsolute"] = absolute
	}
	return configuration(object{"pluginConfig": []object{pluginConfig("DefaultPreemption", args)}})
}

// victims makes nodes that are full in a few ways, with small differences that
// decide the choice among nodes.
func (g *generator) victims() {
	g.fullNodes(g.between(2, 14))
	if g.chance(50) {
		g.oddBudgets(g.between(1, 2))
	}
	g.promised()
	g.c.Pod = g.preemptor()
}

// budgeted makes several budgets, odd ones among them, for pods with few different
// labels.
func (g *generator) budgeted() {
	g.fullNodes(g.between(1, 6))
	g.oddBudgets(g.between(2, 6))
	g.c.Pod = g.preemptor()
}

// aPod is one of the pods of a full node.
type aPod struct {
	cpu      string
	priority int32
	started  int // minutes before noon; -1: not
	app      string
	ns       string
}

func (g *generator) aPod() aPod {
	return aPod{
		cpu: pick(g.dice, "250m", "500m", "500m", "1"), priority: int32(pick(g.dice, math.MinInt32, -10, 0, 0, 1, 1, 2, 5)),
		started: pick(g.dice, -1, 0, 1, 2, 2, 30), app: pick(g.dice, "web", "web", "db", "cache", ""),
		ns: pick(g.dice, "default", "default", "ns-a", "ns-b"),
	}
}

// fullNodes makes nodes with pods. There are a few patterns, each on several nodes,
// and sometimes one pod differs.
func (g *generator) fullNodes(count int) {
	var patterns [][]aPod
	for range g.between(1, 3) {
		var pattern []aPod
		for range g.between(2, 7) {
			pattern = append(pattern, g.aPod())
		}
		patterns = append(patterns, pattern)
	}
	allocatable := resource.List{
		resource.CPU: g.quantity("1500m", "2", "3"), resource.Memory: resource.MustParse("8Gi"), resource.Pods: g.quantity("4", "10", "110", "110"),
	}
	for i := range count {
		n := g.plainNode(i, allocatable)
		if g.chance(5) {
			n.Spec.Taints = []api.Taint{{Key: "dedicated", Effect: api.TaintEffectNoSchedule}}
		}
		if g.chance(10) {
			n.Status.Allocatable = allocatable.Clone()
			n.Status.Allocatable[resource.CPU] = g.quantity("500m", "1", "2", "4")
		}
		for k, p := range pick(g.dice, patterns...) {
			if g.chance(12) {
				p = g.changedPod(p)
			}
			if g.chance(4) {
				continue
			}
			g.c.Pods = append(g.c.Pods, g.lower(fmt.Sprintf("p%d-%d", i, k), n.Name, p))
		}
	}
}

// plainNode adds a node in one of two zones.
func (g *generator) plainNode(i int, allocatable resource.List) *api.Node {
	name := fmt.Sprintf("n%d", i)
	n := &api.Node{ObjectMeta: api.ObjectMeta{Name: name, UID: api.UID(name), Labels: map[string]string{
		api.LabelHostname: name, api.LabelTopologyZone: pick(g.dice, "z0", "z1"),
	}}}
	n.Status.Allocatable, n.Status.Capacity = allocatable, allocatable
	g.c.Nodes = append(g.c.Nodes, n)
	return n
}

// changedPod returns the pod with one difference.
func (g *generator) changedPod(p aPod) aPod {
	other := g.aPod()
	switch g.IntN(5) {
	case 0:
		p.cpu = other.cpu
	case 1:
		p.priority = other.priority
	case 2:
		p.started = other.started
	case 3:
		p.app = other.app
	default:
		p.ns = other.ns
	}
	return p
}

// lower makes a pod of lower priority on a node, as a possible victim.
func (g *generator) lower(name, node string, a aPod) *api.Pod {
	p := g.barePod(name, a.ns)
	if a.app != "" {
		p.Labels = map[string]string{"app": a.app}
		if g.chance(40) {
			p.Labels["tier"] = pick(g.dice, "front", "back")
		}
	}
	p.Spec.NodeName, p.Status.Phase = node, api.PodRunning
	p.Spec.Containers[0].Resources.Requests = resource.List{resource.CPU: resource.MustParse(a.cpu)}
	if a.priority != 0 || g.chance(50) {
		p.Spec.Priority = new(a.priority)
	}
	if a.started >= 0 {
		p.Status.StartTime = new(noon.Add(-time.Duration(a.started) * time.Minute))
	}
	if g.chance(3) {
		g.leave(p)
	}
	return p
}

func (g *generator) barePod(name, namespace string) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: namespace, UID: api.UID("u-" + namespace + "-" + name)}}
	p.Spec.SchedulerName = "default-scheduler"
	p.Spec.Containers = []api.Container{{Name: "c0", Image: "img"}}
	return p
}

// leave makes the pod leave, for one reason or another.
func (g *generator) leave(p *api.Pod) {
	p.DeletionTimestamp = new(noon)
	for range pick(g.dice, 0, 1, 1, 2) {
		p.Status.Conditions = append(p.Status.Conditions, api.PodCondition{
			Type:   pick(g.dice, api.DisruptionTarget, api.DisruptionTarget, api.PodResizePending),
			Status: pick(g.dice, api.ConditionTrue, api.ConditionTrue, "False"),
			Reason: pick(g.dice, api.PodReasonPreemptionByScheduler, api.PodReasonPreemptionByScheduler, "EvictionByEvictionAPI"),
		})
	}
}

// oddBudgets makes budgets. Some of them are broken or protect no pods.
func (g *generator) oddBudgets(count int) {
	for i := range count {
		b := &api.PodDisruptionBudget{
			ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("pdb%d", i), Namespace: pick(g.dice, "default", "default", "ns-a", "ns-b")},
			Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(pick(g.dice, -1000, -3, -1, 0, 0, 0, 1, 1, 2, 3, 2147483647))},
		}
		switch g.IntN(8) {
		case 0:
			b.Spec.Selector = g.labelSelector()
		case 1:
			b.Spec.Selector = pick(g.dice, nil, &api.LabelSelector{})
		case 2:
			b.Spec.Selector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
				pick(g.dice,
					api.LabelSelectorRequirement{Key: "app", Operator: api.LabelSelectorOpIn},
					api.LabelSelectorRequirement{Key: "app", Operator: "Odd", Values: []string{"web"}},
					api.LabelSelectorRequirement{Key: "app", Operator: api.LabelSelectorOpExists, Values: []string{"web"}},
					api.LabelSelectorRequirement{Key: "app", Operator: api.LabelSelectorOpExists},
					api.LabelSelectorRequirement{Key: "tier", Operator: api.LabelSelectorOpDoesNotExist},
					api.LabelSelectorRequirement{Key: "app", Operator: api.LabelSelectorOpNotIn, Values: []string{"db", "none"}},
				),
			}}
		default:
			b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": pick(g.dice, "web", "web", "db", "cache")}}
			if g.chance(20) {
				b.Spec.Selector.MatchExpressions = []api.LabelSelectorRequirement{g.podRequirement()}
			}
		}
		for g.chance(25) && len(g.c.Pods) > 0 {
			if b.Status.DisruptedPods == nil {
				b.Status.DisruptedPods = map[string]time.Time{}
			}
			b.Status.DisruptedPods[g.c.Pods[g.IntN(len(g.c.Pods))].Name] = noon
		}
		g.c.PodDisruptionBudgets = append(g.c.PodDisruptionBudgets, b)
	}
}

// promised makes pending pods with a nominated node.
func (g *generator) promised() {
	if !g.chance(35) {
		return
	}
	for i := range g.between(1, 4) {
		p := g.barePod(fmt.Sprintf("nom%d", i), pick(g.dice, "default", "ns-a"))
		p.Spec.Priority = new(int32(pick(g.dice, 0, 1, 9, 10, 10, 11, 1000)))
		p.Spec.Containers[0].Resources.Requests = resource.List{resource.CPU: g.quantity("250m", "500m", "1")}
		if g.chance(15) {
			p.Spec.Containers[0].Ports = []api.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		}
		p.Status.NominatedNodeName = g.nodeName()
		g.c.Nominated = append(g.c.Nominated, p)
	}
}

// preemptor makes the preempting pod. It may already have a nominated node, where
// its victims may still be leaving.
func (g *generator) preemptor() *api.Pod {
	p := g.barePod("in", pick(g.dice, "default", "default", "ns-a"))
	p.Labels = map[string]string{"app": "web"}
	p.Spec.Priority = new(int32(pick(g.dice, 1, 2, 3, 10, 10, 10, 1000)))
	p.Spec.Containers[0].Resources.Requests = resource.List{resource.CPU: g.quantity("500m", "1", "1500m", "1500m", "2", "2")}
	if g.chance(6) {
		p.Spec.PreemptionPolicy = new(pick(g.dice, api.PreemptNever, api.PreemptNever, api.PreemptLowerPriority))
	}
	if g.chance(15) {
		g.cut(p)
	}
	if g.chance(25) {
		p.Status.NominatedNodeName = pick(g.dice, g.nodeName(), g.nodeName(), g.nodeName(), g.nodeName(), "nowhere")
		for _, other := range g.c.Pods {
			if other.Spec.NodeName == p.Status.NominatedNodeName && other.DeletionTimestamp == nil && g.chance(25) {
				g.leave(other)
			}
		}
	}
	return p
}

// unblock makes nodes where a few things are short at once. Each is held by some
// possible victims.
func (g *generator) unblock() {
	c := g.c
	c.Namespaces = []*api.Namespace{namespace("default", "team", "core"), namespace("ns-a", "team", "a"), namespace("ns-b", "team", "b")}
	allocatable := resource.List{
		resource.CPU: g.quantity("2", "4", "64"), resource.Memory: resource.MustParse("8Gi"), resource.Pods: g.quantity("2", "4", "110", "110"),
		"example.com/foo": g.quantity("1", "2", "4"),
	}
	for i := range g.between(1, 8) {
		g.plainNode(i, allocatable)
	}
	g.blockingStorage()
	// The pod to place needs all scarce things, the others hold some of them.
	kinds := some(g.dice, 3, "ports", "anti", "theirs", "spread", "claim", "disk", "foo", "limit")
	for i := range g.between(1, 5*len(c.Nodes)) {
		p := g.lower(fmt.Sprintf("p%d", i), g.nodeName(), g.aPod())
		for _, kind := range kinds {
			if g.chance(35) {
				g.hold(p, kind, i)
			}
		}
		if g.chance(8) {
			p.Spec.Priority = new(int32(10)) // not a victim
		}
		c.Pods = append(c.Pods, p)
	}
	if g.chance(40) {
		g.oddBudgets(g.between(1, 2))
	}
	g.promised()
	p := g.preemptor()
	if !g.chance(25) {
		p.Spec.Priority = new(int32(10))
	}
	for _, kind := range kinds {
		g.want(p, kind)
	}
	c.Pod = p
}

// blockingStorage makes claims that only one pod may use at a time, and volumes of a
// driver with few places on nodes.
func (g *generator) blockingStorage() {
	c := g.c
	for i := range 6 {
		name := fmt.Sprintf("claim%d", i)
		ns := pick(g.dice, "default", "default", "ns-a")
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Name: name, Namespace: ns, UID: api.UID("c" + name)}}
		claim.Annotations = map[string]string{api.AnnBindCompleted: "yes"}
		claim.Spec.VolumeName, claim.Spec.StorageClassName, claim.Status.Phase = "pv"+name, new("sc0"), api.ClaimBound
		claim.Spec.AccessModes = []api.PersistentVolumeAccessMode{pick(g.dice, api.ReadWriteOncePod, api.ReadWriteOncePod, api.ReadWriteOnce)}
		claim.Spec.Resources.Requests = resource.List{"storage": resource.MustParse("1Gi")}
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: claim.Spec.VolumeName, UID: api.UID(claim.Spec.VolumeName)}}
		v.Spec.AccessModes, v.Spec.StorageClassName = claim.Spec.AccessModes, "sc0"
		v.Spec.Capacity = claim.Spec.Resources.Requests
		v.Spec.ClaimRef = &api.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: ns, Name: name, UID: claim.UID}
		v.Spec.CSI = &api.CSIPersistentVolumeSource{Driver: drivers[0], VolumeHandle: name}
		v.Status.Phase = api.VolumeBound
		c.PersistentVolumes, c.PersistentVolumeClaims = append(c.PersistentVolumes, v), append(c.PersistentVolumeClaims, claim)
	}
	c.StorageClasses = []*api.StorageClass{{
		ObjectMeta: api.ObjectMeta{Name: "sc0"}, Provisioner: drivers[0], VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	}}
	for _, n := range c.Nodes {
		c.CSINodes = append(c.CSINodes, &api.CSINode{ObjectMeta: api.ObjectMeta{Name: n.Name}, Spec: api.CSINodeSpec{Drivers: []api.CSINodeDriver{{
			Name: drivers[0], NodeID: n.Name, TopologyKeys: []string{api.LabelHostname},
			Allocatable: &api.VolumeNodeResources{Count: new(int32(pick(g.dice, 1, 1, 2, 3)))},
		}}}})
	}
}

// hold gives a pod on a node something scarce.
func (g *generator) hold(p *api.Pod, kind string, i int) {
	switch kind {
	case "ports":
		p.Spec.Containers[0].Ports = []api.ContainerPort{{ContainerPort: 80, HostPort: 80, HostIP: pick(g.dice, "", "", "127.0.0.1", "10.0.0.1")}}
	case "theirs":
		affinity(p).PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{g.against()}}
	case "anti", "spread":
		p.Labels = map[string]string{"app": "web"}
	case "claim", "limit":
		g.useClaim(p, i)
	case "disk":
		p.Spec.Volumes = append(p.Spec.Volumes, diskVolume(g.chance(20)))
	case "foo":
		p.Spec.Containers[0].Resources.Requests["example.com/foo"] = g.quantity("1", "2")
	}
}

// want makes the pod to place need something scarce.
func (g *generator) want(p *api.Pod, kind string) {
	switch kind {
	case "ports":
		p.Spec.Containers[0].Ports = []api.ContainerPort{{ContainerPort: 80, HostPort: 80}}
	case "anti":
		affinity(p).PodAntiAffinity = &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{g.against()}}
	case "spread":
		p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
			MaxSkew: int32(g.between(1, 2)), TopologyKey: pick(g.dice, api.LabelHostname, api.LabelTopologyZone),
			WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}
		if g.chance(20) {
			p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32(g.between(2, 4)))
		}
	case "claim", "limit":
		g.useClaim(p, g.IntN(6))
	case "disk":
		p.Spec.Volumes = append(p.Spec.Volumes, diskVolume(g.chance(20)))
	case "foo":
		p.Spec.Containers[0].Resources.Requests["example.com/foo"] = g.quantity("1", "2", "4")
	}
}

func (g *generator) against() api.PodAffinityTerm {
	t := api.PodAffinityTerm{
		TopologyKey:   pick(g.dice, api.LabelHostname, api.LabelHostname, api.LabelTopologyZone),
		LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}
	if g.chance(40) {
		t.NamespaceSelector = pick(g.dice, &api.LabelSelector{}, &api.LabelSelector{MatchLabels: map[string]string{"team": "core"}})
	}
	return t
}

// useClaim makes the pod use a claim, and moves it to the claim's namespace.
func (g *generator) useClaim(p *api.Pod, i int) {
	claim := g.c.PersistentVolumeClaims[i%6]
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			return
		}
	}
	p.Namespace = claim.Namespace
	p.UID = api.UID("u-" + p.Namespace + "-" + p.Name)
	p.Spec.Volumes = append(p.Spec.Volumes, api.Volume{Name: "claim", VolumeSource: api.VolumeSource{
		PersistentVolumeClaim: &api.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
	}})
}

func diskVolume(readOnly bool) api.Volume {
	return api.Volume{Name: "disk", VolumeSource: api.VolumeSource{
		GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "pd-1", ReadOnly: readOnly},
	}}
}

// cut gives the pod extenders that take part in preemption.
func (g *generator) cut(p *api.Pod) {
	var verbs []string
	for range g.between(1, 3) {
		verbs = append(verbs, pick(g.dice, "odd", "odd", "first", "last", "turn", "none", "bare", "fail")+pick(g.dice, "", "?"))
	}
	p.Annotations = map[string]string{pipeline.AnnCutters: strings.Join(verbs, ",")}
}

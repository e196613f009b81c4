package loadaware

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// Random returns a random case that begins at a time: a few nodes, pods and
// metrics of all kinds, arguments that are mostly valid, and a sequence of
// events. Amounts are chosen from few values, so that thresholds are often met
// exactly.
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
	pods     []*framework.Pod // all that were ever there, in their last version
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func oneOf[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) anyNode() string { return oneOf(g, g.nodes...) }

// names are the resources that everything is about.
var names = []resource.Name{resource.CPU, resource.Memory, "nvidia.com/gpu", "example.com/foo"}

func (g *generator) percentages(least, most int64) map[resource.Name]int64 {
	m := map[resource.Name]int64{}
	for i, name := range names {
		if g.IntN(100) < 80>>(2*i) {
			m[name] = least + g.Int64N(most-least+1)
			if g.chance(40) {
				m[name] = max(least, min(most, oneOf[int64](g, 10, 25, 50, 65, 80, 100)))
			}
		}
	}
	return m
}

// args returns arguments as JSON.
func (g *generator) args() json.RawMessage {
	a := map[string]any{}
	maybe := func(percent int, name string, value func() any) {
		if g.chance(percent) {
			a[name] = value()
		}
	}
	flag := func() any { return g.chance(50) }
	seconds := func() any { return oneOf[int64](g, 0, 1, 30, 90, 300, 3600, -5) }
	shares := func(least, most int64) func() any { return func() any { return g.percentages(least, most) } }
	maybe(40, "filterExpiredNodeMetrics", flag)
	maybe(50, "nodeMetricExpirationSeconds", func() any { return oneOf[int64](g, 30, 60, 180, 300, 3600) })
	maybe(50, "enableScheduleWhenNodeMetricsExpired", flag)
	maybe(40, "resourceWeights", shares(1, 100))
	maybe(30, "dominantResourceWeight", func() any { return g.Int64N(101) })
	maybe(60, "usageThresholds", shares(0, 100))
	maybe(40, "prodUsageThresholds", shares(0, 120))
	maybe(30, "prodUsageIncludeSys", flag)
	maybe(40, "scoreAccordingProdUsage", flag)
	maybe(30, "estimatedSecondsAfterPodScheduled", seconds)
	maybe(30, "estimatedSecondsAfterInitialized", seconds)
	maybe(50, "allowCustomizeEstimation", flag)
	maybe(15, "supportedResources", func() any { return names[g.IntN(len(names)):] })
	factors := g.percentages(1, 100)
	if weights, ok := a["resourceWeights"].(map[resource.Name]int64); ok && g.chance(98) {
		for name := range weights {
			if _, ok := factors[name]; !ok {
				factors[name] = oneOf[int64](g, 1, 50, 70, 85, 100)
			}
		}
		a["estimatedScalingFactors"] = factors
	} else if g.chance(50) {
		a["estimatedScalingFactors"] = factors
	}
	maybe(45, "aggregated", g.aggregated)
	if g.chance(3) { // something invalid
		bad := oneOf(g, "resourceWeights", "usageThresholds", "estimatedScalingFactors")
		a[bad] = map[resource.Name]int64{resource.CPU: oneOf[int64](g, -1, 101, 0)}
	}
	maybe(1, "dominantResourceWeight", func() any { return oneOf[int64](g, -1, 101) })
	maybe(1, "nodeMetricExpirationSeconds", func() any { return oneOf[int64](g, -1, 0) })
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // maps of numbers always marshal
	}
	return text
}

func (g *generator) aggregated() any {
	a := map[string]any{}
	if g.chance(75) {
		a["usageThresholds"] = g.percentages(0, 100)
	}
	kinds := []framework.AggregationType{framework.AVG, framework.P50, framework.P90, framework.P95, framework.P99}
	if g.chance(3) {
		kinds = append(kinds, "p42")
	}
	if g.chance(75) {
		a["usageAggregationType"] = oneOf(g, kinds...)
	}
	if g.chance(75) {
		a["scoreAggregationType"] = oneOf(g, kinds...)
	}
	durations := []string{"0s", "5m0s", "10m0s", "30m0s"}
	if g.chance(2) {
		durations = append(durations, "-5m0s")
	}
	if g.chance(50) {
		a["usageAggregatedDuration"] = oneOf(g, durations...)
	}
	if g.chance(50) {
		a["scoreAggregatedDuration"] = oneOf(g, durations...)
	}
	return a
}

// amount returns a quantity of a resource up to a maximum.
func (g *generator) amount(name resource.Name, most int64) resource.Quantity {
	v := g.Int64N(most + 1)
	if g.chance(50) {
		v = most * g.Int64N(21) / 20
	}
	if name != resource.CPU {
		switch {
		case g.chance(10):
			return resource.MustParse(strconv.FormatInt(v, 10) + "500m")
		case g.chance(10):
			return resource.MustParse(strconv.FormatInt(v>>10, 10) + "Ki")
		}
		return resource.New(v, resource.DecimalSI)
	}
	switch {
	case g.chance(10):
		return resource.MustParse(fmt.Sprintf("%d%06dn", v, g.IntN(1e6)))
	case g.chance(10):
		return resource.MustParse(fmt.Sprintf("%d%03du", v, g.IntN(1000)))
	}
	return resource.Milli(v)
}

func (g *generator) most(name resource.Name) int64 {
	switch {
	case name == resource.CPU && g.enormous:
		return 1 << 40
	case name == resource.CPU:
		return 4000
	case name == resource.Memory && g.enormous:
		return 1 << 57
	case name == resource.Memory:
		return 1 << 30
	}
	return 8
}

func (g *generator) node(i int) *framework.Node {
	n := &framework.Node{ObjectMeta: framework.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
	n.Status.Allocatable = resource.List{resource.Pods: resource.New(110, resource.DecimalSI)}
	for i, name := range names {
		if g.IntN(100) < 95>>(i/2*2) {
			n.Status.Allocatable[name] = g.capacity(name)
		}
	}
	annotate := func(key string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		if g.chance(5) {
			text = []byte(oneOf(g, "", "null", "[]", "{}", `{"usageThresholds":{"cpu":"high"}}`, `{"cpu":"1x"}`))
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[key] = string(text)
	}
	if g.chance(30) {
		t := map[string]any{}
		if g.chance(60) {
			t["usageThresholds"] = g.percentages(0, 400)
		}
		if g.chance(40) {
			t["prodUsageThresholds"] = g.percentages(0, 100)
		}
		if g.chance(40) {
			u := map[string]any{"usageThresholds": g.percentages(0, 100)}
			if g.chance(85) {
				u["usageAggregationType"] = oneOf(g, framework.AVG, framework.P50, framework.P95)
			}
			if g.chance(50) {
				u["usageAggregatedDuration"] = oneOf(g, "0s", "5m0s", "10m0s", "30m0s")
			}
			t["aggregatedUsage"] = u
		}
		annotate(estimator.AnnotationUsageThresholds, t)
	}
	if g.chance(15) {
		raw := resource.List{}
		for _, name := range names {
			if g.chance(50) {
				raw[name] = g.capacity(name)
			}
		}
		annotate(estimator.AnnotationRawAllocatable, raw)
	}
	return n
}

func (g *generator) capacity(name resource.Name) resource.Quantity {
	if g.chance(5) {
		return resource.New(0, resource.DecimalSI)
	}
	if g.chance(60) {
		return g.exactly(name, g.most(name))
	}
	return g.exactly(name, g.most(name)/oneOf[int64](g, 1, 2, 3, 7))
}

func (g *generator) exactly(name resource.Name, v int64) resource.Quantity {
	if name == resource.CPU {
		return resource.Milli(v)
	}
	return resource.New(v, resource.DecimalSI)
}

// unplaced returns a new pod, or one that is there already, without a node.
func (g *generator) unplaced() *framework.Pod {
	if len(g.pods) > 0 && g.chance(30) {
		p := *oneOf(g, g.pods...)
		p.Spec.NodeName = ""
		return &p
	}
	return g.newPod()
}

// newPod returns a pod without a node.
func (g *generator) newPod() *framework.Pod {
	i := len(g.pods)
	p := &framework.Pod{ObjectMeta: framework.ObjectMeta{
		Name: fmt.Sprintf("p%d", i), Namespace: oneOf(g, "default", "other"), UID: framework.UID(fmt.Sprintf("uid-%d", i)),
	}}
	if i > 0 && g.chance(4) { // the successor of another
		p.Name, p.Namespace = g.pods[i-1].Name, g.pods[i-1].Namespace
	}
	g.classify(p)
	for k := range 1 + g.IntN(2) {
		p.Spec.Containers = append(p.Spec.Containers, framework.Container{Name: fmt.Sprintf("c%d", k), Resources: g.resources()})
	}
	if g.chance(15) {
		c := framework.Container{Name: "init", Resources: g.resources()}
		if g.chance(40) {
			c.RestartPolicy = new(framework.ContainerRestartPolicyAlways)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if g.chance(8) {
		p.Spec.Resources = new(g.resources())
	}
	if g.chance(8) {
		p.Spec.Overhead = resource.List{resource.CPU: g.amount(resource.CPU, g.most(resource.CPU)/20)}
	}
	if g.chance(4) {
		p.OwnerReferences = []framework.OwnerReference{{APIVersion: "apps/v1", Kind: oneOf(g, "DaemonSet", "ReplicaSet"), Name: "o", UID: "o"}}
	}
	g.annotatePod(p)
	g.setStatus(p)
	g.pods = append(g.pods, p)
	return p
}

func (g *generator) classify(p *framework.Pod) {
	label := func(key, value string) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
	if g.chance(25) {
		label(estimator.LabelPriorityClass, oneOf(g, "koord-prod", "koord-prod", "koord-mid", "koord-batch", "koord-free", "", "gold"))
	}
	if g.chance(15) {
		label(estimator.LabelQoSClass, oneOf(g, "LSE", "LSR", "LS", "BE", "SYSTEM", "x"))
	}
	if g.chance(40) {
		p.Spec.Priority = new(oneOf[int32](g, 9000, 9999, 9500, 7000, 7999, 5000, 5999, 3000, 0, 100, -5, 2_000_000_000))
	}
}

func (g *generator) resources() framework.ResourceRequirements {
	var r framework.ResourceRequirements
	for i, name := range append(slices.Clone(names), estimator.BatchCPU, estimator.BatchMemory, estimator.MidCPU, estimator.MidMemory) {
		percent := 60
		if i > 1 {
			percent = 12
		}
		most := g.most(name) / 4
		switch name {
		case estimator.BatchCPU, estimator.MidCPU:
			most = g.most(resource.CPU) / 4
		case estimator.BatchMemory, estimator.MidMemory:
			most = g.most(resource.Memory) / 4
		}
		var q resource.Quantity
		if g.chance(percent) {
			if r.Requests == nil {
				r.Requests = resource.List{}
			}
			q = g.amount(name, most)
			r.Requests[name] = q
		}
		if g.chance(percent / 2) {
			if r.Limits == nil {
				r.Limits = resource.List{}
			}
			if q.IsZero() || g.chance(50) {
				q = g.amount(name, most)
			}
			r.Limits[name] = q
		}
	}
	return r
}

func (g *generator) annotatePod(p *framework.Pod) {
	annotate := func(key, value string) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
	if g.chance(12) {
		annotate(estimator.AnnotationScalingFactors, oneOf(g, `{"cpu":80}`, `{"cpu":150,"memory":10}`, `{}`, `{"cpu":"x"}`, `null`, `{"nvidia.com/gpu":50}`))
	}
	if g.chance(12) {
		annotate(estimator.AnnotationEstimateScheduled, oneOf(g, "0", "-1", "60", "600", "x", ""))
	}
	if g.chance(12) {
		annotate(estimator.AnnotationEstimateInitialized, oneOf(g, "0", "-1", "60", "600", "x", ""))
	}
}

func (g *generator) setStatus(p *framework.Pod) {
	p.Status.Phase = oneOf(g, framework.PodRunning, framework.PodRunning, framework.PodRunning, framework.PodPending, framework.PodSucceeded, framework.PodFailed)
	if g.chance(70) && p.Status.Phase != framework.PodPending {
		p.Status.Phase = framework.PodRunning
	}
	if g.chance(8) {
		p.Status.QOSClass = oneOf(g, framework.PodQOSGuaranteed, framework.PodQOSBurstable, framework.PodQOSBestEffort)
	}
	p.Status.Conditions = nil
	for _, t := range []framework.PodConditionType{framework.PodScheduled, framework.PodInitialized} {
		if g.chance(45) {
			c := framework.PodCondition{Type: t, Status: framework.ConditionTrue}
			if g.chance(10) {
				c.Status = framework.ConditionFalse
			}
			if g.chance(90) {
				c.LastTransitionTime = g.recent()
			}
			p.Status.Conditions = append(p.Status.Conditions, c)
		}
	}
}

// recent returns a time around now, often at a distance that some rule is about.
func (g *generator) recent() time.Time {
	d := g.Int64N(600)
	if g.chance(60) {
		d = oneOf[int64](g, 0, 1, 29, 30, 31, 59, 60, 61, 90, 119, 120, 179, 180, 181, 240, 300)
	}
	if g.chance(5) {
		d = -d
	}
	return g.now.Add(-time.Duration(d) * time.Second)
}

func (g *generator) metric(node string) *framework.NodeMetric {
	m := &framework.NodeMetric{ObjectMeta: framework.ObjectMeta{Name: node}}
	if g.chance(60) {
		m.Spec.CollectPolicy = &framework.NodeMetricCollectPolicy{}
		if g.chance(80) {
			m.Spec.CollectPolicy.ReportIntervalSeconds = new(oneOf[int64](g, 0, 30, 60, 120, -30))
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
			r := &framework.PodMetricInfo{Name: p.Name, Namespace: p.Namespace, PodUsage: g.usage(4)}
			r.Priority = string(estimator.PodPriorityClass(p))
			if g.chance(25) {
				r.Priority = oneOf(g, "", "koord-prod", "koord-batch")
			}
			m.Status.PodsMetric = append(m.Status.PodsMetric, r)
		}
	}
	if g.chance(10) {
		m.Status.PodsMetric = append(m.Status.PodsMetric, &framework.PodMetricInfo{
			Name: "ghost", Namespace: "default", PodUsage: g.usage(4), Priority: string(estimator.PriorityProd),
		})
	}
	if k := len(m.Status.PodsMetric); k > 0 && g.chance(5) { // one twice
		twice := *m.Status.PodsMetric[g.IntN(k)]
		twice.PodUsage = g.usage(4)
		m.Status.PodsMetric = append(m.Status.PodsMetric, &twice)
	}
	return m
}

func (g *generator) nodeInfo() *framework.NodeMetricInfo {
	info := &framework.NodeMetricInfo{NodeUsage: g.usage(1), SystemUsage: g.usage(8)}
	for range g.IntN(4) {
		a := framework.AggregatedUsage{
			Duration: framework.Duration{Duration: oneOf[time.Duration](g, 0, 5, 10, 15, 30) * time.Minute},
			Usage:    map[framework.AggregationType]framework.ResourceMap{},
		}
		for _, kind := range []framework.AggregationType{framework.AVG, framework.P50, framework.P90, framework.P95, framework.P99} {
			if g.chance(80) {
				a.Usage[kind] = g.usage(1)
			}
		}
		info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, a)
	}
	return info
}

// usage returns up to a fraction of what nodes have.
func (g *generator) usage(fraction int64) framework.ResourceMap {
	if g.chance(6) {
		return framework.ResourceMap{}
	}
	list := resource.List{}
	for i, name := range names {
		if g.IntN(100) < 95>>(i/2*2) {
			list[name] = g.amount(name, g.most(name)/fraction)
		}
	}
	return framework.ResourceMap{ResourceList: list}
}

func (g *generator) event() Event {
	switch k := g.IntN(100); {
	case k < 30:
		return g.metricEvent()
	case k < 45:
		d := time.Duration(oneOf[int64](g, 1, 29, 30, 60, 61, 120, 180, 300)) * time.Second
		g.now = g.now.Add(d)
		return Event{Type: TimePass, Passed: framework.Duration{Duration: d}}
	case k < 60:
		p := g.unplaced()
		if g.chance(60) {
			return Event{Type: PodReserve, Node: g.anyNode(), Pod: p}
		}
		return Event{Type: PodUnreserve, Node: g.anyNode(), Pod: p}
	case k < 70 || len(g.pods) == 0:
		p := *g.newPod()
		p.Spec.NodeName = g.anyNode()
		g.pods[len(g.pods)-1] = &p
		return Event{Type: PodAdd, Pod: &p}
	case k < 78:
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
		p.Spec.Containers = []framework.Container{{Name: "c0", Resources: g.resources()}}
	case 3:
		g.setStatus(&p)
	case 4:
		p.Spec.NodeName = g.anyNode()
	case 5:
		p.Status.Phase = oneOf(g, framework.PodSucceeded, framework.PodFailed, framework.PodRunning)
	}
	g.pods[i] = &p
	return Event{Type: PodUpdate, Pod: &p}
}

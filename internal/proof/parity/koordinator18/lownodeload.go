package koordinator

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	slov1alpha1 "github.com/koordinator-sh/koordinator/apis/slo/v1alpha1"
	koordclientset "github.com/koordinator-sh/koordinator/pkg/client/clientset/versioned"
	koordfake "github.com/koordinator-sh/koordinator/pkg/client/clientset/versioned/fake"
	deschedulerconfig "github.com/koordinator-sh/koordinator/pkg/descheduler/apis/config"
	descheduler "github.com/koordinator-sh/koordinator/pkg/descheduler/framework"
	lownodeload "github.com/koordinator-sh/koordinator/pkg/descheduler/framework/plugins/loadaware"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A UseCase is a cluster whose nodes LowNodeLoad classifies by their use.
type UseCase struct {
	Name    string
	Nodes   []*api.Node
	Pods    []*api.Pod // on nodes
	Metrics []*api.NodeMetric
	Config  whatif.RebalanceConfig
}

// useBatch is how many clusters the real plugin sees at once, as pools of nodes: starting
// it takes a tenth of a second.
const useBatch = 100

// labelPool says to which cluster a node belongs.
const labelPool = "pool"

// CompareUse classifies the nodes of random clusters with both, and evicts pods of them. It
// returns how many clusters differ, and how many pods both evict. In every second batch, a pod
// is placed if the original finds a place for it: there the same pods leave each node, in the
// same order. In the others berth evicts only those that it finds a place for, so only the
// pods that both evict must leave each node in the same order.
// Each cluster is a function of the seed and its number alone. The first differences are
// written to out. The real clock must run: the real plugin starts goroutines that never end.
func CompareUse(seed uint64, cases int, out io.Writer) (mismatches, evicted int) {
	const shown = 3
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	if err := flags.Set("v", "4"); err != nil { // it logs classes at this level
		fmt.Fprintln(out, err)
		return cases, 0
	}
	// Its lists of metrics come from a fake that knows no lists by watching.
	if err := utilfeature.DefaultMutableFeatureGate.Set("WatchListClient=false"); err != nil {
		fmt.Fprintln(out, err)
		return cases, 0
	}
	for from := 0; from < cases; from += useBatch {
		// Without an expiration, the real plugin panics at a metric without use.
		expiration := []time.Duration{time.Hour, 100 * time.Second, 200 * time.Second}[from/useBatch%3]
		random, exact := randomUse, from/useBatch%2 == 1
		if exact {
			random = placeableUse
		}
		var batch []*UseCase
		for i := from; i < min(from+useBatch, cases); i++ {
			c := random(rand.New(rand.NewPCG(seed, uint64(i))), fmt.Sprint("c", i), time.Now().UTC().Round(0))
			c.Config.Expiration = expiration
			batch = append(batch, c)
		}
		theirs, err := classesOf(batch, expiration, exact)
		if err != nil {
			fmt.Fprintf(out, "cases from %d: Koordinator: %v\n", from, err)
			return mismatches + len(batch), evicted
		}
		for i, c := range batch {
			ours, pods, err := c.Ours()
			if err != nil {
				ours = map[string]string{"error": err.Error()}
			}
			want := map[string]string{}
			for _, n := range c.Nodes {
				if class, ok := theirs.classes[n.Name]; ok {
					want[n.Name] = class
				}
			}
			own, both := c.byNode(theirs.evicted, theirs.evicted), c.byNode(pods, pods)
			if !exact {
				own = c.byNode(theirs.evicted, pods)
				both = c.byNode(pods, own)
			}
			evicted += len(both)
			if maps.Equal(ours, want) && slices.Equal(own, both) {
				continue
			}
			if mismatches++; mismatches <= shown {
				text, _ := json.Marshal(c)
				fmt.Fprintf(out, "case %d: berth %v, evicts %v; Koordinator %v, evicts %v\n%s\n", from+i, ours, both, want, own, text)
			}
		}
	}
	return mismatches, evicted
}

// byNode lists the pods that are among others, node by node, those of a node in their order.
// Which of two nodes with equal scores comes first is left to a map by the original.
func (c *UseCase) byNode(pods, others []string) (list []string) {
	for _, n := range c.Nodes {
		for _, pod := range pods {
			on := slices.ContainsFunc(c.Pods, func(p *api.Pod) bool { return p.Key() == pod && p.Spec.NodeName == n.Name })
			if on && slices.Contains(others, pod) {
				list = append(list, pod)
			}
		}
	}
	return list
}

// Ours returns the class of every node with a known use, and the pods that leave, in their
// order, as berth finds them.
func (c *UseCase) Ours() (classes map[string]string, evicted []string, err error) {
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: c.Nodes, Pods: c.Pods, NodeMetrics: c.Metrics}, framework.Arrival)
	if err != nil {
		return nil, nil, err
	}
	s.SetNow(time.Now())
	plan, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		return nil, nil, err
	}
	r, err := plan.Rebalance(c.Config)
	if err != nil {
		return nil, nil, err
	}
	classes = map[string]string{}
	for _, n := range r.Nodes {
		classes[n.Node] = string(n.Class)
	}
	for _, m := range r.Moves {
		evicted = append(evicted, m.Pod)
	}
	return classes, evicted, nil
}

// classesOf returns the classes of the nodes of several clusters, and the pods that leave, as
// the real plugin finds them. The plugin tells nobody, so they are read from what it logs.
// If fit is set, pods leave only if a target fits them.
func classesOf(batch []*UseCase, expiration time.Duration, fit bool) (*classLog, error) {
	h := &useHandle{pods: map[string][]*corev1.Pod{}}
	args := &deschedulerconfig.LowNodeLoadArgs{
		DryRun: true, NodeFit: fit, DetectorCacheTimeout: &metav1.Duration{}, // 0: nothing clears it
	}
	seconds := int64(expiration / time.Second)
	args.NodeMetricExpirationSeconds = &seconds
	var nodes []*corev1.Node
	var metrics []runtime.Object
	for _, c := range batch {
		for _, n := range c.Nodes {
			node, err := convert[corev1.Node](n)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, node)
		}
		for _, p := range c.Pods {
			pod, err := convert[corev1.Pod](p)
			if err != nil {
				return nil, err
			}
			h.pods[p.Spec.NodeName] = append(h.pods[p.Spec.NodeName], pod)
		}
		for _, m := range c.Metrics {
			metric, err := convert[slov1alpha1.NodeMetric](m)
			if err != nil {
				return nil, err
			}
			metrics = append(metrics, metric)
		}
		args.NodePools = append(args.NodePools, deschedulerconfig.LowNodeLoadNodePool{
			Name: c.Name, NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{labelPool: c.Name}},
			UseDeviationThresholds: c.Config.Deviation,
			LowThresholds:          thresholds(c.Config.Low), HighThresholds: thresholds(c.Config.High),
			ProdLowThresholds: thresholds(c.Config.ProdLow), ProdHighThresholds: thresholds(c.Config.ProdHigh),
			ResourceWeights: weights(c.Config.Weights),
		})
	}
	h.Interface = koordfake.NewSimpleClientset(metrics...)
	log := &classLog{classes: map[string]string{}}
	klog.SetLogger(logr.New(log))
	defer klog.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := lownodeload.NewLowNodeLoad(ctx, args, h)
	if err != nil {
		return nil, err
	}
	if status := p.(descheduler.BalancePlugin).Balance(ctx, nodes); status != nil && status.Err != nil {
		return nil, status.Err
	}
	return log, log.err
}

func thresholds(m map[resource.Name]float64) deschedulerconfig.ResourceThresholds {
	if m == nil {
		return nil
	}
	t := deschedulerconfig.ResourceThresholds{}
	for name, v := range m {
		t[corev1.ResourceName(name)] = deschedulerconfig.Percentage(v)
	}
	return t
}

func weights(m map[resource.Name]int64) map[corev1.ResourceName]int64 {
	w := map[corev1.ResourceName]int64{}
	for name, v := range m {
		w[corev1.ResourceName(name)] = v
	}
	return w
}

// useHandle is what the plugin asks of its framework.
type useHandle struct {
	descheduler.Handle
	koordclientset.Interface
	pods map[string][]*corev1.Pod
}

func (h *useHandle) Evictor() descheduler.Evictor { return evictor{} }

func (h *useHandle) GetPodsAssignedToNodeFunc() descheduler.GetPodsAssignedToNodeFunc {
	return func(node string, filter descheduler.FilterFunc) (list []*corev1.Pod, err error) {
		for _, p := range h.pods[node] {
			if filter == nil || filter(p) {
				list = append(list, p)
			}
		}
		return list, nil
	}
}

// evictor lets every pod go.
type evictor struct{}

func (evictor) Filter(*corev1.Pod) bool                                           { return true }
func (evictor) PreEvictionFilter(*corev1.Pod) bool                                { return true }
func (evictor) Evict(context.Context, *corev1.Pod, descheduler.EvictOptions) bool { return true }

// useTexts are the texts of classes in the log.
var useTexts = map[string]whatif.UseClass{
	"lower than node usage but high than prod usage":              whatif.UseProdHigh,
	"both lower than node && prod usage":                          whatif.UseBothLow,
	"lower than node usage and it's appropriately for prod usage": whatif.UseLow,
	"higher than node usage":                                      whatif.UseHigh,
	"appropriately for node usage but higher than prod usage":     whatif.UseProdHigh,
	"appropriately for node usage but lower than prod usage":      whatif.UseProdLow,
	"both appropriately for node && prod usage":                   whatif.UseNormal,
}

// classLog collects the classes and evictions that are logged.
type classLog struct {
	classes map[string]string
	evicted []string
	err     error
}

func (l *classLog) Init(logr.RuntimeInfo)          {}
func (l *classLog) Enabled(int) bool               { return true }
func (l *classLog) Error(error, string, ...any)    {}
func (l *classLog) WithValues(...any) logr.LogSink { return l }
func (l *classLog) WithName(string) logr.LogSink   { return l }

func (l *classLog) Info(_ int, message string, values ...any) {
	switch message {
	case "Node's utilization":
	case "Evict pod in dry run mode":
		for i := 0; i+1 < len(values); i += 2 {
			if ref, ok := values[i+1].(klog.ObjectRef); ok && values[i] == "pod" {
				l.evicted = append(l.evicted, ref.String())
			}
		}
		return
	default:
		return
	}
	var node, text string
	for i := 0; i+1 < len(values); i += 2 {
		switch values[i] {
		case "node":
			if ref, ok := values[i+1].(klog.ObjectRef); ok {
				node = ref.Name
			}
		case "result information":
			text, _ = values[i+1].(string)
		}
	}
	class, known := useTexts[text]
	if node == "" || !known {
		l.err = fmt.Errorf("the plugin logs node %q, %q", node, text)
		return
	}
	l.classes[node] = string(class)
}

// randomUse makes a cluster. Amounts are such that the original's means, which add up in
// the order of a map, come out alike in any order.
func randomUse(r *rand.Rand, name string, now time.Time) *UseCase {
	c := &UseCase{Name: name}
	percent := func() float64 { return float64(r.IntN(101)) }
	pair := func(low, high *map[resource.Name]float64) {
		if r.IntN(5) == 0 {
			return
		}
		*low, *high = map[resource.Name]float64{}, map[resource.Name]float64{}
		for _, name := range []resource.Name{resource.CPU, resource.Memory, resource.Pods} {
			if r.IntN(3) > 0 {
				a, b := percent(), percent()
				(*low)[name], (*high)[name] = min(a, b), max(a, b)
			}
		}
	}
	pair(&c.Config.Low, &c.Config.High)
	if pair(&c.Config.ProdLow, &c.Config.ProdHigh); true {
		for name, most := range c.Config.High { // what the original's validation wants
			if v, ok := c.Config.ProdHigh[name]; ok {
				c.Config.ProdHigh[name] = min(v, most)
				c.Config.ProdLow[name] = min(c.Config.ProdLow[name], c.Config.ProdHigh[name])
			}
			if v, ok := c.Config.ProdLow[name]; ok {
				c.Config.ProdLow[name] = min(v, c.Config.Low[name])
			}
		}
	}
	c.Config.Deviation = r.IntN(3) == 0
	c.Config.Weights = map[resource.Name]int64{resource.CPU: 1 + int64(r.IntN(3)), resource.Memory: 1 + int64(r.IntN(3))}
	for i := range 1 + r.IntN(8) {
		name := fmt.Sprint(c.Name, "-n", i)
		b := api.MakeNode(name, "16", "64Gi").Labels(labelPool, c.Name)
		if r.IntN(8) == 0 {
			b = b.Unschedulable()
		}
		n := b.Obj()
		n.Status.Allocatable[resource.Pods] = resource.MustParse("16")
		if r.IntN(5) == 0 {
			n.Annotations = map[string]string{"node.koordinator.sh/raw-allocatable": `{"cpu":"8","memory":"32Gi"}`}
		}
		c.Nodes = append(c.Nodes, n)
		if r.IntN(8) == 0 {
			continue // no metric
		}
		at := now.Add(-time.Duration(30+60*r.IntN(7)) * time.Second) // no age is close to an expiration
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
		m.Status.UpdateTime = &at
		if r.IntN(10) > 0 {
			m.Status.NodeMetric = &api.NodeMetricInfo{SystemUsage: use(r)}
		}
		for k := range r.IntN(8) {
			p := api.MakePod(fmt.Sprint(c.Name, "-p", i, "-", k)).Node(name).Requests("1", "1Gi").
				Labels("koordinator.sh/priority-class", []string{"koord-prod", "koord-batch", "", "koord-mid"}[r.IntN(4)]).Obj()
			if p.Labels["koordinator.sh/priority-class"] == "" {
				p.Labels = nil
				if r.IntN(2) == 0 {
					priority := int32(9000 + r.IntN(1000))
					p.Spec.Priority = &priority
				}
			}
			p.OwnerReferences = api.MakePod("").Owner("ReplicaSet", "web").Obj().OwnerReferences // others stay
			p.CreationTimestamp = now.Add(-time.Duration(len(c.Pods)) * time.Minute).Truncate(time.Second)
			p.Status.QOSClass = []api.PodQOSClass{"BestEffort", "Burstable", "Guaranteed"}[r.IntN(3)]
			if r.IntN(3) == 0 {
				p.Annotations = map[string]string{"controller.kubernetes.io/pod-deletion-cost": fmt.Sprint(r.IntN(3) - 1)}
			}
			if r.IntN(6) > 0 {
				m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: p.Name, Namespace: p.Namespace, PodUsage: use(r)})
			}
			if r.IntN(6) > 0 { // otherwise the metric knows a pod that is gone
				c.Pods = append(c.Pods, p)
			}
		}
		c.Metrics = append(c.Metrics, m)
	}
	return c
}

// placeableUse makes a cluster in which the original evicts a pod exactly if a place is proved
// for it: either every underused node has room for all pods, or one pod alone may leave, and
// fits below the high thresholds of an underused node or does not. With thresholds for prod pods
// that one is no prod pod: the original may count it against one kind of thresholds only.
func placeableUse(r *rand.Rand, name string, now time.Time) *UseCase {
	c := &UseCase{Name: name}
	single := r.IntN(2) == 0
	c.Config.Low, c.Config.High = map[resource.Name]float64{}, map[resource.Name]float64{}
	for _, name := range []resource.Name{resource.CPU, resource.Memory} {
		low := float64(20 + r.IntN(20))
		c.Config.Low[name], c.Config.High[name] = low, low+float64(r.IntN(30))
	}
	if r.IntN(2) == 0 {
		c.Config.ProdLow, c.Config.ProdHigh = map[resource.Name]float64{}, map[resource.Name]float64{}
		for name, low := range c.Config.Low {
			c.Config.ProdLow[name], c.Config.ProdHigh[name] = low/2, c.Config.High[name]/2
		}
	}
	c.Config.Weights = map[resource.Name]int64{resource.CPU: 1 + int64(r.IntN(3)), resource.Memory: 1 + int64(r.IntN(3))}
	classes := []string{"koord-batch", "koord-mid", "koord-prod"}
	if single && c.Config.ProdHigh != nil {
		classes = classes[:2]
	}
	amount := func(quarters, gi int) api.ResourceMap {
		return api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(int64(quarters) * 250), resource.Memory: resource.MustParse(fmt.Sprint(gi, "Gi"))})
	}
	add := func(i int, cpu, memory string, system api.ResourceMap, pods int) {
		node := fmt.Sprint(c.Name, "-n", i)
		n := api.MakeNode(node, cpu, memory).Labels(labelPool, c.Name).Obj()
		n.Status.Allocatable[resource.Pods] = resource.MustParse("250")
		c.Nodes = append(c.Nodes, n)
		at := now.Add(-30 * time.Second)
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: node}}
		m.Status.UpdateTime, m.Status.NodeMetric = &at, &api.NodeMetricInfo{SystemUsage: system}
		for k := range pods {
			p := api.MakePod(fmt.Sprint(c.Name, "-p", i, "-", k)).Node(node).Requests("100m", "100Mi").Owner("ReplicaSet", "web").
				Labels("koordinator.sh/priority-class", classes[r.IntN(len(classes))]).Obj()
			p.CreationTimestamp = now.Add(-time.Duration(len(c.Pods)) * time.Minute).Truncate(time.Second)
			p.Status.QOSClass = "Burstable"
			use := amount(r.IntN(9), r.IntN(9))
			if single {
				use = amount(r.IntN(20), r.IntN(20))
			}
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Name: p.Name, Namespace: p.Namespace, PodUsage: use})
			c.Pods = append(c.Pods, p)
		}
		c.Metrics = append(c.Metrics, m)
	}
	if single {
		add(0, "16", "64Gi", amount(r.IntN(64), r.IntN(64)), 1)
	} else {
		for i := range 1 + r.IntN(3) {
			add(i, "16", "64Gi", amount(r.IntN(32), r.IntN(32)), 3+r.IntN(8))
		}
	}
	for i := range 1 + r.IntN(3) {
		if single {
			add(10+i, "16", "64Gi", amount(r.IntN(16), r.IntN(16)), 0)
		} else {
			add(10+i, "1024", "4096Gi", amount(r.IntN(16), r.IntN(16)), 0)
		}
	}
	return c
}

// use is an amount of CPU and memory, in 64ths of a node.
func use(r *rand.Rand) api.ResourceMap {
	list := resource.List{}
	if r.IntN(10) > 0 {
		list[resource.CPU] = resource.Milli(int64(r.IntN(24)) * 250)
	}
	if r.IntN(10) > 0 {
		list[resource.Memory] = resource.MustParse(fmt.Sprint(r.IntN(24), "Gi"))
	}
	return api.ResourceMapOf(list)
}

package scoring_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func TestSelectorSpreadScore(t *testing.T) {
	for _, tt := range []struct{ count, largest, inZone, largestZone, alone, zoned int64 }{
		{0, 0, 0, 0, 100, 100},
		{0, 4, 0, 4, 100, 100},
		{4, 4, 4, 4, 0, 0},
		{1, 3, 2, 3, 66, 44}, // a third of 66.7 and two thirds of 33.3: 44.4
		{1, 3, 0, 3, 66, 88},
		{3, 3, 0, 5, 0, 66},
		{0, 2, 6, 6, 100, 33},
	} {
		if got := scoring.SelectorSpreadScore(tt.count, tt.largest); got != tt.alone {
			t.Errorf("SelectorSpreadScore(%d, %d) = %d, want %d", tt.count, tt.largest, got, tt.alone)
		}
		if got := scoring.SelectorSpreadZonedScore(tt.count, tt.largest, tt.inZone, tt.largestZone); got != tt.zoned {
			t.Errorf("SelectorSpreadZonedScore(%d, %d, %d, %d) = %d, want %d", tt.count, tt.largest, tt.inZone, tt.largestZone, got, tt.zoned)
		}
	}
}

// spreadCluster is a random cluster with workloads.
type spreadCluster struct {
	nodes    []*api.Node
	pods     []*api.Pod
	services []*api.Service
	rcs      []*api.ReplicationController
	sets     []*api.ReplicaSet
	stateful []*api.StatefulSet
	deployed []*api.Deployment
	pod      *api.Pod
}

func drawSpreadCluster(t *rapid.T) *spreadCluster {
	c := &spreadCluster{}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		n := api.MakeNode(fmt.Sprintf("n%d", i), "4", "4Gi")
		for _, key := range []string{api.LabelTopologyZone, api.LabelFailureDomainZone, api.LabelTopologyRegion, "rack", "row"} {
			if value := rapid.SampledFrom([]string{"-", "", "a", "b"}).Draw(t, key); value != "-" {
				n = n.Labels(key, value)
			}
		}
		c.nodes = append(c.nodes, n.Obj())
	}
	namespace := rapid.SampledFrom([]string{"default", "team"})
	labels := rapid.SampledFrom([][]string{nil, {"app", "web"}, {"app", "db"}, {"app", "web", "tier", "front"}})
	pod := func(name string) *api.Pod {
		b := api.MakePod(name).Namespace(namespace.Draw(t, "namespace")).Labels(labels.Draw(t, "labels")...)
		if rapid.IntRange(0, 9).Draw(t, "terminating") == 0 {
			b = b.Deleted(time.Unix(1, 0))
		}
		p := b.Obj()
		if kind := rapid.SampledFrom([]string{"", "ReplicaSet", "StatefulSet", "ReplicationController", "Deployment"}).Draw(t, "owner"); kind != "" {
			version := "apps/v1"
			if kind == "ReplicationController" {
				version = "v1"
			}
			p.OwnerReferences = []api.OwnerReference{{APIVersion: version, Kind: kind, Name: "w", Controller: new(true)}}
		}
		return p
	}
	for i := range rapid.IntRange(0, 20).Draw(t, "pods") {
		p := pod(fmt.Sprintf("p%d", i))
		p.Spec.NodeName = c.nodes[rapid.IntRange(0, len(c.nodes)-1).Draw(t, "node")].Name
		c.pods = append(c.pods, p)
	}
	c.pod = pod("new")
	if rapid.IntRange(0, 9).Draw(t, "own constraints") == 0 {
		c.pod.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack"}}
	}
	selector := rapid.SampledFrom([]map[string]string{nil, {}, {"app": "web"}, {"tier": "front"}, {"app": "db"}})
	meta := func(name string) api.ObjectMeta {
		return api.ObjectMeta{Name: name, Namespace: namespace.Draw(t, "namespace")}
	}
	of := func(labels map[string]string) *api.LabelSelector {
		if labels == nil {
			return nil
		}
		return &api.LabelSelector{MatchLabels: labels}
	}
	for _, name := range []string{"s1", "s2"}[:rapid.IntRange(0, 2).Draw(t, "services")] {
		c.services = append(c.services, &api.Service{ObjectMeta: meta(name), Spec: api.ServiceSpec{Selector: selector.Draw(t, "selector")}})
	}
	if rapid.Bool().Draw(t, "workloads") {
		c.rcs = append(c.rcs, &api.ReplicationController{ObjectMeta: meta("w"), Spec: api.ReplicationControllerSpec{Selector: selector.Draw(t, "selector")}})
		c.sets = append(c.sets, &api.ReplicaSet{ObjectMeta: meta("w"), Spec: api.ReplicaSetSpec{Selector: of(selector.Draw(t, "selector"))}})
		c.deployed = append(c.deployed, &api.Deployment{ObjectMeta: meta("w"), Spec: api.DeploymentSpec{Selector: of(selector.Draw(t, "selector"))}})
		c.stateful = append(c.stateful, &api.StatefulSet{ObjectMeta: meta("w"), Spec: api.StatefulSetSpec{Selector: of(selector.Draw(t, "selector"))}})
	}
	return c
}

func (c *spreadCluster) snapshot(t failer) *framework.Snapshot {
	s := snapshotOf(t, c.nodes, c.pods...)
	put := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range c.services {
		put(framework.Put(s, o))
	}
	for _, o := range c.rcs {
		put(framework.Put(s, o))
	}
	for _, o := range c.sets {
		put(framework.Put(s, o))
	}
	for _, o := range c.deployed {
		put(framework.Put(s, o))
	}
	for _, o := range c.stateful {
		put(framework.Put(s, o))
	}
	return s
}

// selectors lists the selectors that a pod must match to belong with the new one:
// all that select the new pod, or its controller's.
func (c *spreadCluster) selectors(byController bool) []map[string]string {
	var list []map[string]string
	matches := func(namespace string, labels map[string]string) bool {
		return labels != nil && namespace == c.pod.Namespace && oracle.SelectsLabels(&api.LabelSelector{MatchLabels: labels}, c.pod.Labels)
	}
	controls := func(kind, namespace string) bool {
		return len(c.pod.OwnerReferences) > 0 && c.pod.OwnerReferences[0].Kind == kind && namespace == c.pod.Namespace
	}
	counts := func(kind, namespace string, labels map[string]string) bool {
		if byController {
			return controls(kind, namespace)
		}
		return len(c.pod.Labels) > 0 && len(labels) > 0 && matches(namespace, labels)
	}
	for _, o := range c.services {
		if matches(o.Namespace, o.Spec.Selector) {
			list = append(list, o.Spec.Selector)
		}
	}
	for _, o := range c.rcs {
		if counts("ReplicationController", o.Namespace, o.Spec.Selector) {
			list = append(list, o.Spec.Selector)
		}
	}
	for _, o := range c.sets {
		if o.Spec.Selector != nil && counts("ReplicaSet", o.Namespace, o.Spec.Selector.MatchLabels) {
			list = append(list, o.Spec.Selector.MatchLabels)
		}
	}
	for _, o := range c.stateful {
		if o.Spec.Selector != nil && counts("StatefulSet", o.Namespace, o.Spec.Selector.MatchLabels) {
			list = append(list, o.Spec.Selector.MatchLabels)
		}
	}
	for _, o := range c.deployed {
		if o.Spec.Selector != nil && controls("Deployment", o.Namespace) && counts("Deployment", o.Namespace, o.Spec.Selector.MatchLabels) {
			list = append(list, o.Spec.Selector.MatchLabels)
		}
	}
	return list
}

// like counts, by node, the pods that match all of the selectors.
func (c *spreadCluster) like(selectors []map[string]string) []int64 {
	counts := make([]int64, len(c.nodes))
	wanted := 0
	for _, s := range selectors {
		wanted += len(s)
	}
	for _, p := range c.pods {
		match := wanted > 0 && p.Namespace == c.pod.Namespace && p.DeletionTimestamp == nil
		for _, s := range selectors {
			match = match && oracle.SelectsLabels(&api.LabelSelector{MatchLabels: s}, p.Labels)
		}
		for i, n := range c.nodes {
			if match && n.Name == p.Spec.NodeName {
				counts[i]++
			}
		}
	}
	return counts
}

// conflicting reports whether selectors of services and of the controller require
// two values of one label: the count then depends on their order.
func conflicting(selectors []map[string]string) bool {
	values := map[string]string{}
	for _, s := range selectors {
		for k, v := range s {
			if old, ok := values[k]; ok && old != v {
				return true
			}
			values[k] = v
		}
	}
	return false
}

// scoreAll returns the raw and normalized scores of all nodes.
func scoreAll(t failer, p framework.PreScorePlugin, s *framework.Snapshot, pod *api.Pod) (raw, normalized []int64) {
	t.Helper()
	var c framework.Cycle
	info := podInfo(t, s, pod)
	c.Reset(info, s, 0, 0)
	var nodes []*framework.NodeInfo
	for _, n := range s.All() {
		nodes = append(nodes, n)
	}
	scorer, status := p.PreScore(&c, nodes)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, n := range nodes {
		raw = append(raw, scorer.Score(info, n))
	}
	normalized = append(normalized, raw...)
	switch by := scorer.(type) {
	case framework.ScoreNormalizer:
		by.NormalizeScores(nodes, normalized)
	case framework.RangeNormalizer:
		for i := range normalized {
			normalized[i] = by.NormalizeScore(raw[i], 0, 0)
		}
	}
	return raw, normalized
}

// TestSelectorSpreadOracle compares both plugins with direct transcriptions.
func TestSelectorSpreadOracle(t *testing.T) {
	for _, plugin := range []framework.PreScorePlugin{scoring.SelectorSpread{}, scoring.DefaultPodTopologySpread{}} {
		t.Run(plugin.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := drawSpreadCluster(t)
				selectors := c.selectors(plugin.Name() == "SelectorSpread")
				if conflicting(selectors) {
					t.Skip("selectors that contradict each other")
				}
				raw, normalized := scoreAll(t, plugin, c.snapshot(t), c.pod)
				want := c.like(selectors)
				wantNormalized := oracle.SelectorSpread(c.nodes, want)
				if len(c.pod.Spec.TopologySpreadConstraints) > 0 {
					want = make([]int64, len(c.nodes))
					wantNormalized = want
				}
				if diff := cmp.Diff(want, raw); diff != "" {
					t.Errorf("raw scores (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(wantNormalized, normalized); diff != "" {
					t.Errorf("normalized scores of %v (-want +got):\n%s", raw, diff)
				}
			})
		})
	}
}

func TestSelectorSpreadConformance(t *testing.T) {
	services := frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Generate: withServices}
	for _, test := range []struct {
		name   string
		plugin framework.Plugin
		config frameworktest.Config
	}{
		{"SelectorSpread", scoring.SelectorSpread{}, services},
		{"DefaultPodTopologySpread", scoring.DefaultPodTopologySpread{}, services},
		{"ServiceAffinity", scoring.ServiceAffinity{}, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Unexercised: map[frameworktest.Exercise]string{
			frameworktest.Ranks: "without labels all nodes score 0",
		}}},
		{"ServiceAffinity by labels", scoring.ServiceAffinity{AntiAffinityLabels: []string{api.LabelTopologyZone, api.LabelHostname}}, services},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			frameworktest.Run(t, test.plugin, test.config)
		})
	}
}

// withServices returns a random cluster in which most pods belong to a service.
func withServices(seed uint64) *api.Objects {
	o := frameworktest.Cluster(seed)
	for _, namespace := range o.Namespaces {
		for _, app := range []string{"web", "db", "cache"} {
			s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: namespace.Name, Name: app}}
			s.Spec.Selector = map[string]string{"app": app}
			o.Services = append(o.Services, s)
		}
	}
	return o
}

// Three pods of a service are in zone a, two of them on one node.
func serviceCluster(tb failer) *framework.Snapshot {
	var nodes []*api.Node
	for _, n := range [][2]string{{"a1", "a"}, {"a2", "a"}, {"b1", "b"}} {
		nodes = append(nodes, api.MakeNode(n[0], "4", "8Gi").Zone(n[1]).Obj())
	}
	s := snapshotOf(tb, nodes,
		api.MakePod("w1").Labels("app", "web").Node("a1").Obj(),
		api.MakePod("w2").Labels("app", "web").Node("a1").Obj(),
		api.MakePod("w3").Labels("app", "web").Node("a2").Obj())
	service := &api.Service{
		ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       api.ServiceSpec{Selector: map[string]string{"app": "web"}},
	}
	if err := framework.Put(s, service); err != nil {
		tb.Fatal(err)
	}
	return s
}

type panics struct{}

func (panics) Helper()                   {}
func (panics) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (panics) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func ExampleSelectorSpread() {
	raw, scores := scoreAll(panics{}, scoring.SelectorSpread{}, serviceCluster(panics{}), api.MakePod("w4").Labels("app", "web").Obj())
	fmt.Println(raw, scores)
	// Output: [2 1 0] [0 16 100]
}

func ExampleDefaultPodTopologySpread() {
	_, scores := scoreAll(panics{}, scoring.DefaultPodTopologySpread{}, serviceCluster(panics{}), api.MakePod("other").Obj())
	fmt.Println(scores)
	// Output: [100 100 100]
}

func ExampleServiceAffinity() {
	p := scoring.ServiceAffinity{AntiAffinityLabels: []string{api.LabelTopologyZone}}
	_, scores := scoreAll(panics{}, p, serviceCluster(panics{}), api.MakePod("w4").Labels("app", "web").Obj())
	fmt.Println(scores)
	// Output: [0 0 100]
}

func ExampleSelectorSpreadScore() {
	// One of the pods is on the node; the fullest node has three.
	fmt.Println(scoring.SelectorSpreadScore(1, 3))
	// Output: 66
}

func ExampleSelectorSpreadZonedScore() {
	// The same node; its zone has no other pods, and the fullest zone has four.
	fmt.Println(scoring.SelectorSpreadZonedScore(1, 3, 1, 4))
	// Output: 72
}

func ExampleServiceAffinityPart() {
	// One of a service's four pods is on the nodes with the same rack.
	fmt.Println(scoring.ServiceAffinityPart(1, 4, 1))
	// Output: 75
}

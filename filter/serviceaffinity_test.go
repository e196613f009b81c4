package filter_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// racks are three nodes with the labels rack and row, the last without a row.
func racks() []*api.Node {
	return []*api.Node{
		api.MakeNode("n1", "4", "8Gi").Labels("rack", "r1", "row", "1").Obj(),
		api.MakeNode("n2", "4", "8Gi").Labels("rack", "r2", "row", "1").Obj(),
		api.MakeNode("n3", "4", "8Gi").Labels("rack", "r1").Obj(),
	}
}

func webService(selector map[string]string) *api.Service {
	return &api.Service{
		ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}, Spec: api.ServiceSpec{Selector: selector},
	}
}

// passing lists the nodes that pass a filter.
func passing(t failer, p framework.PreFilterPlugin, s *framework.Snapshot, pod *api.Pod) (names []string) {
	t.Helper()
	info := podInfo(t, s, pod)
	var c framework.Cycle
	c.Reset(info, s, 0, 0)
	bound, status := p.PreFilter(&c)
	if !status.IsSuccess() && !status.IsSkip() {
		t.Fatal(status)
	}
	for _, n := range s.All() {
		if bound.Filter == nil || bound.Filter.Filter(info, n).IsSuccess() {
			names = append(names, n.Name())
		}
	}
	return names
}

func TestServiceAffinity(t *testing.T) {
	web := map[string]string{"app": "web"}
	on := func(node string, labels ...string) *api.Pod {
		return api.MakePod("on-" + node).Labels(labels...).Node(node).Obj()
	}
	pod := api.MakePod("p").Labels("app", "web")
	for _, tt := range []struct {
		name    string
		labels  []string
		service map[string]string // selector; nil: no service
		pods    []*api.Pod
		pod     api.PodBuilder
		want    string
	}{
		{"no labels", nil, web, []*api.Pod{on("n2", "app", "web")}, pod, "[n1 n2 n3]"},
		{"nobody to follow", []string{"rack"}, web, nil, pod, "[n1 n2 n3]"},
		{"follows the first", []string{"rack"}, web, []*api.Pod{on("n1", "app", "web"), on("n2", "app", "web")}, pod, "[n1 n3]"},
		{"both labels", []string{"rack", "row"}, web, []*api.Pod{on("n1", "app", "web")}, pod, "[n1]"},
		{"a label that its node lacks", []string{"rack", "row"}, web, []*api.Pod{on("n3", "app", "web")}, pod, "[n1 n3]"},
		{"no service", []string{"rack"}, nil, []*api.Pod{on("n1", "app", "web")}, pod, "[n1 n2 n3]"},
		{"a service of others", []string{"rack"}, map[string]string{"app": "db"}, []*api.Pod{on("n1", "app", "web")}, pod, "[n1 n2 n3]"},
		{"not alike", []string{"rack"}, web, []*api.Pod{on("n1", "app", "db")}, pod, "[n1 n2 n3]"},
		{"more labels than the pod", []string{"rack"}, web, []*api.Pod{on("n2", "app", "web", "tier", "front")}, pod, "[n2]"},
		{"the node selector wins", []string{"rack"}, web, []*api.Pod{on("n1", "app", "web")}, pod.NodeSelector("rack", "r2"), "[n2]"},
		{"and leaves the other label", []string{"rack", "row"}, web, []*api.Pod{on("n1", "app", "web")}, pod.NodeSelector("rack", "r2"), "[n2]"},
		{"a selector without a service", []string{"rack"}, nil, nil, pod.NodeSelector("rack", "r1"), "[n1 n3]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshotOf(t, racks(), tt.pods...)
			if tt.service != nil {
				if err := framework.Put(s, webService(tt.service)); err != nil {
					t.Fatal(err)
				}
			}
			if got := fmt.Sprint(passing(t, filter.ServiceAffinity{AffinityLabels: tt.labels}, s, tt.pod.Obj())); got != tt.want {
				t.Errorf("nodes that pass: %s, want %s", got, tt.want)
			}
		})
	}
}

// TestServiceAffinityOracle compares verdicts with a direct transcription, on random
// clusters, also after pods have left and come back.
func TestServiceAffinityOracle(t *testing.T) {
	value := rapid.SampledFrom([]string{"", "a", "b"})
	rapid.Check(t, func(t *rapid.T) {
		var nodes []*api.Node
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			n := api.MakeNode(fmt.Sprintf("n%d", i), "4", "4Gi")
			for _, key := range []string{"rack", "row"} {
				if v := value.Draw(t, key); v != "" {
					n = n.Labels(key, v)
				}
			}
			nodes = append(nodes, n.Obj())
		}
		labelled := func(b api.PodBuilder) api.PodBuilder {
			if v := value.Draw(t, "app"); v != "" {
				b = b.Labels("app", v)
			}
			return b.Namespace(rapid.SampledFrom([]string{"default", "team"}).Draw(t, "namespace"))
		}
		var pods []*api.Pod
		for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
			b := labelled(api.MakePod(fmt.Sprintf("p%d", i)))
			pods = append(pods, b.Node(nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")].Name).Obj())
		}
		b := labelled(api.MakePod("new"))
		if v := value.Draw(t, "wanted rack"); v != "" {
			b = b.NodeSelector("rack", v)
		}
		pod := b.Obj()
		s := snapshotOf(t, nodes, pods...)
		served := rapid.Bool().Draw(t, "served")
		if served {
			service := webService(map[string]string{})
			service.Namespace = pod.Namespace
			if err := framework.Put(s, service); err != nil {
				t.Fatal(err)
			}
		}
		// The original visits the nodes in order, and the pods of each node in
		// order.
		var order []*api.Pod
		for _, n := range nodes {
			for _, p := range pods {
				if p.Spec.NodeName == n.Name {
					order = append(order, p)
				}
			}
		}
		labels := []string{"rack", "row"}
		want := serviceAffinityOracle(nodes, order, pod, labels, served)
		if got := fmt.Sprint(passing(t, filter.ServiceAffinity{AffinityLabels: labels}, s, pod)); got != want {
			t.Errorf("nodes that pass: %s, want %s", got, want)
		}
	})
}

// serviceAffinityOracle is a direct transcription of CheckServiceAffinity.
func serviceAffinityOracle(nodes []*api.Node, pods []*api.Pod, pod *api.Pod, labels []string, served bool) string {
	byName := map[string]*api.Node{}
	for _, n := range nodes {
		byName[n.Name] = n
	}
	wanted := map[string]string{}
	for _, l := range labels {
		if v, ok := pod.Spec.NodeSelector[l]; ok {
			wanted[l] = v
		}
	}
	if served {
		for _, p := range pods {
			app, ok := pod.Labels["app"]
			if p.Namespace != pod.Namespace || ok && p.Labels["app"] != app {
				continue
			}
			for _, l := range labels {
				v, ok := byName[p.Spec.NodeName].Labels[l]
				if _, already := wanted[l]; ok && !already {
					wanted[l] = v
				}
			}
			break
		}
	}
	var names []string
	for _, n := range nodes {
		fits := true
		for l, v := range wanted {
			have, ok := n.Labels[l]
			fits = fits && ok && have == v
		}
		if fits {
			names = append(names, n.Name)
		}
	}
	return fmt.Sprint(names)
}

// TestServiceAffinityIsTold removes the first pod to follow, puts it back, and adds
// a nominated one.
func TestServiceAffinityIsTold(t *testing.T) {
	s := snapshotOf(t, racks(),
		api.MakePod("first").Labels("app", "web").Node("n1").Obj(),
		api.MakePod("second").Labels("app", "web").Node("n2").Obj())
	if err := framework.Put(s, webService(map[string]string{"app": "web"})); err != nil {
		t.Fatal(err)
	}
	pod := podInfo(t, s, api.MakePod("p").Labels("app", "web").Obj())
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	bound, _ := filter.ServiceAffinity{AffinityLabels: []string{"rack"}}.PreFilter(&c)
	original := bound.Filter.(framework.FilterUpdater)
	first, second := s.Node("n1").Pods[0], s.Node("n2").Pods[0]
	passes := func(f framework.NodeFilter) (names string) {
		for _, n := range s.All() {
			if f.Filter(pod, n).IsSuccess() {
				names += n.Name()
			}
		}
		return names
	}
	u := original.Fork()
	check := func(what string, f framework.NodeFilter, want string) {
		t.Helper()
		if got := passes(f); got != want {
			t.Errorf("%s: %s pass, want %s", what, got, want)
		}
	}
	check("at first", u, "n1n3")
	u.RemovePod(&c, first, s.Node("n1"))
	check("without the first", u, "n2")
	u.RemovePod(&c, second, s.Node("n2"))
	check("without both", u, "n1n2n3")
	u.AddPod(&c, podInfo(t, s, api.MakePod("nominated").Labels("app", "web").Obj()), s.Node("n2"))
	s2 := u.Fork()
	u.AddPod(&c, first, s.Node("n1"))
	check("with the first back", u, "n1n3")
	check("the fork before", s2, "n2")
	check("the original", original, "n1n3")
}

func TestServiceAffinityConformance(t *testing.T) {
	frameworktest.Run(t, filter.ServiceAffinity{}, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Unexercised: map[frameworktest.Exercise]string{
		frameworktest.Rejects: "without labels there is nothing to check",
	}})
	frameworktest.Run(t, filter.ServiceAffinity{AffinityLabels: []string{api.LabelTopologyZone}}, frameworktest.Config{Clusters: 8, Quick: !effort.Full(), Generate: withServices})
}

// withServices returns a random cluster in which most pods belong to a service,
// and all that run are in zone a, as the plugin would have placed them: if they
// were in several zones, the order of nodes would decide.
func withServices(seed uint64) *api.Objects {
	o := frameworktest.Cluster(seed)
	zones := map[string]string{}
	for _, n := range o.Nodes {
		zones[n.Name] = n.Labels[api.LabelTopologyZone]
	}
	o.Pods = slices.DeleteFunc(o.Pods, func(p *api.Pod) bool { return p.Spec.NodeName != "" && zones[p.Spec.NodeName] != "a" })
	for _, namespace := range o.Namespaces {
		for _, app := range []string{"web", "db", "cache"} {
			s := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: namespace.Name, Name: app}}
			s.Spec.Selector = map[string]string{"app": app}
			o.Services = append(o.Services, s)
		}
	}
	return o
}

func ExampleServiceAffinity() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range racks() {
		if err := s.AddNode(n); err != nil {
			panic(err)
		}
	}
	if err := framework.Put(s, webService(map[string]string{"app": "web"})); err != nil {
		panic(err)
	}
	first, err := s.NewPodInfo(api.MakePod("first").Labels("app", "web").Obj())
	if err != nil {
		panic(err)
	}
	if err := s.AddPod(first, "n2"); err != nil {
		panic(err)
	}
	next, err := s.NewPodInfo(api.MakePod("next").Labels("app", "web").Obj())
	if err != nil {
		panic(err)
	}
	var c framework.Cycle
	c.Reset(next, s, 0, 0)
	bound, _ := filter.ServiceAffinity{AffinityLabels: []string{"rack"}}.PreFilter(&c)
	for _, n := range s.All() {
		fmt.Println(n.Name(), bound.Filter.Filter(next, n))
	}
	// Output:
	// n1 Unschedulable: node(s) didn't match service affinity
	// n2 Success
	// n3 Unschedulable: node(s) didn't match service affinity
}

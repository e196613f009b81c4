package whatif_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/google/go-cmp/cmp"
)

var cpuOnly = whatif.RebalanceConfig{
	Low: map[resource.Name]float64{resource.CPU: 30}, High: map[resource.Name]float64{resource.CPU: 60}, UseRequests: true,
}

func ExamplePlanner_Rebalance() {
	web := api.MakePod("").Owner("ReplicaSet", "web").Requests("2", "1Gi").Node("a")
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "64Gi"), api.MakeNode("b", "10", "64Gi"), api.MakeNode("c", "10", "64Gi")},
		web.Name("web-0").Obj(), web.Name("web-1").Obj(), web.Name("web-2").Obj(), web.Name("web-3").Priority(9).Obj(),
		api.MakePod("db").Requests("4", "8Gi").Node("c").Obj(),
	)
	r, err := planner(s).Rebalance(cpuOnly)
	if err != nil {
		panic(err)
	}
	if err := r.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var first whatif.NodeUse = r.Nodes[0]
	var class whatif.UseClass = first.Class
	var move whatif.Move = r.Moves[0]
	var config whatif.RebalanceConfig = cpuOnly
	fmt.Println(class, move.To, config.UseRequests)
	// Output:
	// 1 pods are evicted
	// NODE  CLASS    USE
	// a     high     cpu 80%, memory 6%
	// b     bothLow  cpu 0%, memory 0%
	// c     prodLow  cpu 40%, memory 12%
	// POD            FROM  TO  BATCH
	// default/web-0  a     b   0
	// high b true
}

// metric reports the use of a node: the system's, and that of pods by name.
func metric(node string, at time.Time, system string, pods map[string]string) *api.NodeMetric {
	m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: node}}
	m.Status.UpdateTime = &at
	cpu := func(q string) api.ResourceMap {
		return api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse(q), resource.Memory: resource.MustParse("1Gi")})
	}
	m.Status.NodeMetric = &api.NodeMetricInfo{SystemUsage: cpu(system)}
	for _, name := range []string{"p0", "p1", "p2", "p3"} {
		if use := pods[name]; use != "" {
			m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Namespace: "default", Name: name, PodUsage: cpu(use)})
		}
	}
	return m
}

// TestRebalanceClasses checks the class of a node for every use, by hand.
func TestRebalanceClasses(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	prod := api.MakePod("").Labels("koordinator.sh/priority-class", "koord-prod").Owner("ReplicaSet", "x").Requests("1", "").Node("n")
	batch := prod.Labels("koordinator.sh/priority-class", "koord-batch")
	config := whatif.RebalanceConfig{
		Low: map[resource.Name]float64{resource.CPU: 30}, High: map[resource.Name]float64{resource.CPU: 60},
		ProdLow: map[resource.Name]float64{resource.CPU: 10}, ProdHigh: map[resource.Name]float64{resource.CPU: 40}, Expiration: time.Minute,
	}
	tests := []struct {
		name                string
		system, prod, batch string
		cordoned            bool
		want                whatif.UseClass
	}{
		{"idle", "1", "500m", "500m", false, whatif.UseBothLow},
		{"at the low threshold", "1", "1", "1", false, whatif.UseBothLow},
		{"idle, with prod pods", "0", "2", "0", false, whatif.UseLow},
		{"idle, cordoned", "1", "500m", "500m", true, whatif.UseNormal},
		{"in between", "2", "2", "1", false, whatif.UseNormal},
		{"in between, few prod pods", "3", "1", "1", false, whatif.UseProdLow},
		{"in between, many prod pods", "0", "4001m", "1", false, whatif.UseProdHigh},
		{"at the high threshold", "2", "2", "2", false, whatif.UseNormal},
		{"above the high threshold", "2", "2", "2001m", false, whatif.UseHigh},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := api.MakeNode("n", "10", "64Gi")
			if test.cordoned {
				node = node.Unschedulable()
			}
			s := cluster([]api.NodeBuilder{node}, prod.Name("p0").Obj(), batch.Name("p1").Obj())
			s.SetNow(now)
			put(s, metric("n", now, test.system, map[string]string{"p0": test.prod, "p1": test.batch}))
			r, err := planner(s).Rebalance(config)
			if err != nil || len(r.Nodes) != 1 || r.Nodes[0].Class != test.want || r.Stopped == "" {
				t.Errorf("Rebalance = %+v, %v; want class %s", r, err, test.want)
			}
			s.SetNow(now.Add(time.Minute))
			if r, err := planner(s).Rebalance(config); err != nil || len(r.Nodes) != 0 {
				t.Errorf("an expired metric counts: %+v, %v", r, err)
			}
		})
	}
}

// TestRebalance checks the laws of evictions on clusters of equal nodes: every moved
// pod leaves an overused node for an underused one that stays within its limit, and
// sources do not go on below theirs.
func TestRebalance(t *testing.T) {
	moved := 0
	for seed := range 30 {
		var nodes []api.NodeBuilder
		var pods []*api.Pod
		for i := range 8 {
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "10", "64Gi"))
			for k := range (seed*7 + i*5) % 10 {
				pods = append(pods, api.MakePod(fmt.Sprintf("p%d-%d", i, k)).Owner("ReplicaSet", "x").Priority(int32(k%3)).
					Requests(fmt.Sprintf("%dm", 300+100*((i+k+seed)%10)), "1Gi").Node(fmt.Sprint("n", i)).Obj())
			}
		}
		s := cluster(nodes, pods...)
		before := content(s)
		p := planner(s)
		r, err := p.Rebalance(cpuOnly)
		if err != nil {
			t.Fatal(err)
		}
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
		classes, use := map[string]whatif.UseClass{}, map[string]int64{}
		for _, n := range r.Nodes {
			classes[n.Node], use[n.Node] = n.Class, s.Node(n.Node).Requested[0]
			share := float64(use[n.Node]) / 100
			want := whatif.UseNormal
			if share > 60 {
				want = whatif.UseHigh
			} else if share <= 30 {
				want = whatif.UseBothLow
			} else {
				want = whatif.UseProdLow // without thresholds for prod pods they are low
			}
			if n.Class != want {
				t.Errorf("seed %d: node %s uses %.1f %%: %s, want %s", seed, n.Node, share, n.Class, want)
			}
		}
		for _, m := range r.Moves {
			info, at := s.Pod(m.Pod)
			if at.Name() != m.From || classes[m.From] != whatif.UseHigh || classes[m.To] != whatif.UseBothLow {
				t.Errorf("seed %d: move %+v from a node of class %s to %s", seed, m, classes[m.From], classes[m.To])
			}
			if use[m.From] <= 6000 {
				t.Errorf("seed %d: %+v leaves a node that is no longer overused", seed, m)
			}
			use[m.From] -= info.Requests[0]
			if use[m.To] += info.Requests[0]; use[m.To] > 6000 {
				t.Errorf("seed %d: %+v makes its node overused", seed, m)
			}
		}
		moved += len(r.Moves)
		if again, err := p.Rebalance(cpuOnly); err != nil || !cmp.Equal(r, again) {
			t.Errorf("seed %d: asked again: %s, %v", seed, cmp.Diff(r, again), err)
		}
	}
	if moved < 20 {
		t.Errorf("%d pods moved; the test shows too little", moved)
	}
}

// TestRebalanceOrder checks in which order pods leave: each pair differs in one thing that
// counts, and in the next one the other way round.
func TestRebalanceOrder(t *testing.T) {
	class := func(name string) api.PodBuilder { return api.MakePod("").Labels("koordinator.sh/priority-class", name) }
	none := class("koord-prod")
	cost := func(n string) api.PodBuilder {
		return none.Annotations("controller.kubernetes.io/pod-deletion-cost", n)
	}
	tests := []struct {
		name          string
		first, second api.PodBuilder
		qos           [2]api.PodQOSClass
		cpu           [2]string
		made          [2]int // hours after the start
	}{
		{name: "free before batch", first: class("koord-free").Priority(9), second: class("koord-batch").Priority(1)},
		{name: "batch before mid", first: class("koord-batch").Priority(9), second: class("koord-mid").Priority(1)},
		{name: "mid before prod", first: class("koord-mid").Priority(9), second: class("koord-prod").Priority(1)},
		{name: "no class is prod", first: api.MakePod("").Priority(1), second: class("koord-prod").Priority(2)},
		{name: "lower priority", first: none.Priority(1), second: none.Priority(2), qos: [2]api.PodQOSClass{"Guaranteed", "BestEffort"}},
		{name: "best effort before burstable", first: cost("5"), second: cost("1"), qos: [2]api.PodQOSClass{"BestEffort", "Burstable"}},
		{name: "burstable before guaranteed", first: cost("5"), second: cost("1"), qos: [2]api.PodQOSClass{"Burstable", "Guaranteed"}},
		{name: "lower cost", first: cost("-1"), second: none, cpu: [2]string{"5", "3"}},
		{name: "a malformed cost is 0", first: cost("x"), second: cost("1"), cpu: [2]string{"5", "3"}},
		{name: "better cover", first: none, second: none, cpu: [2]string{"3", "5"}, made: [2]int{0, 9}},
		{name: "too small covers less", first: none, second: none, cpu: [2]string{"6500m", "1500m"}, made: [2]int{0, 9}},
		{name: "younger", first: none, second: none, made: [2]int{9, 0}},
	}
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var pods []*api.Pod
			for i, b := range []api.PodBuilder{test.first, test.second} {
				cpu := test.cpu[i]
				if cpu == "" {
					cpu = "4"
				}
				p := b.Name([]string{"z-first", "a-second"}[i]).Requests(cpu, "1Gi").Owner("ReplicaSet", "web").Node("a").Obj()
				p.Status.QOSClass, p.CreationTimestamp = test.qos[i], start.Add(time.Duration(test.made[i])*time.Hour)
				pods = append(pods, p)
			}
			for range 2 { // also in the other order of arrival
				s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "64Gi"), api.MakeNode("b", "20", "64Gi"), api.MakeNode("c", "20", "64Gi")}, pods...)
				r, err := planner(s).Rebalance(cpuOnly)
				if err != nil || len(r.Moves) == 0 || r.Moves[0].Pod != "default/z-first" {
					t.Errorf("the first to go is not the first: %+v, %v", r.Moves, err)
				}
				pods[0], pods[1] = pods[1], pods[0]
			}
		})
	}
	// Without any difference, the name counts.
	twin := api.MakePod("").Requests("4", "1Gi").Owner("ReplicaSet", "web").Node("a")
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "64Gi"), api.MakeNode("b", "20", "64Gi")}, twin.Name("y").Obj(), twin.Name("x").Obj())
	if r, err := planner(s).Rebalance(cpuOnly); err != nil || len(r.Moves) != 1 || r.Moves[0].Pod != "default/x" {
		t.Errorf("of equal pods %+v goes, %v", r.Moves, err)
	}
}

// TestRebalanceTargets checks that a pod goes to no target that it would make overused, also
// if the scheduler prefers that one or there is no other.
func TestRebalanceTargets(t *testing.T) {
	for _, test := range []struct{ cpu, want string }{
		{"3", "default/web to b"}, // exactly at the threshold
		{"3001m", ""},
	} {
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "64Gi"), api.MakeNode("b", "10", "64Gi")},
			api.MakePod("web").Owner("ReplicaSet", "web").Requests(test.cpu, "1Gi").Node("a").Obj(), api.MakePod("db").Requests("5", "1Gi").Node("a").Obj(),
			api.MakePod("cache").Requests("3", "1Gi").Node("b").Obj())
		r, err := planner(s).Rebalance(cpuOnly)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range r.Moves {
			got += m.Pod + " to " + m.To
		}
		if got != test.want || r.Stopped != "" {
			t.Errorf("a pod of %s CPU and a target with 3 to spare: moves %q, want %q", test.cpu, got, test.want)
		}
	}
}

// TestRebalanceUnlisted checks that a resource which a pod's metric does not list does not
// count when pods are compared.
func TestRebalanceUnlisted(t *testing.T) {
	web := api.MakePod("").Owner("ReplicaSet", "web").Requests("1", "1Gi").Node("a")
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "100Gi"), api.MakeNode("b", "20", "200Gi")}, web.Name("z").Obj(), web.Name("y").Obj())
	use := func(cpu, memory string) resource.List {
		return resource.List{resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse(memory)}
	}
	for name, pods := range map[string]map[string]resource.List{"a": {
		"y": use("800m", "8Gi"), "z": {resource.CPU: resource.MustParse("900m")}, // of 1 CPU and 10Gi too much
	}, "b": nil} {
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
		m.Status.UpdateTime = new(s.Now())
		m.Status.NodeMetric = &api.NodeMetricInfo{}
		if name == "a" {
			m.Status.NodeMetric.SystemUsage = api.ResourceMapOf(use("5300m", "62Gi"))
		}
		for _, pod := range []string{"y", "z"} {
			if list := pods[pod]; list != nil {
				m.Status.PodsMetric = append(m.Status.PodsMetric, &api.PodMetricInfo{Namespace: "default", Name: pod, PodUsage: api.ResourceMapOf(list)})
			}
		}
		put(s, m)
	}
	r, err := planner(s).Rebalance(whatif.RebalanceConfig{
		Low:  map[resource.Name]float64{resource.CPU: 30, resource.Memory: 30},
		High: map[resource.Name]float64{resource.CPU: 60, resource.Memory: 60},
	})
	if err != nil || len(r.Moves) == 0 || r.Moves[0].Pod != "default/z" {
		t.Errorf("Rebalance = %+v, %v; want z first, which covers 9 tenths of the CPU, before y with 8 of both", r, err)
	}
}

// TestRebalanceNodes checks that the node with the highest weighted use comes first.
func TestRebalanceNodes(t *testing.T) {
	web := api.MakePod("").Owner("ReplicaSet", "web")
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "100Gi"), api.MakeNode("b", "10", "100Gi"), api.MakeNode("c", "40", "400Gi")},
		web.Name("a0").Requests("4", "45Gi").Node("a").Obj(), web.Name("a1").Requests("3", "45Gi").Node("a").Obj(), // 70 and 90 percent
		web.Name("b0").Requests("4", "35Gi").Node("b").Obj(), web.Name("b1").Requests("4", "35Gi").Node("b").Obj()) // 80 and 70 percent
	for _, test := range []struct {
		weights map[resource.Name]int64
		want    string
	}{
		{nil, "a"}, // 80 to 75
		{map[resource.Name]int64{resource.CPU: 1, resource.Memory: 0}, "b"},
		{map[resource.Name]int64{resource.CPU: 3, resource.Memory: 1}, "b"}, // 75 to 77.5
		{map[resource.Name]int64{resource.CPU: 1, resource.Memory: 1}, "a"},
	} {
		config := whatif.RebalanceConfig{
			Low:  map[resource.Name]float64{resource.CPU: 30, resource.Memory: 30},
			High: map[resource.Name]float64{resource.CPU: 60, resource.Memory: 60}, UseRequests: true, Weights: test.weights,
		}
		r, err := planner(s).Rebalance(config)
		if err != nil || len(r.Moves) < 2 || r.Moves[0].From != test.want || r.Moves[len(r.Moves)-1].From == test.want {
			t.Errorf("weights %v: the first from %s, want all of it first: %+v, %v", test.weights, test.want, r.Moves, err)
		}
	}
}

// TestRebalanceStays checks pods that must not be evicted, and why nothing happens.
func TestRebalanceStays(t *testing.T) {
	nodes := []api.NodeBuilder{api.MakeNode("a", "10", "64Gi"), api.MakeNode("b", "10", "64Gi"), api.MakeNode("c", "10", "64Gi"), api.MakeNode("d", "10", "64Gi").Unschedulable()}
	big := api.MakePod("").Requests("3500m", "1Gi").Node("a")
	s := cluster(nodes, big.Name("bare").Obj(), big.Name("agent").Owner("DaemonSet", "x").Obj())
	r, err := planner(s).Rebalance(cpuOnly)
	if err != nil || len(r.Moves) != 0 || r.Stopped != "" {
		t.Errorf("bare pods and daemons: %+v, %v", r, err)
	}
	critical, gone := big.Name("critical").Owner("ReplicaSet", "x").Priority(2_000_000_000).Obj(), big.Name("gone").Owner("ReplicaSet", "x").Obj()
	gone.DeletionTimestamp = new(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	if r, err := planner(cluster(nodes, critical, gone)).Rebalance(cpuOnly); err != nil || len(r.Moves) != 0 || r.Stopped != "" {
		t.Errorf("a critical pod and one that leaves: %+v, %v", r, err)
	}
	s = cluster(nodes, big.Name("p0").Owner("ReplicaSet", "x").Labels("app", "web").Obj(), big.Name("p1").Owner("ReplicaSet", "x").Labels("app", "web").Obj())
	put(s, guard("web", 0))
	if r, err := planner(s).Rebalance(cpuOnly); err != nil || len(r.Moves) != 0 || r.Stopped != "" {
		t.Errorf("a budget: %+v, %v", r, err)
	}
	put(s, guard("web", 1))
	if r, err := planner(s).Rebalance(cpuOnly); err != nil || len(r.Moves) != 1 {
		t.Errorf("a budget of one: %+v, %v", r, err)
	}
	many := cpuOnly
	many.NumberOfNodes = 2
	if r, err := planner(s).Rebalance(many); err != nil || len(r.Moves) != 0 || r.Stopped == "" {
		t.Errorf("two underused nodes: %+v, %v", r, err)
	}
	for _, bad := range []whatif.RebalanceConfig{
		{NumberOfNodes: -1}, {Low: map[resource.Name]float64{"cpu": 101}}, {ProdHigh: map[resource.Name]float64{"cpu": -1}},
	} {
		if _, err := planner(s).Rebalance(bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
	deviation := whatif.RebalanceConfig{
		Low: map[resource.Name]float64{resource.CPU: 10}, High: map[resource.Name]float64{resource.CPU: 10}, Deviation: true, UseRequests: true,
	}
	r, err = planner(s).Rebalance(deviation) // 70, 0, 0, 0 percent: the mean is 17.5
	if err != nil || r.Nodes[0].Class != whatif.UseHigh || r.Nodes[1].Class != whatif.UseBothLow || r.Nodes[3].Class != whatif.UseNormal {
		t.Errorf("deviation: %+v, %v", r, err)
	}
}

// TestRebalanceHugeUse reports a use whose hundredfold no int64 holds: it is no negative share.
func TestRebalanceHugeUse(t *testing.T) {
	o, err := api.Decode([]byte(`{"kind": "List", "items": [
		{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
		{"kind": "NodeMetric", "metadata": {"name": "n"}, "status": {"updateTime": "2030-01-01T00:00:00Z",
			"nodeMetric": {"systemUsage": {"resources": {"memory": "190Pi"}}}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	memory := map[resource.Name]float64{resource.Memory: 20}
	r, err := p.Rebalance(whatif.RebalanceConfig{Low: memory, High: memory})
	if err != nil || r.Nodes[0].Class != whatif.UseHigh || r.Nodes[0].Shares["memory"] < 1e9 {
		t.Errorf("%+v (%v), want more than 1e9 percent", r, err)
	}
}

// A metric that was made in Go may have nil among its reports of pods: it says nothing.
func TestRebalanceWithoutReport(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.SetNow(at)
	m := &api.NodeMetric{}
	m.Name = "n"
	m.Status = api.NodeMetricStatus{UpdateTime: &at, NodeMetric: &api.NodeMetricInfo{}, PodsMetric: []*api.PodMetricInfo{nil}}
	if err := framework.Put(s, m); err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	limits := map[resource.Name]float64{resource.CPU: 40}
	got, err := p.Rebalance(whatif.RebalanceConfig{Low: limits, High: map[resource.Name]float64{resource.CPU: 60}})
	if err != nil || len(got.Moves) > 0 {
		t.Errorf("Rebalance = %+v, %v, want no moves", got, err)
	}
}

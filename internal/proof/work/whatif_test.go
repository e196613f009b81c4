//go:build full

package work

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// drainBehindOneBudget drains a node with n pods and a budget that lets one go at a time, and
// a node with n pods that may not leave.
func drainBehindOneBudget(t *testing.T, n int) {
	var nodes []*api.Node
	for _, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, api.MakeNode(name, "1000", "1000Gi").Resource("pods", "100000").Obj())
	}
	w := newWorld(t, nodes...)
	for app, node := range map[string]string{"free": "a", "held": "b"} {
		for i := range n {
			w.add(w.derive(api.MakePod(fmt.Sprint(app, "-", i)).Labels("app", app).Requests("1m", "1Mi").Obj()), node)
		}
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: app}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
		if app == "free" {
			b.Status.DisruptionsAllowed = 1
		}
		if err := framework.Put(w.snap, b); err != nil {
			t.Fatal(err)
		}
	}
	p, err := whatif.New(scheduling.Kubernetes137(), w.snap)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Drain("a", "b")
	if err != nil || d.Batches != n || len(d.Moves) != n || len(d.Stuck) != n {
		t.Fatalf("%d batches, %d pods move, %d are stuck (%v), want %d of each", d.Batches, len(d.Moves), len(d.Stuck), err, n)
	}
}

// droppedConstraints asks where a pod with n spread constraints, and as many terms of affinity
// and anti-affinity, goes without them.
func droppedConstraints(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("a", "4", "8Gi").Obj())
	b := api.MakePod("p").Obj()
	b.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{}, PodAntiAffinity: &api.PodAntiAffinity{}}
	near, far := b.Spec.Affinity.PodAffinity, b.Spec.Affinity.PodAntiAffinity
	var changes []whatif.Change
	for i := range n {
		s := &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}
		key := fmt.Sprint("key-", i)
		b.Spec.TopologySpreadConstraints = append(b.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: s,
		})
		term := api.PodAffinityTerm{TopologyKey: key, LabelSelector: s}
		near.RequiredDuringSchedulingIgnoredDuringExecution = append(near.RequiredDuringSchedulingIgnoredDuringExecution, term)
		far.RequiredDuringSchedulingIgnoredDuringExecution = append(far.RequiredDuringSchedulingIgnoredDuringExecution, term)
		for _, kind := range []whatif.ChangeKind{whatif.ChangeSpread, whatif.ChangeAffinity, whatif.ChangeAntiAffinity} {
			changes = append(changes, whatif.Change{Kind: kind, Name: key, Index: i})
		}
	}
	p, err := whatif.New(scheduling.Kubernetes137(), w.snap)
	if err != nil {
		t.Fatal(err)
	}
	if node, err := p.Decide(w.derive(b), "a", changes...); err != nil || node != "a" {
		t.Fatalf("the pod goes to %q, %v, want a", node, err)
	}
}

// removableUnderBudgets asks for each of n/5 nodes with a pod whether it may go, beside n
// budgets in one namespace.
func removableUnderBudgets(t *testing.T, n int) {
	var nodes []*api.Node
	for i := range max(2, n/5) {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Labels("name", fmt.Sprint(i)).Obj())
	}
	w := newWorld(t, nodes...)
	for i := range nodes {
		b := api.MakePod(fmt.Sprint("p", i)).Labels("app", fmt.Sprint("app-", i)).NodeSelector("name", fmt.Sprint(i))
		p := b.Obj()
		p.Status.Phase = api.PodRunning
		w.add(w.derive(p), nodes[i].Name)
	}
	for i := range n {
		b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("b", i)}}
		b.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint("app-", i)}}
		if err := framework.Put(w.snap, b); err != nil {
			t.Fatal(err)
		}
	}
	p, err := whatif.New(scheduling.Kubernetes137(), w.snap)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.Removable()
	if err != nil || len(list) != len(nodes) {
		t.Fatalf("%d answers, %v, want %d", len(list), err, len(nodes))
	}
	for _, r := range list {
		if r.Removable || n > 1 && r.Stuck.Evicted {
			t.Fatalf("%s: %+v, want that a budget keeps it", r.Node, r)
		}
	}
}

// nodesForZones asks which of five types of nodes n replicas need that spread over three zones and over
// nodes.
func nodesForZones(t *testing.T, n int) {
	var nodes []*api.Node
	for i := range 3 {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Zone(fmt.Sprint("z", i)).Obj())
	}
	w := newWorld(t, nodes...)
	b := api.MakePod("web").Labels("app", "web").Requests("500m", "1Gi")
	b = b.Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web")
	pods, err := whatif.Replicas(w.derive(b.Obj()), n)
	if err != nil {
		t.Fatal(err)
	}
	var types []whatif.NodeType
	for i := range 5 {
		types = append(types, whatif.NodeType{Name: fmt.Sprint("t", i), Node: api.MakeNode("", "4", "16Gi").Zone(fmt.Sprint("z", i%3)).Obj()})
	}
	p, err := whatif.New(scheduling.Kubernetes137(), w.snap)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.NodesNeeded(pods, types...)
	if err != nil || len(got.Placement.Placed) != n {
		t.Fatalf("%+v, %v; want %d pods placed", got, err, n)
	}
}

// rebalanceOverused are n nodes, half of them overused, and twice as many pods that all ask for the same.
func rebalanceOverused(t *testing.T, n int) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range n {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n / 2 {
		for k := range 4 {
			name, node := fmt.Sprint("p", i, "-", k), fmt.Sprint("n", i)
			pod, err := s.NewPodInfo(api.MakePod(name).UID(api.UID(name)).Owner("ReplicaSet", "web").Requests("900m", "1Gi").Node(node).Obj())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.AddPod(pod, node); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		t.Fatal(err)
	}
	use := func(percent float64) map[resource.Name]float64 {
		return map[resource.Name]float64{resource.CPU: percent}
	}
	r, err := p.Rebalance(whatif.RebalanceConfig{Low: use(30), High: use(60), UseRequests: true})
	if err != nil || len(r.Moves) < n/2 {
		t.Fatalf("%d moves, %v", len(r.Moves), err)
	}
}

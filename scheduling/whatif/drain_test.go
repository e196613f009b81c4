package whatif_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	gocmp "github.com/google/go-cmp/cmp"
)

// guard is a budget over the pods with label app.
func guard(app string, allowed int32) *api.PodDisruptionBudget {
	return &api.PodDisruptionBudget{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: app},
		Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// put puts an object into the snapshot.
func put[T api.Object](s *framework.Snapshot, o *T) {
	if err := framework.Put(s, o); err != nil {
		panic(err)
	}
}

func ExamplePlanner_Drain() {
	web := api.MakePod("").Labels("app", "web").Requests("1", "1Gi").Node("a")
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "4", "16Gi"), api.MakeNode("c", "4", "16Gi")},
		web.Name("web-0").Obj(), web.Name("web-1").Obj(), api.MakePod("db").Requests("6", "1Gi").Node("a").Obj(),
	)
	put(s, guard("web", 1)) // one pod of web at a time
	d, err := planner(s).Drain("a")
	if err != nil {
		panic(err)
	}
	if err := d.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var stuck whatif.Stuck = d.Stuck[0]
	fmt.Println(d.Clean(), stuck.Evicted, stuck.Reasons[0].Plugin)
	// Output:
	// 1 nodes drain in 2 batches: 2 pods move, 1 are stuck, 0 stay
	// POD            FROM  TO  BATCH
	// default/web-0  a     b   1
	// default/web-1  a     c   2
	// STUCK POD   FROM  WHY
	// default/db  a     0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.
	// false true NodeResourcesFit
}

func ExamplePlanner_Removable() {
	small := api.MakePod("").Requests("1", "1Gi")
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "4", "16Gi"), api.MakeNode("c", "4", "16Gi")},
		small.Name("web").Owner("ReplicaSet", "web").Node("a").Obj(),
		small.Name("job").Annotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "false").Node("b").Obj(),
		small.Name("one").Requests("4", "1Gi").Node("c").Obj(),
	)
	list, err := planner(s).Removable()
	if err != nil {
		panic(err)
	}
	for _, r := range list {
		if r.Removable {
			fmt.Printf("%s can go; pods to move: %d\n", r.Node, len(r.Moves))
		} else {
			fmt.Printf("%s stays: %s: %s\n", r.Node, r.Stuck.Pod, r.Stuck.Message)
		}
	}
	// Output:
	// a can go; pods to move: 1
	// b stays: default/job: the pod has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
	// c stays: default/one: 0/3 nodes are available: 1 node(s) take no pods in this question, 2 Insufficient cpu.
}

// Only the value "false" keeps a node, for Removable and Consolidate but not for Drain.
func TestSafeToEvict(t *testing.T) {
	nodes := []api.NodeBuilder{api.MakeNode("a", "4", ""), api.MakeNode("b", "4", "")}
	pod := api.MakePod("p").Requests("1", "").Node("a")
	tests := []struct {
		name string
		pod  api.PodBuilder
		want bool
	}{
		{"none", pod, true},
		{"true", pod.Annotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"), true},
		{"false", pod.Annotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), false},
		{"of a DaemonSet", pod.Owner("DaemonSet", "agent").Annotations("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := planner(cluster(nodes, test.pod.Obj()))
			r, err := p.Removable("a")
			if err != nil || r[0].Removable != test.want {
				t.Errorf("Removable = %+v, %v; want %v", r, err, test.want)
			}
			c, err := p.Consolidate("a")
			if err != nil || len(c.Removed) == 1 != test.want {
				t.Errorf("Consolidate = %+v, %v; want %v", c, err, test.want)
			}
			if d, err := p.Drain("a"); err != nil || !d.Clean() {
				t.Errorf("Drain = %+v, %v; want a clean one", d, err)
			}
		})
	}
}

func ExamplePlanner_Consolidate() {
	small := api.MakePod("").Requests("1", "1Gi")
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "4", "16Gi"), api.MakeNode("c", "4", "16Gi")},
		small.Name("p0").Node("a").Obj(), small.Name("p1").Node("b").Obj(), small.Name("p2").Node("b").Obj(),
		small.Name("p3").Node("c").Obj(), small.Name("p4").Node("c").Obj(), small.Name("p5").Node("c").Obj(),
	)
	c, err := planner(s).Consolidate()
	if err != nil {
		panic(err)
	}
	if err := c.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	each, err := planner(s).Removable("c", "a")
	if err != nil {
		panic(err)
	}
	var first whatif.Removal = each[0]
	fmt.Println(first.Node, first.Removable, len(first.Moves))
	// Output:
	// 1 of 3 nodes can go; 1 pods move
	// REMOVED
	// a
	// POD         FROM  TO  BATCH
	// default/p0  a     b   0
	// KEPT NODE  BY POD      WHY
	// b          default/p1  0/3 nodes are available: 1 Insufficient cpu, 2 node(s) take no pods in this question.
	// c          default/p4  0/3 nodes are available: 1 Insufficient cpu, 2 node(s) take no pods in this question.
	// c true 3
}

// reallyDrain cordons, evicts and places by hand, without budgets.
func reallyDrain(t *testing.T, s *framework.Snapshot, names []string) (moves map[string]string, stuck []string) {
	t.Helper()
	s = s.Fork()
	var pods []*framework.PodInfo
	for _, name := range names {
		node := api.Clone(s.Node(name).Node)
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints, api.Taint{Key: "node.kubernetes.io/unschedulable", Effect: api.TaintEffectNoSchedule})
		if err := s.UpdateNode(node); err != nil {
			t.Fatal(err)
		}
		for _, p := range slices.Clone(s.Node(name).Pods) {
			owner := p.Pod.ControllerRef()
			if owner != nil && owner.Kind == "DaemonSet" || p.Pod.DeletionTimestamp != nil && (owner == nil || owner.Kind != "StatefulSet") {
				continue
			}
			pods = append(pods, p)
			if err := s.RemovePod(p, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.SortFunc(pods, func(a, b *framework.PodInfo) int {
		if a.Priority != b.Priority {
			return int(b.Priority) - int(a.Priority)
		}
		if a.Pod.Key() < b.Pod.Key() {
			return -1
		}
		return 1
	})
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	moves = map[string]string{}
	for some := true; some; { // as long as some fit that did not
		some = false
		var missed []*framework.PodInfo
		for _, p := range pods {
			again := api.Clone(p.Pod)
			again.Spec.NodeName, again.Status, again.DeletionTimestamp = "", api.PodStatus{QOSClass: again.Status.QOSClass}, nil
			info, err := s.NewPodInfo(again)
			if err != nil {
				t.Fatal(err)
			}
			d, err := sched.Place(s, info)
			var fit *scheduling.FitError
			switch {
			case errors.As(err, &fit):
				missed = append(missed, p)
				continue
			case err != nil:
				return nil, nil // a pod that cannot be decided
			case slices.Contains(names, d.Node):
				stuck = append(stuck, p.Pod.Key())
			default:
				moves[p.Pod.Key()] = d.Node
			}
			some = true
		}
		pods = missed
	}
	for _, p := range pods {
		stuck = append(stuck, p.Pod.Key())
	}
	slices.Sort(stuck)
	return moves, stuck
}

// TestDrain compares with really draining, on random clusters.
func TestDrain(t *testing.T) {
	moved, stuck := 0, 0
	for seed := range uint64(60) {
		s, _ := random(t, seed)
		p := planner(s)
		var names []string
		for i, n := range s.All() {
			if uint64(i)%3 == seed%3 {
				names = append(names, n.Name())
			}
		}
		wantMoves, wantStuck := reallyDrain(t, s, names)
		before := content(s)
		d, err := p.Drain(names...)
		if wantMoves == nil {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, gotStuck := map[string]string{}, []string(nil)
		for _, m := range d.Moves {
			got[m.Pod] = m.To
		}
		for _, x := range d.Stuck {
			gotStuck = append(gotStuck, x.Pod)
		}
		slices.Sort(gotStuck)
		if diff := gocmp.Diff(wantMoves, got); diff != "" {
			t.Errorf("seed %d: moves (-want +got):\n%s", seed, diff)
		}
		if diff := gocmp.Diff(wantStuck, gotStuck); diff != "" {
			t.Errorf("seed %d: stuck (-want +got):\n%s", seed, diff)
		}
		moved, stuck = moved+len(got), stuck+len(gotStuck)
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
		if again, err := p.Drain(names...); err != nil || !gocmp.Equal(d, again) {
			t.Errorf("seed %d: asked again: %s, %v", seed, gocmp.Diff(d, again), err)
		}
	}
	if moved < 40 || stuck < 20 {
		t.Errorf("%d pods moved, %d stuck; the test shows too little", moved, stuck)
	}
}

// drainByRounds evicts by hand, round by round, as the budgets allow: each counts how many of
// its pods are away, evicted and not running again. It returns moves as "node batch", and
// for stuck pods whether they were evicted.
func drainByRounds(t *testing.T, s *framework.Snapshot, names []string) (moves map[string]string, stuck map[string]bool) {
	t.Helper()
	s = s.Fork()
	var waiting []*framework.PodInfo
	from := map[string]string{}
	for _, name := range names {
		node := api.Clone(s.Node(name).Node)
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints, api.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
		for _, p := range s.Node(name).Pods {
			if p.Pod.DeletionTimestamp != nil && p.Pod.ControllerRef() == nil {
				continue // it is going, and nobody makes it again
			}
			from[p.Pod.Key()] = name
			waiting = append(waiting, p)
		}
		if err := s.UpdateNode(node); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(waiting, func(a, b *framework.PodInfo) int {
		return cmp.Or(int(b.Priority)-int(a.Priority), strings.Compare(a.Pod.Key(), b.Pod.Key()))
	})
	sched := scheduler(t)
	moves, stuck = map[string]string{}, map[string]bool{}
	away := map[string]int32{} // pods by budget
	// budgetOf names the budget that an eviction needs, "" for none; false if there are two.
	budgetOf := func(p *api.Pod) (name string, one bool) {
		if p.Status.Phase == api.PodPending || p.Status.Phase == api.PodSucceeded || p.DeletionTimestamp != nil {
			return "", true
		}
		count := 0
		for _, b := range framework.List[api.PodDisruptionBudget](s) {
			if b.Namespace != p.Namespace || len(b.Spec.Selector.MatchLabels) > 0 && b.Spec.Selector.MatchLabels["app"] != p.Labels["app"] {
				continue
			}
			count++
			always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == api.AlwaysAllow
			healthy := b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
			unready := len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Status == api.ConditionFalse
			if !unready || !always && !healthy {
				name = b.Key()
			}
		}
		return name, count < 2
	}
	for round := 1; len(waiting) > 0; round++ {
		var batch, rest []*framework.PodInfo
		for _, p := range waiting {
			name, one := budgetOf(p.Pod)
			free := name == ""
			for _, b := range framework.List[api.PodDisruptionBudget](s) {
				free = free || b.Key() == name && away[name] < b.Status.DisruptionsAllowed
			}
			if !one || !free {
				rest = append(rest, p)
				continue
			}
			away[name]++
			batch = append(batch, p)
			if err := s.RemovePod(p, from[p.Pod.Key()]); err != nil {
				t.Fatal(err)
			}
		}
		if len(batch) == 0 {
			for _, p := range rest {
				stuck[p.Pod.Key()] = false
			}
			return moves, stuck
		}
		for _, p := range batch {
			again := api.Clone(p.Pod)
			again.Spec.NodeName, again.Status, again.DeletionTimestamp = "", api.PodStatus{QOSClass: again.Status.QOSClass}, nil
			d, err := sched.Place(s, pod(s, again))
			var fit *scheduling.FitError
			switch {
			case errors.As(err, &fit):
				stuck[p.Pod.Key()] = true
			case err != nil:
				t.Fatal(err)
			case slices.Contains(names, d.Node):
				t.Fatalf("%s goes to a cordoned node", p.Pod.Key())
			default:
				moves[p.Pod.Key()] = fmt.Sprint(d.Node, " ", round)
				name, _ := budgetOf(p.Pod)
				away[name]--
			}
		}
		waiting = rest
	}
	return moves, stuck
}

// TestDrainTriesAgain: a pod that fits nowhere when it leaves is tried again when the pods that it needs,
// or that kept it off, run elsewhere: those of its batch that are placed after it, and of later ones.
func TestDrainTriesAgain(t *testing.T) {
	near := func(b api.PodBuilder) api.PodBuilder { return b.PodAffinity(api.LabelHostname, "tier=late") }
	far := func(b api.PodBuilder) api.PodBuilder {
		return b.PodAntiAffinity("side", "tier=late").NodeSelector("side", "left")
	}
	for _, tt := range []struct {
		name    string
		web     func(api.PodBuilder) api.PodBuilder
		allowed int32 // at once, of the other two
		batches int
		to      string
	}{
		{"near a pod of its batch", near, 2, 1, "n2"},
		{"near a pod of the next batch", near, 1, 2, "n2"},
		{"far from a pod of the next batch", far, 1, 2, "n1"},
	} {
		s := cluster([]api.NodeBuilder{
			api.MakeNode("n0", "8", "32Gi").Labels(api.LabelHostname, "n0", "side", "left"),
			api.MakeNode("n1", "4", "32Gi").Labels(api.LabelHostname, "n1", "side", "left"),
			api.MakeNode("n2", "3", "32Gi").Labels(api.LabelHostname, "n2", "side", "right"),
		},
			tt.web(api.MakePod("web").Requests("2", "1Gi").Priority(5)).Node("n0").Phase(api.PodRunning).Owner("ReplicaSet", "web").Obj(),
			api.MakePod("first").Labels("app", "other").Requests("1", "1Gi").Priority(1).Node("n0").Phase(api.PodRunning).Owner("ReplicaSet", "other").Obj(),
			api.MakePod("late").Labels("app", "other", "tier", "late").Requests("1", "1Gi").NodeSelector("side", "right").Node("n0").Phase(api.PodRunning).Owner("ReplicaSet", "other").Obj(),
		)
		put(s, guard("other", tt.allowed))
		d, err := planner(s).Drain("n0")
		if err != nil {
			t.Fatal(err)
		}
		to := map[string]string{}
		for _, m := range d.Moves {
			to[m.Pod] = m.To
		}
		if !d.Clean() || d.Batches != tt.batches || to["default/web"] != tt.to {
			t.Errorf("%s: %+v; want all to move in %d batches, web to %s", tt.name, d, tt.batches, tt.to)
		}
	}
}

// TestDrainLeavesGoing: a pod that is being deleted needs no other place, unless a StatefulSet makes it
// again.
func TestDrainLeavesGoing(t *testing.T) {
	at := time.Unix(0, 0)
	for owner, moves := range map[string]int{"": 0, "ReplicaSet": 0, "StatefulSet": 1} {
		old := api.MakePod("old").Requests("5", "1Gi").Node("n0").Phase(api.PodRunning).Deleted(at)
		if owner != "" {
			old = old.Owner(owner, "owner")
		}
		s := cluster([]api.NodeBuilder{api.MakeNode("n0", "8", "8Gi"), api.MakeNode("n1", "8", "8Gi")}, old.Obj())
		d, err := planner(s).Drain("n0")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Moves) != moves || len(d.Left) != 1-moves || !d.Clean() {
			t.Errorf("owner %q: %+v; want %d moves", owner, d, moves)
		}
	}
}

// TestDrainOfTerminatingSet: a pod that is being deleted with its StatefulSet is not made again.
func TestDrainOfTerminatingSet(t *testing.T) {
	at := time.Unix(0, 0)
	for _, until := range []*time.Time{nil, &at} {
		s := cluster([]api.NodeBuilder{api.MakeNode("n0", "8", "8Gi"), api.MakeNode("n1", "8", "8Gi")},
			api.MakePod("db-0").Requests("5", "1Gi").Node("n0").Phase(api.PodRunning).Deleted(at).Owner("StatefulSet", "db").Obj())
		set := &api.StatefulSet{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "db", DeletionTimestamp: until}}
		if err := framework.Put(s, set); err != nil {
			t.Fatal(err)
		}
		d, err := planner(s).Drain("n0")
		if err != nil {
			t.Fatal(err)
		}
		if moves := until == nil; (len(d.Moves) == 1) != moves || (len(d.Left) == 0) != moves {
			t.Errorf("the set is being deleted at %v: %+v", until, d)
		}
	}
}

// TestDrainRounds compares with draining by hand, on small clusters with budgets.
func TestDrainRounds(t *testing.T) {
	at := time.Unix(0, 0)
	late, refused, homeless, least := 0, 0, 0, effort.Of(40, 100)
	for seed := range uint64(900) {
		if effort.Suffices(late >= least && refused >= least && homeless >= least) {
			break
		}
		r := rand.New(rand.NewPCG(seed, 29))
		var nodes []api.NodeBuilder
		for i := range 3 + r.IntN(4) {
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(3+r.IntN(5)), "32Gi"))
		}
		var pods []*api.Pod
		for i := range 4 + r.IntN(14) {
			b := api.MakePod(fmt.Sprintf("p%02d", i)).Labels("app", []string{"web", "db", "none"}[r.IntN(3)]).Requests(fmt.Sprint(200*(1+r.IntN(7)), "m"), "1Gi").
				Priority(int32(r.IntN(3))).Node(fmt.Sprint("n", r.IntN(len(nodes)))).Phase(api.PodRunning)
			switch r.IntN(8) {
			case 0:
				b = b.Condition(api.PodReady, api.ConditionFalse, at)
			case 1:
				b = b.Phase(api.PodPending)
			case 2:
				b = b.Deleted(at)
				if r.IntN(2) == 0 {
					b = b.Owner("StatefulSet", "set")
				}
			case 3: // no condition
			default:
				b = b.Condition(api.PodReady, api.ConditionTrue, at)
			}
			pods = append(pods, b.Obj())
		}
		s := cluster(nodes, pods...)
		for _, app := range []string{"web", "db", "all"} {
			if r.IntN(3) == 0 || app == "all" && r.IntN(6) > 0 {
				continue
			}
			b := guard(app, int32(r.IntN(3)))
			b.Status.DesiredHealthy, b.Status.CurrentHealthy = int32(r.IntN(3)), int32(r.IntN(3))
			if r.IntN(4) == 0 {
				b.Spec.UnhealthyPodEvictionPolicy = new(api.AlwaysAllow)
			}
			if app == "all" {
				b.Spec.Selector = &api.LabelSelector{}
			}
			put(s, b)
		}
		names := []string{"n0", "n1"}
		wantMoves, wantStuck := drainByRounds(t, s, names)
		d, err := planner(s).Drain(names...)
		if err != nil {
			t.Fatal(err)
		}
		moves, stuck, batches := map[string]string{}, map[string]bool{}, 0
		for _, m := range d.Moves {
			moves[m.Pod] = fmt.Sprint(m.To, " ", m.Batch)
			batches = max(batches, m.Batch)
			if m.Batch > 1 {
				late++
			}
		}
		for _, x := range d.Stuck {
			if stuck[x.Pod] = x.Evicted; x.Evicted {
				homeless++
			} else {
				refused++
			}
		}
		if diff := gocmp.Diff(wantMoves, moves); diff != "" || d.Batches < batches {
			t.Errorf("seed %d: %d batches, moves (-want +got):\n%s", seed, d.Batches, diff)
		}
		if diff := gocmp.Diff(wantStuck, stuck); diff != "" {
			t.Errorf("seed %d: stuck (-want +got):\n%s", seed, diff)
		}
	}
	t.Logf("%d pods move in later batches, %d may not leave, %d fit nowhere", late, refused, homeless)
	if late < least || refused < least || homeless < least {
		t.Error("the test shows too little")
	}
}

// TestDrainUnhealthy checks which pods the eviction API lets go under a budget that
// allows nothing, and that those do not use up one that allows a pod.
func TestDrainUnhealthy(t *testing.T) {
	at := time.Unix(0, 0)
	pod := api.MakePod("").Labels("app", "web").Requests("1", "").Node("a")
	running := pod.Phase(api.PodRunning)
	ready := running.Condition(api.PodReady, api.ConditionTrue, at)
	unready := running.Condition(api.PodScheduled, api.ConditionTrue, at).Condition(api.PodReady, api.ConditionFalse, at)
	budget := func(policy api.UnhealthyPodEvictionPolicy, current, desired int32) *api.PodDisruptionBudget {
		b := guard("web", 0)
		if policy != "" {
			b.Spec.UnhealthyPodEvictionPolicy = &policy
		}
		b.Status.CurrentHealthy, b.Status.DesiredHealthy = current, desired
		return b
	}
	tests := []struct {
		name   string
		pod    api.PodBuilder
		budget *api.PodDisruptionBudget
		want   bool
	}{
		{"no status", pod, budget("", 1, 2), false},
		{"ready", ready, budget("", 2, 2), false},
		{"ready, always", ready, budget(api.AlwaysAllow, 2, 2), false},
		{"pending", pod.Phase(api.PodPending), budget("", 1, 2), true},
		{"unknown phase", pod.Phase(api.PodUnknown), budget("", 1, 2), false},
		{"terminating", ready.Deleted(at).Owner("StatefulSet", "set"), budget("", 1, 2), true},
		{"not ready, healthy budget", unready, budget("", 2, 2), true},
		{"not ready, more than healthy", unready, budget(api.IfHealthyBudget, 3, 2), true},
		{"not ready, unhealthy budget", unready, budget("", 1, 2), false},
		{"not ready, unhealthy budget, named", unready, budget(api.IfHealthyBudget, 1, 2), false},
		{"not ready, nothing desired", unready, budget("", 0, 0), false},
		{"not ready, always", unready, budget(api.AlwaysAllow, 0, 0), true},
		{"no condition, always", running, budget(api.AlwaysAllow, 1, 2), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			nodes := []api.NodeBuilder{api.MakeNode("a", "9", ""), api.MakeNode("b", "9", "")}
			s := cluster(nodes, test.pod.Name("p").Obj())
			put(s, test.budget)
			p := planner(s)
			d, err := p.Drain("a")
			if err != nil {
				t.Fatal(err)
			}
			if d.Clean() != test.want {
				t.Errorf("Drain = %+v, want clean %v", d, test.want)
			}
			r, err := p.Removable("a")
			if err != nil {
				t.Fatal(err)
			}
			if r[0].Removable != test.want {
				t.Errorf("Removable = %+v, want %v", r[0], test.want)
			}
			// Three ready pods go one after the other, whatever the other pod takes.
			s = cluster(nodes, test.pod.Name("p").Obj(), ready.Name("q0").Obj(), ready.Name("q1").Obj(), ready.Name("q2").Obj())
			one := api.Clone(test.budget)
			one.Status.DisruptionsAllowed = 1
			put(s, one)
			if d, err = planner(s).Drain("a"); err != nil {
				t.Fatal(err)
			}
			want := 4
			if test.want {
				want = 3
			}
			if d.Batches != want || len(d.Moves) != 4 {
				t.Errorf("Drain = %+v, want %d batches", d, want)
			}
		})
	}
	for _, phase := range []api.PodPhase{api.PodSucceeded, api.PodFailed} {
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "9", ""), api.MakeNode("b", "9", "")})
		info, err := s.NewPodInfo(ready.Name("p").Phase(phase).Obj())
		if err == nil {
			err = s.AddPod(info, "a")
		}
		if err != nil {
			t.Fatal(err)
		}
		put(s, guard("web", 0))
		if r, err := planner(s).Removable("a"); err != nil || !r[0].Removable {
			t.Errorf("%s: Removable = %+v, %v; want true", phase, r, err)
		}
	}
}

// TestDrainBudgets works out batches by hand.
func TestDrainBudgets(t *testing.T) {
	web := api.MakePod("").Labels("app", "web").Requests("1", "").Node("a")
	nodes := []api.NodeBuilder{api.MakeNode("a", "9", ""), api.MakeNode("b", "4", "")}
	pods := []*api.Pod{
		web.Name("w0").Obj(), web.Name("w1").Obj(), web.Name("w2").Obj(), api.MakePod("free").Requests("1", "").Node("a").Obj(),
		api.MakePod("agent").Owner("DaemonSet", "agent").Node("a").Obj(), api.MakePod("static").Annotations("kubernetes.io/config.mirror", "x").Node("a").Obj(),
	}
	everyone := guard("all", 5)
	everyone.Spec.Selector = &api.LabelSelector{}
	tests := []struct {
		name    string
		budgets []*api.PodDisruptionBudget
		batches []int // of free, w0, w1, w2; 0 if stuck
		stuck   []string
	}{
		{"none", nil, []int{1, 1, 1, 1}, nil},
		{"two at a time", []*api.PodDisruptionBudget{guard("web", 2)}, []int{1, 1, 1, 2}, nil},
		{"one at a time", []*api.PodDisruptionBudget{guard("web", 1)}, []int{1, 1, 2, 3}, nil},
		{"never", []*api.PodDisruptionBudget{guard("web", 0)}, []int{1, 0, 0, 0}, []string{"PodDisruptionBudget default/web allows no disruption"}},
		{"two budgets", []*api.PodDisruptionBudget{guard("web", 9), everyone}, []int{1, 0, 0, 0}, []string{"the pod has more than one PodDisruptionBudget, so it cannot be evicted"}},
		{"of others", []*api.PodDisruptionBudget{guard("db", 0)}, []int{1, 1, 1, 1}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := cluster(nodes, pods...)
			for _, b := range test.budgets {
				put(s, b)
			}
			d, err := planner(s).Drain("a", "a")
			if err != nil {
				t.Fatal(err)
			}
			batches := map[string]int{}
			for _, m := range d.Moves {
				batches[m.Pod] = m.Batch
			}
			var got []int
			for _, name := range []string{"free", "w0", "w1", "w2"} {
				got = append(got, batches["default/"+name])
			}
			if diff := gocmp.Diff(test.batches, got); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
			for _, x := range d.Stuck {
				if x.Message != test.stuck[0] || x.Evicted {
					t.Errorf("stuck: %+v, want %q", x, test.stuck)
				}
			}
			if diff := gocmp.Diff([]string{"default/agent", "default/static"}, d.Left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
	s := cluster(nodes, pods...)
	if _, err := planner(s).Drain("x"); err == nil {
		t.Error("an unknown node is no error")
	}
	if _, err := planner(s).Removable("x"); err == nil {
		t.Error("an unknown node is no error")
	}
}

// TestConsolidate checks that a plan works: with the removed nodes cordoned and the
// moved pods taken off, everything moved fits where the plan says.
func TestConsolidate(t *testing.T) {
	removed, kept := 0, 0
	for seed := range uint64(60) {
		s, _ := random(t, seed)
		p := planner(s)
		before := content(s)
		c, err := p.Consolidate()
		if err != nil {
			continue // a pod that cannot be decided
		}
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
		removed, kept = removed+len(c.Removed), kept+len(c.Kept)
		if len(c.Removed)+len(c.Kept) != s.Len() {
			t.Errorf("seed %d: %d removed, %d kept of %d", seed, len(c.Removed), len(c.Kept), s.Len())
		}
		gone := map[string]bool{}
		for _, name := range c.Removed {
			gone[name] = true
		}
		moves := map[string]whatif.Move{}
		for _, m := range c.Moves {
			moves[m.Pod] = m
			if gone[m.To] || !gone[m.From] {
				t.Errorf("seed %d: move %+v, removed %v", seed, m, c.Removed)
			}
		}
		for _, name := range c.Removed {
			for _, x := range s.Node(name).Pods {
				if _, moves := moves[x.Pod.Key()]; !moves && x.Pod.DeletionTimestamp == nil && (x.Pod.ControllerRef() == nil || x.Pod.ControllerRef().Kind != "DaemonSet") {
					t.Errorf("seed %d: %s of removed node %s does not move", seed, x.Pod.Key(), name)
				}
			}
		}
		// What is requested at the end fits every node.
		f := s.Fork()
		for _, m := range c.Moves {
			info, from := f.Pod(m.Pod)
			if err := f.RemovePod(info, from.Name()); err != nil {
				t.Fatal(err)
			}
			if err := f.AddPod(info, m.To); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range f.All() {
			for i := range n.Requested {
				if n.Requested.At(i) > n.Allocatable.At(i) && n.Requested.At(i) > s.Node(n.Name()).Requested.At(i) {
					t.Errorf("seed %d: node %s is overfull after the moves", seed, n.Name())
				}
			}
		}
		// A node that goes alone is removable.
		if len(c.Removed) > 0 {
			each, err := p.Removable(c.Removed[0])
			if err != nil || !each[0].Removable {
				t.Errorf("seed %d: %+v, %v", seed, each, err)
			}
		}
	}
	if removed < 20 || kept < 20 {
		t.Errorf("%d nodes removed, %d kept; the test shows too little", removed, kept)
	}
}

// TestPlace checks a list by placing it by hand.
func TestPlace(t *testing.T) {
	for seed := range uint64(40) {
		s, pending := random(t, seed)
		got, err := planner(s).Place(pending)
		sched, _ := scheduling.New(scheduling.Kubernetes137())
		f := s.Fork()
		want := whatif.Placement{Placed: []whatif.Placed{}, Unplaced: []whatif.Unplaced{}}
		for _, p := range pending {
			if p.HasGates() {
				_, gate := sched.PreEnqueue(t.Context(), p, "SchedulingGates")
				want.Unplaced = append(want.Unplaced, whatif.Unplaced{Pod: p.Pod.Key(), Message: gate.Message()})
				continue
			}
			d, e := sched.Place(f, p)
			var fit *scheduling.FitError
			switch {
			case e == nil:
				want.Placed = append(want.Placed, whatif.Placed{Pod: p.Pod.Key(), Node: d.Node})
			case errors.As(e, &fit):
				want.Unplaced = append(want.Unplaced, whatif.Unplaced{Pod: p.Pod.Key(), Message: e.Error()})
			default:
				if err == nil {
					t.Errorf("seed %d: Place has no error, want %v", seed, e)
				}
			}
		}
		if err != nil {
			continue
		}
		for i := range got.Unplaced {
			if got.Unplaced[i].Message != "" {
				got.Unplaced[i].Reasons = nil
			}
		}
		if diff := gocmp.Diff(&want, got); diff != "" {
			t.Errorf("seed %d: Place (-want +got):\n%s", seed, diff)
		}
	}
}

func ExamplePlanner_Place() {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "2", "4Gi"), api.MakeNode("b", "1", "4Gi")})
	pods, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "1Gi").Obj()), 4)
	if err != nil {
		panic(err)
	}
	var r *whatif.Placement
	if r, err = planner(s).Place(pods); err != nil {
		panic(err)
	}
	if err := r.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var last whatif.Unplaced = r.Unplaced[0]
	var first whatif.Placed = r.Placed[0]
	fmt.Println(first.Node, last.Pod)
	// Output:
	// 3 of 4 pods fit
	// POD            NODE
	// default/web-0  a
	// default/web-1  a
	// default/web-2  b
	// POD            FITS NOWHERE
	// default/web-3  0/2 nodes are available: 2 Insufficient cpu.
	// a default/web-3
}

// TestDrainAfterLastTerms: a pod that another one's terms kept off fits once that one has left, although no
// pod with terms is on a node then.
func TestDrainAfterLastTerms(t *testing.T) {
	keeper := api.MakePod("").Labels("app", "keeper").Node("a")
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "9", "").Zone("z"), api.MakeNode("b", "2", "").Zone("z"), api.MakeNode("c", "2", "").Zone("y")},
		keeper.Name("first").Priority(10).Requests("1", "").Obj(),
		keeper.Name("last").Priority(5).Requests("5", "").PodAntiAffinity(api.LabelTopologyZone, "app=web").Obj(),
		api.MakePod("web").Labels("app", "web").Requests("1", "").NodeSelector(api.LabelTopologyZone, "z").Node("a").Obj())
	put(s, guard("keeper", 1))
	d, err := planner(s).Drain("a")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Stuck) != 1 || d.Stuck[0].Pod != "default/last" || len(d.Moves) != 2 || d.Moves[1].Pod != "default/web" || d.Moves[1].Batch != 2 {
		t.Errorf("Drain = %+v, want that last alone is stuck, and web moves in batch 2", d)
	}
}

// A pod that tolerates the cordon and returns runs again, so its budget lets the next go.
func TestDrainReturningPodIsHealthy(t *testing.T) {
	web := func(name string) api.PodBuilder {
		return api.MakePod(name).Labels("app", "web").Requests("1", "1Gi").Node("a").Phase(api.PodRunning).Owner("ReplicaSet", "web")
	}
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "4", "16Gi").Taint("x:NoSchedule")},
		web("web-0").Priority(5).Tolerates("node.kubernetes.io/unschedulable").Obj(), web("web-1").Tolerates("x").Obj())
	put(s, guard("web", 1))
	d, err := planner(s).Drain("a")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Moves) != 1 || d.Moves[0].Pod != "default/web-1" || len(d.Stuck) != 1 {
		t.Errorf("moves %v, stuck %v", d.Moves, d.Stuck)
	}
}

// A pod that has no words about other pods may have to wait for them: by default constraints, or for a device that
// stands for its extended resource.
func TestDrainTriesAgainByProfile(t *testing.T) {
	running := func(name, node string) api.PodBuilder {
		return api.MakePod(name).UID(api.UID(name)).Labels("app", "web").Requests("1", "1Gi").Node(node).Phase(api.PodRunning).Owner("ReplicaSet", "web")
	}
	t.Run("default constraints", func(t *testing.T) {
		s := cluster([]api.NodeBuilder{
			api.MakeNode("a", "8", "16Gi").Zone("z0"), api.MakeNode("b", "4", "16Gi").Zone("z1"),
			api.MakeNode("c", "2", "16Gi").Zone("z2"), api.MakeNode("d", "8", "16Gi").Zone("z0"),
		}, running("w1", "b").Obj(), running("w2", "d").Obj(), running("first", "a").Requests("3", "1Gi").Priority(9).Obj(), running("late", "a").Obj())
		put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}})
		profile := scheduling.Kubernetes137()
		if err := profile.Replace(filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule},
		}}); err != nil {
			t.Fatal(err)
		}
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := p.Drain("a"); err != nil || len(d.Stuck) > 0 {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("devices", func(t *testing.T) {
		const gpu = "gpu.example.com/gpu"
		class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}, Spec: api.DeviceClassSpec{ExtendedResourceName: new(gpu)}}
		slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "network"}}
		slice.Spec = api.ResourceSliceSpec{
			Driver: "gpu.example.com", AllNodes: new(true), Devices: []api.Device{{Name: "only"}},
			Pool: api.ResourcePool{Name: "network", Generation: 1, ResourceSliceCount: 1},
		}
		// The waiter runs on a since a had devices of a plugin. The holder has the only device, and fits on no
		// other node; its budget lets it go once another pod runs again.
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "10", "16Gi").Labels("only", "a"), api.MakeNode("b", "3", "16Gi")},
			running("waiter", "a").Request(gpu, "1").Priority(5).Obj(), running("other", "a").Labels("app", "holder").Priority(9).Obj())
		put(s, class)
		put(s, slice)
		put(s, guard("holder", 1))
		sched, err := scheduling.New(scheduling.Kubernetes137())
		if err != nil {
			t.Fatal(err)
		}
		holder := running("holder", "").Labels("app", "holder").Request(gpu, "1").Priority(1).NodeSelector("only", "a").Obj()
		if _, err := sched.Place(s, pod(s, holder)); err != nil {
			t.Fatal(err)
		}
		d, err := planner(s).Drain("a")
		if err != nil || !slices.ContainsFunc(d.Moves, func(m whatif.Move) bool { return m.Pod == "default/waiter" }) {
			t.Errorf("the waiter is not placed: %+v, %v", d, err)
		}
	})
}

// TestDrainGoesOn: a pod about which a plugin cannot decide is stuck, and the others move.
func TestDrainGoesOn(t *testing.T) {
	bad := api.MakePod("bad").Labels("app", "web").Node("a").Owner("ReplicaSet", "web").Obj()
	bad.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.DoNotSchedule,
		LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "app", Operator: "Unlike"}}},
	}}
	good := api.MakePod("good").Requests("1", "1Gi").Node("a").Owner("ReplicaSet", "web").Obj()
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "8", "16Gi")}, bad, good)
	d, err := planner(s).Drain("a")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Moves) != 1 || d.Moves[0].Pod != "default/good" || len(d.Stuck) != 1 || d.Stuck[0].Pod != "default/bad" || !strings.Contains(d.Stuck[0].Message, "Unlike") {
		t.Errorf("%+v; want bad stuck for its selector, good on b", d)
	}
}

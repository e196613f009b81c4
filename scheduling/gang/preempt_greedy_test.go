package gang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// victimNames are the names of the victims, sorted.
func victimNames(e *gang.Eviction) (names []string) {
	for _, v := range e.Victims() {
		names = append(names, v.Pod.Pod.Name)
	}
	slices.Sort(names)
	return names
}

// crowded adds a pod for each node of so many racks of one node, which it fills.
func crowded(t *testing.T, racksOf int, priority func(node int) int32) *framework.Snapshot {
	s := racks(slices.Repeat([]int{1}, racksOf)...)
	for i := range racksOf {
		old := info(s, api.MakePod(fmt.Sprint("old-", i)).Requests("4", "1Gi").Priority(priority(i)).Obj())
		if err := s.AddPod(old, fmt.Sprintf("r%d-0", i)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Without a search the pods of a group still get the nodes with the least harm, one by one,
// of more nodes than attempts are made. Only the two last victims have a lower sum.
func TestGreedyVictims(t *testing.T) {
	s := crowded(t, 80, func(i int) int32 { return 4 - int32(i/78) })
	first := info(s, api.MakePod("first").Requests("4", "1Gi").Priority(5).Tolerates("x=y:NoSchedule").NodeSelector(rack, "r0").Obj())
	g := &gang.Group{Name: "g", Priority: 5, Pods: []*framework.PodInfo{first}} // r0 must go, so 4 is the highest priority
	for i := range 2 {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("new-", i)).Requests("4", "1Gi").Priority(5).Obj()))
	}
	for _, rules := range []gang.Rules{{Choice: gang.BestFit}, {Choice: gang.LeastFree}, {Choice: gang.MostPacked}} {
		e, err := placer(rules).Preempt(s, g)
		if err != nil || strings.Join(victimNames(e), " ") != "old-0 old-78 old-79" {
			t.Errorf("%v: victims %v, %v, want old-0, old-78 and old-79", rules.Choice, victimNames(e), err)
		}
	}
}

// A unit returns that may only once others have, even if no attempt is left to find that
// out: web-0 may stay beside the pod of its kind while each other rack has one such pod.
func TestReturnsWithoutAttempts(t *testing.T) {
	const fillers = 40 // more than the attempts, and each of their victims must leave
	nodes := []*api.Node{
		api.MakeNode("n0", "4", "16Gi").Labels(rack, "r0", "for", "web").Obj(),
		api.MakeNode("n1", "1", "16Gi").Labels(rack, "r1", "for", "web").Obj(),
		api.MakeNode("n2", "1", "16Gi").Labels(rack, "r2", "for", "web").Obj(),
	}
	old := func(name, node, cpu string, priority int32) *api.Pod {
		return api.MakePod(name).Requests(cpu, "1Gi").Priority(priority).Labels("app", strings.TrimRight(name, "-012")).Node(node).Obj()
	}
	pods := []*api.Pod{old("big", "n0", "3", 0), old("web-0", "n0", "1", 4), old("web-1", "n1", "1", 3), old("web-2", "n2", "1", 2)}
	want := []string{"big"}
	for i := range fillers {
		node := fmt.Sprint("f", i)
		nodes = append(nodes, api.MakeNode(node, "4", "16Gi").Labels("for", "fillers").Obj())
		pods = append(pods, old("old-"+node, node, "4", 8))
		want = append(want, "old-"+node)
	}
	s := cluster(nodes, pods...)
	g := &gang.Group{Name: "g", Priority: 9}
	for i := range fillers {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("filler-", i)).Requests("4", "1Gi").Priority(9).NodeSelector("for", "fillers").Obj()))
	}
	g.Pods = append(g.Pods, info(s, api.MakePod("web").Labels("app", "web").Requests("3", "1Gi").Priority(9).NodeSelector("for", "web").
		Spread(1, rack, api.DoNotSchedule, "app=web").Obj()))
	e, err := placer(gang.Rules{Choice: gang.BestFit}).PreemptSet(s, &gang.Set{Name: "s", Priority: 9, Children: []gang.Child{g}})
	slices.Sort(want)
	if err != nil || !slices.Equal(victimNames(e), want) {
		t.Errorf("victims %v, %v, want %v", victimNames(e), err, want)
	}
}

// If no victims help, the eviction tells of the domain that came closest to success.
func TestFailedEvictionTellsOfTheClosest(t *testing.T) {
	for _, room := range [][]int{{1, 3}, {3, 1}, {2, 3, 1}} {
		var nodes []*api.Node
		var pods []*api.Pod
		for i, n := range room {
			name := fmt.Sprint("r", i)
			nodes = append(nodes, api.MakeNode(name, fmt.Sprint(n), "64Gi").Labels(rack, name).Obj())
			pods = append(pods, api.MakePod("old-"+name).Requests("1", "1Gi").Priority(0).Node(name).Obj())
		}
		s := cluster(nodes, pods...)
		g := &gang.Group{Name: "g", Priority: 5, Topology: []gang.Level{{Key: rack}}}
		for i := range 4 {
			g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("m-", i)).Requests("1", "1Gi").Priority(5).Obj()))
		}
		e, err := placer(gang.Rules{Choice: gang.BestFit}).Preempt(s, g)
		if err != nil || e.Status != framework.Unschedulable || e.Outcome.Best().Pods != 3 {
			t.Errorf("room %v: Preempt = %+v, %v, want to hear of the rack that takes 3", room, e, err)
		}
	}
}

// Pods do not preempt if one of the group never does, nor if none is less important; a pod
// that leaves already is worth waiting for only if it is less important.
func TestPreemptRefuses(t *testing.T) {
	never := api.PreemptNever
	for _, tt := range []struct {
		name     string
		priority int32 // of the pod on the node, which leaves already
		never    bool
		want     framework.Code
		text     string
	}{
		{"ongoing", 4, false, framework.Success, "pod group preemption: ongoing preemption on nominated nodes"},
		{"as important", 5, false, framework.UnschedulableAndUnresolvable, "pod group preemption: No preemption victims found for incoming preemptor"},
		{"never", 4, true, framework.Unschedulable, "pod group preemption: not eligible due to preemptionPolicy=Never."},
	} {
		for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}} {
			old := api.MakePod("old").Requests("4", "1Gi").Priority(tt.priority).Node("r0-0").Obj()
			at := old.CreationTimestamp
			old.DeletionTimestamp = &at
			old.Status.Conditions = []api.PodCondition{{Type: "DisruptionTarget", Status: api.ConditionTrue, Reason: "PreemptionByScheduler"}}
			s := racks(1)
			if err := s.AddPod(info(s, old), "r0-0"); err != nil {
				t.Fatal(err)
			}
			pod := api.MakePod("new").Requests("4", "1Gi").Priority(5).Obj()
			pod.Status.NominatedNodeName = "r0-0"
			if tt.never {
				pod.Spec.PreemptionPolicy = &never
			}
			e, err := placer(rules).Preempt(s, &gang.Group{Name: "g", Priority: 5, Pods: []*framework.PodInfo{info(s, pod)}})
			if err != nil || e.Status != tt.want || e.Text != tt.text {
				t.Errorf("%s, %v: Preempt = %+v, %v, want %q", tt.name, rules.Choice, e, err, tt.text)
			}
			if ongoing := tt.want == framework.Success; err == nil && (e.Ongoing != ongoing || len(e.Victims()) > 0) {
				t.Errorf("%s, %v: ongoing %t, victims %v", tt.name, rules.Choice, e.Ongoing, victimNames(e))
			}
		}
	}
}

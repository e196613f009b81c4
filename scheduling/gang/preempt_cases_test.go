package gang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// oldPod is a pod on a node. The smaller started, the longer it has run, so of pods of one
// priority the first to start is the most important.
func oldPod(name, node, cpu string, priority int32, started int64) api.PodBuilder {
	return api.MakePod(name).Requests(cpu, "1Mi").Priority(priority).Node(node).Started(time.Unix(started, 0))
}

// guardedCluster is a cluster of nodes, given as "name cpu rack", with a budget for pods with
// the label app=guarded that allows one disruption.
func guardedCluster(t *testing.T, nodes []string, pods ...api.PodBuilder) *framework.Snapshot {
	t.Helper()
	o := api.Objects{PodDisruptionBudgets: []*api.PodDisruptionBudget{{
		ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "guarded"},
		Spec:       api.PodDisruptionBudgetSpec{Selector: &api.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}},
		Status:     api.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}}}
	for _, n := range nodes {
		f := strings.Fields(n)
		o.Nodes = append(o.Nodes, api.MakeNode(f[0], f[1], "64Gi").Labels(api.LabelHostname, f[0], rack, f[2], "for", strings.TrimRight(f[0], "-0123456789")).Obj())
	}
	for _, p := range pods {
		o.Pods = append(o.Pods, p.Obj())
	}
	s, _, err := framework.SnapshotOf(&o, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantVictims preempts for pods of priority 9 and compares the names of the victims. It
// returns the eviction.
func wantVictims(t *testing.T, s *framework.Snapshot, rules gang.Rules, levels []gang.Level, want string, pods ...api.PodBuilder) *gang.Eviction {
	t.Helper()
	g := &gang.Group{Name: "g", Priority: 9, Topology: levels}
	for i, p := range pods {
		g.Pods = append(g.Pods, info(s, p.Name(fmt.Sprint("new-", i)).Priority(9).Obj()))
	}
	e, err := placer(rules).Preempt(s, g)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(victimNames(e), " "); got != want {
		t.Errorf("victims %q, want %q: %v %s", got, want, e.Status, e.Text)
	}
	return e
}

var fullSearch = gang.Rules{Choice: gang.BestFit, Search: 1 << 30}

// A search keeps several of the victims of the first attempt at once: only if three of the
// small pods stay, the two large ones leave.
func TestSearchKeepsSeveral(t *testing.T) {
	var pods []api.PodBuilder
	for i := range 2 {
		pods = append(pods, oldPod(fmt.Sprint("large-", i), "n", "2", 0, 1))
	}
	for i := range 4 {
		pods = append(pods, oldPod(fmt.Sprint("small-", i), "n", "1", 0, 2))
	}
	s := guardedCluster(t, []string{"n 8 r"}, pods...)
	wantVictims(t, s, fullSearch, nil, "large-0 large-1", api.MakePod("").Requests("4", "1Mi"))
}

// Of guarded pods the least important uses up the budget first, so it is taken before one
// that is more important. No attempt is left to find that out later.
func TestLeastImportantIsChargedFirst(t *testing.T) {
	nodes := []string{"web 4 r"}
	pods := []api.PodBuilder{
		oldPod("keep", "web", "2", 3, 1).Labels("app", "guarded"),
		oldPod("leave", "web", "2", 0, 1).Labels("app", "guarded"),
	}
	news := []api.PodBuilder{api.MakePod("").Requests("2", "1Mi").NodeSelector("for", "web")}
	want := []string{"leave"}
	for i := range 40 { // more than the attempts, and all victims there must leave
		node := fmt.Sprint("filler-", i)
		nodes = append(nodes, node+" 4 r")
		pods = append(pods, oldPod("old-"+node, node, "4", 8, 1))
		news = append(news, api.MakePod("").Requests("4", "1Mi").NodeSelector("for", "filler"))
		want = append(want, "old-"+node)
	}
	slices.Sort(want)
	wantVictims(t, guardedCluster(t, nodes, pods...), gang.Rules{Choice: gang.BestFit}, nil, strings.Join(want, " "), news...)
}

// A guarded pod that leaves alone violates no budget that allows it, although it would if
// another one left, too. So it is a better victim than a pod of a higher priority.
func TestBudgetCountsVictimsAlone(t *testing.T) {
	nodes := []string{"other 4 r", "n-1 4 r", "n-2 8 r"}
	pods := []api.PodBuilder{
		oldPod("other", "other", "4", 0, 1).Labels("app", "guarded"),
		oldPod("guarded", "n-1", "4", 1, 1).Labels("app", "guarded"),
		oldPod("important", "n-2", "8", 3, 1),
	}
	for _, rules := range []gang.Rules{{Choice: gang.BestFit}, fullSearch} {
		e := wantVictims(t, guardedCluster(t, nodes, pods...), rules, nil, "guarded", api.MakePod("").Requests("4", "1Mi").NodeSelector("for", "n"))
		if len(e.Units) != 1 || e.Units[0].ViolatesBudget {
			t.Errorf("units %+v, want one that violates no budget", e.Units)
		}
	}
}

// Victims that have to leave are a bound by themselves: guarded must leave, and violates no
// budget alone; so the search goes on, and finds that one pod leaves in place of two.
func TestBoundCountsVictimsAlone(t *testing.T) {
	s := guardedCluster(t, []string{"other 1 r", "n 8 r"},
		oldPod("other", "other", "1", -1, 1).Labels("app", "guarded"),
		oldPod("guarded", "n", "4", 0, 5).Labels("app", "guarded"),
		oldPod("two", "n", "2", 0, 1), oldPod("one-0", "n", "1", 0, 2), oldPod("one-1", "n", "1", 0, 3))
	wantVictims(t, s, fullSearch, nil, "guarded two", api.MakePod("").Requests("6", "1Mi").NodeSelector("for", "n"))
}

// With budgets no domain is passed over for the priority of its first victims: in rack r-0 the
// first attempts find important, which is worse than the victim in r-1; guarded is better.
func TestBudgetsRuleOutNoDomain(t *testing.T) {
	s := guardedCluster(t, []string{"other 4 r-0", "n-1 4 r-0", "n-2 8 r-0", "n-3 4 r-1"},
		oldPod("other", "other", "4", 0, 1).Labels("app", "guarded"),
		oldPod("guarded", "n-1", "4", 1, 1).Labels("app", "guarded"),
		oldPod("important", "n-2", "8", 3, 1), oldPod("middle", "n-3", "4", 2, 1))
	wantVictims(t, s, gang.Rules{Choice: gang.BestFit}, []gang.Level{{Key: rack}}, "guarded", api.MakePod("").Requests("4", "1Mi").NodeSelector("for", "n"))
}

// A unit whose return keeps pods of the group off other nodes stays away, although no pod of
// the group is on its node.
func TestReturnIsSeenOnOtherNodes(t *testing.T) {
	s := guardedCluster(t, []string{"near 4 r", "n 4 r"},
		oldPod("hostile", "near", "4", 0, 1).PodAntiAffinity(rack, "app=web"), oldPod("old", "n", "4", 0, 2))
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}, fullSearch} {
		wantVictims(t, s, rules, nil, "hostile old", api.MakePod("").Labels("app", "web").Requests("4", "1Mi").NodeSelector("for", "n"))
	}
}

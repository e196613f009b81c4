package scheduling_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// recorder is a plugin that records its calls.
type recorder struct {
	name  string
	calls *[]string
	fail  framework.Status
}

func (r recorder) Name() string { return r.name }
func (r recorder) Reserve(_ *framework.Cycle, n *framework.NodeInfo) framework.Status {
	*r.calls = append(*r.calls, "reserve "+r.name+" "+n.Name())
	return r.fail
}

func (r recorder) Unreserve(_ *framework.Cycle, n *framework.NodeInfo) {
	*r.calls = append(*r.calls, "unreserve "+r.name+" "+n.Name())
}

func smallCluster(tb testing.TB, nodes ...*api.Node) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func TestPlaceReservesOrTakesAllBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail map[string]framework.Status
		want []string
		err  string
	}{
		{"all agree", nil, []string{"reserve a n", "reserve b n", "reserve c n"}, ""},
		{
			"the second refuses",
			map[string]framework.Status{"b": framework.UnschedulableStatus("taken")},
			[]string{"reserve a n", "reserve b n", "unreserve c n", "unreserve b n", "unreserve a n"},
			"0/1 nodes are available: 1 taken.",
		},
		{
			"the last fails",
			map[string]framework.Status{"c": framework.AsStatus(errors.New("broken"))},
			[]string{"reserve a n", "reserve b n", "reserve c n", "unreserve c n", "unreserve b n", "unreserve a n"},
			`running Reserve plugin "c": broken (node n)`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			p := scheduling.Profile{}
			for _, name := range []string{"a", "b", "c"} {
				p.Reserve = append(p.Reserve, recorder{name, &calls, tt.fail[name]})
			}
			sched := build(t, p)
			s := smallCluster(t, api.MakeNode("n", "4", "4Gi").Obj())
			before := s.Node("n").Generation()
			_, err := sched.Place(s, podInfo(t, s, api.MakePod("p").Obj()))
			if text := fmt.Sprint(err); err != nil && text != tt.err || err == nil && tt.err != "" {
				t.Errorf("Place: error %q, want %q", text, tt.err)
			}
			if diff := cmp.Diff(tt.want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if n := s.Node("n"); err != nil && (len(n.Pods) != 0 || n.Generation() != before) {
				t.Errorf("after a refusal the node holds %d pods at generation %d, want 0 at %d", len(n.Pods), n.Generation(), before)
			}
		})
	}
}

// strange misbehaves in the way its name says.
type strange string

func (s strange) Name() string { return string(s) }
func (s strange) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	switch s {
	case "filter panics":
		panic("oh")
	case "filter errs":
		return framework.AsStatus(errors.New("no idea"))
	case "filter waits":
		return framework.NewStatus(framework.Wait, nil)
	}
	return framework.Status{}
}

func (s strange) Score(*framework.PodInfo, *framework.NodeInfo) int64 {
	switch s {
	case "score panics":
		return int64(1 / len(s[len(s):])) // divides by zero
	case "score is large":
		return 101
	case "score is negative":
		return -1
	}
	return 0
}

func TestPluginsThatMisbehave(t *testing.T) {
	for plugin, want := range map[strange]string{
		"filter panics": `running "filter panics" filter plugin: panic: oh (node a)`,
		"filter errs":   `running "filter errs" filter plugin: no idea (node a)`,
		"filter waits":  `running "filter waits" filter plugin: a filter must not answer Wait or Skip (node a)`,
		"score panics":  `running Score plugins: plugin "score panics" failed with: panic: runtime error: integer divide by zero (node a)`,
		"score is large": `applying score defaultWeights on Score plugins: plugin "score is large" returns an invalid score 101, ` +
			`it should in the range of [0, 100] after normalizing (node a)`,
		"score is negative": `applying score defaultWeights on Score plugins: plugin "score is negative" returns an invalid score -1, ` +
			`it should in the range of [0, 100] after normalizing (node a)`,
	} {
		for _, fast := range []scheduling.CacheConfig{{Off: true}, {}, {Verify: true}} {
			t.Run(fmt.Sprintf("%s/%+v", plugin, fast), func(t *testing.T) {
				s := smallCluster(t, api.MakeNode("a", "1", "1Gi").Obj(), api.MakeNode("b", "1", "1Gi").Obj())
				sched := build(t, scheduling.Profile{
					Filter: []framework.Plugin{plugin}, Score: []scheduling.Weighted{{Plugin: plugin}}, Cache: fast,
				})
				for range 3 { // the second and third pod of the class meet the incremental path
					_, err := sched.Place(s, podInfo(t, s, api.MakePod("p").Obj()))
					if fmt.Sprint(err) != want {
						t.Fatalf("Place: error %v\nwant %s", err, want)
					}
					var pluginErr *scheduling.PluginError
					if !errors.As(err, &pluginErr) || pluginErr.Plugin != string(plugin) {
						t.Fatalf("the error does not name the plugin: %#v", err)
					}
				}
			})
		}
	}
}

func TestProfileErrorsAreAllReported(t *testing.T) {
	_, err := scheduling.New(scheduling.Profile{
		Name:       "bad",
		Filter:     []framework.Plugin{nil, scoring.ImageLocality{}, filter.NodeName{}, filter.NodeName{}},
		Score:      []scheduling.Weighted{{scoring.ImageLocality{}, -1}, {filter.NodeName{}, 1}, {scoring.NodeAffinity{}, 1 << 62}},
		Reserve:    []framework.Plugin{filter.NodeName{}},
		Percentage: 101,
		TieRule:    scheduling.Custom,
		Cache:      scheduling.CacheConfig{Budget: -1},
	})
	want := []string{
		`profile "bad": Filter[0]: the plugin is nil`,
		`profile "bad": Filter[1]: plugin "ImageLocality" (scoring.ImageLocality) does not implement FilterPlugin or PreFilterPlugin`,
		`profile "bad": Filter[3]: plugin "NodeName" is listed twice`,
		`profile "bad": Score[1]: plugin "NodeName" (filter.NodeName) does not implement ScorePlugin or PreScorePlugin`,
		`profile "bad": Reserve[0]: plugin "NodeName" (filter.NodeName) does not implement ReservePlugin`,
		`profile "bad": Score[0].Weight: -1: must not be negative`,
		`profile "bad": Score[2].Weight: 4611686018427387904: the total score could overflow`,
		`profile "bad": Percentage: 101: not in valid range [0-100], nor Adaptive`,
		`profile "bad": TieRule and TieBreak: TieBreak must be set if, and only if, TieRule is Custom`,
		`profile "bad": Cache.Budget: -1: must not be negative`,
	}
	if diff := cmp.Diff(want, strings.Split(fmt.Sprint(err), "\n")); diff != "" {
		t.Errorf("New (-want +got):\n%s", diff)
	}
}

func TestFitErrorText(t *testing.T) {
	s := smallCluster(t,
		api.MakeNode("a", "1", "1Gi").Obj(),
		api.MakeNode("b", "1", "8Gi").Taint("k=v:NoSchedule").Obj(),
		api.MakeNode("c", "8", "1Gi").Unschedulable().Obj(),
	)
	sched := build(t, scheduling.Kubernetes137())
	_, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Requests("2", "2Gi").Obj()))
	const want = "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable."
	if fmt.Sprint(err) != want {
		t.Errorf("Schedule: %v\nwant %s", err, want)
	}
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		t.Fatalf("Schedule: %T, want *FitError", err)
	}
	if got, want := fit.Plugins(), []string{"NodeResourcesFit", "NodeUnschedulable", "TaintToleration"}; !slices.Equal(got, want) {
		t.Errorf("Plugins() = %v, want %v", got, want)
	}

	empty := framework.NewSnapshot(framework.Arrival)
	_, err = sched.Schedule(empty, podInfo(t, empty, api.MakePod("p").Obj()))
	if !errors.Is(err, scheduling.ErrNoNodes) {
		t.Errorf("Schedule without nodes: %v, want %v", err, scheduling.ErrNoNodes)
	}
}

func TestExplainEndsWhereScheduleEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{snap: framework.NewSnapshot(framework.ZoneInterleaved)}
		p := scheduling.Profile{
			Seed: rapid.Uint64().Draw(t, "seed"), Filter: []framework.Plugin{room{}, color{}},
			Score:      []scheduling.Weighted{{emptier{}, 2}, {likes{}, 1}},
			TieRule:    scheduling.TieRule(rapid.IntRange(0, int(scheduling.ByName)).Draw(t, "tie")),
			Percentage: rapid.SampledFrom([]int{scheduling.AllNodes, 10}).Draw(t, "percentage"),
		}
		sched, err := scheduling.New(p)
		must(t, err)
		m.sched = sched
		for range rapid.SampledFrom([]int{1, 5, 150}).Draw(t, "nodes") {
			m.serial++
			must(t, m.snap.AddNode(m.node(t, fmt.Sprintf("n%d", m.serial))))
		}
		for range 10 {
			pod := m.newPod(t)
			e := sched.Explain(m.snap, pod)
			d, err := sched.Schedule(m.snap, pod)
			if e.Chosen != d.Node || (err != nil) != (e.Error != "") {
				t.Fatalf("Explain chose %q (%s), Schedule %q (%v)", e.Chosen, e.Error, d.Node, err)
			}
			again := sched.ExplainDecision(m.snap, pod, d)
			if a, b := asJSON(t, e), asJSON(t, again); !bytes.Equal(a, b) {
				t.Fatalf("Explain and ExplainDecision differ:\n%s\n%s", a, b)
			}
			checkExplanation(t, e, d)
			if err == nil {
				must(t, m.snap.AddPod(pod, d.Node))
			}
		}
	})
}

func asJSON(t *rapid.T, v any) []byte {
	text, err := json.Marshal(v)
	must(t, err)
	return text
}

// checkExplanation checks that an explanation adds up.
func checkExplanation(t *rapid.T, e *scheduling.Explanation, d scheduling.Decision) {
	feasible, best := 0, int64(-1)
	for _, n := range e.Nodes {
		if n.Verdict != scheduling.VerdictFeasible {
			if len(n.Scores) > 0 || n.Rank != 0 || n.Verdict == scheduling.VerdictRejected && len(n.Reasons) == 0 {
				t.Fatalf("node %s is not feasible and yet %+v", n.Node, n)
			}
			continue
		}
		feasible++
		var total int64
		for _, s := range n.Scores {
			if s.Normalized < 0 || s.Normalized > 100 || s.Weighted != s.Normalized*s.Weight {
				t.Fatalf("node %s: score %+v", n.Node, s)
			}
			total += s.Weighted
		}
		if total != n.Total {
			t.Fatalf("node %s: total %d, want %d", n.Node, n.Total, total)
		}
		best = max(best, total)
	}
	if feasible != e.Feasible {
		t.Fatalf("%d nodes are feasible, Feasible is %d", feasible, e.Feasible)
	}
	if e.Chosen != "" && !e.Unscored && (d.Score != best || !slices.Contains(e.TiedNodes, e.Chosen)) {
		t.Fatalf("chosen %s with score %d among %v; the best total is %d", e.Chosen, d.Score, e.TiedNodes, best)
	}
}

func TestParallelismChangesNothing(t *testing.T) {
	run := func(workers int) []string {
		s := cluster(t, 300)
		p := scheduling.Kubernetes137()
		p.TieRule, p.Parallelism, p.Cache.Off = scheduling.Random, workers, true
		sched := build(t, p)
		var nodes []string
		for _, kind := range []workload.Kind{workload.Basic, workload.NodeAffinity} {
			for _, pod := range pods(t, s, kind, 60) {
				d, err := sched.Place(s, pod)
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, d.Node)
			}
		}
		return nodes
	}
	want := run(1)
	for _, workers := range []int{2, 7} {
		if diff := cmp.Diff(want, run(workers)); diff != "" {
			t.Errorf("%d workers (-1 worker +%d):\n%s", workers, workers, diff)
		}
	}
}

// TestOrderOfNodesChangesOnlyTies schedules over the same nodes in two orders.
func TestOrderOfNodesChangesOnlyTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "nodes")
		order := rapid.Permutation(seq(n)).Draw(t, "order")
		a, b := framework.NewSnapshot(framework.Arrival), framework.NewSnapshot(framework.Arrival)
		for i := range n {
			must(t, a.AddNode(workload.Node(i)))
			must(t, b.AddNode(workload.Node(order[i])))
		}
		load := rapid.IntRange(0, 3*n).Draw(t, "load")
		for j := range load {
			p := workload.InitPod(j, n)
			for _, s := range []*framework.Snapshot{a, b} {
				info, err := s.NewPodInfo(p)
				must(t, err)
				must(t, s.AddPod(info, p.Spec.NodeName))
			}
		}
		explain := func(s *framework.Snapshot) (tied []string, totals map[string]int64) {
			sched, err := scheduling.New(scheduling.Kubernetes137())
			must(t, err)
			info, err := s.NewPodInfo(workload.Pod(workload.NodeAffinity, 0))
			must(t, err)
			e := sched.Explain(s, info)
			totals = map[string]int64{}
			for _, n := range e.Nodes {
				totals[n.Node] = n.Total
			}
			slices.Sort(e.TiedNodes)
			return e.TiedNodes, totals
		}
		tiedA, totalsA := explain(a)
		tiedB, totalsB := explain(b)
		if diff := cmp.Diff(totalsA, totalsB); diff != "" {
			t.Fatalf("totals differ (-a +b):\n%s", diff)
		}
		if diff := cmp.Diff(tiedA, tiedB); diff != "" {
			t.Fatalf("tie sets differ (-a +b):\n%s", diff)
		}
	})
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestDecisionsDoNotAllocate(t *testing.T) {
	for _, off := range []bool{true, false} {
		s := cluster(t, 500)
		p := scheduling.Kubernetes137()
		p.TieRule, p.Cache.Off = scheduling.Random, off
		sched := build(t, p)
		pod := podInfo(t, s, workload.Pod(workload.NodeAffinity, 0))
		step := func() {
			d, err := sched.Place(s, pod)
			if err == nil {
				err = sched.Release(s, pod, d.Node)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 500 {
			step()
		}
		if n := testing.AllocsPerRun(200, step); n > 0 {
			t.Errorf("reference path only %t: %v allocations per decision, want 0", off, n)
		}
	}
}

func TestCustomTieBreak(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "1", "1Gi").Obj(), api.MakeNode("b", "1", "1Gi").Obj())
	last := func(_ *framework.Cycle, tied []*framework.NodeInfo) int { return len(tied) - 1 }
	byPod := func(c *framework.Cycle, tied []*framework.NodeInfo) int {
		if c.Pod.Pod.Name == "p" && c.Snapshot == s && c.Snapshot.Node(tied[1].Name()) == tied[1] {
			return 1
		}
		return 0
	}
	outside := func(_ *framework.Cycle, tied []*framework.NodeInfo) int { return len(tied) }
	for _, tt := range []struct {
		tie  scheduling.TieBreak
		want string
		err  string
	}{
		{last, "b", "<nil>"},
		{byPod, "b", "<nil>"},
		{outside, "", `running TieBreak plugin "Custom": returned index 2 of 2 tied nodes`},
	} {
		p := scheduling.Kubernetes137()
		p.TieRule, p.TieBreak = scheduling.Custom, tt.tie
		sched := build(t, p)
		for range 3 {
			d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
			if d.Node != tt.want || fmt.Sprint(err) != tt.err {
				t.Errorf("Schedule = %q, %v, want %q, %s", d.Node, err, tt.want, tt.err)
			}
		}
	}
}

func TestSampleBeginsWhereTheLastOneEnded(t *testing.T) {
	s := cluster(t, 300)
	p := scheduling.Kubernetes137()
	p.Percentage, p.TieRule = 10, scheduling.First
	sched := build(t, p)
	// Each search covers 100 of 300 nodes, and the first of the best wins. Nothing
	// is placed, so all nodes of a sample are equally good.
	for _, want := range []int{0, 100, 200, 0} {
		d, err := sched.Schedule(s, podInfo(t, s, workload.Pod(workload.Basic, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.At(want).Name(); d.Node != got || d.Evaluated != 100 {
			t.Errorf("chose %s of %d, want %s of 100", d.Node, d.Evaluated, got)
		}
	}
}

func TestReleaseUndoesPlace(t *testing.T) {
	var calls []string
	sched := build(t, scheduling.Profile{Reserve: []framework.Plugin{recorder{"a", &calls, framework.Status{}}}})
	s := smallCluster(t, api.MakeNode("n", "4", "4Gi").Obj())
	pod := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := sched.Release(s, pod, d.Node); err != nil {
		t.Fatal(err)
	}
	if n := s.Node("n"); len(n.Pods) != 0 || n.Requested.At(0) != 0 {
		t.Errorf("after Release the node holds %d pods and %d milli-CPU", len(n.Pods), n.Requested.At(0))
	}
	if diff := cmp.Diff([]string{"reserve a n", "unreserve a n"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestReleaseElsewhere: a pod that is not on the node keeps its reservations.
func TestReleaseElsewhere(t *testing.T) {
	var calls []string
	sched := build(t, scheduling.Profile{Reserve: []framework.Plugin{recorder{"a", &calls, framework.Status{}}}})
	s := smallCluster(t, api.MakeNode("n", "4", "4Gi").Obj())
	pod := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj())
	if _, err := sched.Place(s, pod); err != nil {
		t.Fatal(err)
	}
	if err := s.AddNode(api.MakeNode("other", "4", "4Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	calls = nil
	for _, node := range []string{"other", "nowhere"} {
		var invalid *api.InvalidError
		if err := sched.Release(s, pod, node); !errors.As(err, &invalid) {
			t.Errorf("Release from %s = %v, want an InvalidError", node, err)
		}
	}
	if len(calls) > 0 || len(s.Node("n").Pods) != 1 {
		t.Errorf("calls %q, and %d pods on the node; want no calls and 1 pod", calls, len(s.Node("n").Pods))
	}
}

func TestStatsCountPaths(t *testing.T) {
	s := cluster(t, 50)
	sched := build(t, scheduling.Kubernetes137())
	for range 10 {
		if _, err := sched.Place(s, podInfo(t, s, workload.Pod(workload.Basic, 0))); err != nil {
			t.Fatal(err)
		}
	}
	got := sched.Stats()
	if got.Bypassed != 1 || got.Misses != 1 || got.Hits != 8 || got.Classes != 1 || got.Bytes == 0 {
		t.Errorf("Stats() = %+v, want 1 left, 1 built, 8 known, 1 class and its bytes", got)
	}
	pods := 0
	place := func(cpu int) {
		pods++
		p := podInfo(t, s, api.MakePod(fmt.Sprint("t", pods)).Requests(fmt.Sprint(cpu, "m"), "1Mi").Obj())
		if _, err := sched.Place(s, p); err != nil {
			t.Fatal(err)
		}
	}
	for cpu := range 20 { // from some template on, most have come again
		for range 8 {
			place(1 + cpu)
		}
	}
	before := sched.Stats()
	place(30)
	if got := sched.Stats(); got.Bypassed != before.Bypassed || got.Misses != before.Misses+1 {
		t.Errorf("the first pod of a template: Stats() = %+v, before %+v, want 1 more built", got, before)
	}
	for cpu := range 100 { // from some template on, most have come once
		place(40 + cpu)
	}
	before = sched.Stats()
	place(31)
	if got := sched.Stats(); got.Bypassed != before.Bypassed+1 || got.Misses != before.Misses {
		t.Errorf("the first pod of a template among single pods: Stats() = %+v, before %+v, want 1 more left", got, before)
	}
	p := scheduling.Kubernetes137()
	p.Cache.Off = true
	if got := build(t, p).Stats(); got != (scheduling.Stats{}) {
		t.Errorf("Stats() of the reference path = %+v, want zero", got)
	}
}

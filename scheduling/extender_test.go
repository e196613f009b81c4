package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// said makes an extender whose filter always gives one answer and records the nodes
// that it is asked about.
func said(calls *[]string, name string, v scheduling.ExtenderVerdict, err error) scheduling.Extender {
	return scheduling.Extender{
		Name: name,
		Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
			*calls = append(*calls, name+" "+nodeNames(nodes))
			return v, err
		},
	}
}

func nodeNames(nodes []*framework.NodeInfo) string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	return strings.Join(names, ",")
}

// scored makes an extender that only scores.
func scored(name string, weight int64, scores []scheduling.HostScore, err error) scheduling.Extender {
	return scheduling.Extender{
		Name: name, Weight: weight,
		Prioritize: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) ([]scheduling.HostScore, error) {
			return scores, err
		},
	}
}

func abc(tb testing.TB) *framework.Snapshot {
	tb.Helper()
	var nodes []*api.Node
	for _, name := range []string{"a", "b", "c"} {
		nodes = append(nodes, api.MakeNode(name, "4", "16Gi").Obj())
	}
	return smallCluster(tb, nodes...)
}

func TestExtenderFilter(t *testing.T) {
	boom := errors.New("boom")
	all := scheduling.ExtenderVerdict{Nodes: []string{"a", "b", "c"}}
	ignorable := func(e scheduling.Extender) scheduling.Extender { e.Ignorable = true; return e }
	var calls []string
	tests := []struct {
		name      string
		extenders []scheduling.Extender
		node, err string
		calls     []string
		plugins   []string // from the FitError
	}{
		{"takes all", []scheduling.Extender{said(&calls, "x", all, nil)}, "a", "", []string{"x a,b,c"}, nil},
		{
			"one after the other",
			[]scheduling.Extender{said(&calls, "x", scheduling.ExtenderVerdict{Nodes: []string{"b", "c"}}, nil), said(&calls, "y", scheduling.ExtenderVerdict{Nodes: []string{"c"}}, nil)},
			"c", "",
			[]string{"x a,b,c", "y b,c"},
			nil,
		},
		{
			"its order counts, and a node given twice counts once",
			[]scheduling.Extender{said(&calls, "x", scheduling.ExtenderVerdict{Nodes: []string{"c", "a", "c"}}, nil)},
			"c", "",
			[]string{"x a,b,c"},
			nil,
		},
		{
			"nothing left: nobody else is asked",
			[]scheduling.Extender{said(&calls, "x", scheduling.ExtenderVerdict{
				Failed: map[string]string{"a": "too hot", "b": "too hot", "z": "unknown"}, Unresolvable: map[string]string{"b": "too old"},
			}, nil), said(&calls, "y", all, nil)},
			"", "0/3 nodes are available: 1 too hot, 1 too old.",
			[]string{"x a,b,c"},
			[]string{"Extender"},
		},
		{
			"an error",
			[]scheduling.Extender{said(&calls, "x", all, boom), said(&calls, "y", all, nil)},
			"", `running Filter of extender "x": boom`,
			[]string{"x a,b,c"},
			nil,
		},
		{
			"an error that is ignored",
			[]scheduling.Extender{ignorable(said(&calls, "x", all, boom)), said(&calls, "y", scheduling.ExtenderVerdict{Nodes: []string{"b"}}, nil)},
			"b", "",
			[]string{"x a,b,c", "y a,b,c"},
			nil,
		},
		{
			"a node that it was not asked about",
			[]scheduling.Extender{said(&calls, "x", scheduling.ExtenderVerdict{Nodes: []string{"a", "z"}}, nil)},
			"", `running Filter of extender "x": it claims a filtered node "z" which is not found in the input node list`,
			[]string{"x a,b,c"},
			nil,
		},
		{
			"not interested",
			[]scheduling.Extender{{Name: "x", Interested: func(*framework.PodInfo) bool { return false }, Filter: said(&calls, "x", all, boom).Filter}},
			"a", "", nil, nil,
		},
		{
			"a panic",
			[]scheduling.Extender{{Name: "x", Filter: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
				panic("ouch")
			}}},
			"", `running Filter of extender "x": panic: ouch`, nil, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls = nil
			s := abc(t)
			sched := build(t, scheduling.Profile{Extenders: tt.extenders, TieRule: scheduling.First})
			d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
			if d.Node != tt.node || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("Schedule = %q, %v, want %q, %s", d.Node, err, tt.node, tt.err)
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			var fit *scheduling.FitError
			if errors.As(err, &fit) && !slices.Equal(fit.Plugins(), tt.plugins) {
				t.Errorf("plugins = %v, want %v", fit.Plugins(), tt.plugins)
			}
			var failed *scheduling.ExtenderError
			if errors.Is(err, boom) && (!errors.As(err, &failed) || failed.Extender != "x" || failed.Point != "Filter") {
				t.Errorf("%v is not the error of the extender", err)
			}
		})
	}
}

// spare scores by the number of pods.
type spare struct{}

func (spare) Name() string { return "spare" }
func (spare) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return 50 - int64(len(n.Pods))
}

func TestExtenderPrioritize(t *testing.T) {
	give := func(scores ...int64) []scheduling.HostScore {
		var out []scheduling.HostScore
		for i, s := range scores {
			out = append(out, scheduling.HostScore{Host: string(rune('a' + i)), Score: s})
		}
		return out
	}
	tests := []struct {
		name      string
		extenders []scheduling.Extender
		want      []int64 // totals; the plugin gives 50 to each
	}{
		{"score * weight * 10", []scheduling.Extender{scored("x", 3, give(1, 10, 0), nil)}, []int64{80, 350, 50}},
		{"two", []scheduling.Extender{scored("x", 1, give(1, 2, 3), nil), scored("y", 2, give(5, 0, 1), nil)}, []int64{160, 70, 100}},
		{"an error is ignored", []scheduling.Extender{scored("x", 1, give(9, 9, 9), errors.New("boom")), scored("y", 1, give(0, 1, 0), nil)}, []int64{50, 60, 50}},
		{"some nodes only, and one that nobody knows", []scheduling.Extender{scored("x", 1, append(give(1), scheduling.HostScore{Host: "z", Score: 10}), nil)}, []int64{60, 50, 50}},
		{"a node twice", []scheduling.Extender{scored("x", 1, append(give(1), give(2)...), nil)}, []int64{80, 50, 50}},
		{"out of bounds", []scheduling.Extender{scored("x", 1, give(-3, 40, 0), nil)}, []int64{20, 450, 50}},
		{"beyond int64", []scheduling.Extender{scored("x", math.MaxInt64, give(math.MaxInt64, math.MinInt64, 1), nil)}, []int64{math.MaxInt64, math.MinInt64 + 50, math.MaxInt64}},
		{"a panic is ignored", []scheduling.Extender{{Name: "x", Weight: 1, Prioritize: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) ([]scheduling.HostScore, error) {
			panic("ouch")
		}}}, []int64{50, 50, 50}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := abc(t)
			sched := build(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: spare{}}}, Extenders: tt.extenders, TieRule: scheduling.First})
			pod := podInfo(t, s, api.MakePod("p").Obj())
			e := sched.Explain(s, pod)
			d, err := sched.Schedule(s, pod)
			if err != nil {
				t.Fatal(err)
			}
			var totals []int64
			for _, n := range e.Nodes {
				totals = append(totals, n.Total)
				sum := int64(0)
				for _, score := range n.Scores {
					sum += score.Weighted
				}
				if sum != n.Total && !strings.Contains(tt.name, "int64") {
					t.Errorf("scores of %s add up to %d, the total is %d", n.Node, sum, n.Total)
				}
			}
			if !slices.Equal(totals, tt.want) {
				t.Errorf("totals = %v, want %v", totals, tt.want)
			}
			if best := slices.Index(totals, slices.Max(totals)); d.Node != e.Nodes[best].Node || d.Node != e.Chosen || d.Score != totals[best] {
				t.Errorf("Schedule = %s with %d, want %s with %d", d.Node, d.Score, e.Nodes[best].Node, totals[best])
			}
		})
	}
}

// TestExtenderLog shows the scores of one extender as the article about priorities
// found them in a log: 404 and 438 from plugins (and 1000000 from
// NodePreferAvoidPods), plus 2 and 5 from an extender.
func TestExtenderLog(t *testing.T) {
	s := smallCluster(t, api.MakeNode("192.168.60.238", "4", "16Gi").Obj(), api.MakeNode("192.168.60.237", "4", "16Gi").Obj())
	sched := build(t, scheduling.Profile{
		Score: []scheduling.Weighted{{Plugin: spare{}}},
		Extenders: []scheduling.Extender{scored("http://192.168.60.89:8889/", 1, []scheduling.HostScore{
			{Host: "192.168.60.238", Score: 2}, {Host: "192.168.60.237", Score: 5},
		}, nil)},
	})
	e := sched.Explain(s, podInfo(t, s, api.MakePod("nginx").Obj()))
	want := []scheduling.ScoreExplanation{
		{Plugin: "spare", Raw: 50, Normalized: 50, Weight: 1, Weighted: 50},
		{Plugin: "http://192.168.60.89:8889/", Raw: 5, Normalized: 50, Weight: 1, Weighted: 50},
	}
	if diff := cmp.Diff(want, e.Nodes[1].Scores); diff != "" {
		t.Errorf("scores of .237 (-want +got):\n%s", diff)
	}
	if e.Chosen != "192.168.60.237" || e.Nodes[1].Total-e.Nodes[0].Total != 30 {
		t.Errorf("chosen %s, ahead by %d, want .237 ahead by 30", e.Chosen, e.Nodes[1].Total-e.Nodes[0].Total)
	}
}

// TestExtenderTies checks how the rule Heap breaks ties after extenders have
// answered: at random among the nodes in their answers, if there are any.
func TestExtenderTies(t *testing.T) {
	chosen := func(extenders ...scheduling.Extender) map[string]int {
		counts := map[string]int{}
		s := abc(t)
		sched := build(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: spare{}}}, Extenders: extenders, TieRule: scheduling.Heap, Seed: 7})
		for range 300 {
			d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
			if err != nil {
				t.Fatal(err)
			}
			counts[d.Node]++
		}
		return counts
	}
	if got := chosen(); got["a"] != 300 {
		t.Errorf("without extenders %v, want a always: the heap decides", got)
	}
	silent := scheduling.Extender{Name: "x", Bind: func(context.Context, *api.Pod, string) error { return nil }}
	if got := chosen(silent); got["a"] < 60 || got["b"] < 60 || got["c"] < 60 {
		t.Errorf("an extender without scores: %v, want a uniform choice", got)
	}
	if got := chosen(scored("x", 1, []scheduling.HostScore{{Host: "b"}, {Host: "c"}}, nil)); got["a"] != 0 || got["b"] < 100 || got["c"] < 100 {
		t.Errorf("b and c in the answer: %v, want these two alike", got)
	}
	failing := scored("x", 1, nil, errors.New("boom"))
	if got := chosen(failing); got["a"] != 300 {
		t.Errorf("an extender that fails: %v, want a always", got)
	}
	aloof := silent
	aloof.Interested = func(*framework.PodInfo) bool { return false }
	if got := chosen(aloof); got["a"] != 300 {
		t.Errorf("an extender that is not interested: %v, want a always", got)
	}
}

// TestExtenderWantsAll checks that a search does not end at the first feasible node
// if an extender may filter or score, even without score plugins.
func TestExtenderWantsAll(t *testing.T) {
	var calls []string
	tests := []struct {
		name string
		e    scheduling.Extender
		want int
	}{
		{"filter", said(&calls, "x", scheduling.ExtenderVerdict{Nodes: []string{"c"}}, nil), 3},
		{"prioritize", scored("x", 1, nil, nil), 3},
		{"bind", scheduling.Extender{Name: "x", Bind: func(context.Context, *api.Pod, string) error { return nil }}, 1},
	}
	for _, tt := range tests {
		s := abc(t)
		d, err := build(t, scheduling.Profile{Extenders: []scheduling.Extender{tt.e}}).Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
		if err != nil || d.Evaluated != tt.want {
			t.Errorf("%s: evaluated %d nodes, %v, want %d", tt.name, d.Evaluated, err, tt.want)
		}
	}
}

func TestExtenderEmptiedNodes(t *testing.T) {
	for _, emptied := range []bool{false, true} {
		s := abc(t)
		for i := range 3 {
			if err := s.AddPod(podInfo(t, s, api.MakePod(fmt.Sprint("on-a-", i)).Requests("1", "1Gi").Obj()), "a"); err != nil {
				t.Fatal(err)
			}
		}
		var calls []string
		sched := build(t, scheduling.Profile{
			Score: []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}}, {Plugin: spare{}}},
			Extenders: []scheduling.Extender{
				said(&calls, "x", scheduling.ExtenderVerdict{Nodes: []string{"a", "b"}, Emptied: emptied}, nil),
				said(&calls, "y", scheduling.ExtenderVerdict{Nodes: []string{"a", "b"}}, nil),
			},
			TieRule: scheduling.First,
		})
		d, err := sched.Place(s, podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Obj()))
		if want := map[bool]string{false: "b", true: "a"}[emptied]; err != nil || d.Node != want {
			t.Errorf("emptied %t: placed on %s, %v, want %s", emptied, d.Node, err, want)
		}
		if got := len(s.Node("a").Pods) + len(s.Node("b").Pods); got != 4 {
			t.Errorf("emptied %t: the nodes have %d pods, want 4", emptied, got)
		}
	}
}

func TestExtenderAndNominatedNode(t *testing.T) {
	for _, tt := range []struct {
		name      string
		nodes     []string
		err       error
		ignorable bool
		want      string
		calls     []string
	}{
		{"takes it", []string{"c"}, nil, false, "c", []string{"x c"}},
		{"does not", []string{}, nil, false, "", []string{"x c", "x a,b,c"}},
		{"fails, and is ignored", nil, errors.New("boom"), true, "c", []string{"x c"}},
	} {
		var calls []string
		s := abc(t)
		e := said(&calls, "x", scheduling.ExtenderVerdict{Nodes: tt.nodes}, tt.err)
		e.Ignorable = tt.ignorable
		pod := api.MakePod("p").Obj()
		pod.Status.NominatedNodeName = "c"
		d, err := build(t, scheduling.Profile{Extenders: []scheduling.Extender{e}, TieRule: scheduling.First}).Schedule(s, podInfo(t, s, pod))
		if d.Node != tt.want || (err == nil) != (tt.want != "") || !slices.Equal(calls, tt.calls) {
			t.Errorf("%s: %q, %v after %q, want %q after %q", tt.name, d.Node, err, calls, tt.want, tt.calls)
		}
	}
}

// TestExtenderContext checks that the context reaches the extenders.
func TestExtenderContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := abc(t)
	sched := build(t, scheduling.Profile{Extenders: []scheduling.Extender{{
		Name: "x", Filter: func(ctx context.Context, _ *framework.PodInfo, _ []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
			return scheduling.ExtenderVerdict{}, ctx.Err()
		},
	}}})
	if _, err := sched.ScheduleContext(ctx, s, podInfo(t, s, api.MakePod("p").Obj())); !errors.Is(err, context.Canceled) {
		t.Errorf("ScheduleContext fails with %v, want %v", err, context.Canceled)
	}
}

// lowPod puts a pod of low priority on the node that fills it.
func lowPod(t *testing.T, s *framework.Snapshot, name, node string) {
	t.Helper()
	pod := api.MakePod(name).Requests("4", "1Gi").Obj()
	pod.UID = api.UID("uid-" + name)
	if err := s.AddPod(podInfo(t, s, pod), node); err != nil {
		t.Fatal(err)
	}
}

func highPod(t *testing.T, s *framework.Snapshot) *framework.PodInfo {
	t.Helper()
	pod := api.MakePod("high").Requests("4", "1Gi").Obj()
	pod.Spec.Priority = new(int32(100))
	return podInfo(t, s, pod)
}

func TestExtenderPreempt(t *testing.T) {
	boom := errors.New("boom")
	keep := func(nodes ...string) func([]*preemption.Candidate) ([]*preemption.Candidate, error) {
		return func(list []*preemption.Candidate) ([]*preemption.Candidate, error) {
			return slices.DeleteFunc(slices.Clone(list), func(c *preemption.Candidate) bool { return !slices.Contains(nodes, c.Node) }), nil
		}
	}
	bare := func([]*preemption.Candidate) ([]*preemption.Candidate, error) {
		return []*preemption.Candidate{{Node: "a"}}, nil
	}
	fails := func([]*preemption.Candidate) ([]*preemption.Candidate, error) { return nil, boom }
	tests := []struct {
		name            string
		preempt         func([]*preemption.Candidate) ([]*preemption.Candidate, error)
		ignorable       bool
		nominated, text string // reasons of the status, or text of the error
	}{
		{"one is left", keep("b"), false, "b", "preemption: found a potential placement for pod on node b, preempting 1 victims"},
		{"none is left", keep(), false, "", "preemption: no candidate node for preemption"},
		{"fails", fails, false, "", `running PostFilter plugin "DefaultPreemption": preemption: running Preempt of extender "x": boom`},
		{"fails, and is ignored", fails, true, "any", ""},
		{"without victims", bare, false, "", `running PostFilter plugin "DefaultPreemption": preemption: running Preempt of extender "x": expected at least one victim pod on node "a"`},
		{"without victims, and is ignored", bare, true, "", "preemption: no candidate node for preemption"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := abc(t)
			for _, node := range []string{"a", "b", "c"} {
				lowPod(t, s, "low-"+node, node)
			}
			e := scheduling.Extender{Name: "x", Ignorable: tt.ignorable, Preempt: func(_ context.Context, _ *framework.PodInfo, _ *framework.Snapshot, list []*preemption.Candidate) ([]*preemption.Candidate, error) {
				return tt.preempt(list)
			}}
			sched := build(t, scheduling.Profile{
				Filter: []framework.Plugin{filter.NodeResourcesFit{}}, PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
				Extenders: []scheduling.Extender{e},
			})
			pod := highPod(t, s)
			d, err := sched.Schedule(s, pod)
			var fit *scheduling.FitError
			if !errors.As(err, &fit) {
				t.Fatalf("Schedule: %v, want a FitError", err)
			}
			result, _, status, err := sched.PostFilter(context.Background(), s, pod, d)
			text := status.Message()
			if err != nil {
				text = err.Error()
			}
			if tt.nominated == "any" {
				if result.Nominated == "" || err != nil {
					t.Errorf("nominated nowhere: %s", text)
				}
				return
			}
			if result.Nominated != tt.nominated || text != tt.text {
				t.Errorf("nominated to %q: %s\nwant %q: %s", result.Nominated, text, tt.nominated, tt.text)
			}
		})
	}
}

// TestExtenderIsAskedOnce checks that PostFilter, and the explanation of the last
// decision, reuse the answers of the extenders' filters; and that these verdicts
// count for preemption.
func TestExtenderIsAskedOnce(t *testing.T) {
	var calls []string
	s := abc(t)
	for _, node := range []string{"a", "b"} {
		small := api.MakePod("low-"+node).Requests("1", "1Gi").Obj()
		small.UID = api.UID("uid-" + node)
		if err := s.AddPod(podInfo(t, s, small), node); err != nil {
			t.Fatal(err)
		}
	}
	// All nodes fit; the extender says that removals could help on a and c, not on
	// b.
	sched := build(t, scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeResourcesFit{}}, PostFilter: []framework.Plugin{preemption.DefaultPreemption{}},
		Extenders: []scheduling.Extender{said(&calls, "x", scheduling.ExtenderVerdict{
			Failed: map[string]string{"a": "busy", "c": "busy"}, Unresolvable: map[string]string{"b": "never"},
		}, nil)},
	})
	pod := api.MakePod("high").Requests("1", "1Gi").Obj()
	pod.Spec.Priority = new(int32(100))
	info := podInfo(t, s, pod)
	d, err := sched.Schedule(s, info)
	if err == nil || err.Error() != "0/3 nodes are available: 1 never, 2 busy." {
		t.Fatalf("Schedule: %v", err)
	}
	// Only on a could removing pods help, and there the plugins propose none.
	_, _, _, err = sched.PostFilter(context.Background(), s, info, d)
	if err == nil || !strings.Contains(err.Error(), `expected at least one victim pod on node "a"`) {
		t.Errorf("PostFilter: %v", err)
	}
	e := sched.ExplainDecision(s, info, d)
	if e.Nodes[0].Plugin != scheduling.ExtenderPlugin || e.Nodes[0].Code != "Unschedulable" || e.Nodes[1].Code != "UnschedulableAndUnresolvable" {
		t.Errorf("explained as %+v", e.Nodes)
	}
	if !slices.Equal(calls, []string{"x a,b,c"}) {
		t.Errorf("asked for %q, want once", calls)
	}
	if sched.Explain(s, info); len(calls) != 2 {
		t.Errorf("the next decision was not asked about anew")
	}
}

// TestExtenderIsAskedAfterSeek: once a decision was taken back, the explanation of the next
// one, of the same number, shows what the extenders say of its pod.
func TestExtenderIsAskedAfterSeek(t *testing.T) {
	s := abc(t)
	sched := build(t, scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeResourcesFit{}},
		Extenders: []scheduling.Extender{{
			Name: "x", // takes the node that has the pod's name
			Filter: func(_ context.Context, pod *framework.PodInfo, _ []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
				return scheduling.ExtenderVerdict{Nodes: []string{pod.Pod.Name}}, nil
			},
		}},
	})
	at := sched.Position()
	if d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("a").Obj())); err != nil || d.Node != "a" {
		t.Fatalf("Schedule: node %q, %v, want a", d.Node, err)
	}
	sched.Seek(at)
	if e := sched.Explain(s, podInfo(t, s, api.MakePod("b").Obj())); e.Chosen != "b" {
		t.Errorf("Explain after Seek: node %q, %s, want b", e.Chosen, e.Error)
	}
}

func TestExtenderBind(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name                  string
		err                   error
		ignorable, interested bool
		bound, plugin, has    bool
		fails                 bool
	}{
		{name: "binds", interested: true, bound: true, has: true},
		{name: "fails", err: boom, interested: true, has: true, fails: true},
		{name: "fails, and is ignored", err: boom, ignorable: true, interested: true, bound: true, plugin: true, has: true},
		{name: "not interested", bound: true, plugin: true, has: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := abc(t)
			plugin := &countingBinder{}
			e := scheduling.Extender{
				Name: "x", Ignorable: tt.ignorable, Interested: func(*framework.PodInfo) bool { return tt.interested },
				Bind: func(_ context.Context, pod *api.Pod, node string) error {
					if pod.Name != "p" || node == "" {
						t.Errorf("bind %s to %q", pod.Name, node)
					}
					return tt.err
				},
			}
			sched := build(t, scheduling.Profile{Extenders: []scheduling.Extender{e}, Bind: []framework.Plugin{plugin}})
			pod := podInfo(t, s, api.MakePod("p").Obj())
			d, err := sched.Place(s, pod)
			if err != nil {
				t.Fatal(err)
			}
			b := sched.Binding(pod, d)
			if b.HasBind() != tt.has {
				t.Errorf("HasBind = %t, want %t", b.HasBind(), tt.has)
			}
			bound, err := b.Bind(context.Background())
			if bound != tt.bound || (err != nil) != tt.fails || err != nil && !errors.Is(err, boom) || (plugin.calls > 0) != tt.plugin {
				t.Errorf("Bind = %t, %v, plugin called %d times", bound, err, plugin.calls)
			}
		})
	}
}

type countingBinder struct{ calls int }

func (*countingBinder) Name() string { return "binder" }
func (b *countingBinder) Bind(context.Context, *framework.Cycle, string) framework.Status {
	b.calls++
	return framework.Status{}
}

func TestExtenderEvents(t *testing.T) {
	sched := build(t, scheduling.Profile{Extenders: []scheduling.Extender{scored("x", 1, nil, nil)}})
	events := sched.Events()
	if len(events) != 1 || events[0].Plugin != scheduling.ExtenderPlugin || !events[0].Event.IsWildcard() {
		t.Errorf("Events = %v, want the wildcard of the extenders", events)
	}
}

func TestExtenderProfileErrors(t *testing.T) {
	bind := func(context.Context, *api.Pod, string) error { return nil }
	_, err := scheduling.New(scheduling.Profile{Name: "p", Extenders: []scheduling.Extender{
		scored("", 0, nil, nil), {Name: "b", Bind: bind}, {Name: "c", Bind: bind},
	}})
	want := `profile "p": Extenders[0].Name: must not be empty
profile "p": Extenders[0].Weight: 0: must be positive
profile "p": Extenders: found 2 extenders implementing bind: only one extender can implement bind`
	if err == nil || err.Error() != want {
		t.Errorf("New: %v\nwant %s", err, want)
	}
}

// TestExtenderThatAgreesChangesNothing places pods with and without an extender that
// accepts every node and scores none.
func TestExtenderThatAgreesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		p := scheduling.Profile{Score: []scheduling.Weighted{{Plugin: spare{}}}, Seed: rapid.Uint64().Draw(t, "seed"), Parallelism: rapid.IntRange(0, 3).Draw(t, "parallelism")}
		q := p
		var mu sync.Mutex
		asked := 0
		q.Extenders = []scheduling.Extender{{
			Name: "x", Weight: 1,
			Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
				return scheduling.ExtenderVerdict{Nodes: strings.Split(nodeNames(nodes), ",")}, nil
			},
			Prioritize: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) ([]scheduling.HostScore, error) {
				mu.Lock()
				defer mu.Unlock()
				asked++
				return nil, nil
			},
		}}
		x, y := framework.NewSnapshot(framework.Arrival), framework.NewSnapshot(framework.Arrival)
		for i := range n {
			for _, s := range []*framework.Snapshot{x, y} {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "16Gi").Obj()); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, err := scheduling.New(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := scheduling.New(q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			pod := api.MakePod(fmt.Sprint("p", i)).Obj()
			px, err := x.NewPodInfo(pod)
			if err != nil {
				t.Fatal(err)
			}
			py, err := y.NewPodInfo(pod)
			if err != nil {
				t.Fatal(err)
			}
			da, errA := a.Place(x, px)
			db, errB := b.Place(y, py)
			if da.Node != db.Node || da.Score != db.Score || fmt.Sprint(errA) != fmt.Sprint(errB) {
				t.Fatalf("pod %d: %s with %d, %v without the extender, %s with %d, %v with it", i, da.Node, da.Score, errA, db.Node, db.Score, errB)
			}
		}
		if n > 1 && asked == 0 {
			t.Fatal("the extender was never asked")
		}
	})
}

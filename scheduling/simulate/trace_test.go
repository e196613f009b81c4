package simulate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
	"github.com/google/go-cmp/cmp"
)

const small = `{"trace":"berth/1","start":"2030-01-01T00:00:00Z"}
{"at":"0s","apply":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}}

{"at":"1m30s","apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}
{"at":"1m30s","decision":{"pod":"default/web","node":"a"}}
{"at":"2h","delete":{"kind":"Pod","name":"default/web"}}
`

func ExampleReadTrace() {
	var trace *simulate.Trace
	trace, err := simulate.ReadTrace(strings.NewReader(small))
	if err != nil {
		panic(err)
	}
	var second simulate.Event = trace.Events[1]
	var decision simulate.Decision = trace.Decisions[0]
	var gone simulate.Ref = trace.Events[2].Delete
	fmt.Println(second.At, second.Apply.Pods[0].Name, decision, gone.Kind)
	if err := trace.Write(os.Stdout); err != nil {
		panic(err)
	}
	_, err = simulate.ReadTrace(strings.NewReader(`{"at": "5m", "delete": {"kind": "Node", "name": "b"}}`))
	var fault *simulate.TraceError
	fmt.Println(errors.As(err, &fault), err)
	// Output:
	// 1m30s web 1m30s: default/web bound to a Pod
	// {"trace":"berth/1","start":"2030-01-01T00:00:00Z"}
	// {"at":"0s","apply":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}}
	// {"at":"1m30s","apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}
	// {"at":"1m30s","decision":{"pod":"default/web","node":"a"}}
	// {"at":"2h0m0s","delete":{"kind":"Pod","name":"default/web"}}
	// true trace: line 1: event: delete: "Node b": there is no such object
}

func ExampleReplay() {
	ctx := context.Background()
	c := config(objects([]*api.Node{node("a", "4"), node("b", "4")}, job("p0", "1", 0, time.Hour).Obj(), job("p1", "1", time.Minute, time.Hour).Obj()))
	recorded := run(c)
	c.Trace.Decisions = recorded.Decisions
	_, same, err := simulate.Replay(ctx, c)
	if err != nil {
		panic(err)
	}
	c.Profiles = []scheduling.Profile{packing()}
	_, other, err := simulate.Replay(ctx, c)
	if err != nil {
		panic(err)
	}
	var first simulate.Difference = other[0]
	fmt.Println(len(same), len(other), first.A, "-", first.B)
	// Output:
	// 0 1 1m0s: default/p1 bound to b - 1m0s: default/p1 bound to a
}

// packing fills one node after the other.
func packing() scheduling.Profile {
	p := scheduling.Kubernetes137()
	if err := p.Replace(scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}); err != nil {
		panic(err)
	}
	if err := p.Reweigh("NodeResourcesFit", 100); err != nil {
		panic(err)
	}
	return p
}

// TestTraceErrors checks that every fault is told with its line and field.
func TestTraceErrors(t *testing.T) {
	const n, p = `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"a"}}}`, `{"at":"1m","apply":{"kind":"Pod","metadata":{"name":"p"}}}`
	const bound, recorded = `{"at":"1m","decision":{"pod":"default/p","node":"a"}}`, `{"trace":"berth/1","recorded":true}` + "\n"
	const on = `{"at":"1m","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`
	tests := []struct{ name, text, want string }{
		{"not JSON", n + "\nhello", "trace: line 2: not JSON: byte 0: unexpected 'h'"},
		{"deep", `{"at":"0s","apply":{"x":` + strings.Repeat("[", 1000), "line 1: nested deeper than 1000 levels at line 1, byte 1022"},
		{"unknown field", `{"at":"0s","aply":{}}`, `line 1: event: aply: there is no such field`},
		{"field in another case", `{"AT":"0s","delete":{"kind":"Pod","name":"x"}}`, `line 1: event: AT: there is no such field`},
		{"unknown field of a reference", `{"at":"0s","delete":{"kind":"Pod","name":"x","uid":"y"}}`, `line 1: event: delete.uid: there is no such field`},
		{"unknown field of a decision", `{"at":"0s","decision":{"pod":"x","nod":"y"}}`, `line 1: event: decision.nod: there is no such field`},
		{"field twice", `{"at":"0s","at":"1s","delete":{"kind":"Pod","name":"x"}}`, `line 1: event: at: is given twice`},
		{"field of an object twice", n + "\n" + `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"},{"name":"d","name":"e"}]}}}`, `line 2: event: apply.spec.containers[1].name: is given twice`},
		{"label twice", `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"a","labels":{"x":"1","x":"2"}}}}`, `line 1: event: apply.metadata.labels.x: is given twice`},
		{"unknown field of an object", n + "\n" + `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"toleration":[]}}}`, `line 2: event: apply: "Pod: spec.toleration": is no field that scheduling reads`},
		{"unknown kind in a list", `{"at":"0s","apply":{"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}},{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}]}}`, `line 1: event: apply.kind: "Secret": is not a kind that scheduling reads`},
		{"wrong type", `{"at":7,"delete":{"kind":"Pod","name":"x"}}`, `line 1: event: at: "7": want a value of type string`},
		{"bad start", `{"trace":"berth/1","start":"soon"}`, `line 1: event: start: "\"soon\"": want a time such as`},
		{"bad arrival", `{"at":"1s","apply":{"kind":"Pod","metadata":{"name":"p","annotations":{"berth-sched.github.io/arrival":"-1s"}}}}`, `line 1: pod default/p: metadata.annotations[berth-sched.github.io/arrival]: "-1s"`},
		{"negative place", `{"at":"0s","after":-1,"apply":{"kind":"Node","metadata":{"name":"a"}}}`, `line 1: event: after: "-1": must not be negative`},
		{"wake and more", `{"at":"0s","wake":true,"delete":{"kind":"Pod","name":"x"}}`, "line 1: want one of"},
		{"evicted, not recorded", p + "\n" + `{"at":"1m","evicted":"0s","delete":{"kind":"Pod","name":"default/p"}}`, `line 2: event: evicted: "0s": only the deletion of a pod in a recorded trace`},
		{"bad grace", `{"trace":"berth/1","recorded":true}` + "\n" + p + "\n" + `{"at":"1m","evicted":"soon","delete":{"kind":"Pod","name":"default/p"}}`, `line 3: event: evicted: "soon": want a duration`},
		{"two objects", n + n, "line 1: there is text after the object"},
		{"nothing", `{"at":"0s"}`, "line 1: want one of apply, delete, decision and wake"},
		{"two things", `{"at":"0s","delete":{"kind":"Pod","name":"x"},"decision":{"pod":"x"}}`, "line 1: want one of"},
		{"no time", `{"apply":{"kind":"Node","metadata":{"name":"a"}}}`, `line 1: event: at: want a duration`},
		{"bad time", `{"at":"soon","apply":{"kind":"Node","metadata":{"name":"a"}}}`, `line 1: event: at: "soon": want a duration`},
		{"time going back", p + "\n" + n, `line 2: event: at: "0s": time goes back from 1m0s`},
		{"time going back in a decision", p + "\n" + `{"at":"1s","decision":{"pod":"x"}}`, `line 2: event: at: "1s": time goes back`},
		{"pod twice", n + "\n" + p + "\n\n" + p, `line 4: event: apply: "pod default/p": the pod is there already`},
		{"unknown node", n + "\n" + `{"at":"1s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`, `line 2: event: apply: "pod default/p": spec.nodeName: there is no node "b"`},
		{"unknown node goes", n + "\n" + `{"at":"1s","delete":{"kind":"Node","name":"b"}}`, `line 2: event: delete: "Node b": there is no such object`},
		{"no kind", `{"at":"1s","delete":{"name":"b"}}`, `line 1: event: delete.kind: is missing`},
		{"no name", `{"at":"1s","delete":{"kind":"Pod"}}`, `line 1: event: delete.name: is missing`},
		{"no pod", `{"at":"1s","decision":{"node":"b"}}`, `line 1: event: decision.pod: is missing`},
		{"other kind", `{"at":"1s","apply":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}}`, `line 1: event: apply: holds no object`},
		{"bad object", `{"at":"1s","apply":{"kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"x"}}}}`, `line 1: apply: node a: status.allocatable[cpu]: "x"`},
		{"bad run time", `{"at":"1s","apply":{"kind":"Pod","metadata":{"name":"p","annotations":{"berth-sched.github.io/run-time":"x"}}}}`, `line 1: pod default/p: metadata.annotations[berth-sched.github.io/run-time]: "x"`},
		{"other format", `{"trace":"berth/2"}`, `line 1: event: trace: "berth/2": want berth/1`},
		{"header with an event", `{"trace":"berth/1","at":"0s","delete":{"kind":"Node","name":"a"}}`, `line 1: event: trace: "berth/1": the line with it holds nothing else`},
		{"text after an event", `{"trace":"berth/1"} }`, "line 1: there is text after the object"},
		{"junk after an event", `{"trace":"berth/1"}]]]] hello`, "line 1: there is text after the object"},
		{"decision about an unknown pod", n + "\n" + `{"at":"1m","decision":{"pod":"default/p","node":"a"}}`, `line 2: event: decision.pod: "default/p": there is no such pod`},
		{"bound twice", n + "\n" + p + "\n" + bound + "\n" + `{"at":"2m","decision":{"pod":"default/p","node":"a"}}`, `line 4: event: decision.node: "a": pod default/p is on node a already`},
		{"evicted before it is bound", n + "\n" + p + "\n" + `{"at":"1m","decision":{"pod":"default/p","node":"a","evicted":true}}`, `line 3: event: decision.evicted: "true": pod default/p is on no node`},
		{"evicted from another node", n + "\n" + p + "\n" + bound + "\n" + `{"at":"2m","decision":{"pod":"default/p","node":"b","evicted":true}}`, `line 4: event: decision.node: "b": pod default/p is on node a`},
		{"evicted from nowhere", n + "\n" + p + "\n" + bound + "\n" + `{"at":"2m","decision":{"pod":"default/p","evicted":true}}`, `line 4: event: decision.node: is missing`},
		{"bound to a lost node", n + "\n" + p + "\n" + `{"at":"2m","delete":{"kind":"Node","name":"a"}}` + "\n" + `{"at":"3m","decision":{"pod":"default/p","node":"a"}}`, `line 4: event: decision.node: "a": there is no such node`},
		{"recorded: unknown node", recorded + n + "\n" + p + "\n" + `{"at":"1m","decision":{"pod":"default/p","node":"b"}}`, `line 4: event: decision.node: "b": there is no such node`},
		{"recorded: unknown pod", recorded + n + "\n" + `{"at":"1m","apply":{"kind":"Job","metadata":{"name":"j"}}}` + "\n" + `{"at":"1m","decision":{"pod":"default/p"}}`, `line 4: event: decision.pod: "default/p": there is no such pod`},
		{"recorded: bound to a lost node", recorded + n + "\n" + p + "\n" + `{"at":"2m","delete":{"kind":"Node","name":"a"}}` + "\n" + `{"at":"3m","decision":{"pod":"default/p","node":"a"}}`, `line 5: event: decision.node: "a": there is no such node`},
		{"recorded: on a node that never comes", recorded + n + "\n\n" + on, `line 4: event: apply: "pod default/p": spec.nodeName: node "b" never comes`},
		{"recorded: on another node that never comes", recorded + on + "\n" + `{"at":"1m","delete":{"kind":"Pod","name":"default/p"}}` + "\n" + strings.ReplaceAll(on, `"b"`, `"c"`) + "\n" + `{"at":"1m","apply":{"kind":"Node","metadata":{"name":"b"}}}`, `line 4: event: apply: "pod default/p": spec.nodeName: node "c" never comes`},
		{"recorded: a node without pods never came", recorded + `{"at":"1s","delete":{"kind":"Node","name":"b"}}`, `line 2: event: delete: "Node b": there is no such object`},
		{"recorded: a node goes twice", recorded + on + "\n" + `{"at":"1m","delete":{"kind":"Node","name":"b"}}` + "\n" + `{"at":"1m","delete":{"kind":"Node","name":"b"}}`, `line 4: event: delete: "Node b": there is no such object`},
		{"recorded: on a node that went", recorded + `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"b"}}}` + "\n" + `{"at":"1s","delete":{"kind":"Node","name":"b"}}` + "\n" + on, `line 4: event: apply: "pod default/p": spec.nodeName: node "b" never comes`},
		{"header twice", `{"trace":"berth/1"}` + "\n" + `{"trace":"berth/1"}`, `line 2: event: trace: "berth/1": only the first line`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := simulate.ReadTrace(strings.NewReader(test.text))
			var fault *simulate.TraceError
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, &fault) {
				t.Errorf("ReadTrace = %v, want %s", err, test.want)
			}
		})
	}
	for _, at := range []time.Duration{-time.Second, 1 << 62} {
		c := simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: &simulate.Trace{Events: []simulate.Event{{At: at, Apply: objects([]*api.Node{nil, node("a", "1")})}}}}
		if _, err := simulate.Run(context.Background(), c); err == nil {
			t.Errorf("an event at %v is no error", at)
		}
	}
	bad := &simulate.Trace{Events: []simulate.Event{{At: time.Hour, Apply: objects([]*api.Node{node("a", "1")})}, {Delete: simulate.Ref{Kind: "Node", Name: "a"}}}}
	if _, err := simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: bad}); err == nil || !strings.Contains(err.Error(), "line 2: event: at") {
		t.Errorf("Run of a trace whose time goes back = %v", err)
	}
}

// TestTraceDecisions checks that decisions that may be true are not refused: at a moment in
// the middle of a time, after an eviction, about another pod of the same name, and about
// what the run itself makes.
func TestTraceDecisions(t *testing.T) {
	const recorded, node, gone = `{"trace":"berth/1","recorded":true}`, `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"a"}}}`, `{"at":"2m","delete":{"kind":"Node","name":"a"}}`
	const pod, leaves = `{"at":"1m","apply":{"kind":"Pod","metadata":{"name":"p"}}}`, `{"at":"1m","delete":{"kind":"Pod","name":"default/p"}}`
	const bound, evicted = `{"at":"1m","decision":{"pod":"default/p","node":"a"}}`, `{"at":"1m","decision":{"pod":"default/p","node":"a","evicted":true}}`
	for name, lines := range map[string][]string{
		"decision first":    {recorded, node, bound, pod},
		"bound again":       {node, pod, bound, evicted, bound},
		"evicted twice":     {recorded, node, pod, bound, evicted, evicted},
		"another pod":       {recorded, node, pod, bound, leaves, pod, bound},
		"bound, then gone":  {recorded, node, pod, `{"at":"2m","decision":{"pod":"default/p","node":"a"}}`, gone},
		"outlives its node": {recorded, node, pod, bound, gone, `{"at":"3m","decision":{"pod":"default/p","node":"a","evicted":true}}`},
		"moves":             {node, pod, bound, gone, `{"at":"3m","apply":{"kind":"Node","metadata":{"name":"a"}}}`, `{"at":"3m","decision":{"pod":"default/p","node":"a"}}`},
		"of a workload":     {node, `{"at":"1m","apply":{"kind":"Job","metadata":{"name":"j"}}}`, bound},
		"autoscaler":        {pod, `{"at":"2m","decision":{"pod":"default/p","node":"extra-0"}}`},
		"node comes later":  {recorded, `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`, `{"at":"1s","apply":{"kind":"Node","metadata":{"name":"b"}}}`},
		"node never comes":  {recorded, `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`, leaves},
		"node went before":  {recorded, `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`, `{"at":"1s","delete":{"kind":"Node","name":"b"}}`},
		"node went, pod later": {
			recorded, `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"b"}}}`, `{"at":"0s","delete":{"kind":"Node","name":"b"}}`,
			`{"at":"1s","apply":{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"b"}}}`, `{"at":"1s","delete":{"kind":"Node","name":"b"}}`,
		},
		"made again, of sets": {node, `{"at":"1m","apply":{"kind":"Pod","metadata":{"name":"p","ownerReferences":[{"kind":"StatefulSet","name":"s","controller":true}]}}}`, bound, bound},
	} {
		if _, err := simulate.ReadTrace(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTraceRoundTrip checks that a trace that is written and read gives the same run.
func TestTraceRoundTrip(t *testing.T) {
	for seed := range uint64(effort.Of(1, 3)) {
		c := config(busyWeek(seed, 4, 150, 6*time.Hour))
		want := run(c)
		c.Trace.Decisions = want.Decisions
		var first, second bytes.Buffer
		if err := c.Trace.Write(&first); err != nil {
			t.Fatal(err)
		}
		read, err := simulate.ReadTrace(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Write(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("seed %d: written again:\n%s", seed, cmp.Diff(first.String(), second.String()))
		}
		c.Trace = read
		got, differences, err := simulate.Replay(context.Background(), c)
		if err != nil || len(differences) != 0 {
			t.Errorf("seed %d: %v, differences %+v", seed, err, differences)
		}
		if text(t, got) != text(t, want) {
			t.Errorf("seed %d: the trace that was read gives another run", seed)
		}
		c.Profiles = []scheduling.Profile{packing()}
		if _, differences, err = simulate.Replay(context.Background(), c); err != nil || len(differences) == 0 {
			t.Errorf("seed %d: another profile makes no difference, %v", seed, err)
		}
	}
}

// TestReplayUnknownNode expects that a decision about a node that can never be there is
// refused, and that nodes of the autoscaler and lost nodes pass.
func TestReplayUnknownNode(t *testing.T) {
	const n, p = `{"at":"0s","apply":{"kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"cpu":"4","pods":"10"}}}}`, `{"at":"1s","apply":{"kind":"Pod","metadata":{"name":"p","namespace":"default"}}}`
	scaler := &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "big", Node: node("", "4")}}}
	for _, c := range []struct {
		node   string
		scaler *simulate.Autoscaler
		want   string
	}{
		{node: "a"},
		{node: "b", want: `trace: line 3: event: decision.node: "b": no event adds such a node, and the autoscaler has no type with such names`},
		{node: "big-0", want: `trace: line 3: event: decision.node: "big-0": no event adds such a node, and the autoscaler has no type with such names`},
		{node: "big-0", scaler: scaler},
		{node: "big-00", scaler: scaler, want: `trace: line 3: event: decision.node: "big-00": no event adds such a node, and the autoscaler has no type with such names`},
		{node: "big--1", scaler: scaler, want: `trace: line 3: event: decision.node: "big--1": no event adds such a node, and the autoscaler has no type with such names`},
		{node: "small-0", scaler: scaler, want: `trace: line 3: event: decision.node: "small-0": no event adds such a node, and the autoscaler has no type with such names`},
	} {
		trace, err := simulate.ReadTrace(strings.NewReader(n + "\n" + p + "\n" + `{"at":"2s","decision":{"pod":"default/p","node":"` + c.node + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		config := simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, Autoscaler: c.scaler}
		_, _, err = simulate.Replay(context.Background(), config)
		var fault *simulate.TraceError
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && (got != c.want || !errors.As(err, &fault)) {
			t.Errorf("decision about %s: %v, want %q", c.node, err, c.want)
		}
		trace.Decisions = []simulate.Decision{{Pod: "default/p"}, {Pod: "default/p", Node: c.node}} // which was not read
		_, _, err = simulate.Replay(context.Background(), config)
		if c.want != "" && (!errors.As(err, &fault) || fault.Line != 2) {
			t.Errorf("the second decision about %s: %v, want line 2", c.node, err)
		}
	}
}

// TestDifferences works out differences by hand.
func TestDifferences(t *testing.T) {
	bind := func(pod, node string) simulate.Decision { return simulate.Decision{Pod: pod, Node: node} }
	a := []simulate.Decision{bind("p", "a"), bind("q", "a"), {Pod: "p", Node: "a", Evicted: true}, bind("p", "b")}
	b := []simulate.Decision{bind("q", "b"), bind("p", "a"), {Pod: "p", Node: "a", Evicted: true}, bind("r", "c")}
	got := simulate.Differences(a, b)
	want := []simulate.Difference{{Pod: "q", Number: 1, A: &a[1], B: &b[0]}, {Pod: "p", Number: 3, A: &a[3]}, {Pod: "r", Number: 1, B: &b[3]}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Differences (-want +got):\n%s", diff)
	}
	bound, evicted := []simulate.Decision{bind("p", "a")}, []simulate.Decision{{Pod: "p", Node: "a", Evicted: true}}
	if got := simulate.Differences(bound, evicted); len(got) != 1 {
		t.Errorf("a binding and an eviction: %+v, want one difference", got)
	}
}

// TestRecorder records a scheduler that is driven by hand, and replays the trace.
func TestRecorder(t *testing.T) {
	start := time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC)
	clock := virtualclock.New(start)
	var file bytes.Buffer
	recorder := simulate.NewRecorder(&file, start)
	var driver *lifecycle.Driver
	apply := func(o *api.Objects) {
		recorder.Applied(clock.Now(), o)
		for _, n := range o.Nodes {
			driver.Apply(lifecycle.Update(n))
		}
		for _, p := range o.Pods {
			driver.Apply(lifecycle.Update(p))
		}
	}
	driver, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock, Observer: recorder, Order: framework.ZoneInterleaved,
		Binder: lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
			running := *p
			running.Spec.NodeName = node
			apply(&api.Objects{Pods: []*api.Pod{&running}}) // left out: it is there
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	apply(objects([]*api.Node{node("a", "4"), node("b", "2")}))
	var pods []*api.Pod
	for i := range 4 {
		p := api.MakePod(fmt.Sprint("p", i)).Requests("2", "1Gi").Obj()
		p.Spec.SchedulerName = scheduling.DefaultName
		pods = append(pods, p)
		apply(objects(nil, p))
		if err := driver.Simulate(context.Background(), clock, clock.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	recorder.Deleted(clock.Now(), simulate.Ref{Kind: "Pod", Name: "default/p0"})
	recorder.Deleted(clock.Now(), simulate.Ref{Kind: "Pod", Name: "default/unknown"})
	driver.Apply(lifecycle.Delete(pods[0]))
	if err := driver.Simulate(context.Background(), clock, clock.Now().Add(10*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	trace, err := simulate.ReadTrace(&file)
	if err != nil {
		t.Fatal(err)
	}
	bound := 0
	for _, d := range trace.Decisions {
		if d.Node != "" {
			bound++
		}
	}
	if bound != 4 || !trace.Start.Equal(start) {
		t.Errorf("%d bindings recorded, want 4: %v", bound, trace.Decisions)
	}
	_, differences, err := simulate.Replay(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
	if err != nil || len(differences) != 0 {
		t.Errorf("the recorded day decides otherwise: %v, %+v", err, differences)
	}
}

func ExampleRecorder() {
	var file bytes.Buffer
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var recorder *simulate.Recorder = simulate.NewRecorder(&file, start)
	recorder.Applied(start, &api.Objects{Namespaces: []*api.Namespace{{ObjectMeta: api.ObjectMeta{Name: "x"}}}})
	recorder.Deleted(start.Add(time.Hour), simulate.Ref{Kind: "Namespace", Name: "x"})
	if err := recorder.Close(); err != nil {
		panic(err)
	}
	fmt.Print(file.String())
	// Output:
	// {"trace":"berth/1","start":"2030-01-01T00:00:00Z","recorded":true}
	// {"at":"0s","apply":{"kind":"Namespace","metadata":{"name":"x"}}}
	// {"at":"1h0m0s","delete":{"kind":"Namespace","name":"x"}}
}

// FuzzReadTrace checks that no text makes the reader panic, and that a trace that is
// read can be written and read again.
func FuzzReadTrace(f *testing.F) {
	f.Add(small)
	f.Add(`{"at":"0s","apply":{"kind":"List","items":[{"kind":"Node","metadata":{"name":"a"}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := simulate.ReadTrace(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := trace.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := simulate.ReadTrace(&b); err != nil {
			t.Fatalf("%q is written as %q: %v", text, b.String(), err)
		}
	})
}

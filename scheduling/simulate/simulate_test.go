package simulate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/google/go-cmp/cmp"
)

func ExampleRun() {
	// A node with room for one at a time, and three jobs that arrive together.
	var c simulate.Config = config(objects([]*api.Node{node("a", "4")},
		job("j0", "3", time.Hour, 10*time.Minute).Obj(), job("j1", "3", time.Hour, 10*time.Minute).Obj(), job("j2", "3", time.Hour, 10*time.Minute).Priority(5).Obj()))
	c.Progress = func(p simulate.Progress) { fmt.Println("bound", p.Bound, "after", p.Now) } // at the end, and from time to time
	var result *simulate.Result = run(c)
	if err := result.WritePods(os.Stdout); err != nil {
		panic(err)
	}
	var all simulate.Waits = result.Waits[0]
	var history simulate.PodHistory = result.Pods[2]
	var peak simulate.Peak = result.Peaks[0]
	fmt.Println(all.Pods, all.Mean, all.P95, history.Node, peak.Utilization)
	// Output:
	// bound 3 after 1h36m0s
	// pod,owner,priority,arrived,bound,node,waited,ended,completed,evictions,attempts,message
	// default/j0,,0,3600,4200,a,600,4800,true,0,3,
	// default/j1,,0,3600,4800,a,1200,5400,true,0,5,
	// default/j2,,5,3600,3600,a,0,4200,true,0,1,
	// 3 600 1200 a 0.75
}

func ExampleAutoscaler() {
	var pods []*api.Pod
	for i := range 6 {
		pods = append(pods, job(fmt.Sprint("j", i), "2", 0, time.Hour).Obj())
	}
	c := config(objects([]*api.Node{node("a", "2")}, pods...))
	c.Autoscaler = &simulate.Autoscaler{
		Types: []whatif.NodeType{{Name: "spot", Node: node("", "4"), Price: 3}}, Delay: 2 * time.Minute, IdleAfter: 5 * time.Minute,
	}
	c.SampleEvery = 30 * time.Minute
	r := run(c)
	var sample simulate.Sample
	for _, sample = range r.Series {
		fmt.Println(sample.At, sample.Nodes, sample.Running, sample.Waiting)
	}
	fmt.Println("added", r.NodesAdded, "longest wait", r.Waits[0].Longest)
	// Output:
	// 0 1 1 5
	// 1800 4 6 0
	// 3600 4 5 0
	// added 3 longest wait 135
}

// TestAutoscalerMax checks that the bound of a type counts the nodes that are there.
func TestAutoscalerMax(t *testing.T) {
	var pods []*api.Pod
	for i, arrival := range []time.Duration{0, 0, time.Hour, time.Hour, 2 * time.Hour} {
		pods = append(pods, job(fmt.Sprint("j", i), "2", arrival, 9*time.Hour).Obj())
	}
	c := config(objects([]*api.Node{node("small", "1")}, pods...))
	c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "spot", Node: node("", "2"), Price: 1, Max: 3}}, IdleAfter: -1}
	c.Until = 5 * time.Hour
	if r := run(c); r.NodesAdded != 3 || r.Waiting != 2 {
		t.Errorf("%d nodes added and %d pods wait, want 3 and 2", r.NodesAdded, r.Waiting)
	}
}

// TestPercentiles checks percentiles of waits by counting pods.
func TestPercentiles(t *testing.T) {
	var pods []*api.Pod
	for i := range 100 {
		pods = append(pods, job(fmt.Sprint("p", i), "10m", time.Duration(i)*time.Minute, time.Hour).Obj())
	}
	c := config(objects(nil, pods...))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 2 * time.Hour, Apply: objects([]*api.Node{node("a", "4")})})
	r := run(c)
	all := r.Waits[0]
	for percent, value := range map[int]float64{50: all.P50, 95: all.P95, 99: all.P99} {
		below, within := 0, 0 // how many waits are shorter, and how many do not exceed it
		for _, p := range r.Pods {
			if p.Waited < value {
				below++
			}
			if p.Waited <= value {
				within++
			}
		}
		if below != percent-1 || within != percent {
			t.Errorf("P%d is %v s: %d waits are shorter and %d do not exceed it, of %d", percent, value, below, within, all.Pods)
		}
	}
}

// TestFragmented checks that CPU is lost on a node without memory, and memory's lack alone
// is enough.
func TestFragmented(t *testing.T) {
	for _, test := range []struct {
		cpu, memory string
		want        float64
	}{
		{"1", "40Gi", 0.9}, // 24 GiB are left, less than a mean pod wants
		{"6", "8Gi", 0.4},  // 4 CPU are left
		{"6", "40Gi", 0.4},
		{"1", "8Gi", 0},
	} {
		c := config(objects([]*api.Node{node("a", "10")}, api.MakePod("p").Requests(test.cpu, test.memory).Annotations(simulate.AnnotationRunTime, "1h").Obj()))
		c.SampleEvery = 10 * time.Minute
		r := run(c)
		if got := r.Series[1]; got.Running != 1 || math.Abs(got.Fragmented-test.want) > 1e-9 {
			t.Errorf("with a pod of %s CPU and %s: %d run, fragmented %v, want %v", test.cpu, test.memory, got.Running, got.Fragmented, test.want)
		}
	}
}

// TestControllers checks that workloads keep their pods: through evictions, ends, lost
// nodes, scaling and deletion.
func TestControllers(t *testing.T) {
	start := decode(`{"kind": "List", "items": [` + strings.Join([]string{
		workload("Deployment", "apps/v1", "web", `"replicas": 3,`, "1", ""),
		workload("StatefulSet", "apps/v1", "db", `"replicas": 2,`, "1", ""),
		workload("Job", "batch/v1", "batch", `"completions": 5, "parallelism": 2,`, "1", `"berth-sched.github.io/run-time": "10m"`),
		workload("DaemonSet", "apps/v1", "agent", ``, "100m", ""),
	}, ",") + `]}`)
	start.Nodes = []*api.Node{node("a", "8"), node("b", "8")}
	trace := &simulate.Trace{Events: []simulate.Event{
		{Apply: start},
		{At: time.Hour, Delete: simulate.Ref{Kind: "Node", Name: "a"}},
		{At: 2 * time.Hour, Apply: objects([]*api.Node{node("c", "8")})},
		{At: 3 * time.Hour, Apply: decode(workload("Deployment", "apps/v1", "web", `"replicas": 1,`, "1", ""))},
		{At: 4 * time.Hour, Delete: simulate.Ref{Kind: "StatefulSet", Name: "default/db"}},
	}}
	r := run(simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
	at := func(when float64, owner string) (running []string) {
		for _, p := range r.Pods {
			if p.Owner == owner && p.Bound != nil && *p.Bound <= when && (p.Ended == nil || *p.Ended > when) {
				running = append(running, strings.TrimPrefix(p.Pod, "default/"))
			}
		}
		slices.Sort(running)
		return running
	}
	hour := 3600.0
	for _, test := range []struct {
		when  float64
		owner string
		want  int
	}{
		{0.5 * hour, "Deployment web", 3},
		{1.5 * hour, "Deployment web", 3},
		{3.5 * hour, "Deployment web", 1},
		{0.5 * hour, "StatefulSet db", 2},
		{1.5 * hour, "StatefulSet db", 2},
		{4.5 * hour, "StatefulSet db", 0},
		{300, "Job batch", 2},
		{1500, "Job batch", 1},
		{2000, "Job batch", 0},
		{0.5 * hour, "DaemonSet agent", 2},
		{1.5 * hour, "DaemonSet agent", 1},
		{2.5 * hour, "DaemonSet agent", 2},
	} {
		if got := at(test.when, test.owner); len(got) != test.want {
			t.Errorf("after %g s, %s runs %v, want %d", test.when, test.owner, got, test.want)
		}
	}
	if got := at(1.5*hour, "StatefulSet db"); !slices.Equal(got, []string{"db-0", "db-1"}) {
		t.Errorf("StatefulSet runs %v, want db-0 and db-1 again", got)
	}
	completed := 0
	for _, p := range r.Pods {
		if p.Owner == "Job batch" && p.Completed {
			completed++
		}
	}
	if completed != 5 {
		t.Errorf("%d pods of the job completed, want 5", completed)
	}
}

// replicaSet is a ReplicaSet of a Deployment, made so long after the first.
func replicaSet(deployment, name string, replicas int, age time.Duration) string {
	return fmt.Sprintf(`{"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": %q, "creationTimestamp": %q,
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": %q, "controller": true}]}, "spec": {"replicas": %d,
		"template": {"metadata": {"labels": {"app": "web", "pod-template-hash": %q}}, "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}}}`,
		name, time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC).Add(age).Format(time.RFC3339), deployment, replicas, name)
}

// TestDeploymentScales checks that a Deployment that is there with its ReplicaSets hands
// its changes down to them, and takes them along when it is deleted.
func TestDeploymentScales(t *testing.T) {
	deployment := func(replicas int, cpu string) string {
		return workload("Deployment", "apps/v1", "web", fmt.Sprintf(`"replicas": %d,`, replicas), cpu, "")
	}
	list := func(texts ...string) *api.Objects {
		return decode(`{"kind": "List", "items": [` + strings.Join(texts, ",") + `]}`)
	}
	old, young := func(n int) string { return replicaSet("web", "web-z", n, 0) }, func(n int) string { return replicaSet("web", "web-a", n, time.Hour) }
	start := list(deployment(3, "1"), old(1), young(2))
	start.Nodes = []*api.Node{node("a", "64")}
	trace := &simulate.Trace{Events: []simulate.Event{
		{Apply: start},
		{At: 1 * time.Hour, Apply: list(deployment(6, "1"))},
		{At: 2 * time.Hour, Apply: list(deployment(2, "1"))},
		{At: 3 * time.Hour, Apply: list(deployment(0, "1"))},
		{At: 4 * time.Hour, Apply: list(deployment(4, "1"), old(0), young(2))}, // the Deployment's number counts
		{At: 5 * time.Hour, Apply: list(deployment(5, "2"))},
		{At: 6 * time.Hour, Delete: simulate.Ref{Kind: "Deployment", Name: "default/web"}},
	}}
	r := run(simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: 30 * time.Minute})
	for i, want := range [][2]int{{1, 2}, {1, 5}, {1, 1}, {0, 0}, {0, 4}, {0, 5}, {0, 0}} {
		when, got := float64(3600*i+1800), [2]int{}
		for _, p := range r.Pods {
			if p.Bound != nil && *p.Bound <= when && (p.Ended == nil || *p.Ended > when) {
				if strings.HasPrefix(p.Pod, "default/web-z") {
					got[0]++
				} else {
					got[1]++
				}
			}
		}
		if got != want {
			t.Errorf("half an hour after event %d, the old and the young ReplicaSet run %v pods, want %v", i, got, want)
		}
	}
	// Four pods request 1 CPU, and the fifth 2, as its template says by then.
	for _, s := range r.Series {
		if s.At == 5.5*3600 && s.CPU != 6.0/64 {
			t.Errorf("after the new template, %g of the CPU is requested, want 6 of 64", s.CPU)
		}
	}
}

// TestPreemption checks that a victim of a workload is made again, and one without
// waits again.
func TestPreemption(t *testing.T) {
	o := objects([]*api.Node{node("a", "2")}, job("low", "2", 0, time.Hour).Priority(1).Obj(), job("high", "2", 10*time.Minute, 30*time.Minute).Priority(9).Obj())
	r := run(config(o))
	low, high := r.Pods[0], r.Pods[1]
	if r.Evictions != 1 || low.Evictions != 1 || high.Waited > 5 || low.Waited < 1800 || !low.Completed || *low.Ended < 40*60+3600 {
		t.Errorf("low %+v, high %+v, %d evictions", low, high, r.Evictions)
	}
	if r.Waits[1].Priority == nil || *r.Waits[1].Priority != 9 || r.Waits[2].Pods != 1 {
		t.Errorf("waits %+v", r.Waits)
	}
}

// busyWeek is a random workload on a few nodes.
func busyWeek(seed uint64, nodes, pods int, span time.Duration) *api.Objects {
	r := rand.New(rand.NewPCG(seed, 9))
	o := &api.Objects{}
	for i := range nodes {
		o.Nodes = append(o.Nodes, node(fmt.Sprintf("n%04d", i), "16"))
	}
	for i := range pods {
		at := time.Duration(r.Int64N(int64(span/time.Second))) * time.Second
		run := time.Duration(60+r.IntN(4*3600)) * time.Second
		o.Pods = append(o.Pods, job(fmt.Sprintf("p%06d", i), fmt.Sprintf("%dm", 250*(1+r.IntN(12))), at, run).Priority(int32(r.IntN(3))).Obj())
	}
	return o
}

// text is everything about a result.
func text(t testing.TB, r *simulate.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WritePods(&b); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSeries(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Decisions {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// TestSame checks that runs give the same bytes, alone and side by side, and that
// another seed gives others.
func TestSame(t *testing.T) {
	c := config(busyWeek(1, 6, 200, 6*time.Hour))
	c.SampleEvery = time.Hour
	c.Profiles[0].TieRule = scheduling.Random
	c.Seed = 3
	other := c
	other.Seed = 4
	want := text(t, run(c))
	results, err := simulate.RunAll(context.Background(), 2, c, other, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, results[0]); got != want {
		t.Errorf("a second run differs:\n%s", cmp.Diff(want, got))
	}
	if text(t, results[2]) != want {
		t.Error("a third run differs")
	}
	if text(t, results[1]) == want {
		t.Error("another seed gives the same")
	}
	// Traces of manifests lack what the API server fills in; a run must not.
	raw := &simulate.Trace{Events: []simulate.Event{{Apply: decode(`{"kind": "List", "items": [
		{"kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "9"}}},
		{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}},
		` + workload("Deployment", "apps/v1", "web", `"replicas": 2,`, "1", "") + `]}`)}}}
	var before, after bytes.Buffer
	if err := raw.Write(&before); err != nil {
		t.Fatal(err)
	}
	c.Trace = raw
	if results, err = simulate.RunAll(context.Background(), 2, c, c); err != nil || results[0].Waits[0].Pods != 3 {
		t.Errorf("%+v, %v", results, err)
	}
	if err := raw.Write(&after); err != nil || before.String() != after.String() {
		t.Errorf("the trace changed, %v:\n%s", err, cmp.Diff(before.String(), after.String()))
	}
}

// TestConservation checks laws of every history: pods do not end before they are bound,
// run for their time, and never fill a node beyond what it has.
func TestConservation(t *testing.T) {
	for seed := range uint64(3) {
		o := busyWeek(seed, 4, 150, 6*time.Hour)
		pods := map[string]*api.Pod{}
		for _, p := range o.Pods {
			pods["default/"+p.Name] = p
		}
		r := run(config(o))
		type change struct {
			at  float64
			cpu int64
		}
		changes := map[string][]change{}
		for _, p := range r.Pods {
			if p.Bound == nil {
				t.Errorf("seed %d: %s never ran", seed, p.Pod)
				continue
			}
			runTime, err := time.ParseDuration(pods[p.Pod].Annotations[simulate.AnnotationRunTime])
			if err != nil {
				t.Fatal(err)
			}
			if p.Ended == nil || *p.Ended-*p.Bound != runTime.Seconds() || *p.Bound < p.Arrived {
				t.Errorf("seed %d: %+v ran not for %v", seed, p, runTime)
			}
			cpu := pods[p.Pod].Spec.Containers[0].Resources.Requests[resource.CPU]
			if p.Evictions == 0 {
				changes[p.Node] = append(changes[p.Node], change{*p.Bound, cpu.MilliValue()}, change{*p.Ended, -cpu.MilliValue()})
			}
		}
		for name, list := range changes {
			slices.SortFunc(list, func(a, b change) int {
				if a.at != b.at {
					return int(max(-1, min(1, a.at-b.at)*2))
				}
				return int(a.cpu - b.cpu)
			})
			used := int64(0)
			for _, c := range list {
				if used += c.cpu; used > 16000 {
					t.Errorf("seed %d: node %s uses %d m after %g s", seed, name, used, c.at)
					break
				}
			}
		}
	}
}

// TestUsage checks that reports of use reach a load-aware plugin's ledger.
func TestUsage(t *testing.T) {
	c := config(objects([]*api.Node{node("a", "8")}, job("p", "1", 0, time.Hour).Obj()))
	asked := 0
	c.Usage = func(pod *api.Pod, running time.Duration) resource.List {
		asked++
		return resource.List{resource.CPU: resource.Milli(500)}
	}
	c.ReportEvery = 10 * time.Minute
	run(c)
	if asked < 6 || asked > 8 {
		t.Errorf("the use was asked for %d times, want about 6", asked)
	}
}

// TestProgress checks that a long run reports, and can be stopped.
func TestProgress(t *testing.T) {
	c := config(busyWeek(2, 30, 1500, 24*time.Hour))
	var last simulate.Progress
	calls := 0
	c.Progress = func(p simulate.Progress) { calls++; last = p }
	r := run(c)
	if calls < 2 || last.Bound < 1500 || last.Waiting != 0 || r.Waiting != 0 {
		t.Errorf("%d calls, last %+v", calls, last)
	}
	c.Until = 2 * time.Hour
	if r := run(c); r.Simulated > 7200 || len(r.Pods) > 1000 {
		t.Errorf("until 2 h: %g s simulated, %d pods", r.Simulated, len(r.Pods))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := simulate.Run(ctx, c); err == nil {
		t.Error("a cancelled context is no error")
	}
	for _, bad := range []simulate.Config{
		{},
		{Trace: &simulate.Trace{}},
		{Trace: c.Trace, Profiles: c.Profiles, Until: -1},
		{Trace: c.Trace, Profiles: c.Profiles, ReportEvery: -1},
		{Trace: c.Trace, Profiles: c.Profiles, Autoscaler: &simulate.Autoscaler{Every: -1}},
		{Trace: c.Trace, Profiles: c.Profiles, Autoscaler: &simulate.Autoscaler{Delay: -1}},
		{Trace: c.Trace, Profiles: c.Profiles, Autoscaler: &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "x"}}}},
	} {
		if _, err := simulate.Run(context.Background(), bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}

// BenchmarkWeek simulates 100,000 pods over a week on 1,000 nodes.
func BenchmarkWeek(b *testing.B) {
	c := config(busyWeek(1, 1000, 100_000, 7*24*time.Hour))
	c.SampleEvery = time.Hour
	first := ""
	for b.Loop() {
		r, err := simulate.Run(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		switch got := text(b, r); {
		case first == "":
			first = got
		case got != first:
			b.Fatal("a second run of the week gives other bytes")
		}
		b.StartTimer()
	}
}

// TestManyReplicas: the pods of a StatefulSet cost no more than those of a ReplicaSet,
// however many there are. Work shows in what it allocates.
func TestManyReplicas(t *testing.T) {
	cost := func(kind string) uint64 {
		o := decode(workload(kind, "apps/v1", "web", `"replicas": 3000,`, "1", ""))
		o.Nodes = []*api.Node{node("n", "8")}
		c := config(o)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run(c)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	cost("ReplicaSet") // what is allocated once
	if named, numbered := cost("ReplicaSet"), cost("StatefulSet"); numbered > named+named/2 {
		t.Errorf("3,000 pods of a StatefulSet cost %d bytes, those of a ReplicaSet %d", numbered, named)
	}
}

// TestManyControllers: the end of a pod costs no more if there are many workloads that have
// nothing to do. Work shows in what it allocates.
func TestManyControllers(t *testing.T) {
	cost := func(idle, pods int) int64 {
		o := decode(workload("Job", "batch/v1", "j", fmt.Sprintf(`"parallelism": 1, "completions": %d,`, pods), "1", `"berth-sched.github.io/run-time": "10s"`))
		o.Nodes = []*api.Node{node("n", "8")}
		for i := range idle {
			o.Deployments = append(o.Deployments, decode(workload("Deployment", "apps/v1", fmt.Sprint("idle-", i), `"replicas": 0,`, "1", "")).Deployments...)
		}
		c := config(o)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if r := run(c); len(r.Pods) != pods {
			t.Fatalf("%d pods, want %d", len(r.Pods), pods)
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	cost(10, 10) // what is allocated once
	few, many := cost(10, 1000)-cost(10, 10), cost(1000, 1000)-cost(1000, 10)
	if many > few+few/2 {
		t.Errorf("990 pods cost %d bytes beside 10 idle workloads, %d beside 1,000", few, many)
	}
}

// BenchmarkPodsBeforeNodes reads a recording in which pods come before their nodes, and
// another one with four times as many. The ratio of the times is about 4, not 16.
func BenchmarkPodsBeforeNodes(b *testing.B) {
	recording := func(n int) string {
		var text strings.Builder
		text.WriteString(`{"trace":"berth/1","recorded":true}` + "\n")
		for i := range n {
			fmt.Fprintf(&text, `{"at":"0s","apply":{"kind":"Pod","metadata":{"name":"p%d"},"spec":{"nodeName":"n%d"}}}`+"\n", i, i)
		}
		for i := range n {
			fmt.Fprintf(&text, `{"at":"1s","apply":{"kind":"Node","metadata":{"name":"n%d"}}}`+"\n", i)
		}
		return text.String()
	}
	read := func(text string) time.Duration {
		begin := time.Now()
		if _, err := simulate.ReadTrace(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	small, large := recording(1000), recording(4000)
	var ratio float64
	for b.Loop() {
		ratio = float64(read(large)) / float64(read(small))
	}
	b.ReportMetric(ratio, "ratio")
}

// TestSeriesIsBounded: a pod that comes after many years does not make a sample for each hour
// until then.
func TestSeriesIsBounded(t *testing.T) {
	c := config(objects([]*api.Node{node("a", "2")}, job("early", "1", 3*time.Hour+time.Minute, time.Hour).Obj(), job("late", "2", 430_000*time.Hour, time.Second).Obj()))
	c.SampleEvery = 0
	r := run(c)
	if n := len(r.Series); n < 5_000 || n > 10_000 {
		t.Fatalf("%d samples, want 5,000 to 10,000", n)
	}
	first, last := r.Series[0], r.Series[len(r.Series)-1]
	if first.At != 0 || last.At < 430_000*3600 {
		t.Errorf("samples from %v to %v, want from the beginning to the end", first.At, last.At)
	}
	if !slices.ContainsFunc(r.Series, func(x simulate.Sample) bool { return x.At == 4*3600 && x.Running == 1 && x.CPU == 0.5 }) {
		t.Error("the only sample with a running pod is left out")
	}
}

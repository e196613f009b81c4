package simulate_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/google/go-cmp/cmp"
)

// restless is a random day with everything that can happen: workloads of each kind that
// are scaled and deleted, pods and gangs of several priorities, budgets, nodes that fail
// and come. Times are whole seconds, so that much happens at once.
func restless(seed uint64) simulate.Config {
	r := rand.New(rand.NewPCG(seed, 17))
	const span = 2 * time.Hour
	at := func() time.Duration { return time.Duration(r.IntN(int(span/time.Second)/10)*10) * time.Second }
	var events []simulate.Event
	add := func(e simulate.Event) { events = append(events, e) }
	first := &api.Objects{}
	for i := range 3 + r.IntN(4) {
		first.Nodes = append(first.Nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(4+4*r.IntN(2)), "32Gi").Zone(fmt.Sprint("z", i%2)).Obj())
	}
	for i, name := range []string{"low", "middle", "high"} {
		first.PriorityClasses = append(first.PriorityClasses, &api.PriorityClass{
			TypeMeta: api.TypeMeta{Kind: "PriorityClass", APIVersion: "scheduling.k8s.io/v1"}, ObjectMeta: api.ObjectMeta{Name: name}, Value: int32(10 + 10*i),
		})
	}
	priority := func() string { return []string{"low", "middle", "high"}[r.IntN(3)] }
	for i, kind := range []string{"Deployment", "StatefulSet", "Job", "DaemonSet", "Deployment", "Job"} {
		if r.IntN(3) == 0 {
			continue
		}
		version, name, spec, annotations := "apps/v1", fmt.Sprint("w", i), fmt.Sprintf(`"replicas": %d,`, 1+r.IntN(5)), ""
		cpu := fmt.Sprintf("%dm", 500*(1+r.IntN(4)))
		switch kind {
		case "Job":
			version, spec = "batch/v1", fmt.Sprintf(`"parallelism": %d, "completions": %d,`, 1+r.IntN(3), 2+r.IntN(6))
			annotations = fmt.Sprintf(`"berth-sched.github.io/run-time": "%dm"`, 1+r.IntN(30))
		case "DaemonSet":
			spec, cpu = "", "200m"
		}
		text := strings.Replace(workload(kind, version, name, spec, cpu, annotations), `"containers"`, fmt.Sprintf(`"priorityClassName": %q, "containers"`, priority()), 1)
		add(simulate.Event{At: at() / 4, Apply: decode(text)})
		ref := simulate.Ref{Kind: kind, Name: "default/" + name}
		if r.IntN(3) == 0 {
			add(simulate.Event{At: span, Delete: ref})
		} else if kind == "Deployment" {
			add(simulate.Event{At: span - at()/2, Apply: decode(strings.Replace(text, spec, `"replicas": 2,`, 1))})
		}
		if r.IntN(2) == 0 {
			first.PodDisruptionBudgets = append(first.PodDisruptionBudgets, decode(fmt.Sprintf(
				`{"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": %q}, "spec": {"selector": {"matchLabels": {"app": %q}}}, "status": {"disruptionsAllowed": %d}}`,
				name, name, r.IntN(3))).PodDisruptionBudgets...)
		}
	}
	for i := range 10 + r.IntN(30) {
		p := job(fmt.Sprint("p", i), fmt.Sprintf("%dm", 250*(1+r.IntN(14))), 0, time.Duration(1+r.IntN(60))*time.Minute).Obj()
		p.Spec.PriorityClassName = priority()
		if r.IntN(4) == 0 {
			p = api.Clone(p)
			p.Labels = map[string]string{"app": "spread"}
			p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: p.Labels},
			}}
		}
		add(simulate.Event{At: at(), Apply: objects(nil, p)})
	}
	for i := range r.IntN(3) {
		name := fmt.Sprint("gang", i)
		g := &api.PodGroup{TypeMeta: api.TypeMeta{Kind: "PodGroup", APIVersion: "scheduling.k8s.io/v1beta1"}, ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		g.Spec.Priority = new(int32(20))
		g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: 2}
		when := at()
		add(simulate.Event{At: when, Apply: &api.Objects{PodGroups: []*api.PodGroup{g}}})
		for k := range 3 {
			p := job(fmt.Sprint(name, "-", k), "2", 0, 20*time.Minute).Namespace("default").Obj()
			p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
			p.Spec.PriorityClassName = "middle"
			add(simulate.Event{At: when + time.Duration(k)*time.Second, Apply: objects(nil, p)})
		}
	}
	for i := range r.IntN(3) {
		when := at()
		add(simulate.Event{At: when, Delete: simulate.Ref{Kind: "Node", Name: first.Nodes[i].Name}})
		add(simulate.Event{At: when + time.Duration(r.IntN(20))*time.Minute, Apply: objects(first.Nodes[i : i+1])})
	}
	c := simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: &simulate.Trace{Events: inOrder(events, first)}, Seed: seed + 1, Until: 3 * span / 2, SampleEvery: -1}
	c.Profiles[0].TieRule = []scheduling.TieRule{scheduling.Random, scheduling.First, scheduling.Heap}[seed%3]
	if r.IntN(2) == 0 {
		c.Groups = new(gang.Rules)
	}
	if r.IntN(4) == 0 {
		c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "extra", Node: node("", "8"), Price: 1, Max: 2}}, Delay: time.Minute}
	}
	if r.IntN(4) == 0 {
		c.Usage = func(*api.Pod, time.Duration) resource.List { return resource.List{resource.CPU: resource.Milli(100)} }
		c.ReportEvery = 5 * time.Minute
	}
	return c
}

// inOrder puts the first objects before the events, in the order of time.
func inOrder(events []simulate.Event, first *api.Objects) []simulate.Event {
	sorted := []simulate.Event{{Apply: first}}
	for len(events) > 0 {
		next := 0
		for i := range events {
			if events[i].At < events[next].At {
				next = i
			}
		}
		sorted = append(sorted, events[next])
		events = append(events[:next:next], events[next+1:]...)
	}
	return sorted
}

// recorded runs the configuration with a recorder and reads what it wrote.
func recorded(t *testing.T, c simulate.Config) (*simulate.Result, *simulate.Trace, string) {
	t.Helper()
	var file bytes.Buffer
	c.Recorder = simulate.NewRecorder(&file, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	result, err := simulate.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Recorder.Close(); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	trace, err := simulate.ReadTrace(&file)
	if err != nil {
		t.Fatal(err)
	}
	return result, trace, text
}

// TestRecordedReplays checks that a recorded run, with preemption, controllers, groups,
// failures of nodes, an autoscaler and reports, decides the same when it is replayed: the
// same decisions at the same times, and the same lines if that is recorded.
func TestRecordedReplays(t *testing.T) {
	evicted, groups, failures, made, ties := 0, 0, 0, 0, 0
	for seed := range uint64(runs) {
		c := restless(seed)
		want, trace, text := recorded(t, c)
		if diff := cmp.Diff(want.Decisions, trace.Decisions); diff != "" {
			t.Fatalf("seed %d: the recorder tells other decisions than the result (-result +recorder):\n%s", seed, diff)
		}
		again := c
		again.Trace, again.Autoscaler, again.Usage = trace, nil, nil
		_, differences, err := simulate.Replay(context.Background(), again)
		if err != nil || len(differences) > 0 {
			t.Fatalf("seed %d: %v, %d differences, the first %+v", seed, err, len(differences), differences[:min(1, len(differences))])
		}
		_, second, text2 := recorded(t, again)
		if diff := cmp.Diff(want.Decisions, second.Decisions); diff != "" {
			t.Fatalf("seed %d: replayed (-want +got):\n%s", seed, diff)
		}
		if text, text2 = untilLast(text), untilLast(text2); text != text2 {
			t.Fatalf("seed %d: the replay is recorded as another trace:\n%s", seed, cmp.Diff(strings.Split(text, "\n"), strings.Split(text2, "\n")))
		}
		var b bytes.Buffer
		if err := trace.Write(&b); err != nil {
			t.Fatal(err)
		}
		if read, err := simulate.ReadTrace(&b); err != nil {
			t.Errorf("seed %d: the recorded trace, written again, is refused: %v", seed, err)
		} else if diff := cmp.Diff(trace.Decisions, read.Decisions); diff != "" || len(read.Events) != len(trace.Events) {
			t.Errorf("seed %d: the trace is written as another one: %s", seed, diff)
		}
		evicted += want.Evictions
		for _, e := range trace.Events {
			if e.After > 0 {
				ties++
			}
			if e.Delete.Kind == "Node" {
				failures++
			}
		}
		for _, p := range want.Pods {
			if p.Owner != "" {
				made++
			}
			if strings.HasPrefix(p.Pod, "default/gang") && p.Bound != nil && c.Groups != nil {
				groups++
			}
		}
	}
	t.Logf("%d evictions, %d pods of groups, %d lost nodes, %d pods of controllers, %d events after something at the same time", evicted, groups, failures, made, ties)
	if evicted < runs || groups < runs/2 || failures < runs/2 || made < runs || ties < runs {
		t.Error("the test shows too little")
	}
}

// untilLast leaves out the attempts after the last event, which go on for a while.
func untilLast(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for strings.HasSuffix(lines[len(lines)-1], `"wake":true}`) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// runs is how many random days the test records.
var runs = effort.Of(8, 30)

// A hand is a cluster whose victims leave some time after they were asked to, and whose
// controller makes other pods in their place. A recorder sees what its scheduler sees.
type hand struct {
	t        *testing.T
	clock    *virtualclock.Clock
	recorder *simulate.Recorder
	driver   *lifecycle.Driver
	pods     map[string]*api.Pod
	grace    time.Duration
	made     int
}

func newHand(t *testing.T, file *bytes.Buffer, grace time.Duration) *hand {
	start := time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC)
	h := &hand{t: t, clock: virtualclock.New(start), recorder: simulate.NewRecorder(file, start), pods: map[string]*api.Pod{}, grace: grace}
	var err error
	h.driver, err = lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: h.clock, Observer: h.recorder, Binder: h,
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hand) apply(o *api.Objects) {
	h.recorder.Applied(h.clock.Now(), o)
	for _, n := range o.Nodes {
		h.driver.Apply(lifecycle.Update(n))
	}
	for _, p := range o.Pods {
		h.pods[p.Key()] = p
		h.driver.Apply(lifecycle.Update(p))
	}
}

func (h *hand) delete(p *api.Pod) {
	delete(h.pods, p.Key())
	h.recorder.Deleted(h.clock.Now(), simulate.Ref{Kind: "Pod", Name: p.Key()})
	h.driver.Apply(lifecycle.Delete(p))
}

func (h *hand) Bind(_ context.Context, p *api.Pod, node string) error {
	running := *h.pods[p.Key()]
	running.Spec.NodeName, running.Status.Phase = node, api.PodRunning
	h.apply(objects(nil, &running))
	return nil
}

func (h *hand) Evict(_ context.Context, victim, _ *api.Pod) error {
	leaving := *h.pods[victim.Key()]
	leaving.DeletionTimestamp = new(h.clock.Now())
	h.apply(objects(nil, &leaving))
	h.clock.AfterFunc(h.grace, func() {
		h.delete(h.pods[victim.Key()])
		h.made++
		again := api.MakePod(fmt.Sprint("again-", h.made)).Requests("2", "1Gi").Priority(1).Owner("ReplicaSet", "web").Obj()
		again.Spec.SchedulerName = scheduling.DefaultName
		h.apply(objects(nil, again))
	})
	return nil
}

func (h *hand) wait(d time.Duration) {
	h.t.Helper()
	if err := h.driver.Simulate(context.Background(), h.clock, h.clock.Now().Add(d)); err != nil {
		h.t.Fatal(err)
	}
}

// TestRecordedGrace records a cluster whose victims take their time, in which pods come
// before their nodes and outlive them, and replays it; then under a profile that decides
// otherwise.
func TestRecordedGrace(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Second, 30 * time.Second, 10 * time.Minute} {
		var file bytes.Buffer
		h := newHand(t, &file, grace)
		pod := func(name string, priority int32) api.PodBuilder {
			return api.MakePod(name).Requests("2", "1Gi").Priority(priority).Owner("ReplicaSet", "web")
		}
		arrive := func(p *api.Pod) {
			p.Spec.SchedulerName = scheduling.DefaultName
			h.apply(objects(nil, p))
			h.wait(20 * time.Second)
		}
		early := pod("early", 9).Node("b").Obj()
		arrive(early) // its node comes later
		h.apply(objects([]*api.Node{node("a", "4")}))
		arrive(pod("low-0", 1).Obj())
		arrive(pod("low-1", 2).Obj())
		h.apply(objects([]*api.Node{node("b", "4")}))
		arrive(pod("high-0", 5).Obj())
		arrive(pod("high-1", 6).Obj())
		arrive(pod("high-2", 7).Obj())
		h.wait(20 * time.Minute)
		h.recorder.Deleted(h.clock.Now(), simulate.Ref{Kind: "Node", Name: "b"}) // its pods stay
		h.driver.Apply(lifecycle.Delete(node("b", "4")))
		h.wait(time.Minute)
		h.apply(objects([]*api.Node{node("b", "8")}))
		h.wait(20 * time.Minute)
		h.delete(early)
		h.wait(20 * time.Minute)
		if err := h.recorder.Close(); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		trace, err := simulate.ReadTrace(&file)
		if err != nil {
			t.Fatalf("grace %v: %v\n%s", grace, err, text)
		}
		c := simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace}
		got, differences, err := simulate.Replay(context.Background(), c)
		if err != nil || len(differences) > 0 || got.Evictions == 0 {
			t.Errorf("grace %v: %v, %d evictions, differences %+v\n%s", grace, err, got.Evictions, differences, text)
			continue
		}
		if diff := cmp.Diff(trace.Decisions, got.Decisions); diff != "" {
			t.Errorf("grace %v: replayed (-recorded +got):\n%s", grace, diff)
		}
		// Without preemption, the victims stay, and nothing is evicted.
		c.Profiles[0].PostFilter = nil
		calm, differences, err := simulate.Replay(context.Background(), c)
		if err != nil || calm.Evictions != 0 || len(differences) == 0 {
			t.Errorf("grace %v, no preemption: %v, %d evictions, %d differences", grace, err, calm.Evictions, len(differences))
			continue
		}
		for _, p := range calm.Pods {
			if strings.HasPrefix(p.Pod, "default/low") && p.Ended != nil {
				t.Errorf("grace %v: %s ended, although nobody evicted it", grace, p.Pod)
			}
		}
	}
}

// TestRunAllRecorded checks that runs of a recorded trace are not compared.
func TestRunAllRecorded(t *testing.T) {
	_, trace, _ := recorded(t, config(objects([]*api.Node{node("a", "4")}, job("p", "1", 0, time.Hour).Obj())))
	one := simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace}
	if _, err := simulate.RunAll(context.Background(), 2, one); err != nil {
		t.Errorf("one run: %v", err)
	}
	want := `configs[0]: trace.recorded: "true": pods of a recorded trace leave at their recorded times`
	if _, err := simulate.RunAll(context.Background(), 2, one, one); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two runs: %v, want %s", err, want)
	}
}

// TestRecorderNames checks what a recorder makes of pods that end, of another pod of the
// same name, and of nothing.
func TestRecorderNames(t *testing.T) {
	var file bytes.Buffer
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	r := simulate.NewRecorder(&file, start)
	p := func(uid string, phase api.PodPhase) *api.Objects {
		pod := api.MakePod("p").Obj()
		pod.UID, pod.Status.Phase = api.UID(uid), phase
		return objects(nil, nil, pod)
	}
	r.Applied(start, nil)
	r.Applied(start, p("1", api.PodPending))
	r.Applied(start.Add(time.Second), p("1", api.PodRunning))
	r.Applied(start.Add(2*time.Second), p("2", api.PodPending)) // another one
	r.Applied(start.Add(3*time.Second), p("2", api.PodSucceeded))
	r.Applied(start.Add(4*time.Second), p("2", api.PodSucceeded))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	trace, err := simulate.ReadTrace(&file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range trace.Events {
		if e.Apply == nil {
			got = append(got, fmt.Sprintf("%v %s goes", e.At, e.Delete.Name))
			continue
		}
		got = append(got, fmt.Sprintf("%v %s comes", e.At, e.Apply.Pods[0].UID))
	}
	if diff := cmp.Diff([]string{"0s 1 comes", "2s default/p goes", "2s 2 comes", "3s default/p goes"}, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestRecorderLate records pods on nodes that went before the recording began, also one
// that comes back, and replays.
func TestRecorderLate(t *testing.T) {
	start := time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	recorder := simulate.NewRecorder(&file, start)
	on := func(name, node string) *api.Pod { return api.MakePod(name).Requests("1", "1Gi").Node(node).Obj() }
	recorder.Applied(start.Add(time.Second), objects([]*api.Node{node("a", "4")}, on("p0", "b"), on("p1", "b"), on("p2", "c"), on("p3", "d"), on("p4", "a")))
	recorder.Applied(start.Add(time.Minute), objects([]*api.Node{node("d", "4")}))
	recorder.Deleted(start.Add(2*time.Minute), simulate.Ref{Kind: "Pod", Name: "default/p2"})
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	trace, err := simulate.ReadTrace(&file)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got := strings.Count(text, `"delete":{"kind":"Node"`); got != 1 || !strings.Contains(text, `"delete":{"kind":"Node","name":"b"}`) {
		t.Errorf("%d nodes are said to be gone, want b only:\n%s", got, text)
	}
	r := run(simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: -1})
	if len(r.Pods) != 5 || len(r.Decisions) != 0 {
		t.Errorf("a replay has %d pods and decisions %+v; want 5 and none", len(r.Pods), r.Decisions)
	}
}

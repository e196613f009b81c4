//go:build full

package simulate

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/workload"
)

// workloads is a trace of one node and one workload, whose pods run for a while.
func workloads(t *testing.T, kind, spec, run string) *Trace {
	t.Helper()
	o, err := api.Decode(fmt.Appendf(nil, `{"kind":"List","items":[
		{"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"100000"}}},
		{"kind":%q,"metadata":{"name":"d","namespace":"x"},"spec":{%s"template":{
			"metadata":{"annotations":{"berth-sched.github.io/run-time":%q}},"spec":{"containers":[{"name":"c"}]}}}}]}`, kind, spec, run))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := FromObjects(o)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// Pods that end at once and are replaced do not keep a run going for ever: it ends with an
// error that names their workload. Of those that ended only the history is kept.
func TestEndlessWorkloads(t *testing.T) {
	for kind, spec := range map[string]string{"Deployment": `"replicas":1,`, "DaemonSet": "", "Job": `"completions":2000000000,"parallelism":3,`} {
		trace := workloads(t, kind, spec, "0")
		w, err := newWorld(&Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
		const few = 50
		w.made = maxMade - few
		w.clock.AfterFunc(0, w.happen)
		err = w.live(context.Background())
		want := strings.ToLower(kind) + ` x/d: spec.template.metadata.annotations[berth-sched.github.io/run-time]: "0": `
		if err == nil || !strings.Contains(err.Error(), want) || len(w.lives) != few {
			t.Errorf("%s: %v after %d pods, want %q after %d", kind, err, len(w.lives), want, few)
		}
		kept := 0
		for _, l := range w.lives {
			if l.pod != nil {
				kept++
			}
		}
		if kept > 3 {
			t.Errorf("%s: %d pods are kept, want those that have not ended", kind, kept)
		}
	}
}

// Pods that run for a moment and are replaced end a run long before the bound of all pods.
func TestPodsOfAMoment(t *testing.T) {
	for kind, spec := range map[string]string{"Deployment": `"replicas":1,`, "DaemonSet": "", "Job": `"completions":2000000000,"parallelism":1,`} {
		for _, run := range []string{"0", "1ns", "500us"} {
			r, err := Run(context.Background(), Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: workloads(t, kind, spec, run)})
			want := strings.ToLower(kind) + ` x/d: spec.template.metadata.annotations[berth-sched.github.io/run-time]: "` + run + `": 1011 pods of the workload have run to their end within one second, 0s after the start: want at most 1010`
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v, %v, want %q", kind, run, r, err, want)
			}
		}
	}
}

// Pods of large templates count more than once, so a workload of them ends a run earlier.
func TestEndlessLargePods(t *testing.T) {
	trace := workloads(t, "Deployment", `"replicas":1000,`, "1h")
	template := &trace.Events[0].Apply.Deployments[0].Spec.Template
	template.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{
		{Weight: 1, Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: "k", Operator: api.NodeSelectorOpIn, Values: []string{strings.Repeat("v", 20_000)}}}}},
	}}}
	w, err := newWorld(&Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
	if err != nil {
		t.Fatal(err)
	}
	const few = 50
	weight := workload.WeightOf(template)
	w.made = maxMade - few*weight
	w.clock.AfterFunc(0, w.happen)
	err = w.live(context.Background())
	if want := "1000000 pods have been made"; weight < 10 || err == nil || !strings.Contains(err.Error(), want) || len(w.lives) != few {
		t.Errorf("%v after %d pods that count as %d each, want %q after %d", err, len(w.lives), weight, want, few)
	}
}

// A large workload whose pods restart fast is no endless one.
func TestFastRestarts(t *testing.T) {
	replicas := 300
	trace := workloads(t, "Deployment", fmt.Sprintf(`"replicas":%d,`, replicas), "200ms")
	r, err := Run(context.Background(), Config{Profiles: []scheduling.Profile{{}}, Trace: trace, Until: 2 * time.Second})
	if err != nil || len(r.Pods) < 9*replicas {
		t.Errorf("%v, want %d pods or more", err, 9*replicas)
	}
}

// Pods that nobody makes again wait again when their nodes go. However often that happens, their UIDs do not
// grow, and with the pods of workloads it has a bound.
func TestNodesThatComeAndGo(t *testing.T) {
	node := &api.Objects{Nodes: []*api.Node{api.MakeNode("n", "4", "4Gi").Obj()}}
	trace := &Trace{Events: []Event{{Apply: node}, {Apply: &api.Objects{Pods: []*api.Pod{api.MakePod("p").UID("u").Obj()}}}}}
	const few = 50
	for i := range few + 1 {
		at := time.Duration(i+1) * time.Minute
		trace.Events = append(trace.Events, Event{At: at, Delete: Ref{Kind: "Node", Name: "n"}}, Event{At: at + time.Second, Apply: node})
	}
	for _, before := range []int{0, maxMade - few} {
		w, err := newWorld(&Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
		w.made = before
		for i := range trace.Events {
			w.clock.AfterFunc(trace.Events[i].At, w.happen)
			w.expect(w.begin.Add(trace.Events[i].At))
		}
		err = w.live(context.Background())
		p := w.lives[0]
		if want := "pod default/p: 1000000 pods have been made by workloads, or have lost their nodes"; before > 0 && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		if before == 0 && (err != nil || p.Evictions != few+1 || p.pod.UID != "u-51") {
			t.Errorf("%v, %d displacements, the last UID is %q, want %d and u-51", err, p.Evictions, p.pod.UID, few+1)
		}
	}
}

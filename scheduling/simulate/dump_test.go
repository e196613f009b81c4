package simulate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// What a dump of a cluster holds: pods whose controllers are not in it, or are half done.

const dumpNode = `{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "64Gi", "pods": "110"}}}`

// dumped is a pod of a dump.
func dumped(name, kind, owner, more, spec, phase string) string {
	return fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": %q, "namespace": "default", %s "ownerReferences": [{"kind": %q, "name": %q, "controller": true}]},
		"spec": {%s "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]}, "status": {"phase": %q}}`, name, more, kind, owner, spec, phase)
}

func dump(items ...string) *api.Objects {
	return decode(`{"kind": "List", "items": [` + strings.Join(append([]string{dumpNode}, items...), ",") + `]}`)
}

// summary lists the pods of a run with when they arrived and ended.
func summary(r *simulate.Result) (list []string) {
	for _, p := range r.Pods {
		ended := "-"
		if p.Ended != nil {
			ended = fmt.Sprint(*p.Ended)
		}
		list = append(list, fmt.Sprint(strings.TrimPrefix(p.Pod, "default/"), " ", p.Arrived, "..", ended))
	}
	slices.Sort(list)
	return list
}

func wantSummary(t *testing.T, r *simulate.Result, want ...string) {
	t.Helper()
	if got := summary(r); !slices.Equal(got, want) {
		t.Errorf("pods %q, want %q", got, want)
	}
}

// TestAgentsBelongToTheirNode: pods of DaemonSets and static pods keep no node of the autoscaler in use,
// although no DaemonSet is among the objects, and go with a node that fails.
func TestAgentsBelongToTheirNode(t *testing.T) {
	c := config(objects(nil, job("p", "1", 0, time.Minute).Obj()))
	c.Autoscaler = &simulate.Autoscaler{IdleAfter: 2 * time.Minute, Types: []whatif.NodeType{{Name: "t", Node: node("", "4"), Pods: []*api.Pod{
		api.MakePod("agent").Requests("100m", "").Owner("DaemonSet", "agent").Obj(),
		api.MakePod("proxy").Requests("100m", "").Annotations("kubernetes.io/config.mirror", "x").Obj(),
	}}}}
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Hour, Apply: objects(nil, job("late", "1", 0, time.Minute).Obj())})
	c.SampleEvery = 30 * time.Minute
	r := run(c)
	if len(r.Series) < 2 || r.Series[1].Nodes != 0 || r.NodesAdded != 2 {
		t.Errorf("%d nodes came, and the samples are %+v; want 2 nodes, and none after half an hour", r.NodesAdded, r.Series)
	}

	c = config(dump(dumped("agent-n", "DaemonSet", "agent", "", `"nodeName": "n",`, "Running"),
		dumped("proxy-n", "Node", "n", `"annotations": {"kubernetes.io/config.mirror": "x"},`, `"nodeName": "n",`, "Running"),
		dumped("web", "Other", "web", "", `"nodeName": "n",`, "Running")))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Delete: simulate.Ref{Kind: "Node", Name: "n"}})
	wantSummary(t, run(c), "agent-n 0..60", "proxy-n 0..60", "web 0..-")
}

// TestDaemonSetKnowsWaitingPod: a pod of a DaemonSet that waits for its node is that node's.
func TestDaemonSetKnowsWaitingPod(t *testing.T) {
	waiting := dumped("agent-x", "DaemonSet", "agent", "", `"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
		{"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}},`, "Pending")
	wantSummary(t, run(config(dump(workload("DaemonSet", "apps/v1", "agent", "", "100m", ""), waiting))), "agent-x 0..-")
}

// TestDaemonSetReplacesPods: where a pod of a DaemonSet ends, another one comes, until its node goes.
func TestDaemonSetReplacesPods(t *testing.T) {
	c := config(dump(workload("DaemonSet", "apps/v1", "agent", "", "100m", `"berth-sched.github.io/run-time": "40s"`)))
	c.Trace.Events = append(c.Trace.Events,
		simulate.Event{At: 50 * time.Second, Apply: objects([]*api.Node{node("m", "4")})},
		simulate.Event{At: 60 * time.Second, Delete: simulate.Ref{Kind: "Node", Name: "n"}},
		simulate.Event{At: 100 * time.Second, Delete: simulate.Ref{Kind: "DaemonSet", Name: "default/agent"}})
	wantSummary(t, run(c), "agent-m 50..90", "agent-m 90..100", "agent-n 0..40", "agent-n 40..60")
}

// TestJobsOfDump: a Job makes no pods while it is suspended, none after it has finished, and no more than
// have to succeed yet.
func TestJobsOfDump(t *testing.T) {
	spec := func(more string) string {
		return workload("Job", "batch/v1", "j", `"parallelism": 2, "completions": 3,`+more, "100m", `"berth-sched.github.io/run-time": "1m"`)
	}
	status := func(job, status string) string { return strings.TrimSuffix(job, "}") + `, "status": {` + status + `}}` }
	ran := `"annotations": {"berth-sched.github.io/run-time": "1m"},`
	succeeded := dumped("j-a", "Job", "j", ran, "", "Succeeded")
	for _, test := range []struct {
		items []string
		pods  int
	}{
		{[]string{spec("")}, 3},
		{[]string{spec(`"suspend": true,`)}, 0},
		{[]string{spec(`"suspend": false,`)}, 3},
		{[]string{status(spec(""), `"succeeded": 1`)}, 2},
		{[]string{status(spec(""), `"succeeded": 2`)}, 1},
		{[]string{status(spec(""), `"succeeded": 5`)}, 0},
		{[]string{status(spec(""), `"conditions": [{"type": "Complete", "status": "False"}, {"type": "Suspended", "status": "True"}]`)}, 3},
		{[]string{status(spec(""), `"conditions": [{"type": "Failed", "status": "True"}]`)}, 0},
		{[]string{spec(""), succeeded}, 2},
		{[]string{status(spec(""), `"succeeded": 1`), succeeded}, 2},
		{[]string{
			status(spec(""), `"succeeded": 1, "active": 2`), succeeded,
			dumped("j-b", "Job", "j", ran, `"nodeName": "n",`, "Running"), dumped("j-c", "Job", "j", ran, `"nodeName": "n",`, "Running"),
		}, 2},
	} {
		if r := run(config(dump(test.items...))); len(r.Pods) != test.pods {
			t.Errorf("%s: %q, want %d pods", test.items, summary(r), test.pods)
		}
	}

	queue := workload("Job", "batch/v1", "j", `"parallelism": 3,`, "100m", `"berth-sched.github.io/run-time": "1m"`)
	for _, test := range []struct {
		items []string
		pods  int
	}{
		{[]string{queue}, 3},
		{[]string{status(queue, `"succeeded": 1`)}, 0},
		{[]string{status(queue, `"succeeded": 1`), dumped("j-b", "Job", "j", ran, `"nodeName": "n",`, "Running")}, 1},
	} {
		if r := run(config(dump(test.items...))); len(r.Pods) != test.pods {
			t.Errorf("%s: %q, want %d pods", test.items, summary(r), test.pods)
		}
	}

	c := config(dump(spec(`"suspend": true,`)))
	for at, suspend := range []string{"false", "true", "false"} {
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Duration(10*at) * time.Second, Apply: decode(`{"kind": "List", "items": [` + spec(`"suspend": `+suspend+`,`) + `]}`)})
	}
	wantSummary(t, run(c), "j-0 0..10", "j-1 0..10", "j-2 20..80", "j-3 20..80", "j-4 80..140")
}

// TestStatefulSetShrinks: the pods with the highest numbers go, however old they are, and holes are filled.
func TestStatefulSetShrinks(t *testing.T) {
	set := func(replicas int) string {
		return workload("StatefulSet", "apps/v1", "s", fmt.Sprintf(`"replicas": %d,`, replicas), "100m", "")
	}
	pod := func(i string) string { return dumped("s-"+i, "StatefulSet", "s", "", `"nodeName": "n",`, "Running") }
	c := config(dump(set(3), pod("2"), pod("10"), pod("0")))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Apply: decode(`{"kind": "List", "items": [` + set(1) + `]}`)})
	wantSummary(t, run(c), "s-0 0..-", "s-1 0..60", "s-10 0..1", "s-2 0..60")
}

// TestDeploymentWithoutReplicaSets: a Deployment counts the pods of a ReplicaSet that is not there; one
// that comes takes them over.
func TestDeploymentWithoutReplicaSets(t *testing.T) {
	deployment := func(replicas int) string {
		return workload("Deployment", "apps/v1", "web", fmt.Sprintf(`"replicas": %d,`, replicas), "100m", "")
	}
	hash := func(hash string) string { return fmt.Sprintf(`"labels": {"pod-template-hash": %q},`, hash) }
	pod := func(name, owner, label string) string {
		return dumped(name, "ReplicaSet", owner, hash(label), `"nodeName": "n",`, "Running")
	}
	web := pod("web-5-a", "web-5", "5")
	for _, test := range []struct {
		items []string
		want  []string
	}{
		{[]string{deployment(1), web}, []string{"web-5-a 0..-"}},
		{[]string{web, deployment(2)}, []string{"web-0 0..-", "web-5-a 0..-"}},
		{[]string{deployment(1), pod("web-5-a", "web-5", "6")}, []string{"web-0 0..-", "web-5-a 0..-"}},
		{[]string{deployment(1), pod("web-5-a", "web-5", "")}, []string{"web-0 0..-", "web-5-a 0..-"}},
		{[]string{deployment(1), pod("web-5-a", "other-5", "5")}, []string{"web-0 0..-", "web-5-a 0..-"}},
	} {
		wantSummary(t, run(config(dump(test.items...))), test.want...)
	}

	set := strings.Replace(workload("ReplicaSet", "apps/v1", "web-5", `"replicas": 1,`, "100m", ""), `"name": "web-5"`,
		`"name": "web-5", "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]`, 1)
	c := config(dump(deployment(1), web))
	c.Trace.Events = append(c.Trace.Events,
		simulate.Event{At: time.Minute, Apply: decode(`{"kind": "List", "items": [` + set + `]}`)},
		simulate.Event{At: 2 * time.Minute, Apply: decode(`{"kind": "List", "items": [` + deployment(0) + `]}`)})
	wantSummary(t, run(c), "web-5-a 0..120")

	c = config(dump(deployment(3))) // the pods that it makes are those of the set, too
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Apply: decode(`{"kind": "List", "items": [` + strings.Replace(set, `"replicas": 1`, `"replicas": 2`, 1) + `]}`)})
	wantSummary(t, run(c), "web-0 0..-", "web-1 0..-", "web-2 0..60")
}

// TestDeletedPodsOfDump: a pod that is being deleted goes when it must, makes room then, and is no replica
// of a ReplicaSet. One that waits never runs.
func TestDeletedPodsOfDump(t *testing.T) {
	deleted := `"deletionTimestamp": "2030-01-01T00:00:30Z",`
	web := workload("ReplicaSet", "apps/v1", "web", `"replicas": 1,`, "100m", "")
	agents := workload("DaemonSet", "apps/v1", "agent", "", "100m", "")
	wantSummary(t, run(config(dump(web, agents, dumped("web-a", "ReplicaSet", "web", deleted, `"nodeName": "n",`, "Running"),
		dumped("agent-a", "DaemonSet", "agent", deleted, `"nodeName": "n",`, "Running"), dumped("gone", "ReplicaSet", "other", deleted, "", "Pending")))),
		"agent-a 0..30", "agent-n 30..-", "web-0 0..-", "web-a 0..30")

	past := strings.Replace(deleted, "2030", "2020", 1)
	c := config(dump(dumped("old", "ReplicaSet", "other", past, `"nodeName": "n",`, "Running"), dumped("late", "ReplicaSet", "other", deleted, `"nodeName": "n",`, "Running")))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 10 * time.Second, Delete: simulate.Ref{Kind: "Node", Name: "n"}})
	wantSummary(t, run(c), "late 0..10", "old 0..0")
}

// TestFarDeletion: a pod whose deletion is due in centuries stays, and does not keep the run going.
func TestFarDeletion(t *testing.T) {
	pod := func(name, year string) string {
		return dumped(name, "ReplicaSet", "other", `"deletionTimestamp": "`+year+`-01-01T00:00:00Z",`, `"nodeName": "n",`, "Running")
	}
	r := run(config(dump(pod("far", "2318"), pod("farthest", "9999"))))
	wantSummary(t, r, "far 0..-", "farthest 0..-")
	if year := 365 * 24 * time.Hour; r.Simulated > year.Seconds() {
		t.Errorf("%v s simulated, want less than a year", r.Simulated)
	}

	c := config(dump(pod("far", "2318"), pod("near", "2031")))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Delete: simulate.Ref{Kind: "Node", Name: "n"}})
	wantSummary(t, run(c), "far 0..60", "near 0..60")
}

// terminating marks an object as being deleted.
func terminating(text string) string {
	return strings.Replace(text, `"metadata": {`, `"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"], `, 1)
}

// TestTerminatingWorkloads: workloads that are being deleted make no pods. Their pods stay until they end,
// and nobody makes them again.
func TestTerminatingWorkloads(t *testing.T) {
	short := `"annotations": {"berth-sched.github.io/run-time": "1m"},`
	kinds := map[string]string{
		"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1", "Job": "batch/v1", "DaemonSet": "apps/v1",
	}
	for kind, version := range kinds {
		w := workload(kind, version, "w", "", "100m", "")
		pods := []string{dumped("w-7", kind, "w", "", `"nodeName": "n",`, "Running"), dumped("w-8", kind, "w", short, `"nodeName": "n",`, "Running")}
		wantSummary(t, run(config(dump(terminating(w)))))
		c := config(dump(append(pods, terminating(w))...))
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 2 * time.Minute, Delete: simulate.Ref{Kind: "Node", Name: "n"}})
		wantSummary(t, run(c), "w-7 0..120", "w-8 0..60")

		c = config(dump(w))
		c.Trace.Events = append(c.Trace.Events,
			simulate.Event{At: time.Minute, Apply: decode(`{"kind": "List", "items": [` + terminating(w) + `]}`)},
			simulate.Event{At: 2 * time.Minute, Apply: objects([]*api.Node{node("m", "4")})},
			simulate.Event{At: 2 * time.Minute, Delete: simulate.Ref{Kind: "Node", Name: "n"}})
		name := "w-0"
		if kind == "DaemonSet" {
			name = "w-n"
		}
		wantSummary(t, run(c), name+" 0..120")
	}
}

// TestTerminatingReplicaSet: a Deployment makes the pods of a ReplicaSet that is being deleted when those have
// gone, and of one that has been deleted; one that is being deleted itself does nothing.
func TestTerminatingReplicaSet(t *testing.T) {
	set := strings.Replace(workload("ReplicaSet", "apps/v1", "web-5", `"replicas": 1,`, "100m", ""), `"name": "web-5"`,
		`"name": "web-5", "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]`, 1)
	deployment := func(n int) string {
		return workload("Deployment", "apps/v1", "web", fmt.Sprintf(`"replicas": %d,`, n), "100m", "")
	}
	pod := dumped("web-5-a", "ReplicaSet", "web-5", `"labels": {"pod-template-hash": "5"},`, `"nodeName": "n",`, "Running")
	apply := func(c *simulate.Config, at time.Duration, text string) {
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: at, Apply: decode(`{"kind": "List", "items": [` + text + `]}`)})
	}
	c := config(dump(deployment(1), set, pod))
	apply(&c, time.Minute, terminating(set))
	apply(&c, 2*time.Minute, deployment(2))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 3 * time.Minute, Delete: simulate.Ref{Kind: "Pod", Name: "default/web-5-a"}})
	wantSummary(t, run(c), "web-0 180..-", "web-1 180..-", "web-5-a 0..180")

	c = config(dump(deployment(1), set, pod))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Delete: simulate.Ref{Kind: "ReplicaSet", Name: "default/web-5"}})
	wantSummary(t, run(c), "web-0 60..-", "web-5-a 0..60")

	c = config(dump(deployment(1), set, pod))
	apply(&c, time.Minute, terminating(deployment(3)))
	apply(&c, 2*time.Minute, terminating(set))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 3 * time.Minute, Delete: simulate.Ref{Kind: "Deployment", Name: "default/web"}})
	wantSummary(t, run(c), "web-5-a 0..180")
}

// TestHistoryOfWaitingPods: a pod that waits at the end has no node, and has waited until then.
func TestHistoryOfWaitingPods(t *testing.T) {
	c := config(objects([]*api.Node{node("a", "4")}, job("low", "3", 0, 10*time.Hour).Obj(), job("high", "3", time.Hour, 100*time.Hour).Priority(10).Obj(),
		job("large", "9", 2*time.Hour, time.Hour).Obj()))
	c.Until = 5 * time.Hour
	r := run(c)
	for _, p := range r.Pods {
		want := map[string]float64{"default/low": 4 * 3600, "default/high": 0, "default/large": 3 * 3600}[p.Pod]
		if waits := p.Pod != "default/high"; p.Waited != want || (p.Bound == nil) != waits || (p.Node == "") != waits || (p.Order == 0) != waits {
			t.Errorf("%+v, want that it has waited %v s", p, want)
		}
	}
	if r.Waits[0].Pods != 1 {
		t.Errorf("%d pods were bound, want one", r.Waits[0].Pods)
	}
}

// TestPeakWithoutNode: when a node goes, what the others have is in use to a greater share.
func TestPeakWithoutNode(t *testing.T) {
	c := config(objects([]*api.Node{node("a", "4"), node("b", "12")}, job("p", "2", 0, 10*time.Hour).NodeSelector(api.LabelHostname, "a").Obj()))
	for _, n := range c.Trace.Events[0].Apply.Nodes {
		n.Labels = map[string]string{api.LabelHostname: n.Name}
	}
	// At one hour b is replaced by a node of the same size: nothing lasts that is in between.
	c.Trace.Events = append(c.Trace.Events,
		simulate.Event{At: time.Hour, Delete: simulate.Ref{Kind: "Node", Name: "b"}},
		simulate.Event{At: time.Hour, Apply: objects([]*api.Node{node("c", "12")})},
		simulate.Event{At: 2 * time.Hour, Delete: simulate.Ref{Kind: "Node", Name: "c"}},
		simulate.Event{At: 3 * time.Hour, Apply: objects([]*api.Node{node("d", "12")})})
	var busiest []string
	c.Busiest = func(s *framework.Snapshot) {
		for _, n := range s.All() {
			busiest = append(busiest, n.Name())
		}
	}
	r := run(c)
	if p := r.Peaks[0]; p.Utilization != 0.5 || p.At != 7200 {
		t.Errorf("the peak is %+v, want 0.5 since 7200 s", p)
	}
	if !slices.Equal(busiest, []string{"a"}) {
		t.Errorf("the cluster was busiest with nodes %q, want a alone", busiest)
	}
}

// TestRolledBackDeployment: the ReplicaSet with the Deployment's template grows, although another one is
// younger; after a new template, the youngest.
func TestRolledBackDeployment(t *testing.T) {
	spec := func(replicas int, cpu, hash string) string {
		if hash != "" {
			hash = fmt.Sprintf(`, "pod-template-hash": %q`, hash)
		}
		return fmt.Sprintf(`"spec": {"replicas": %d, "template": {"metadata": {"labels": {"app": "web"%s}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": %q}}}]}}}}`, replicas, hash, cpu)
	}
	deployment := func(replicas int, cpu string) string {
		return `{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"}, ` + spec(replicas, cpu, "")
	}
	set := func(name string, age, replicas int, cpu string) string {
		return fmt.Sprintf(`{"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web-%s", "creationTimestamp": "2030-01-0%dT00:00:00Z",
			"ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]}, %s`, name, age, spec(replicas, cpu, name))
	}
	c := config(dump(deployment(1, "1m"), set("a", 1, 1, "1m"), set("b", 2, 0, "2m")))
	for i, d := range []string{deployment(2, "1m"), deployment(3, "3m")} {
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Duration(i+1) * time.Minute, Apply: decode(`{"kind": "List", "items": [` + d + `]}`)})
	}
	wantSummary(t, run(c), "web-a-0 0..-", "web-a-1 60..-", "web-b-0 120..-")
}

// TestStatefulSetOrdinals: the numbers begin where the StatefulSet says, also after that changes.
func TestStatefulSetOrdinals(t *testing.T) {
	set := func(start int) string {
		return workload("StatefulSet", "apps/v1", "s", fmt.Sprintf(`"replicas": 2, "ordinals": {"start": %d},`, start), "100m", "")
	}
	pod := func(i string) string { return dumped("s-"+i, "StatefulSet", "s", "", `"nodeName": "n",`, "Running") }
	c := config(dump(set(3), pod("3"), pod("other")))
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Minute, Apply: decode(`{"kind": "List", "items": [` + set(0) + `]}`)})
	wantSummary(t, run(c), "s-0 60..-", "s-1 61..-", "s-3 0..62", "s-4 0..62", "s-other 0..-")
}

// TestDaemonSetFindsName: another pod with the name that a DaemonSet's pod would get stays.
func TestDaemonSetFindsName(t *testing.T) {
	static := dumped("agent-n", "Node", "n", `"annotations": {"kubernetes.io/config.mirror": "x"},`, `"nodeName": "n",`, "Running")
	wantSummary(t, run(config(dump(workload("DaemonSet", "apps/v1", "agent", "", "100m", ""), static))), "agent-n 0..-", "agent-n-0 0..-")
}

// TestDaemonSetSearchesNoNameTwice: where many have the names that its pods would get, it goes on after the last that it found.
func TestDaemonSetSearchesNoNameTwice(t *testing.T) {
	objects := []string{workload("DaemonSet", "apps/v1", "agent", "", "100m", `"berth-sched.github.io/run-time": "1s"`), dumped("agent-n", "Node", "n", `"annotations": {"kubernetes.io/config.mirror": "x"},`, `"nodeName": "n",`, "Running")}
	for _, k := range []int{0, 1, 4} {
		objects = append(objects, dumped(fmt.Sprint("agent-n-", k), "Job", "j", "", `"nodeSelector": {"no": "node"},`, "Pending"))
	}
	c := config(dump(objects...))
	c.Until = 3 * time.Second
	var names []string
	for _, p := range run(c).Pods {
		names = append(names, p.Pod[strings.LastIndexByte(p.Pod, '/')+1:])
	}
	want := []string{"agent-n", "agent-n-0", "agent-n-1", "agent-n-4", "agent-n-2", "agent-n-3", "agent-n-5", "agent-n-6"}
	slices.Sort(want)
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("pods %v, want %v", names, want)
	}
}

// TestEndedPodsOfLostNodes: pods that have ended may name a node that has gone.
func TestEndedPodsOfLostNodes(t *testing.T) {
	var pods []string
	for _, phase := range []string{"Succeeded", "Failed"} {
		pods = append(pods, dumped(strings.ToLower(phase), "Job", "j", "", `"nodeName": "gone",`, phase))
	}
	wantSummary(t, run(config(dump(pods...))))
	if _, err := simulate.Run(t.Context(), config(dump(dumped("stray", "Job", "j", "", `"nodeName": "gone",`, "Running")))); err == nil {
		t.Error("a pod runs on a node that is not there")
	}
}

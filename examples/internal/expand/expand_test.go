//go:build full

package expand_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/internal/expand"
	"github.com/berth-sched/berth/framework/api"
)

func objects(t *testing.T, texts ...string) *api.Objects {
	t.Helper()
	o, err := api.Decode([]byte(`{"kind":"List","items":[` + strings.Join(texts, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func workload(kind, name, spec, owner string) string {
	if owner != "" {
		owner = fmt.Sprintf(`,"ownerReferences":[{"kind":"Deployment","name":%q,"controller":true}]`, owner)
	}
	return fmt.Sprintf(`{"kind":%q,"metadata":{"namespace":"default","name":%q%s},"spec":{%s"template":{"spec":{"containers":[{"name":"c"}]}}}}`, kind, name, owner, spec)
}

// Workloads that make too many pods together make none, whatever each of them makes. Those
// whose pods another workload makes do not count.
func TestTooManyPods(t *testing.T) {
	o := objects(t,
		workload("Deployment", "web", `"replicas":70,`, ""), workload("ReplicaSet", "web-1", `"replicas":70,`, "web"),
		workload("Job", "run", `"parallelism":20,`, ""), `{"kind":"Node","metadata":{"name":"n"}}`, workload("DaemonSet", "agent", "", ""),
		`{"kind":"Pod","metadata":{"namespace":"default","name":"alone"},"spec":{"containers":[{"name":"c"}]}}`,
	)
	made := 0
	count := func(string, string) error { made++; return nil }
	err := expand.Workloads(o, 91, count)
	if want := `makes more than 91 pods in all`; err == nil || !strings.Contains(err.Error(), want) || made > 0 || len(o.Pods) != 1 {
		t.Errorf("with 92 pods: %v, and %d pods; want %q, and none", err, made, want)
	}
	if err := expand.Workloads(o, 92, count); err != nil || made != 91 || len(o.Pods) != 92 {
		t.Errorf("with 92 pods, at most 92: %v, and %d pods, want 91", err, made)
	}
	terms := strings.Repeat(`{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"x"}}}},`, 100)
	many := objects(t, `{"kind":"ReplicaSet","metadata":{"name":"terms"},"spec":{"replicas":10,"template":{"spec":{"containers":[{"name":"c"}],
		"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[`+strings.TrimSuffix(terms, ",")+`]}}}}}}`)
	if err := expand.Workloads(many, 92, count); err == nil || !strings.Contains(err.Error(), "each counts as 13,") {
		t.Errorf("10 pods of 100 terms each, at most 92: %v", err)
	}
	// The pods of the workloads are there, so they are not made again.
	if err := expand.Workloads(o, 92, count); err != nil || made != 91 {
		t.Errorf("a second call: %v, and %d pods more, want none", err, made-91)
	}
}

// A Deployment whose pods are there, but not their ReplicaSet, makes none.
func TestDeploymentOfPods(t *testing.T) {
	pod := `{"kind":"Pod","metadata":{"namespace":"default","name":"web-5-a","labels":{"pod-template-hash":"5"},"ownerReferences":[{"kind":"ReplicaSet","name":"web-5","controller":true}]},"spec":{"containers":[{"name":"c"}]}}`
	o := objects(t, workload("Deployment", "web", `"replicas":2,`, ""), workload("Deployment", "web-5", `"replicas":3,`, ""), pod)
	if err := expand.Workloads(o, 100, func(string, string) error { return nil }); err != nil || len(o.Pods) != 4 {
		t.Errorf("%v, and %d pods, want that of web, and three of web-5", err, len(o.Pods))
	}
}

// Workloads that are being deleted make no pods, each by its own mark.
func TestTerminatingWorkloads(t *testing.T) {
	terminating := func(text string) string {
		return strings.Replace(text, `"metadata":{`, `"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z",`, 1)
	}
	node := `{"kind":"Node","metadata":{"name":"n"}}`
	web, set := workload("Deployment", "web", `"replicas":2,`, ""), workload("ReplicaSet", "web-5", `"replicas":3,`, "web")
	for _, test := range []struct {
		name  string
		items []string
		pods  int
	}{
		{"Deployment", []string{terminating(web)}, 0},
		{"both", []string{terminating(web), terminating(set)}, 0},
		{"Deployment with ReplicaSet", []string{terminating(web), set}, 3},
		{"ReplicaSet", []string{web, terminating(set)}, 2},
		{"ReplicationController", []string{terminating(workload("ReplicationController", "rc", "", ""))}, 0},
		{"StatefulSet", []string{terminating(workload("StatefulSet", "db", "", ""))}, 0},
		{"Job", []string{terminating(workload("Job", "run", "", ""))}, 0},
		{"DaemonSet", []string{node, terminating(workload("DaemonSet", "agent", "", ""))}, 0},
	} {
		o := objects(t, test.items...)
		if err := expand.Workloads(o, 3, func(string, string) error { return nil }); err != nil || len(o.Pods) != test.pods {
			t.Errorf("%s: %v, and %d pods, want %d", test.name, err, len(o.Pods), test.pods)
		}
	}
}

// The pods of a StatefulSet have numbers from its first on, those that are free, and labels with them.
func TestNumbers(t *testing.T) {
	o := objects(t, workload("StatefulSet", "db", `"replicas":2,"ordinals":{"start":3},`, ""), workload("Job", "run", `"parallelism":1,"completionMode":"Indexed",`, ""),
		`{"kind":"Pod","metadata":{"namespace":"default","name":"db-3"},"spec":{"containers":[{"name":"c"}]}}`)
	if err := expand.Workloads(o, 100, func(string, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range o.Pods {
		got = append(got, p.Name+p.Labels["statefulset.kubernetes.io/pod-name"]+p.Labels["apps.kubernetes.io/pod-index"]+p.Labels["batch.kubernetes.io/job-completion-index"])
	}
	if want := "[db-3 db-4db-44 db-5db-55 run-00]"; fmt.Sprint(got) != want {
		t.Errorf("names and labels %v, want %s", got, want)
	}
}

// DaemonSets are compared with all taints of the nodes, which count where these are very many.
func TestManyTaintsCount(t *testing.T) {
	for taints, refused := range map[int]bool{10: false, 6400: true} {
		o := objects(t, workload("DaemonSet", "a", "", ""), workload("DaemonSet", "b", "", ""))
		node := api.MakeNode("n", "1", "1Gi").Obj()
		for i := range taints {
			node.Spec.Taints = append(node.Spec.Taints, api.Taint{Key: fmt.Sprint("t", i), Effect: api.TaintEffectPreferNoSchedule})
		}
		o.Nodes = append(o.Nodes, node)
		err := expand.Workloads(o, 150, func(string, string) error { return nil })
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "daemonset default/b") {
			t.Errorf("%d taints, at most 150 pods: %v, want an error of the second: %t", taints, err, refused)
		}
	}
}

// Many StatefulSets of one name, each with a start of its own, look for free numbers in few steps: all that are tried are of pods.
func TestWorkloadsThatStartApart(t *testing.T) {
	texts := []string{workload("StatefulSet", "s", `"replicas":50000,`, "")}
	for i := range 30_000 {
		texts = append(texts, workload("StatefulSet", "s", fmt.Sprintf(`"ordinals":{"start":%d},"replicas":1,`, i), ""))
	}
	o := objects(t, texts...)
	if err := expand.Workloads(o, 100_000, func(string, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	last := o.Pods[len(o.Pods)-1].Name
	if len(o.Pods) != 80_000 || last != "s-79999" {
		t.Errorf("%d pods, the last of them %s, want 80000 and s-79999", len(o.Pods), last)
	}
}

// Workloads that have one name number their pods one after the other, each StatefulSet from its start.
func TestWorkloadsCalledAlike(t *testing.T) {
	o := objects(t,
		workload("Deployment", "w", `"replicas":2,`, ""), workload("Deployment", "w", `"replicas":2,`, ""),
		workload("StatefulSet", "s", `"ordinals":{"start":5},"replicas":2,`, ""), workload("StatefulSet", "s", `"replicas":2,`, ""),
		`{"kind":"Pod","metadata":{"namespace":"default","name":"w-2"},"spec":{"containers":[{"name":"c"}]}}`,
	)
	if err := expand.Workloads(o, 100, func(string, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range o.Pods {
		names = append(names, p.Name)
	}
	if want := "w-2 w-0 w-1 w-3 w-4 s-5 s-6 s-0 s-1"; strings.Join(names, " ") != want {
		t.Errorf("pods %v, want %s", names, want)
	}
}

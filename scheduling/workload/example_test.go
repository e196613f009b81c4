package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

func ExampleWorkload() {
	objects, err := api.Decode([]byte(`{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web"},
		"spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "main"}]}}}}`))
	if err != nil {
		panic(err)
	}
	for _, w := range workload.Of(objects) {
		var one workload.Workload = w
		pods, err := one.Pods(nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(one.Label(), len(pods), pods[0].ControllerRef().Name)
	}
	// Output:
	// deployment default/web 3 web
}

func ExampleWorkload_NumberPod() {
	w := workload.Of(&api.Objects{StatefulSets: []*api.StatefulSet{{ObjectMeta: api.ObjectMeta{Name: "db"}}}})[0]
	pod := w.Pod()
	w.NumberPod(pod, 2)
	fmt.Println(pod.Name, pod.Labels["apps.kubernetes.io/pod-index"])
	// Output: db-2 2
}

// TestPods checks the number of pods of each kind, and numbers that are refused.
func TestPods(t *testing.T) {
	tests := []struct {
		kind, version, spec string
		want                int
		err                 string
	}{
		{"Deployment", "apps/v1", `"replicas": 2,`, 2, ""},
		{"ReplicaSet", "apps/v1", ``, 1, ""},
		{"StatefulSet", "apps/v1", `"replicas": 0,`, 0, ""},
		{"ReplicationController", "v1", `"replicas": 4,`, 4, ""},
		{"Job", "batch/v1", `"completions": 5, "parallelism": 2,`, 2, ""},
		{"Job", "batch/v1", `"completions": 1, "parallelism": 2,`, 1, ""},
		{"Job", "batch/v1", `"completions": 5, "parallelism": 2, "suspend": true,`, 0, ""},
		{"Job", "batch/v1", `"completions": -5, "parallelism": 2,`, 0, `job default/w: spec.completions: "-5": want a number`},
		{"DaemonSet", "apps/v1", ``, 1, ""},
		{"Deployment", "apps/v1", `"replicas": -1,`, 0, `deployment default/w: spec.replicas: "-1": want a number`},
		{"Job", "batch/v1", `"parallelism": 100001,`, 0, `job default/w: spec.parallelism: "100001": want a number`},
	}
	nodes := []*api.Node{api.MakeNode("a", "1", "").Obj(), api.MakeNode("b", "1", "").Taint("gpu:NoSchedule").Obj()}
	for _, test := range tests {
		o, err := api.Decode([]byte(`{"kind": "` + test.kind + `", "apiVersion": "` + test.version + `", "metadata": {"name": "w"}, "spec": {` +
			test.spec + ` "template": {"spec": {"containers": [{"name": "main"}]}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		w := workload.Of(o)[0]
		pods, err := w.Pods(nodes)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s %s: error %v, want %s", test.kind, test.spec, err, test.err)
			}
			continue
		}
		if err != nil || len(pods) != test.want {
			t.Errorf("%s %s: %d pods, %v; want %d", test.kind, test.spec, len(pods), err, test.want)
		}
	}
}

// TestTerminating checks that a workload that is being deleted has no pods, but its template.
func TestTerminating(t *testing.T) {
	for kind, version := range map[string]string{
		"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1", "Job": "batch/v1", "DaemonSet": "apps/v1",
	} {
		o, err := api.Decode([]byte(`{"kind": "` + kind + `", "apiVersion": "` + version + `", "metadata": {"name": "w", "deletionTimestamp": "2030-01-01T00:00:00Z"},
			"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		list := workload.Of(o)
		if len(list) != 1 {
			t.Fatalf("%s: %d workloads, want one", kind, len(list))
		}
		w := list[0]
		n, err := w.Replicas()
		pods, err2 := w.Pods([]*api.Node{api.MakeNode("a", "1", "").Obj()})
		if n != 0 || len(pods) != 0 || err != nil || err2 != nil || !w.IsTerminating() || len(w.Pod().Spec.Containers) != 1 {
			t.Errorf("%s: %d replicas, %d pods, %v, %v; want none", kind, n, len(pods), err, err2)
		}
	}
}

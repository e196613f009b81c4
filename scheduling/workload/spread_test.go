package workload_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/workload"
)

// TestSpreadByDefault: the default constraints spread the pods of workloads that are among the objects. By resources alone
// all pods would be in the zone with more space.
func TestSpreadByDefault(t *testing.T) {
	const meta = `"metadata": {"name": "web", "namespace": "default"}`
	const spec = `"replicas": 4, "selector": {"matchLabels": {"app": "web"}},
		"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]}}`
	object := func(kind, version string) string {
		return fmt.Sprintf(`{"kind": %q, "apiVersion": %q, %s, "spec": {%s}}`, kind, version, meta, spec)
	}
	// A rollout: two pods of an earlier template are in the zone b, and do not count.
	old := `{"kind": "List", "apiVersion": "v1", "items": [` + object("Deployment", "apps/v1")
	for i := range 2 {
		old += fmt.Sprintf(`, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "old-%d", "namespace": "default", "labels": {"app": "web", "pod-template-hash": "old"}},
			"spec": {"nodeName": "b", "containers": [{"name": "main"}]}}`, i)
	}
	for _, test := range []struct {
		name, objects string
		leaveOut      bool
		want          map[string]int
	}{
		{"Deployment", object("Deployment", "apps/v1"), false, map[string]int{"a": 2, "b": 2}},
		{"ReplicaSet", object("ReplicaSet", "apps/v1"), false, map[string]int{"a": 2, "b": 2}},
		{"StatefulSet", object("StatefulSet", "apps/v1"), false, map[string]int{"a": 2, "b": 2}},
		{"Deployment that the snapshot lacks", object("Deployment", "apps/v1"), true, map[string]int{"a": 4}},
		{"Deployment in a rollout", old + "]}", false, map[string]int{"a": 2, "b": 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, err := api.Decode([]byte(test.objects))
			if err != nil {
				t.Fatal(err)
			}
			o.Nodes = []*api.Node{
				api.MakeNode("a", "64", "64Gi").Zone("a").Obj(),
				api.MakeNode("b", "16", "16Gi").Zone("b").Obj(),
			}
			pods, err := workload.Of(o)[0].Pods(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range pods {
				p.Name = fmt.Sprint("new-", i)
			}
			o.Pods = append(o.Pods, pods...)
			if err := o.Default(); err != nil {
				t.Fatal(err)
			}
			if test.leaveOut {
				o.Deployments = nil
			}
			s, pending, err := framework.SnapshotOf(o, framework.Arrival)
			if err != nil {
				t.Fatal(err)
			}
			profile := scheduling.Kubernetes137()
			profile.Cache.Verify = true
			sched, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int{}
			for _, p := range pending {
				d, err := sched.Place(s, p)
				if err != nil {
					t.Fatal(err)
				}
				got[d.Node]++
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("pods by node: %v, want %v", got, test.want)
			}
		})
	}
}

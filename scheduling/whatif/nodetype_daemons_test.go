package whatif_test

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scheduling/workload"
)

// daemonSet is a DaemonSet whose pods are like that of the builder.
func daemonSet(name string, p api.PodBuilder) workload.Workload {
	pod := p.Obj()
	o := &api.Objects{DaemonSets: []*api.DaemonSet{{TypeMeta: api.TypeMeta{Kind: "DaemonSet"}, ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}}}
	o.DaemonSets[0].Spec.Template.Spec = pod.Spec
	return workload.Of(o)[0]
}

func TestWithDaemons(t *testing.T) {
	plain := func(name, cpu string) workload.Workload {
		return daemonSet(name, api.MakePod("").Requests(cpu, ""))
	}
	port := func(name string) workload.Workload { return daemonSet(name, api.MakePod("").HostPort(80)) }
	class := func(name, class, cpu string) workload.Workload {
		return daemonSet(name, api.MakePod("").Requests(cpu, "").PriorityClass(class))
	}
	going := plain("going", "1")
	going.DeletionTimestamp = new(time.Unix(0, 0))
	own := api.MakePod("own").Owner("DaemonSet", "a").Requests("2", "").Obj()
	foreign := api.MakePod("foreign").Namespace("other").Owner("DaemonSet", "a").Obj()
	for _, tt := range []struct {
		name string
		pods []*api.Pod
		list []workload.Workload
		want []string
	}{
		{"none", nil, nil, nil},
		{"all fit", nil, []workload.Workload{plain("b", "1"), plain("a", "1")}, []string{"b", "a"}},
		{"the second has no room", nil, []workload.Workload{plain("a", "3"), plain("b", "3"), plain("c", "1")}, []string{"a", "c"}},
		{"higher priority first", nil, []workload.Workload{plain("a", "3"), class("b", "high", "3"), class("c", api.SystemNodeCritical, "1")}, []string{"c", "b"}},
		{"unknown class", nil, []workload.Workload{class("a", "unknown", "1"), class("b", "low", "1")}, []string{"a", "b"}},
		{"being deleted", nil, []workload.Workload{going, plain("a", "1")}, []string{"a"}},
		{"listed twice", nil, []workload.Workload{plain("a", "1"), plain("a", "1")}, []string{"a"}},
		{"the type has its pod", []*api.Pod{own}, []workload.Workload{plain("a", "1"), plain("b", "3"), plain("c", "2")}, []string{"own", "c"}},
		{"pod of another namespace", []*api.Pod{foreign}, []workload.Workload{plain("a", "1")}, []string{"foreign", "a"}},
		{"ports", nil, []workload.Workload{port("a"), port("b")}, []string{"a"}},
		{"taint", nil, []workload.Workload{plain("a", "1"), daemonSet("b", api.MakePod("").Tolerates("dedicated"))}, []string{"a", "b"}},
		{"labels", nil, []workload.Workload{
			daemonSet("a", api.MakePod("").NodeSelector("pool", "x")), daemonSet("b", api.MakePod("").NodeSelector("pool", "y")),
			daemonSet("c", api.MakePod("").NodeSelector(api.LabelHostname, "t")), daemonSet("d", api.MakePod("").Node("t")),
		}, []string{"a"}},
		{"no DaemonSet", nil, []workload.Workload{{TypeMeta: api.TypeMeta{Kind: "Deployment"}, Template: &api.PodTemplateSpec{}, Field: "spec.replicas"}}, nil},
	} {
		node := api.MakeNode("", "4", "8Gi").Labels("pool", "x")
		if tt.name == "taint" {
			node = node.Taint("dedicated=x:NoSchedule")
			tt.want = []string{"b"}
		}
		before := append(make([]*api.Pod, 0, 10), tt.pods...)
		typ := whatif.NodeType{Name: "t", Node: node.Obj(), Pods: before}
		got, err := typ.WithDaemons(tt.list, []*api.PriorityClass{
			{ObjectMeta: api.ObjectMeta{Name: "high"}, Value: 10}, {ObjectMeta: api.ObjectMeta{Name: "low"}, Value: -10},
		})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var names []string
		for _, p := range got.Pods {
			names = append(names, p.Name)
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("%s: pods %q, want %q", tt.name, names, tt.want)
		}
		if len(typ.Pods) != len(tt.pods) || before[:10][len(tt.pods)] != nil {
			t.Errorf("%s: the pods of the type have changed", tt.name)
		}
	}
	if _, err := (whatif.NodeType{Name: "t"}).WithDaemons([]workload.Workload{plain("a", "1")}, nil); err == nil {
		t.Error("a type without a node is no error")
	}
}

// TestNodesNeededWithDaemons: the pods of DaemonSets leave less room on new nodes.
func TestNodesNeededWithDaemons(t *testing.T) {
	s := cluster(nil)
	pods, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "").Obj()), 4)
	if err != nil {
		t.Fatal(err)
	}
	typ := whatif.NodeType{Name: "t", Node: api.MakeNode("", "4", "8Gi").Obj()}
	for _, want := range []int{1, 4} {
		n, err := planner(s).NodesNeeded(pods, typ)
		if err != nil {
			t.Fatal(err)
		}
		if n.Counts[0].Nodes != want || !n.Exact {
			t.Errorf("%d nodes, want %d", n.Counts[0].Nodes, want)
		}
		if typ, err = typ.WithDaemons([]workload.Workload{daemonSet("agent", api.MakePod("").Requests("3", ""))}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

//go:build full

package work

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// workloadsOneByOne is a trace of n/2 Deployments that come one after the other, each with a
// ReplicaSet, change, and go, while nodes change.
func workloadsOneByOne(t *testing.T, n int) {
	n = max(1, n/2)
	trace := &simulate.Trace{}
	at := time.Duration(0)
	apply := func(o *api.Objects) {
		at += time.Second
		trace.Events = append(trace.Events, simulate.Event{At: at, Apply: o})
	}
	node := api.MakeNode("a", "4", "8Gi").Resource("pods", "100000").Obj()
	apply(&api.Objects{Nodes: []*api.Node{node}})
	template := api.PodTemplateSpec{Spec: api.PodSpec{Containers: []api.Container{{Name: "c"}}}}
	deployment := func(i int, replicas int32) *api.Deployment {
		d := &api.Deployment{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("d", i)}}
		d.Spec.Replicas, d.Spec.Template = &replicas, template
		return d
	}
	for i := range n {
		apply(&api.Objects{Deployments: []*api.Deployment{deployment(i, 0)}})
		set := &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("d", i, "-1")}}
		set.OwnerReferences = []api.OwnerReference{{Kind: "Deployment", Name: fmt.Sprint("d", i), Controller: new(true)}}
		set.Spec.Replicas, set.Spec.Template = new(int32(0)), template
		apply(&api.Objects{ReplicaSets: []*api.ReplicaSet{set}})
	}
	for i := range n {
		apply(&api.Objects{Deployments: []*api.Deployment{deployment(i, int32(i%2))}})
		apply(&api.Objects{Nodes: []*api.Node{node}})
	}
	for i := range n {
		at += time.Second
		trace.Events = append(trace.Events, simulate.Event{At: at, Delete: simulate.Ref{Kind: "Deployment", Name: fmt.Sprint("default/d", i)}})
	}
	r, err := simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pods) < n/2 {
		t.Fatalf("%d pods, want at least %d", len(r.Pods), n/2)
	}
}

// daemonsThatEnd is a DaemonSet on n nodes whose pods end, each with an event of its own, and are
// replaced.
func daemonsThatEnd(t *testing.T, n int) {
	o := &api.Objects{}
	for i := range n {
		o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj())
	}
	set := &api.DaemonSet{TypeMeta: api.TypeMeta{Kind: "DaemonSet"}, ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "d"}}
	set.Spec.Template = api.PodTemplateSpec{Spec: api.PodSpec{Containers: []api.Container{{Name: "c"}}}}
	o.DaemonSets = append(o.DaemonSets, set)
	set.Spec.Template.Annotations = map[string]string{simulate.AnnotationRunTime: "1h"}
	trace := &simulate.Trace{Events: []simulate.Event{{Apply: o}, {At: 90 * time.Minute, Delete: simulate.Ref{Kind: "DaemonSet", Name: "default/d"}}}}
	r, err := simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pods) != 2*n {
		t.Fatalf("%d pods, want %d", len(r.Pods), 2*n)
	}
}

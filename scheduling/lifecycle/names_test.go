//go:build full

package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// flood is a pod with as many new resource names as a node could bring.
func flood(name string) api.PodBuilder {
	p := api.MakePod(name)
	for i := range 1021 {
		p = p.Request(resource.Name(fmt.Sprintf("example.com/%s%04d", name, i)), "1")
	}
	return p
}

// TestPodsDoNotFillTheSchema creates and deletes pods with thousands of resource names.
// Afterwards new resources of nodes and pods work as ever.
func TestPodsDoNotFillTheSchema(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}}, lifecycle.NewHandle())
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	for _, name := range []string{"a", "b", "c"} {
		p := flood(name).Obj()
		w.d.Apply(lifecycle.Update(p))
		w.all()
		w.depth(queue.Length{Unschedulable: 1})
		if last := w.reports[len(w.reports)-1]; !strings.Contains(last, "1 Insufficient example.com/"+name+"0000, 1 Insufficient") {
			t.Errorf("report %.200s, want the names that are lacking", last)
		}
		w.d.Apply(lifecycle.Delete(p))
		w.all()
	}

	// A pod with a new name waits, with a report, until a node brings it.
	const gpu = "example.com/zgpu"
	w.pods(api.MakePod("train").Request(gpu, "2"), api.MakePod("train-too").Request(gpu, "3"))
	w.d.Apply(lifecycle.Update(onNode(api.MakePod("runs").Request(gpu, "1").Obj(), "g"))) // before its node
	w.all()
	w.depth(queue.Length{Unschedulable: 2})
	if last := w.reports[len(w.reports)-1]; !strings.Contains(last, "Insufficient "+gpu) {
		t.Errorf("report %s, want it to name %s", last, gpu)
	}
	w.pass(1e9)
	w.nodes(api.MakeNode("g", "4", "8Gi").Allocatable(gpu, "4"))
	w.all()
	w.wantOn("g", "runs", "train")
	w.depth(queue.Length{Unschedulable: 1})

	// An update that adds a name and cordons is applied.
	w.nodes(api.MakeNode("n", "4", "8Gi").Allocatable("example.com/new", "1").Unschedulable())
	w.pods(api.MakePod("next"))
	w.all()
	w.wantOn("g", "next", "runs", "train")
	w.noProblems()
}

// TestFullSchema adds nodes with more names than a schema takes: the rest of a node
// applies, and the error names the first resource that is left out.
func TestFullSchema(t *testing.T) {
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}}, lifecycle.NewHandle())
	big := api.MakeNode("big", "4", "8Gi")
	for i := range resource.MaxNames - 3 {
		big = big.Allocatable(resource.Name(fmt.Sprintf("example.com/n%04d", i)), "1")
	}
	w.nodes(big, api.MakeNode("n", "4", "8Gi"))
	w.nodes(api.MakeNode("n", "4", "8Gi").Allocatable("example.com/one-more", "1").Unschedulable(), api.MakeNode("m", "1", "8Gi").Allocatable("example.com/two-more", "1"))
	w.all()
	if n := w.d.Snapshot().Node("n"); !n.Cordoned() {
		t.Error("the node is not cordoned, although its update said so")
	}
	if w.d.Snapshot().Node("m") == nil {
		t.Error("node m is not there")
	}
	if len(w.problems) != 2 || !slices.ContainsFunc(w.problems, func(p string) bool {
		return strings.HasPrefix(p, "node m: status.allocatable[example.com/two-more]: example.com/two-more would be one of more than 1024 resource names")
	}) {
		t.Errorf("problems %q, want one for each node", w.problems)
	}
	w.pods(api.MakePod("p").Request("example.com/two-more", "1"))
	if a := w.one(); a.Err == nil || !strings.Contains(a.Err.Error(), "Insufficient example.com/two-more") {
		t.Errorf("the attempt ends with %v", a.Err)
	}
}

// TestNamesOfThePast updates a node with ever new resources, many times what a schema
// takes, while pods wait for some that are gone and others run with them. Nothing is
// refused, every total is that of the pods that are there, and both paths agree.
func TestNamesOfThePast(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}}, lifecycle.NewHandle())
	name := func(round, i int) resource.Name {
		return resource.Name(fmt.Sprintf("example.com/r%02d-%03d", round, i))
	}
	node := func(round int) api.NodeBuilder {
		n := api.MakeNode("n", "64", "64Gi")
		for i := range 300 {
			n = n.Allocatable(name(round, i), "10")
		}
		return n
	}
	const rounds = 12
	w.nodes(api.MakeNode("plain", "1", "1Gi"))
	// A pod on a node that comes later, and one that waits for what is gone by then.
	w.d.Apply(lifecycle.Update(onNode(api.MakePod("early").Request(name(rounds-1, 7), "2").Obj(), "late")))
	w.pods(api.MakePod("waits").Request(name(rounds-1, 8), "3"))
	first := w.d.Snapshot().Schema()
	for round := range rounds {
		w.nodes(node(round))
		running := fmt.Sprint("runs", round)
		w.pods(api.MakePod(running).Request(name(round, 5), "4"), api.MakePod(fmt.Sprint("gone", round)).Request(name(0, 6), "11"))
		w.all()
		n, schema := w.d.Snapshot().Node("n"), w.d.Snapshot().Schema()
		i, ok := schema.Index(name(round, 5))
		if !ok || n.Requested.At(i) != 4 || n.Allocatable.At(i) != 10 {
			t.Fatalf("round %d: %d of %d are requested, want 4 of 10", round, n.Requested.At(i), n.Allocatable.At(i))
		}
		for _, p := range n.Pods {
			for name := range p.Pod.Spec.Containers[0].Resources.Requests {
				if i, ok := schema.Index(name); ok && n.Requested.At(i) == 0 && p.Pod.Name != "waits" {
					t.Fatalf("round %d: %s of pod %s does not count", round, name, p.Pod.Name)
				}
			}
		}
		w.pass(1e9)
	}
	if w.d.Snapshot().Schema() == first {
		t.Fatal("no name was given up")
	}
	w.wantOn("n", "runs0", "runs1", "runs10", "runs11", "runs2", "runs3", "runs4", "runs5", "runs6", "runs7", "runs8", "runs9", "waits")
	w.nodes(api.MakeNode("late", "4", "8Gi").Allocatable(name(rounds-1, 7), "5"))
	w.pods(api.MakePod("fits-not").Request(name(rounds-1, 7), "11"))
	w.all()
	late, schema := w.d.Snapshot().Node("late"), w.d.Snapshot().Schema()
	if i, ok := schema.Index(name(rounds-1, 7)); !ok || late.Requested.At(i) != 2 {
		t.Errorf("the early pod does not count: %v", late.Requested)
	}
	// What a pod waits for comes back, under another number.
	w.pass(1e9)
	w.nodes(api.MakeNode("again", "4", "8Gi").Allocatable(name(0, 6), "11"))
	w.pass(600e9)
	w.all()
	if n := w.d.Snapshot().Node("again"); len(n.Pods) != 1 {
		t.Errorf("%d pods are on the node that brings back what they wait for, want 1", len(n.Pods))
	}
	w.noProblems()
}

// TestPodsDoNotTakeTheNamesOfDevices: one user names as many resources as pods may. Others
// still get devices by the names of resources that device classes stand behind, which no
// node lists, whether the class comes before the pod or after it.
func TestPodsDoNotTakeTheNamesOfDevices(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}}, lifecycle.NewHandle())
	class := func(name string, resource *string) *api.DeviceClass {
		return &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: name}, Spec: api.DeviceClassSpec{
			Selectors:            []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}},
			ExtendedResourceName: resource,
		}}
	}
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}, Spec: api.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new("n"), Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
	}}
	for i := range 4 {
		slice.Spec.Devices = append(slice.Spec.Devices, api.Device{Name: fmt.Sprint("gpu-", i)})
	}
	w.nodes(api.MakeNode("n", "4", "8Gi"))
	hostile := flood("a").Obj()
	w.d.Apply(lifecycle.Update(hostile), lifecycle.Update(slice))
	w.all()
	w.pods(api.MakePod("early").Request("example.com/zgpu", "1"), api.MakePod("by-class").Request(api.PrefixDeviceClass+"zgpu", "1"))
	w.all()
	w.depth(queue.Length{Unschedulable: 3})
	w.pass(1e9)
	w.d.Apply(lifecycle.Update(class("zgpu", new("example.com/zgpu"))))
	w.all()
	w.pods(api.MakePod("late").Request("example.com/zgpu", "2"))
	w.all()
	w.wantOn("n", "by-class", "early", "late")
	w.depth(queue.Length{Unschedulable: 1})

	// The names of classes stay when others are given up.
	for round := range 6 {
		n := api.MakeNode("many", "1", "1Mi")
		for i := range 300 {
			n = n.Allocatable(resource.Name(fmt.Sprintf("example.com/m%d-%d", round, i)), "1")
		}
		w.nodes(n)
		w.all()
	}
	w.d.Apply(lifecycle.Delete(api.MakePod("late").Obj()))
	w.all()
	w.pods(api.MakePod("later").Request("example.com/zgpu", "2"))
	w.all()
	w.wantOn("n", "by-class", "early", "later")
	w.noProblems()
}

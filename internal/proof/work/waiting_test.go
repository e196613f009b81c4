//go:build full

package work

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// drain makes attempts until no pod is ready.
func drain(d *lifecycle.Driver) {
	for {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

// apply applies one event after the other.
func apply(d *lifecycle.Driver, events ...lifecycle.Event) {
	for _, e := range events {
		d.Apply(e)
		d.Flush(context.Background())
	}
}

// changed is the event that the pod has another annotation.
func changed(p *api.Pod, to string) lifecycle.Event {
	p = api.Clone(p)
	p.Annotations = map[string]string{"note": to}
	return lifecycle.Update(p)
}

// wait makes n pods wait that no node has room for. They differ in a label unless they are
// alike.
func wait(d *lifecycle.Driver, n int, name string, alike bool) (pods []*api.Pod) {
	for i := range n {
		b := api.MakePod(fmt.Sprint(name, i)).Requests("100", "1Gi")
		if !alike {
			b = b.Labels("app", fmt.Sprint(name, i))
		}
		pods = append(pods, b.Obj())
		d.Apply(lifecycle.Update(pods[i]))
	}
	drain(d)
	return pods
}

// waitingPodsThatChange are n pods of each kind that wait, and change or go: those that
// differ, and those that are alike and came first or last.
func waitingPodsThatChange(t *testing.T, n int) {
	d := newDriver(t)
	alike, others := wait(d, n, "alike", true), wait(d, n, "other", false)
	more := wait(d, n, "more", true)
	for i := range n {
		apply(d, changed(others[i], "x"), changed(alike[i], "x"))
	}
	for i := range n {
		apply(d, changed(others[n-1-i], "y"), lifecycle.Delete(more[i]))
	}
	if c := d.QueueLength(); c.Unschedulable+c.Backoff+c.Active != 2*n {
		t.Fatalf("%+v, want %d pods", c, 2*n)
	}
}

// gatedPodsThatChange are n pods that gates, or missing claims, keep out of the queue, and
// that change.
func gatedPodsThatChange(t *testing.T, n int) {
	d := newDriver(t)
	var pods []*api.Pod
	for i := range n {
		p := api.MakePod(fmt.Sprint("p", i)).Requests("1", "1Gi").Obj()
		if i%2 == 0 {
			p.Spec.SchedulingGates = []api.PodSchedulingGate{{Name: "example.com/never"}}
		} else {
			name := "none"
			p.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
		}
		pods = append(pods, p)
		d.Apply(lifecycle.Update(p))
	}
	drain(d)
	for i := range n {
		apply(d, changed(pods[i], "x"))
	}
}

// largeGroup is a group of n pods. All but one are on nodes, and that one changes n times.
func largeGroup(t *testing.T, n int) {
	d := newDriver(t)
	d.Apply(lifecycle.Update(podGroup(0)))
	name := "g0"
	var pods []*api.Pod
	for i := range n {
		p := api.MakePod(fmt.Sprint("p", i)).Namespace("hostile").UID(api.UID(fmt.Sprint("u", i))).Requests("100", "1Gi").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
		pods = append(pods, p)
		apply(d, lifecycle.Update(p))
	}
	for i := range n - 1 {
		p := api.Clone(pods[i])
		p.Spec.NodeName = "missing"
		apply(d, lifecycle.Update(p))
	}
	for i := range n {
		apply(d, changed(pods[n-1], fmt.Sprint(i)))
	}
}

// groupsWorld is a world with the object of one group. Pods leave in units.
func groupsWorld(t *testing.T, mode *api.DisruptionMode) *world {
	t.Helper()
	w := newWorld(t)
	profile := scheduling.Kubernetes137()
	profile.PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
	var err error
	if w.sched, err = scheduling.New(profile); err != nil {
		t.Fatal(err)
	}
	g := podGroup(0)
	g.Spec.DisruptionMode = mode
	if err := framework.Put(w.snap, g); err != nil {
		t.Fatal(err)
	}
	return w
}

// groupElsewhere is a group of one user, while n pods of another would have to preempt on n
// nodes that have no pod of the group.
func groupElsewhere(t *testing.T, n int) {
	w := groupsWorld(t, nil)
	for i := range n {
		name := fmt.Sprint("n", i)
		if err := w.snap.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		w.add(w.derive(api.MakePod(fmt.Sprint("p", i)).Namespace("honest").Requests("2", "1Mi").Obj()), name)
		w.add(w.derive(api.MakePod(fmt.Sprint("q", i)).Namespace("honest").Requests("2", "1Mi").Priority(100).Obj()), name)
	}
	for i := range n {
		pod := w.derive(api.MakePod(fmt.Sprint("urgent", i)).Namespace("honest").Requests("3", "1Gi").Priority(10).Obj())
		d, err := w.sched.Schedule(w.snap, pod)
		if err == nil {
			t.Fatalf("the pod fits on %s", d.Node)
		}
		result, _, status, err := w.sched.PostFilter(context.Background(), w.snap, pod, d)
		if err != nil || len(result.Victims) > 0 {
			t.Fatal(len(result.Victims), status, err)
		}
	}
}

// groupThatLeavesAsAWhole is a group of one user with a pod on each of n nodes, which leave
// together or not at all, while another's pods would have to preempt.
func groupThatLeavesAsAWhole(t *testing.T, n int) {
	w := groupsWorld(t, &api.DisruptionMode{All: &api.AllDisruptionMode{}})
	group := podGroup(0).Name
	for i := range n {
		name := fmt.Sprint("n", i)
		if err := w.snap.AddNode(api.MakeNode(name, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		p := api.MakePod(fmt.Sprint("p", i)).Namespace("hostile").Requests("2", "1Mi").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &group}
		w.add(w.derive(p), name)
		w.add(w.derive(api.MakePod(fmt.Sprint("q", i)).Namespace("honest").Requests("2", "1Mi").Priority(100).Obj()), name)
	}
	for _, cpu := range []string{"3", "2"} { // does not fit, and fits without the group
		pod := w.derive(api.MakePod("urgent").Namespace("honest").Requests(cpu, "1Gi").Priority(10).Obj())
		d, err := w.sched.Schedule(w.snap, pod)
		if err == nil {
			t.Fatalf("the pod fits on %s", d.Node)
		}
		result, _, status, err := w.sched.PostFilter(context.Background(), w.snap, pod, d)
		if err != nil || len(result.Victims) > 0 != (cpu == "2") {
			t.Fatal(len(result.Victims), status, err)
		}
	}
}

// monitorsOfWaitingPods are n monitors of one Ceph block device, shared out among the pods that wait for another one with it
// to go, and among pods with monitors of their own that go. No pod that goes is compared with each that waits.
func monitorsOfWaitingPods(t *testing.T, n int) {
	pods := int(math.Sqrt(float64(n)))
	pod := func(name string, own int, shared ...string) *api.Pod {
		p := api.MakePod(name).Obj()
		p.Spec.Volumes = []api.Volume{{Name: "v"}}
		for i := range own {
			shared = append(shared, fmt.Sprint(name, "-", i))
		}
		p.Spec.Volumes[0].RBD = &api.RBDVolumeSource{RBDPool: "p", RBDImage: "i", CephMonitors: shared}
		return p
	}
	d := newDriver(t)
	there := pod("there", 0, "m")
	there.Spec.NodeName = "n"
	apply(d, lifecycle.Update(there), lifecycle.Update(api.MakeNode("closed", "1", "1Gi").Unschedulable().Obj()))
	for i := range pods {
		d.Apply(lifecycle.Update(pod(fmt.Sprint("w", i), 12*pods, "m")))
	}
	drain(d)
	for i := range pods {
		p := pod(fmt.Sprint("o", i), 12*pods)
		p.Spec.NodeName = "closed"
		apply(d, lifecycle.Update(p), lifecycle.Delete(p))
	}
	if c := d.QueueLength(); c.Unschedulable+c.Backoff+c.Active != pods {
		t.Fatalf("%+v, want %d pods", c, pods)
	}
}

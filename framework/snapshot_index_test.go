//go:build full

package framework_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestPodModel asks for pods while they come and go, twice at times, in forks and
// transactions, and looks for them on every node.
func TestPodModel(t *testing.T) {
	type world struct {
		s     *framework.Snapshot
		marks []framework.Mark
	}
	rapid.Check(t, func(t *rapid.T) {
		s := framework.NewSnapshot(framework.Arrival)
		worlds := []*world{{s: s}}
		var pods []*framework.PodInfo
		for i := range 400 { // more than the index lets forks copy
			p, err := s.NewPodInfo(plainPod(fmt.Sprint("p", i)))
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
		}
		pick := func() *world { return worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")] }
		names := []string{"a", "b", "c"}
		t.Repeat(map[string]func(*rapid.T){
			"AddNode": func(t *rapid.T) {
				if w, name := pick(), rapid.SampledFrom(names).Draw(t, "name"); len(w.marks) == 0 {
					_ = w.s.AddNode(plainNode(name))
				}
			},
			"RemoveNode": func(t *rapid.T) {
				if w, name := pick(), rapid.SampledFrom(names).Draw(t, "name"); len(w.marks) == 0 {
					_ = w.s.RemoveNode(name)
				}
			},
			"AddPod": func(t *rapid.T) {
				_ = pick().s.AddPod(rapid.SampledFrom(pods[:5]).Draw(t, "pod"), rapid.SampledFrom(names).Draw(t, "name"))
			},
			"AddMany": func(t *rapid.T) {
				w, name := pick(), rapid.SampledFrom(names).Draw(t, "name")
				for _, p := range pods[5:] {
					_ = w.s.AddPod(p, name)
				}
			},
			"RemovePod": func(t *rapid.T) {
				_ = pick().s.RemovePod(rapid.SampledFrom(pods[:5]).Draw(t, "pod"), rapid.SampledFrom(names).Draw(t, "name"))
			},
			"Fork": func(t *rapid.T) {
				if len(worlds) < 4 {
					worlds = append(worlds, &world{s: pick().s.Fork()})
				}
			},
			"Begin": func(t *rapid.T) { w := pick(); w.marks = append(w.marks, w.s.Begin()) },
			"Rollback": func(t *rapid.T) {
				if w := pick(); len(w.marks) > 0 {
					w.s.Rollback(w.marks[len(w.marks)-1])
					w.marks = w.marks[:len(w.marks)-1]
				}
			},
			"Look": func(t *rapid.T) {
				w, p := pick(), rapid.SampledFrom(pods[:7]).Draw(t, "pod")
				checkPod(t, w.s, p)
			},
		})
		for _, w := range worlds {
			for _, p := range pods[:7] {
				checkPod(t, w.s, p)
			}
		}
	})
}

func checkPod(t *rapid.T, s *framework.Snapshot, p *framework.PodInfo) {
	on := map[string]bool{}
	for _, n := range s.All() {
		if n.HasPod(p) {
			on[n.Name()] = true
		}
	}
	got, n := s.Pod(p.Pod.Key())
	switch {
	case len(on) == 0 && (got != nil || n != nil):
		t.Fatalf("Pod(%s) = %v on %v, want nothing", p.Pod.Key(), got, n)
	case len(on) > 0 && (got != p || n == nil || n != s.Node(n.Name()) || !on[n.Name()]):
		t.Fatalf("Pod(%s) = %v on %v, want it on one of %v", p.Pod.Key(), got, n, on)
	}
}

func TestPodUnknown(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	must(t, s.AddPod(podInfo(t, s, &api.Pod{ObjectMeta: api.ObjectMeta{Name: "static"}}), "n"))
	for _, key := range []string{"", "/", "default/static", "a/b/c"} {
		if p, n := s.Pod(key); p != nil || n != nil {
			t.Errorf("Pod(%q) = %v on %v, want nothing", key, p, n)
		}
	}
	if p, n := s.Pod("static"); p == nil || n.Name() != "n" {
		t.Errorf("Pod(static) = %v on %v", p, n)
	}
}

func TestRefuseDuplicates(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1", "n2")
	p := podInfo(t, s, plainPod("p"))
	s.RefuseDuplicates()
	must(t, s.AddPod(p, "n1"))
	const want = `pod default/p: spec.nodeName: "n2": the pod is there already: on node n1`
	wantError(t, s.AddPod(p, "n2"), want)
	wantError(t, s.AddPodAt(podInfo(t, s, plainPod("p")), s.Node("n2")), want)
	wantError(t, s.Fork().AddPod(p, "n2"), want)
	if len(s.Node("n2").Pods) != 0 {
		t.Error("a pod that was refused is there")
	}
	m := s.Begin()
	must(t, s.RemovePod(p, "n1"))
	must(t, s.AddPod(p, "n2"))
	s.Rollback(m)
	wantError(t, s.AddPod(p, "n2"), want)
}

// A pod that kubectl printed while it ran can be placed again.
func TestPending(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	pod := plainPod("p", "cpu", "1")
	pod.Labels = map[string]string{"app": "web"}
	pod.Spec.NodeName = "n1"
	pod.Status = api.PodStatus{
		Phase: api.PodRunning, NominatedNodeName: "n1", QOSClass: api.PodQOSBurstable,
		Conditions:        []api.PodCondition{{Type: "Ready", Status: api.ConditionTrue}},
		ContainerStatuses: []api.ContainerStatus{{Name: "main", AllocatedResources: quantities("cpu", "3")}},
	}
	p := podInfo(t, s, pod)
	q := p.Pending()
	if q.Pod.Spec.NodeName != "" || q.IsNominated() || q.Pod.Status.Phase != api.PodPending || len(q.Pod.Status.Conditions) != 0 {
		t.Errorf("pending form: node %q, status %+v", q.Pod.Spec.NodeName, q.Pod.Status)
	}
	if q.UsedRequests.At(0) != 1000 || p.UsedRequests.At(0) != 3000 {
		t.Errorf("milli-CPU used: pending %d, running %d, want 1000, 3000", q.UsedRequests.At(0), p.UsedRequests.At(0))
	}
	if q.Pod.UID != pod.UID || q.Pod.Labels["app"] != "web" || pod.Spec.NodeName != "n1" || pod.Status.Phase != api.PodRunning {
		t.Error("the rest of the pod is not what it was")
	}
	if p.Pending() != q || q.Pending() != q {
		t.Error("the pending form is derived more than once")
	}
	must(t, s.AddPod(p, "n1"))
	if !s.Node("n1").HasPod(q) {
		t.Error("the pending form is not recognised as the pod")
	}
}

func TestPodInfoPredicates(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for name, change := range map[string]func(*api.Pod){
		"none":      func(*api.Pod) {},
		"affinity":  func(p *api.Pod) { p.Spec.Affinity = &api.Affinity{PodAntiAffinity: new(api.PodAntiAffinity)} },
		"spread":    func(p *api.Pod) { p.Spec.TopologySpreadConstraints = make([]api.TopologySpreadConstraint, 1) },
		"volumes":   func(p *api.Pod) { p.Spec.Volumes = make([]api.Volume, 1) },
		"nominated": func(p *api.Pod) { p.Status.NominatedNodeName = "n" },
	} {
		pod := plainPod("p")
		change(pod)
		p := podInfo(t, s, pod)
		got := map[string]bool{"affinity": p.HasPodAffinity(), "spread": p.HasSpread(), "volumes": p.HasVolumes(), "nominated": p.IsNominated()}
		for what, has := range got {
			if has != (what == name) {
				t.Errorf("a pod with %s: %s is %t", name, what, has)
			}
		}
	}
}

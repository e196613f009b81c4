//go:build full

package framework_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestObjectsSnapshot(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	pod := api.MakePod("p").Requests("1", "1Gi")
	o := &api.Objects{
		Nodes: []*api.Node{
			api.MakeNode("a1", "4", "8Gi").Zone("a").Obj(),
			api.MakeNode("a2", "4", "8Gi").Zone("a").Obj(),
			api.MakeNode("b1", "4", "8Gi").Zone("b").Obj(),
		},
		Pods: []*api.Pod{
			pod.Name("waits").Obj(),
			pod.Name("runs").Node("a1").Phase(api.PodRunning).Obj(),
			pod.Name("starts").Node("a1").Phase(api.PodPending).Obj(),
			pod.Name("ends").Node("a1").Phase(api.PodRunning).Deleted(at).Obj(),
			pod.Name("done").Node("a1").Phase(api.PodSucceeded).Obj(),
			pod.Name("failed").Node("gone").Phase(api.PodFailed).Obj(),
			pod.Name("never ran").Phase(api.PodFailed).Obj(),
			pod.Name("given up").Deleted(at).Obj(),
			pod.Name("gated").Gates("later").Obj(),
			pod.Name("waits").Namespace("other").Obj(),
			pod.Name("elsewhere").Node("b1").Obj(),
		},
	}
	s, pending, err := framework.SnapshotOf(o, framework.ZoneInterleaved)
	must(t, err)
	if diff := cmp.Diff([]string{"a1", "b1", "a2"}, nodeNames(s)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	for node, want := range map[string][]string{"a1": {"runs", "starts", "ends"}, "a2": {}, "b1": {"elsewhere"}} {
		if diff := cmp.Diff(want, podNames(s.Node(node))); diff != "" {
			t.Errorf("pods of %s (-want +got):\n%s", node, diff)
		}
	}
	var waiting []string
	for _, p := range pending {
		waiting = append(waiting, p.Pod.Key())
	}
	if diff := cmp.Diff([]string{"default/waits", "default/gated", "other/waits"}, waiting); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	must(t, s.AddPod(pending[0], "a2")) // of the right schema

	flat, _, err := framework.SnapshotOf(o, framework.Arrival)
	must(t, err)
	if diff := cmp.Diff([]string{"a1", "a2", "b1"}, nodeNames(flat)); diff != "" {
		t.Errorf("nodes by arrival (-want +got):\n%s", diff)
	}
	if !s.Now().IsZero() {
		t.Errorf("Now() = %v, want the zero time", s.Now())
	}
}

// Every error is reported, and what is right is there all the same.
func TestObjectsSnapshotErrors(t *testing.T) {
	pod := api.MakePod("p")
	o := &api.Objects{
		Nodes: []*api.Node{
			api.MakeNode("n1", "4", "8Gi").Obj(),
			nil,
			api.MakeNode("n1", "8", "8Gi").Obj(),
			api.MakeNode("", "4", "8Gi").Obj(),
			api.MakeNode("n2", "-4", "8Gi").Obj(),
			api.MakeNode("n3", "4", "8Gi").Obj(),
		},
		Pods: []*api.Pod{
			pod.Name("a").UID("1").Node("n1").Obj(),
			pod.Name("a").UID("2").Obj(),
			pod.Name("a").UID("1").Namespace("other").Obj(),
			pod.Name("b").Node("n9").Obj(),
			pod.Name("").Obj(),
			pod.Name("c").Requests("-1", "").Obj(),
			nil,
			pod.Name("d").Node("n2").Obj(),
			pod.Name("e").Request("memory", "9223372036854775807").Node("n3").Obj(),
			pod.Name("f").Request("memory", "1").Node("n3").Obj(),
			pod.Name("g").Obj(),
		},
	}
	s, pending, err := framework.SnapshotOf(o, framework.Arrival)
	want := []string{
		"node: is nil",
		`node n1: metadata.name: "n1": there is already a node of this name`,
		"node: metadata.name: must not be empty",
		`node n2: status.capacity[cpu]: "-4": must not be negative`,
		`pod default/a: metadata.name: "a": there is already a pod of this name`,
		`pod other/a: metadata.uid: "1": pod default/a has the same`,
		`pod default/b: spec.nodeName: "n9": no such node`,
		"pod default/: metadata.name: must not be empty",
		`pod default/c: spec.containers[0].resources.requests[cpu]: "-1": must not be negative`,
		"pod: is nil",
		`pod default/d: spec.nodeName: "n2": no such node`,
	}
	wantError(t, err, strings.Join(want, "\n"))
	if diff := cmp.Diff([]string{"n1", "n3"}, nodeNames(s)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if len(s.Node("n1").Pods) != 1 || len(s.Node("n3").Pods) != 2 || len(pending) != 1 || pending[0].Pod.Name != "g" {
		t.Errorf("pods: %v, %v, %d pending, want [a], [e f] and g pending", podNames(s.Node("n1")), podNames(s.Node("n3")), len(pending))
	}
}

// Pods that run count, whatever they ask for, so a cluster with one such pod can be read.
func TestSnapshotOfHugePods(t *testing.T) {
	pod := api.MakePod("p").Node("n")
	s, _, err := framework.SnapshotOf(&api.Objects{
		Nodes: []*api.Node{api.MakeNode("n", "4", "8Gi").Obj()},
		Pods:  []*api.Pod{pod.Name("huge").Requests("1", "9223372036854775807").Obj(), pod.Name("other").Requests("2", "1Gi").Obj()},
	}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	cpu, _ := s.Schema().Index(resource.CPU)
	memory, _ := s.Schema().Index(resource.Memory)
	if r := s.Node("n").Requested; r.At(cpu) != 3000 || r.At(memory) != math.MaxInt64 {
		t.Errorf("%d and %d are requested, want 3000 and the largest int64", r.At(cpu), r.At(memory))
	}
}

func TestObjectsSnapshotEmpty(t *testing.T) {
	s, pending, err := framework.SnapshotOf(new(api.Objects), framework.ZoneInterleaved)
	if s.Len() != 0 || pending != nil || err != nil {
		t.Errorf("no objects give %v, %v, %v", s, pending, err)
	}
}

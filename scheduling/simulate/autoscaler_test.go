package simulate_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestAutoscalerDevices checks that the devices of a type come with its nodes, and go with
// them.
func TestAutoscalerDevices(t *testing.T) {
	o := decode(`{"kind": "List", "items": [
		{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
		{"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
		{"kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "default"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}},
		{"kind": "Pod", "metadata": {"name": "p", "namespace": "default", "annotations": {"berth-sched.github.io/run-time": "1h"}},
			"spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}], "containers": [{"name": "c", "resources": {"claims": [{"name": "c"}]}}]}}]}`)
	slices := decode(`{"kind": "List", "items": [{"kind": "ResourceSlice", "metadata": {"name": "s"},
		"spec": {"driver": "d.x", "nodeName": "x", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d0"}]}}]}`).ResourceSlices
	c := config(o)
	c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "gpu", Node: node("", "4"), Devices: slices}}, IdleAfter: time.Minute}
	c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 2 * time.Hour, Apply: objects(nil, job("late", "1", 0, time.Minute).Obj())})
	var out bytes.Buffer
	c.Recorder = simulate.NewRecorder(&out, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	r := run(c)
	if err := c.Recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if r.NodesAdded != 1 || r.Pods[0].Node != "gpu-0" {
		t.Errorf("%d nodes added, the pod on %q, want 1 and gpu-0", r.NodesAdded, r.Pods[0].Node)
	}
	gone := false
	trace, err := simulate.ReadTrace(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range trace.Events {
		gone = gone || e.Delete == simulate.Ref{Kind: "ResourceSlice", Name: "s-gpu-0"}
	}
	if !gone {
		t.Error("the slice of the node stays without it")
	}
}

// TestAutoscalerProfile checks that nodes are ordered in the eyes of the profile that
// schedules the pod.
func TestAutoscalerProfile(t *testing.T) {
	for _, lax := range []string{"a", "b"} {
		tainted := node("", "4")
		tainted.Spec.Taints = []api.Taint{{Key: "k", Effect: api.TaintEffectNoSchedule}}
		p := job("p", "1", 0, time.Hour).Obj()
		p.Spec.SchedulerName = "b"
		c := config(objects(nil, p))
		c.Profiles = nil
		for _, name := range []string{"a", "b"} {
			profile := scheduling.Kubernetes137()
			profile.Name = name
			if name == lax {
				if err := profile.Remove("TaintToleration"); err != nil {
					t.Fatal(err)
				}
			}
			c.Profiles = append(c.Profiles, profile)
		}
		c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "t", Node: tainted}}}
		want := 0
		if lax == "b" {
			want = 1
		}
		if r := run(c); r.NodesAdded != want || r.Waiting != 1-want {
			t.Errorf("lax profile %s: %d nodes added and %d pods wait, want %d and %d", lax, r.NodesAdded, r.Waiting, want, 1-want)
		}
	}
}

// TestAutoscalerDaemons checks that the autoscaler counts with the pods of DaemonSets, as they are when it
// looks.
func TestAutoscalerDaemons(t *testing.T) {
	agent := func(cpu, more string) *api.Objects {
		return decode(`{"kind": "List", "items": [` + workload("DaemonSet", "apps/v1", "agent", more, cpu, "") + `]}`)
	}
	later := func(e simulate.Event) simulate.Event {
		e.At = time.Hour
		return e
	}
	for _, tt := range []struct {
		name   string
		change func(c *simulate.Config)
		nodes  int
	}{
		{"too large", func(*simulate.Config) {}, 0},
		{"no controllers", func(c *simulate.Config) { c.NoControllers = true }, 1},
		{"goes", func(c *simulate.Config) {
			c.Trace.Events = append(c.Trace.Events, later(simulate.Event{Delete: simulate.Ref{Kind: "DaemonSet", Name: "default/agent"}}))
		}, 1},
		{"shrinks", func(c *simulate.Config) {
			c.Trace.Events = append(c.Trace.Events, later(simulate.Event{Apply: agent("1", "")}))
		}, 1},
		{"is being deleted", func(c *simulate.Config) {
			c.Trace.Events[0].Apply.DaemonSets[0].DeletionTimestamp = new(time.Unix(0, 0))
		}, 1},
		{"is deleted later", func(c *simulate.Config) {
			o := agent("3", "")
			o.DaemonSets[0].DeletionTimestamp = new(time.Unix(0, 0))
			c.Trace.Events = append(c.Trace.Events, later(simulate.Event{Apply: o}))
		}, 1},
		{"comes later", func(c *simulate.Config) {
			c.Trace.Events = append(c.Trace.Events, later(simulate.Event{Apply: decode(`{"kind": "List", "items": [` + workload("DaemonSet", "apps/v1", "other", "", "1", "") + `]}`)}))
		}, 0},
		{"comes with the type", func(c *simulate.Config) {
			c.Autoscaler.Types[0].Pods = []*api.Pod{api.MakePod("agent").Requests("1", "").Owner("DaemonSet", "agent").Obj()}
		}, 1},
	} {
		o := objects(nil, job("p", "2", 0, 100*time.Hour).Obj())
		o.DaemonSets = agent("3", "").DaemonSets
		c := config(o)
		c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "t", Node: node("", "4")}}, IdleAfter: -1}
		tt.change(&c)
		if r := run(c); r.NodesAdded != tt.nodes {
			t.Errorf("%s: %d nodes added, want %d", tt.name, r.NodesAdded, tt.nodes)
		}
	}
}

// TestAutoscalerDaemonsOnce checks that the controllers alone make the pods of DaemonSets on new nodes.
func TestAutoscalerDaemonsOnce(t *testing.T) {
	o := decode(`{"kind": "List", "items": [` + workload("DaemonSet", "apps/v1", "agent", "", "3", "") + `]}`)
	for _, name := range []string{"a", "b"} {
		o.Pods = append(o.Pods, job(name, "1", 0, time.Hour).Obj())
	}
	c := config(o)
	c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "t", Node: node("", "4")}}, IdleAfter: -1}
	r := run(c)
	wantSummary(t, r, "a 0..3619", "agent-t-0 10..-", "agent-t-1 10..-", "b 0..3619")
	if r.NodesAdded != 2 || r.Waiting != 0 {
		t.Errorf("%d nodes added, %d pods wait, want 2 and none", r.NodesAdded, r.Waiting)
	}
}

// TestAutoscalerTakenNames: a pod that comes with a node gets another name if a pod has its name.
func TestAutoscalerTakenNames(t *testing.T) {
	c := config(objects([]*api.Node{node("n", "1")}, job("agent-m-0", "1", 0, time.Hour).Obj(), job("p", "2", 0, time.Hour).Obj()))
	agent := api.MakePod("agent").Owner("DaemonSet", "agent").Requests("100m", "").Obj()
	c.Autoscaler = &simulate.Autoscaler{Types: []whatif.NodeType{{Name: "m", Node: node("", "4"), Pods: []*api.Pod{agent}}}, IdleAfter: -1}
	r := run(c)
	var pods []string
	for _, p := range r.Pods {
		pods = append(pods, fmt.Sprint(p.Pod, " ", p.Running, " ", p.Node))
	}
	slices.Sort(pods)
	if diff := cmp.Diff([]string{"default/agent-m-0 false n", "default/agent-m-0-0 true ", "default/p false m-0"}, pods); diff != "" {
		t.Error(diff)
	}
}

package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestStatusPatch: a patch holds what is new alone, and the time at which the condition came
// to be false.
func TestStatusPatch(t *testing.T) {
	const conditions = `{"metadata":{"uid":"u","resourceVersion":"7"},"status":{"conditions":[{"type":"PodScheduled",`
	unschedulable := lifecycle.Report{Reason: "Unschedulable", Message: "no\xffde"}
	had := api.PodCondition{
		Type: api.PodScheduled, Status: api.ConditionFalse, Reason: "Unschedulable", Message: "no?de", LastTransitionTime: epoch, ObservedGeneration: 2,
	}
	with := func(change func(*api.PodCondition)) []api.PodCondition {
		c := had
		change(&c)
		return []api.PodCondition{{Type: "Ready", Status: api.ConditionTrue}, c}
	}
	for _, tt := range []struct {
		name       string
		conditions []api.PodCondition
		nominated  string
		report     lifecycle.Report
		want       string
	}{
		{"the first", nil, "", unschedulable, conditions + `"observedGeneration":2,"status":"False","lastTransitionTime":"2030-01-01T00:01:01Z","reason":"Unschedulable","message":"no?de"}]}}`},
		{"the same", with(func(*api.PodCondition) {}), "", unschedulable, ""},
		{
			"a new text", with(func(c *api.PodCondition) { c.Message = "old" }), "", unschedulable,
			conditions + `"observedGeneration":2,"status":"False","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"Unschedulable","message":"no?de"}]}}`,
		},
		{
			"a new reason", with(func(c *api.PodCondition) { c.Reason = "SchedulerError" }), "", unschedulable,
			conditions + `"observedGeneration":2,"status":"False","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"Unschedulable","message":"no?de"}]}}`,
		},
		{
			"a new generation", with(func(c *api.PodCondition) { c.ObservedGeneration = 1 }), "", unschedulable,
			conditions + `"observedGeneration":2,"status":"False","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"Unschedulable","message":"no?de"}]}}`,
		},
		{
			"it was true", with(func(c *api.PodCondition) { c.Status = api.ConditionTrue }), "", unschedulable,
			conditions + `"observedGeneration":2,"status":"False","lastTransitionTime":"2030-01-01T00:01:01Z","reason":"Unschedulable","message":"no?de"}]}}`,
		},
		{"a nomination", nil, "", lifecycle.Report{Nominated: "n"}, `{"metadata":{"uid":"u","resourceVersion":"7"},"status":{"nominatedNodeName":"n"}}`},
		{"its end", nil, "n", lifecycle.Report{}, `{"metadata":{"uid":"u","resourceVersion":"7"},"status":{"nominatedNodeName":null}}`},
		{"nothing", nil, "n", lifecycle.Report{Nominated: "n"}, ""},
	} {
		pod := api.MakePod("p").Obj()
		pod.UID, pod.ResourceVersion, pod.Generation = "u", "7", 2
		pod.Status.Conditions, pod.Status.NominatedNodeName = tt.conditions, tt.nominated
		now := epoch.Add(61*time.Second + 5*time.Millisecond).In(time.FixedZone("east", 3600))
		if got, err := tt.report.StatusPatch(pod, now); string(got) != tt.want || err != nil {
			t.Errorf("%s: StatusPatch() = %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func ExampleReport_StatusPatch() {
	r := lifecycle.Report{Reason: api.PodReasonUnschedulable, Message: "0/3 nodes are available"}
	patch, err := r.StatusPatch(api.MakePod("p").Obj(), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(string(patch), err)
	// Output: {"metadata":{},"status":{"conditions":[{"type":"PodScheduled","status":"False","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"Unschedulable","message":"0/3 nodes are available"}]}} <nil>
}

func ExampleDisruptionPatch() {
	victim, preemptor := api.MakePod("low").Obj(), api.MakePod("high").Obj()
	victim.UID, victim.ResourceVersion = "u", "7"
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	patch, err := lifecycle.DisruptionPatch(victim, preemptor, now)
	fmt.Println(string(patch), err)
	victim.Status.Conditions = []api.PodCondition{{
		Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler,
		Message: "default-scheduler: preempting to accommodate a higher priority pod",
	}}
	patch, err = lifecycle.DisruptionPatch(victim, preemptor, now)
	fmt.Println(patch == nil, err)
	// Output:
	// {"metadata":{"uid":"u"},"status":{"conditions":[{"type":"DisruptionTarget","status":"True","lastTransitionTime":"2030-01-01T00:00:00Z","reason":"PreemptionByScheduler","message":"default-scheduler: preempting to accommodate a higher priority pod"}]}} <nil>
	// true <nil>
}

package capacity_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// The patch keeps fields that berth does not read, and replaces an earlier summary
// as a whole.
func TestSummaryPatch(t *testing.T) {
	const object = `{"metadata":{"name":"member1","finalizers":["f"],"managedFields":[{"manager":"x"}]},` +
		`"spec":{"apiEndpoint":"https://example.com:6443","secretRef":{"namespace":"n","name":"s"},"proxyURL":"http://p",` +
		`"resourceModels":[{"grade":0,"ranges":[{"name":"cpu","min":"0","max":"9223372036854775807"}]}]},` +
		`"status":{"remedyActions":["TrafficControl"],"resourceSummary":{"allocatable":{"gone/resource":"8"}}}}`
	c, err := api.DecodeObject[api.Cluster]([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	summarized, err := capacity.Summarize(c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := capacity.SummaryPatch(summarized)
	if err != nil {
		t.Fatal(err)
	}
	var patch []struct {
		Op, Path string
		Value    any
	}
	var got, want map[string]any
	for into, text := range map[any]string{&patch: string(data), &got: object, &want: object} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range patch {
		field, ok := strings.CutPrefix(step.Path, "/status/")
		if step.Op != "add" || !ok {
			t.Fatalf("step %+v, want one that adds to the status", step)
		}
		got["status"].(map[string]any)[field] = step.Value
	}
	status := want["status"].(map[string]any)
	status["nodeSummary"] = map[string]any{"totalNum": 1.0}
	status["resourceSummary"] = map[string]any{
		"allocatable":          map[string]any{"cpu": "4", "memory": "8Gi", "pods": "110"},
		"allocatableModelings": []any{map[string]any{"grade": 0.0, "count": 1.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the object differs (-want +got):\n%s", diff)
	}
	if data, err := capacity.SummaryPatch(&api.Cluster{}); err != nil || string(data) != "[]" {
		t.Errorf("SummaryPatch = %s, %v, want no step", data, err)
	}
	if _, err := capacity.SummaryPatch(nil); fmt.Sprint(err) != `cluster: "null": is nil` {
		t.Errorf("SummaryPatch(nil): %v", err)
	}
}

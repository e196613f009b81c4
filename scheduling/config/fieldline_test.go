package config_test

import (
	"slices"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

func TestFieldLine(t *testing.T) {
	const doc = "kind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: 1x\n        example.com/gpu: 1\n"
	const asJSON = "{\"kind\": \"Pod\",\n \"spec\": {\n  \"containers\": [\n   {\"name\": \"c\",\n    \"resources\": {\"requests\": {\n     \"cpu\": \"1x\"}}}]}}"
	tests := []struct {
		name, text, path string
		want             int
	}{
		{"key in brackets", doc, "spec.containers[0].resources.requests[cpu]", 9},
		{"key with a dot", doc, "spec.containers[0].resources.requests[example.com/gpu]", 10},
		{"missing field", doc, "spec.containers[0].image", 6},
		{"missing item", doc, "spec.containers[3].image", 5},
		{"nothing", doc, "status.phase", 0},
		{"JSON", asJSON, "spec.containers[0].resources.requests[cpu]", 6},
		{"not YAML", "a: [", "a", 0},
		{"empty", "", "a", 0},
	}
	for _, test := range tests {
		if got := config.FieldLine([]byte(test.text), test.path); got != test.want {
			t.Errorf("%s: FieldLine(%q) = %d, want %d", test.name, test.path, got, test.want)
		}
	}
}

// TestFieldLines asks for many fields at once.
func TestFieldLines(t *testing.T) {
	const doc = "kind: Pod\nmetadata:\n  name: p\n"
	if got := config.FieldLines([]byte(doc), "metadata.name", "status", "kind"); !slices.Equal(got, []int{3, 0, 1}) {
		t.Errorf("FieldLines = %v, want [3 0 1]", got)
	}
	if got := config.FieldLines([]byte("a: ["), "a", "b"); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("FieldLines of what is not YAML = %v, want [0 0]", got)
	}
	if got := config.FieldLines([]byte(doc)); len(got) != 0 {
		t.Errorf("FieldLines without fields = %v, want none", got)
	}
}

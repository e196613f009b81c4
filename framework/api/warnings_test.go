package api_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	o, err := api.Decode([]byte(`{"kind": "List", "items": [
		{"kind": "Pod", "metadata": {"name": "a", "lables": {}}, "spec": {"nodeselector": {"x": "y"}, "dnsPolicy": "Default",
			"containers": [{"name": "c", "resources": {"request": {"cpu": "1"}}, "imagePullSecret": "x"}],
			"topologySpreadConstraint": [], "tolerations": [{"key": "k", "efect": "NoSchedule"}]}},
		{"kind": "Pod", "metadata": {"name": "b"}, "spec": {"nodeselector": {"x": "y"}}},
		{"kind": "Node", "metadata": {"name": "n"}, "status": {"Allocatable": {"cpu": "4"}}, "spec": {"podCIDR": "x"}}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Node: status.Allocatable: unknown field; did you mean allocatable?",
		"Pod: metadata.lables: unknown field; did you mean labels?",
		"Pod: spec.containers.resources.request: unknown field; did you mean requests?",
		"Pod: spec.nodeselector: unknown field, 2 times; did you mean nodeSelector?",
		"Pod: spec.tolerations.efect: unknown field; did you mean effect?",
		"Pod: spec.topologySpreadConstraint: unknown field; did you mean topologySpreadConstraints?",
	}
	if diff := cmp.Diff(want, o.Warnings()); diff != "" {
		t.Errorf("Warnings (-want +got):\n%s\nof %v", diff, o.SkippedFields)
	}
}

// A real file has fields that scheduling does not read, and no misspelt ones.
func TestWarningsOfKubectl(t *testing.T) {
	o := decodeFiles(t, "testdata/nodes.json", "testdata/pods.json")
	if len(o.SkippedFields) == 0 {
		t.Fatal("the files have no skipped fields")
	}
	if got := o.Warnings(); len(got) > 0 {
		t.Errorf("Warnings = %q, want none", got)
	}
}

func ExampleObjects_Warnings() {
	o, err := api.Decode([]byte(`{"kind": "Pod", "metadata": {"name": "web"}, "spec": {"nodeselector": {"disk": "ssd"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range o.Warnings() {
		fmt.Println(line)
	}
	// Output: Pod: spec.nodeselector: unknown field; did you mean nodeSelector?
}

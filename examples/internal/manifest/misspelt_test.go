//go:build full

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

// TestFieldTree finds fields by paths without indexes and keys, all of them in one walk.
func TestFieldTree(t *testing.T) {
	var object any
	if err := unmarshal([]byte(`{"spec": {
		"devices": [{"attributes": {"a": {"strin": "x"}, "b": {"string": "y"}}}, {"name": "d"}],
		"containers": [{"env": [{"resources": {"requets": {}}}]}, {"resources": {"requets": {}}}, {"resources": {"requets": {}}}]
	}}`), &object); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"spec.devices.attributes.strin":     {"spec.devices[0].attributes[a].strin"},
		"spec.containers.resources.requets": {"spec.containers[1].resources.requets", "spec.containers[2].resources.requets"},
		"spec.container":                    nil,
	}
	for _, room := range []int{10, 2} {
		var tree fieldTree
		for path := range want {
			tree.add(path, strings.Split(path, "."))
		}
		walk := fieldWalk{room: room}
		walk.value(object, &tree)
		got := map[string][]string{}
		for _, f := range walk.found {
			got[f.path] = append(got[f.path], f.field)
		}
		if room < 3 {
			if len(walk.found) != room {
				t.Errorf("%d fields found, want %d", len(walk.found), room)
			}
			continue
		}
		for path, fields := range want {
			if diff := cmp.Diff(fields, got[path]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	}
}

// TestMisspelt reads misspelt fields in YAML and JSON, in texts that are kept and that are
// not, and more of them than are told.
func TestMisspelt(t *testing.T) {
	long := strings.Repeat("x", maxKept)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"YAML":  {"kind: Node\nmetadata:\n  lables: {}\n  name: a\n---\nkind: Pod\nmetadata: {name: b}\nspec:\n  nodeSelectr: {}\n", []string{"f:3: node a: metadata.lables: unknown field; did you mean labels?", "f:9: pod default/b: spec.nodeSelectr: unknown field; did you mean nodeSelector?"}},
		"list":  {"kind: List\nitems:\n- kind: Node\n  metadata:\n    name: a\n- kind: Node\n  metadata:\n    name: b\n    lables: {}\n", []string{"f:9: node b: metadata.lables: unknown field; did you mean labels?"}},
		"JSON":  {"{\"kind\": \"PodList\", \"apiVersion\": \"v1\", \"items\": [\n{\"metadata\": {\"name\": \"a\", \"namespace\": \"n\"}},\n{\"metadata\": {\"lables\": {}, \"name\": \"b\"}}]}", []string{"f:3: pod default/b: metadata.lables: unknown field; did you mean labels?"}},
		"long":  {"{\"kind\": \"Node\", \"metadata\": {\"name\": \"a\", \"annotations\": {\"x\": \"" + long + "\"}}}\n{\"kind\": \"Node\", \"metadata\": {\"name\": \"b\",\n\"lables\": {}}}", []string{"f:3: node b: metadata.lables: unknown field; did you mean labels?"}},
		"brace": {"{kind: Node, metadata: {name: a,\n lables: {}}}", []string{"f:2: node a: metadata.lables: unknown field; did you mean labels?"}},
		"fine":  {"kind: Node\nmetadata:\n  name: a\n  unheardOf: 1\n", nil},
	} {
		s := Source{Name: "f"}
		if err := s.Decode(new(api.Objects), strings.NewReader(test.text)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, fault := range s.Doubts() {
			got = append(got, fault.Error())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var many strings.Builder
	for i := range maxMisspelt + 5 {
		fmt.Fprintf(&many, "---\nkind: Node\nmetadata: {name: n%d, lables: {}}\n", i)
	}
	s := Source{Name: "f"}
	if err := s.Decode(new(api.Objects), strings.NewReader(many.String())); err != nil || len(s.Doubts()) != maxMisspelt {
		t.Errorf("%d misspelt fields are told, %v; want %d", len(s.Doubts()), err, maxMisspelt)
	}
}

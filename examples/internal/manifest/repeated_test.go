//go:build full

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

// TestRepeated reads fields that objects have twice, in YAML and JSON, in texts that are kept
// and that are not. Of each the last counts, strict or not.
func TestRepeated(t *testing.T) {
	long := strings.Repeat("x", maxKept)
	const yamlPod = "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    resources:\n      requests:\n        cpu: 1\n        memory: 1Gi\n        cpu: 8\n"
	const jsonPod = "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"},\n\"spec\": {\"containers\": [{\"name\": \"c\", \"resources\": {\"requests\": {\"cpu\": 1,\n\"cpu\": 8}}}]}}"
	const cpu = "pod default/p: spec.containers[0].resources.requests[cpu]: is repeated; the last value counts"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"YAML":          {yamlPod, []string{"f:10: " + cpu}},
		"flow":          {"kind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {requests: {cpu: 1, cpu: 8}}}]}\n", []string{"f:3: " + cpu}},
		"document":      {"kind: Node\nmetadata: {name: m}\n---\n" + yamlPod, []string{"f:13: " + cpu}},
		"list":          {"kind: List\nitems:\n- kind: Node\n  metadata:\n    name: a\n    name: m\n- " + strings.ReplaceAll(yamlPod, "\n", "\n  "), []string{"f:6: node m: metadata.name: is repeated; the last value counts", "f:16: " + cpu}},
		"JSON":          {jsonPod, []string{"f:3: " + cpu}},
		"list in JSON":  {"{\"kind\": \"PodList\", \"apiVersion\": \"v1\", \"items\": [\n{\"metadata\": {\"name\": \"a\", \"namespace\": \"n\"}},\n" + strings.Replace(jsonPod, `"kind": "Pod", `, "", 1) + "]}", []string{"f:5: " + cpu}},
		"long":          {"{\"kind\": \"Node\", \"metadata\": {\"name\": \"m\", \"annotations\": {\"x\": \"" + long + "\"}}}\n" + jsonPod, []string{"f:4: " + cpu}},
		"brace":         {"{kind: Pod, metadata: {name: p}, spec: {containers: [{resources: {requests: {cpu: 1,\n cpu: 8}}}]}}", []string{"f:2: " + cpu}},
		"three times":   {strings.Replace(yamlPod, "cpu: 1", "cpu: 1\n        cpu: 2", 1), []string{"f:11: " + cpu}},
		"not read":      {yamlPod + "    livenessProbe:\n      periodSeconds: 1\n      periodSeconds: 2\n    env: []\n    env: []\n", []string{"f:10: " + cpu, "f:13: pod default/p: spec.containers[0].livenessProbe.periodSeconds: is repeated; the last value counts", "f:15: pod default/p: spec.containers[0].env: is repeated; the last value counts"}},
		"label":         {"kind: Node\nmetadata:\n  name: m\n  labels:\n    example.com/a: b\n    example.com/a: c\n", []string{"f:6: node m: metadata.labels[example.com/a]: is repeated; the last value counts"}},
		"no name":       {"kind: StrangeKind\na: 1\na: 2\n", []string{"f:3: document 1: a: is repeated; the last value counts"}},
		"merged":        {"kind: Node\nmetadata:\n  labels: &l {a: b, c: d}\n  name: m\n  annotations:\n    <<: *l\n    a: x\n", nil},
		"besides merge": {"kind: Node\nmetadata:\n  labels: &l {a: b}\n  name: m\n  annotations:\n    <<: *l\n    c: x\n    c: z\n", []string{"f:8: node m: metadata.annotations[c]: is repeated; the last value counts"}},
		"fine":          {"kind: Node\nmetadata:\n  name: a\n---\nkind: Node\nmetadata:\n  name: b\n", nil},
	} {
		var objects [2]api.Objects
		for i, strict := range []bool{false, true} {
			s := Source{Name: "f", Strict: strict}
			if err := s.Decode(&objects[i], strings.NewReader(test.text)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got []string
			for _, fault := range s.Doubts() {
				got = append(got, fault.Error())
			}
			want := test.want
			if !strict {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, strict %t (-want +got):\n%s", name, strict, diff)
			}
			for _, p := range objects[i].Pods {
				if p.Name != "p" {
					continue
				}
				requests := p.Spec.Containers[0].Resources.Requests
				if cpu := requests["cpu"]; cpu.String() != "8" {
					t.Errorf("%s, strict %t: the pod requests %v cpu, want the last value, 8", name, strict, cpu.String())
				}
			}
		}
	}
	var many strings.Builder
	for i := range maxRepeated + 5 {
		fmt.Fprintf(&many, "---\nkind: Node\nmetadata: {name: n%d, name: n%d}\n", i, i)
	}
	s := Source{Name: "f", Strict: true}
	if err := s.Decode(new(api.Objects), strings.NewReader(many.String())); err != nil || len(s.Doubts()) != maxRepeated {
		t.Errorf("%d repeated fields are told, %v; want %d", len(s.Doubts()), err, maxRepeated)
	}
}

// BenchmarkDecode reads pods with and without strictness.
func BenchmarkDecode(b *testing.B) {
	var inYAML, inJSON strings.Builder
	for i := range 200 {
		fmt.Fprintf(&inYAML, "---\nkind: Pod\nmetadata: {name: p%d, labels: {app: web}}\nspec:\n  containers:\n  - name: c\n    image: web:1\n    resources:\n      requests:\n        cpu: 1\n        memory: 1Gi\n", i)
		fmt.Fprintf(&inJSON, "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p%d\", \"labels\": {\"app\": \"web\"}}, \"spec\": {\"containers\": [{\"name\": \"c\", \"image\": \"web:1\", \"resources\": {\"requests\": {\"cpu\": 1, \"memory\": \"1Gi\"}}}]}}\n", i)
	}
	for form, text := range map[string]string{"yaml": inYAML.String(), "json": inJSON.String()} {
		for _, strict := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/strict=%t", form, strict), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					s := Source{Name: "f", Strict: strict}
					if err := s.Decode(new(api.Objects), strings.NewReader(text)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

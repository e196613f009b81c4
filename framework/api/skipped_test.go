package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

func TestSkippedFields(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]int
	}{
		{"all known", `{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeSelector":{"a":"b"}}}`, nil},
		{
			"misspelt, thrice",
			`{"kind":"List","items":[
				{"kind":"Pod","metadata":{"name":"a"},"spec":{"nodeselector":{"spec":{"x":1}}}},
				{"kind":"Pod","metadata":{"name":"b"},"spec":{"nodeselector":{}}},
				{"kind":"Pod","metadata":{"name":"c"},"spec":{"nodeselector":3}}]}`,
			map[string]int{"Pod: spec.nodeselector": 3},
		},
		{
			"in lists",
			`{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"image":"x","resource":{}},{"resource":[]}],
				"tolerations":[{"operater":"Exists"}]}}`,
			map[string]int{"Pod: spec.containers.resource": 2, "Pod: spec.tolerations.operater": 1},
		},
		{
			"free-form maps are no fields",
			`{"kind":"Node","metadata":{"name":"n","labels":{"Name":"x"},"annotations":{"spec":"y"}},"status":{"allocatable":{"a.b/c":"1"}}}
			 {"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeSelector":{"x":"y"},"affinity":{"podAffinity":{
				"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"x"}},"topologyKey":"z"}]}}}}`,
			nil,
		},
		{
			"at the top, and by kind", `{"kind":"Pod","metadata":{"name":"p"},"Spec":{}}{"kind":"Node","metadata":{"name":"n"},"Spec":{}}`,
			map[string]int{"Pod: Spec": 1, "Node: Spec": 1},
		},
		{"null is absent", `{"kind":"Pod","metadata":{"name":"p","stamp":null}}`, nil},
		{"escaped", `{"kind":"Pod","metadata":{"name":"p","st\u0061mp":1}}`, map[string]int{"Pod: metadata.stamp": 1}},
		{"kinds that are skipped", `{"kind":"Secret","metadata":{"name":"p"},"data":{}}`, nil},
		{"a key without an end", `{"kind":"Pod","metadata":{"name":"p","` + strings.Repeat("x", 300) + `":1}}`, map[string]int{api.OtherFields: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(t, tt.text).SkippedFields); diff != "" {
				t.Errorf("SkippedFields (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSkippedFieldsAreBounded reads 3,000 different fields, twice: 500 are counted
// separately, and none is lost.
func TestSkippedFieldsAreBounded(t *testing.T) {
	text := func(from int) []byte {
		var b strings.Builder
		b.WriteString(`{"kind":"Pod","metadata":{"name":"p"},"spec":{`)
		for i := range 3000 {
			fmt.Fprintf(&b, `"x%d":%d,`, from+i, i)
		}
		b.WriteString(`"hostNetwork":true}}`)
		return []byte(b.String())
	}
	var o api.Objects
	for i, from := range []int{0, 2800} {
		must(t, o.Decode(text(from)))
		sum := 0
		for _, n := range o.SkippedFields {
			sum += n
		}
		if len(o.SkippedFields) != 501 || sum != 3000*(i+1) || o.SkippedFields["Pod: spec.x7"] != 1 {
			t.Errorf("after %d texts %d paths with %d fields, x7 %d times; want 501 with %d, once",
				i+1, len(o.SkippedFields), sum, o.SkippedFields["Pod: spec.x7"], 3000*(i+1))
		}
	}
}

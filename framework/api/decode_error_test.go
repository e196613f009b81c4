package api_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func TestDecodeErrors(t *testing.T) {
	// pod returns a pod with more fields.
	pod := func(fields string) string { return `{"kind":"Pod","metadata":{"name":"web"},` + fields + `}` }
	tests := []struct{ name, text, want string }{
		// Not JSON.
		{"YAML", "apiVersion: v1\nkind: Pod", `not JSON: line 1, byte 0: unexpected 'a', want an object in JSON (YAML must be converted first)`},
		{"NUL", "\x00", `not JSON: line 1, byte 0: unexpected '\x00', want an object in JSON (YAML must be converted first)`},
		{"truncated after a brace", `{`, `not JSON: line 1, byte 1: unexpected end of input, want a key in quotes`},
		{"truncated in a pod", "{\"kind\":\"Pod\",\n\"metadata\":{\"name\":\"web\"", `not JSON: line 2, byte 39: unexpected end of input, want a comma or '}'`},
		{"truncated in a string", `{"kind":"Po`, `not JSON: line 1, byte 11: unexpected end of input in a string`},
		{"truncated in an escape", `{"kind":"Po\`, `not JSON: line 1, byte 12: unexpected end of input in a string`},
		{"truncated in hexadecimals", `{"kind":"Po\u00`, `not JSON: line 1, byte 15: unexpected end of input in a string`},
		{"truncated after a key", `{"kind"`, `not JSON: line 1, byte 7: unexpected end of input, want a colon`},
		{"truncated after a colon", `{"kind":`, `not JSON: line 1, byte 8: unexpected end of input, want a value`},
		{"bad escape", `{"kind":"\x"}`, `not JSON: line 1, byte 10: unexpected 'x', want an escape sequence`},
		{"bad hexadecimal", `{"kind":"\u00g0"}`, `not JSON: line 1, byte 13: unexpected 'g', want a hexadecimal digit`},
		{"line break in a string", "{\"kind\":\"a\nb\"}", `not JSON: line 1, byte 10: control character '\n' in a string`},
		{"no quotes", `{kind:"Pod"}`, `not JSON: line 1, byte 1: unexpected 'k', want a key in quotes`},
		{"trailing comma", `{"kind":"Pod",}`, `not JSON: line 1, byte 14: unexpected '}', want a key in quotes`},
		{"missing comma", `{"kind":"Pod" "a":1}`, `not JSON: line 1, byte 14: unexpected '"', want a comma or '}'`},
		{"wrong bracket", `{"kind":"List","items":[}`, `not JSON: line 1, byte 24: unexpected '}', want a value`},
		{"bad word", pod(`"spec":nil`), `not JSON: line 1, byte 47: unexpected 'n', want a value`},
		{"bad number", pod(`"spec":{"priority":-}`), `not JSON: line 1, byte 60: unexpected '}', want a digit`},
		{"number without fraction", pod(`"spec":{"priority":1.}`), `not JSON: line 1, byte 61: unexpected '}', want a digit`},
		{"number without exponent", pod(`"spec":{"priority":1e+}`), `not JSON: line 1, byte 62: unexpected '}', want a digit`},
		{"leading zero", pod(`"spec":{"priority":01}`), `not JSON: line 1, byte 60: unexpected '1', want a comma or '}'`},
		{"text after a document", pod(`"spec":{}`) + "\nx", "not JSON: line 2, byte 51: unexpected 'x', want an object"},
		{"in a field that is ignored", pod(`"x":{"y":[1,}`), `not JSON: line 1, byte 52: unexpected '}', want a value`},

		// Lists and depth.
		{"bare list", `[{"kind":"Pod"}]`, `document 1: want an object, got a list; put the objects under "items" of an object of the kind List, or one after another`},
		{"bare list later", `{"kind":"Secret"} []`, `document 2: want an object, got a list; put the objects under "items" of an object of the kind List, or one after another`},
		{"items twice", `{"kind":"NodeList","items":[{"metadata":{"name":"a"}}],"items":[{"metadata":{"name":"b"}}]}`, `document 1: items: is repeated`},
		{"items, then none", `{"kind":"List","items":[{"kind":"List","items":[],"items":null}]}`, `document 1, items[0]: items: is repeated`},
		{"too deep", strings.Repeat(`{"a":`, 1001), `document 1: a: nested deeper than 1000 levels at line 1, byte 5000; no field that is read needs that, so leave it out`},
		{"too deep in a field", pod(`"x":` + strings.Repeat("[", 1000)), `pod default/web: x: nested deeper than 1000 levels at line 1, byte 1043; no field that is read needs that, so leave it out`},
		{"too deep in a part", pod("\n" + `"spec":{"priority":` + strings.Repeat("[", 1000)), `pod default/web: spec.priority: nested deeper than 1000 levels at line 2, byte 1058; no field that is read needs that, so leave it out`},
		{"too deep beside items", `{"kind":"PodList","items":[],"x":` + strings.Repeat("[", 1000), `document 1: x: nested deeper than 1000 levels at line 1, byte 1032; no field that is read needs that, so leave it out`},
		{"too deep in an ignored kind", `{"kind":"Secret","x":` + strings.Repeat("[", 1000), `secret (document 1): nested deeper than 1000 levels at line 1, byte 1020; no field that is read needs that, so leave it out`},

		// Missing or bad kinds.
		{"no kind", `{"metadata":{"name":"web"}}`, `document 1: kind: is missing`},
		{"kind of the wrong type", `{"kind":3}`, `document 1: kind: "3": want a string, got a number`},
		{"apiVersion of the wrong type", `{"kind":"Pod","apiVersion":[]}`, `document 1: apiVersion: want a string, got a list`},
		{"long kind", `{"kind":"` + strings.Repeat("K", 513) + `"}`, `document 1: kind: "` + strings.Repeat("K", 64) + `"... (513 bytes): want at most 512 bytes`},
		{"long apiVersion", `{"kind":"Pod","apiVersion":"` + strings.Repeat("v", 513) + `"}`, `document 1: apiVersion: "` + strings.Repeat("v", 64) + `"... (513 bytes): want at most 512 bytes`},
		{"no kind in the second document", `{"kind":"Secret"}{}`, `document 2: kind: is missing`},
		{"no kind in a list", `{"kind":"List","items":[{"kind":"Secret"},{}]}`, `document 1, items[1]: kind: is missing`},
		{"kind of the wrong type in a typed list", `{"kind":"PodList","items":[{"kind":true}]}`, `pod (document 1, items[0]): kind: "true": want a string, got true or false`},
		{"items of the wrong type", `{"kind":"PodList","items":{}}`, `document 1: items: want a list, got an object`},
		{"item of the wrong type", `{"kind":"PodList","items":[3]}`, `document 1, items[0]: "3": want an object, got a number`},
		{"null item", `{"kind":"PodList","items":[null]}`, `document 1, items[0]: want an object, got null`},
		{"no name", `{"kind":"Pod"}`, `pod (document 1): metadata.name: is missing`},
		{"no name in a list", `{"kind":"NodeList","items":[{"metadata":{"name":"n"}},{"metadata":{}}]}`, `node (document 1, items[1]): metadata.name: is missing`},
		{
			"lists in lists", strings.Repeat(`{"kind":"List","items":[`, 6) + strings.Repeat("]}", 6),
			`document 1, items[0], items[0], items[0], items[0], items[0]: lists nested deeper than 4 levels`,
		},

		// Values that do not fit.
		{"quantity", pod(`"spec":{"containers":[{},{"resources":{"requests":{"memory":"1Gi","cpu":"1x"}}}]}`), `pod default/web: spec.containers[1].resources.requests[cpu]: "1x": QUANTITY`},
		{"quantity in the allocatable", `{"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":""}}}`, `node n: status.allocatable[cpu]: is empty`},
		{"quantity is a list", pod(`"spec":{"overhead":{"cpu":[1]}}`), `pod default/web: spec.overhead[cpu]: want a string or a number, got a list`},
		{"quantity is true", pod(`"spec":{"overhead":{"cpu":true}}`), `pod default/web: spec.overhead[cpu]: "true": QUANTITY`},
		{"quantities are no object", pod(`"spec":{"overhead":"1"}`), `pod default/web: spec.overhead: "1": want an object, got a string`},
		{"string for a list", pod(`"spec":{"containers":"c"}`), `pod default/web: spec.containers: "c": want a list, got a string`},
		{"null container", pod(`"spec":{"containers":[null]}`), `pod default/web: spec.containers[0]: want an object, got null`},
		{"null in a list of strings", `{"kind":"Node","metadata":{"name":"n"},"status":{"images":[{"names":["a",null]}]}}`, `node n: status.images[0].names[1]: want a string, got null`},
		{"null in a list of pointers", `{"kind":"NodeMetric","metadata":{"name":"n"},"status":{"podsMetric":[{},null]}}`, `nodemetric n: status.podsMetric[1]: want an object, got null`},
		{"number for a string", pod(`"spec":{"nodeName":7}`), `pod default/web: spec.nodeName: "7": want a string, got a number`},
		{"string for a number", pod(`"spec":{"priority":"7"}`), `pod default/web: spec.priority: "7": want an integer, got a string`},
		{"fraction", pod(`"spec":{"priority":7.0}`), `pod default/web: spec.priority: "7.0": want an integer`},
		{"too large", pod(`"spec":{"priority":2147483648}`), `pod default/web: spec.priority: "2147483648": out of the range of int32`},
		{"negative count", `{"kind":"Cluster","metadata":{"name":"m"},"spec":{"resourceModels":[{"grade":-1}]}}`, `cluster m: spec.resourceModels[0].grade: "-1": want an integer`},
		{"number for true", pod(`"spec":{"hostNetwork":1}`), `pod default/web: spec.hostNetwork: "1": want true or false, got a number`},
		{"string for an object", pod(`"spec":"x"`), `pod default/web: spec: "x": want an object, got a string`},
		{"string for a map", `{"kind":"Pod","metadata":{"labels":"x","name":"web","namespace":"shop"}}`, `pod shop/web: metadata.labels: "x": want an object, got a string`},
		{"number in a map", `{"kind":"Pod","metadata":{"name":"web","labels":{"a.b/c":1}}}`, `pod default/web: metadata.labels[a.b/c]: "1": want a string, got a number`},
		{"name of the wrong type", `{"kind":"Pod","metadata":{"name":7}}`, `pod (document 1): metadata.name: "7": want a string, got a number`},
		{"time", `{"kind":"Node","metadata":{"name":"n","creationTimestamp":"yesterday"}}`, `node n: metadata.creationTimestamp: "yesterday": want a time such as "2026-01-02T15:04:05Z"`},
		{"time is an object", pod(`"status":{"startTime":{}}`), `pod default/web: status.startTime: want a string or a number, got an object`},
		{
			"duration", `{"kind":"NodeMetric","metadata":{"name":"n"},"status":{"nodeMetric":{"aggregatedNodeUsages":[{"duration":"5"}]}}}`,
			`nodemetric n: status.nodeMetric.aggregatedNodeUsages[0].duration: "5": want a number with a unit, such as "5m0s"`,
		},
		{
			"duration is a number", `{"kind":"NodeMetric","metadata":{"name":"n"},"status":{"nodeMetric":{"aggregatedNodeUsages":[{"duration":5}]}}}`,
			`nodemetric n: status.nodeMetric.aggregatedNodeUsages[0].duration: "5": want a string such as "5m0s"`,
		},
		{
			"in a map of structs", `{"kind":"NodeMetric","metadata":{"name":"n"},"status":{"nodeMetric":{"aggregatedNodeUsages":[{"usage":{"p95":{"resources":{"cpu":"x"}}}}]}}}`,
			`nodemetric n: status.nodeMetric.aggregatedNodeUsages[0].usage[p95].resources[cpu]: "x": QUANTITY`,
		},
		{"int or string", `{"kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1.5}}`, `poddisruptionbudget default/b: spec.minAvailable: "1.5": want an integer of 32 bits or a string`},
		{"long value", pod(`"spec":{"priority":"` + strings.Repeat("7", 100) + `"}`), `pod default/web: spec.priority: "` + strings.Repeat("7", 64) + `"... (100 bytes): want an integer, got a string`},
		{"long name", pod(`"spec":{"nodeSelector":{"` + strings.Repeat("k", 10_000_000) + `":1}}`), "pod default/web: spec.nodeSelector[" + strings.Repeat("k", 512-18) + `... (10000019 bytes): "1": want a string, got a number`},
		{"too many elements", pod(`"spec":{"containers":[` + strings.Repeat(`{"name":"container"},`, 100_000) + `{}]}`), `pod default/web: spec.containers[100000]: more than 100000 elements`},
		{"elements of nothing", pod(`"spec":{"containers":[` + strings.Repeat("{},", 50_000) + `{}]}`), `pod default/web: spec.containers[19961]: more than 19961 elements, too many for the size of the text`},
		{"in a list", `{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"spec":{"priority":{}},"metadata":{"name":"b"}}]}`, `pod default/b: spec.priority: want an integer, got an object`},
	}
	_, err := resource.Parse("1x")
	var bad *resource.SyntaxError
	if !errors.As(err, &bad) {
		t.Fatalf("Parse(1x) returns %v, want a SyntaxError", err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, "QUANTITY", bad.Reason)
			o, err := api.Decode([]byte(tt.text))
			if err == nil {
				t.Fatalf("Decode succeeds, want error %s", want)
			}
			if o != nil {
				t.Error("Decode returns objects with an error")
			}
			if got := err.Error(); got != want {
				t.Errorf("Decode returns error\n\t%s\nwant\n\t%s", got, want)
			}
			var syntax *api.SyntaxError
			var invalid *api.InvalidError
			if !errors.As(err, &syntax) && !errors.As(err, &invalid) {
				t.Errorf("error is a %T", err)
			}
		})
	}
}

func TestDecodeObjectErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", `not JSON: line 1, byte 0: unexpected end of input, want an object`},
		{"another kind", `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}`, `document 1: kind: "Node": want Cluster.cluster.karmada.io`},
		{"another group", `{"kind":"Cluster","apiVersion":"cluster.x-k8s.io/v1"}`, `document 1: kind: "Cluster.cluster.x-k8s.io": want Cluster.cluster.karmada.io`},
		{"a bare list", `[{"metadata":{"name":"m"}}]`, `document 1: want an object, got a list; decode its items one by one`},
		{"a list", `{"kind":"ClusterList","apiVersion":"cluster.karmada.io/v1alpha1","items":[]}`, `document 1: kind: "ClusterList.cluster.karmada.io": want Cluster.cluster.karmada.io`},
		{"two", `{"metadata":{"name":"m"}}{"metadata":{"name":"m"}}`, `not JSON: line 1, byte 25: unexpected '{', want the end of the input`},
		{"no name", `{}`, `cluster (document 1): metadata.name: is missing`},
		{"value", `{"metadata":{"name":"m"},"spec":{"zones":1}}`, `cluster m: spec.zones: "1": want a list, got a number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c, err := api.DecodeObject[api.Cluster]([]byte(tt.text)); err == nil || c != nil || err.Error() != tt.want {
				t.Errorf("DecodeObject returns %v, error\n\t%v\nwant\n\t%s", c, err, tt.want)
			}
		})
	}
}

// Ten megabytes of junk must fail at once, and must not fill the memory.
func TestDecodeJunk(t *testing.T) {
	const size = 10 << 20
	fill := func(head, body string) []byte {
		return append([]byte(head), bytes.Repeat([]byte(body), (size-len(head))/len(body))...)
	}
	tests := map[string][]byte{
		"braces":         fill("", "{"),
		"brackets":       fill(`{"a":`, "["),
		"nested objects": fill("", `{"a":`),
		"long string":    fill(`{"kind":"`, "x"),
		"long key":       fill(`{"`, "x"),
		"quotes":         fill("", `"`),
		"zeros":          fill("", "\x00"),
		"long number":    fill(`{"kind":"Pod","metadata":{"name":"a"},"spec":{"priority":`, "1"),
		"long quantity":  append(fill(`{"kind":"Pod","metadata":{"name":"a"},"spec":{"overhead":{"cpu":"`, "1"), `"}}}`...),
		"backslashes":    fill(`{"kind":"`, `\\`),
		"empty objects":  fill("", "{}"),
		"empty pods":     fill(`{"kind":"PodList","items":[`, "{},"),
		"containers":     fill(`{"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[`, "{},"),
		"lists in lists": fill("", `{"kind":"List","items":[`),
		"lists of lists": append(fill(strings.Repeat(`{"items":[`, 300), " "), strings.Repeat(`],"kind":"List"}`, 300)...),
		"ignored fields": fill(`{"kind":"Pod","x":[`, `{"a":[1,"b",null]},`),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := api.Decode(data)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Error("junk decodes")
			}
			if len(err.Error()) > 500 {
				t.Errorf("error text of %d bytes", len(err.Error()))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 5*size {
				t.Errorf("allocated %d MiB for %d MiB", used>>20, size>>20)
			}
		})
	}
}

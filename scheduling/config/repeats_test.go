package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/config"
)

func ExampleRepeatedFields() {
	text := []byte("kind: Pod\nspec:\n  overhead:\n    cpu: 1\n    cpu: 8\n")
	documents, repeated, err := config.YAMLToJSONStrict(text)
	fmt.Printf("%s %t %v\n", documents, repeated, err)
	fmt.Println(config.RepeatedFields(text), config.JSONRepeats([]byte(`{"a": 1, "a": 2}`)))
	// Output:
	// [{"kind":"Pod","spec":{"overhead":{"cpu":8}}}] true <nil>
	// [[spec overhead cpu]] true
}

// TestYAMLToJSONStrictLong tries text that begins like JSON as YAML only if it is short.
func TestYAMLToJSONStrictLong(t *testing.T) {
	const text = "{a: 1} #"
	if docs, _, err := config.YAMLToJSONStrict([]byte(text + strings.Repeat("x", 1<<20-len(text)))); err != nil || len(docs) != 1 {
		t.Errorf("1 MiB: %d documents, %v", len(docs), err)
	}
	if docs, _, err := config.YAMLToJSONStrict([]byte(text + strings.Repeat("x", 1<<20))); err == nil {
		t.Errorf("more than 1 MiB: %d documents", len(docs))
	}
}

// TestYAMLToJSONStrict finds repeated fields, and returns what YAMLToJSON does.
func TestYAMLToJSONStrict(t *testing.T) {
	for text, want := range map[string][][]string{
		"a: 1\nb: {a: 2}\n":                     nil,
		"a: 1\na: 2\n":                          {{"a"}},
		"- a: 1\n- b: 1\n  b: 2\n":              {{"[1]", "b"}},
		"{a: 1, b: [{c: 1, c: 2}]}":             {{"b", "[0]", "c"}},
		`{"a": 1, "b": [{"c": 1, "c": 2}]}`:     {{"b", "[0]", "c"}},
		"a: &x {b: 1}\nc: {<<: *x, b: 2}\n":     nil,
		"a: &x {b: 1, b: 2}\nc: *x\n":           {{"a", "b"}, {"c", "b"}},
		"a:\n  b: 1\na:\n  b: 1\n  b: 1\n":      {{"a"}, {"a", "b"}},
		"a: [1\n":                               nil,
		"%TAG ! tag:x,2000:\n---\na: 1\na: 2\n": nil,
		"a\n":                                   nil,
	} {
		docs, err := config.YAMLToJSON([]byte(text))
		strict, repeated, strictErr := config.YAMLToJSONStrict([]byte(text))
		if diff := cmp.Diff(docs, strict); diff != "" || fmt.Sprint(err) != fmt.Sprint(strictErr) {
			t.Errorf("%q: %v, want %v (-want +got):\n%s", text, strictErr, err, diff)
		}
		if merged := strings.Contains(text, "<<"); repeated != (want != nil || merged) {
			t.Errorf("%q: repeated is %t", text, repeated)
		}
		if diff := cmp.Diff(want, config.RepeatedFields([]byte(text))); diff != "" {
			t.Errorf("%q: repeated (-want +got):\n%s", text, diff)
		}
	}
	if n := len(config.RepeatedFields([]byte(strings.Repeat("a: 1\n", 500)))); n != 100 {
		t.Errorf("%d repeated fields are returned, want 100", n)
	}
}

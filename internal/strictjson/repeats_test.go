package strictjson

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// repeatsIn lists the paths of the repeated names in a text.
func repeatsIn(data string) (list []string) {
	_ = plain.Repeats([]byte(data), func(p Path) error {
		list = append(list, p.Dotted())
		return nil
	})
	return list
}

func TestRepeats(t *testing.T) {
	var wide strings.Builder
	for i := range 3 * manyNames {
		fmt.Fprintf(&wide, "\"k%d\": 1, ", i)
	}
	for text, want := range map[string][]string{
		`{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]}`: nil,
		`{"a": {"b": 1}, "a": {"b": 2, "b": 3}}`:             {"a", "a.b"},
		`{"a": [{}, {"x": 1, "\u0078": 2, "x": 3}]}`:         {"a[1].x", "a[1].x"},
		`{"a": 1, "a": 1}, {"b": 1} {"b": 1, "b": 1}`:        {"a", "b"},
		`{` + wide.String() + `"k1": 1, "k40": 2}`:           {"k1", "k40"},
		`{"a": {` + wide.String() + `"z": 1}, "k1": 1}`:      nil,
		`{"": 1, "": 2}`:                 {""},
		`{"a": 1, "a": 2, "b": [1, oops`: {"a"},
	} {
		if diff := cmp.Diff(want, repeatsIn(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	stop := fmt.Errorf("enough")
	if err := plain.Repeats([]byte(`{"a": 1, "a": 2}`), func(Path) error { return stop }); err != stop {
		t.Errorf("the error of tell became %v", err)
	}
}

// TestRepeatsProperty compares with names counted by encoding/json's tokens, in objects of
// all sizes.
func TestRepeatsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.IntRange(0, 40), 0, 60).Draw(t, "names")
		var text strings.Builder
		for i, n := range names {
			fmt.Fprintf(&text, "%s\"%d\": %s", []string{"{", ","}[min(i, 1)], n, rapid.SampledFrom([]string{"1", `"x"`, `{"1": {}}`, `[{"2": 1}]`}).Draw(t, "value"))
		}
		var want []string
		for i, n := range names {
			if slices.Contains(names[:i], n) {
				want = append(want, fmt.Sprint(n))
			}
		}
		if len(names) > 0 {
			text.WriteString("}")
			if !json.Valid([]byte(text.String())) {
				t.Fatalf("%q is not JSON", text.String())
			}
		}
		if got := repeatsIn(text.String()); !slices.Equal(got, want) {
			t.Errorf("%s: repeated are %v, want %v", text.String(), got, want)
		}
	})
}

// TestRepeatsAllocs finds nothing in a text without repeated names, in as few allocations
// however long the text is.
func TestRepeatsAllocs(t *testing.T) {
	data := []byte(strings.Repeat(`{"a": {"b": [1, {"c": "d"}]}, "e": "f"},`, 1000))
	if n := testing.AllocsPerRun(10, func() { _ = plain.Repeats(data, func(Path) error { return nil }) }); n > 12 {
		t.Errorf("%v allocations for %d bytes", n, len(data))
	}
}

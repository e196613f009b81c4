//go:build full

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// encoded is what an encoder of the standard library writes.
func encoded(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type embedded struct{ Deep []string }

type inner struct {
	Name  string   `json:"name"`
	Next  *inner   `json:"next,omitempty"`
	Names []string `json:"names,omitempty"`
}

// TestWriteJSON compares what is written with what the standard library writes.
func TestWriteJSON(t *testing.T) {
	number := 1.5
	type every struct {
		embedded
		Lists [][]inner `json:"lists"`
		Zero  time.Time `json:"zero,omitzero"`
	}
	type plain struct {
		Text     string `json:"text"`
		Untagged []int
		Hidden   []int                     `json:"-"`
		private  []int                     // is never written
		Nil      []inner                   `json:"nil"`
		Empty    []inner                   `json:"empty"`
		Left     []inner                   `json:"left,omitempty"`
		Bytes    []byte                    `json:"bytes"`
		Array    [2]inner                  `json:"array"`
		Map      map[string][]inner        `json:"map"`
		Own      resource.Quantity         `json:"own"`
		Owns     map[resource.Name][]inner `json:"owns,omitempty"`
		Pointer  *float64                  `json:"pointer"`
		None     *inner                    `json:"none"`
		Any      any                       `json:"any"`
		Nothing  any                       `json:"nothing"`
		Struct   struct{}                  `json:"struct,omitempty"`
		Every    *every                    `json:"every"`
	}
	deep := inner{"<a> & \u2028 \"b\"", &inner{"c", nil, []string{"d", "e"}}, nil}
	for _, value := range []any{
		nil, 1, "text",
		[]int{},
		[]inner{},
		[]inner{deep, {}},
		struct{}{},
		&deep,
		[]any{1, nil, deep, []any{deep}},
		(*inner)(nil),
		[]*inner{nil, &deep},
		plain{private: []int{1}},
		&plain{
			Untagged: []int{1}, Hidden: []int{2}, Empty: []inner{}, Bytes: []byte("b"), Array: [2]inner{deep}, Map: map[string][]inner{"k": {deep}},
			Own: resource.MustParse("1500m"), Pointer: &number, Any: []inner{deep}, Every: &every{embedded{[]string{"x"}}, [][]inner{{deep}, nil, {}}, time.Time{}},
		},
	} {
		var b bytes.Buffer
		if err := writeJSON(&b, value); err != nil {
			t.Fatalf("%#v: %v", value, err)
		}
		if diff := cmp.Diff(encoded(t, value), b.String()); diff != "" {
			t.Errorf("%T (-want +got):\n%s", value, diff)
		}
	}
}

// portions counts what is written at once.
type portions struct{ largest, all int }

func (p *portions) Write(text []byte) (int, error) {
	p.largest, p.all = max(p.largest, len(text)), p.all+len(text)
	return len(text), nil
}

// TestWriteJSONInPortions: the text of a long list never is in memory as a whole.
func TestWriteJSONInPortions(t *testing.T) {
	r := &simulate.Result{Pods: make([]simulate.PodHistory, 20_000)}
	for i := range r.Pods {
		r.Pods[i].Pod = fmt.Sprint("default/p", i)
	}
	var p portions
	if err := writeJSON(&p, Output{Answer: SimulateAnswer{Result: r}}); err != nil {
		t.Fatal(err)
	}
	if p.all < 1<<21 || p.largest > 1<<16 {
		t.Errorf("of %d bytes, %d are written at once, want at most %d", p.all, p.largest, 1<<16)
	}
	if allocs := testing.AllocsPerRun(1, func() { _ = writeJSON(&p, r) }); allocs > 8*20_000 {
		t.Errorf("%.0f allocations for 20,000 pods", allocs)
	}
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// TestWriteJSONErrors: neither an error of the writer nor one of a value is lost.
func TestWriteJSONErrors(t *testing.T) {
	if err := writeJSON(failing{}, 1); err == nil {
		t.Error("no error of the writer")
	}
	if err := writeJSON(&portions{}, []any{1, func() {}, 2}); err == nil {
		t.Error("no error of a value without JSON")
	}
}

// TestJSONHidesNothing: characters that a terminal would obey are escaped, and are the same when
// they are decoded.
func TestJSONHidesNothing(t *testing.T) {
	const name = "a\u009b31m b\u202ec \u200f\u2066 d\u007f \U000e0041\x1b[0m\n é 船 \U0001f6a2 \ufffd"
	o := Output{Command: name, Answer: map[string][]string{name: {name}}}
	var b bytes.Buffer
	if err := o.write(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(b.String(), "\u009b\u202e\u200f\u2066\u007f\U000e0041\x1b"); i >= 0 {
		t.Errorf("%q has a character that is not seen", b.String())
	}
	for _, want := range []string{`\u009b31m`, `\u202e`, `\udb40\udc41`, "é 船 \U0001f6a2 \ufffd"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
	var got Output
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{name: []any{name}}, got.Answer); diff != "" || got.Command != name {
		t.Errorf("decoded, command %q, answer (-want +got):\n%s", got.Command, diff)
	}
}

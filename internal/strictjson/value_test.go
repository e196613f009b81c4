package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree has a field of every sort that a decoder reads by its kind.
type tree struct {
	embedded
	Text    string             `json:"text"`
	Yes     bool               `json:"yes"`
	Small   int8               `json:"small"`
	Count   uint16             `json:"count"`
	Ratio   float32            `json:"ratio"`
	Pointer *int32             `json:"pointer"`
	Bytes   []byte             `json:"bytes"`
	List    []string           `json:"list"`
	Map     map[string]int32   `json:"map"`
	Trees   []*tree            `json:"trees"`
	Named   map[string][]tree  `json:"named"`
	Any     any                `json:"any"`
	Upper   upper              `json:"upper"`
	Numbers map[int]int        `json:"numbers"`
	Deep    map[string]*uint64 `json:"deep"`
	Plain   int
	Hidden  int `json:"-"`
	private int
}

type embedded struct {
	Shallow string `json:"text"` // hidden by that of tree
	Inner   string `json:"inner"`
}

// upper is a string that reads itself, in capitals.
type upper string

func (u *upper) set(raw []byte) error {
	if raw[0] != '"' {
		return errors.New("no string")
	}
	*u = upper(strings.ToUpper(Unquote(raw)))
	return nil
}

func readUpper(t reflect.Type) ReadFunc {
	if t == reflect.TypeFor[upper]() {
		return FromRaw(func(p any, raw []byte) error { return p.(*upper).set(raw) })
	}
	return nil
}

// Two dialects: one that goes on, like arguments, and one that stops, like objects.
var (
	lenient = Dialect{Name: "test", MaxDepth: 100, Reads: readUpper}
	strict  = Dialect{Name: "test", MaxDepth: 100, MaxElements: 3, Nulls: NullZeroes, LastWins: true, Reads: readUpper}
)

// A recorder writes down what a decoder reports.
type recorder struct {
	events []string
	stop   error
}

func (r *recorder) add(format string, args ...any) error {
	r.events = append(r.events, fmt.Sprintf(format, args...))
	return r.stop
}

func (r *recorder) Unknown(path Path, name []byte) error {
	return r.add("unknown %s|%s", path.Dotted(), name)
}
func (r *recorder) Duplicate(path Path) error { return r.add("duplicate %s", path.Bracketed()) }
func (r *recorder) Invalid(m *Misfit) error {
	return r.add("%d %s: %s for %s: %v", m.Problem, m.Path.Bracketed(), m.Raw, m.Type, m.Err)
}

// read decodes text into p and returns what was reported.
func read(d *Dialect, text string, p any) ([]string, error) {
	var r recorder
	var decoder Decoder
	decoder.Init(d, []byte(text), &r)
	err := decoder.Value(p)
	return r.events, err
}

func TestValue(t *testing.T) {
	five, six := int32(5), uint64(6)
	tests := []struct {
		name    string
		dialect *Dialect
		into    tree
		text    string
		want    tree
		events  []string
	}{
		{
			"every kind", &lenient,
			tree{},
			`{"text": "a\n", "inner": "i", "yes": true, "small": -8, "count": 9, "ratio": 0.5, "pointer": 5, "bytes": "aGk=", "list": ["x"], "map": {"k": 1},
				"trees": [{"Plain": 1}], "named": {"n": [{}]}, "any": [1], "upper": "up", "deep": {"d": 6}, "numbers": null}`,
			tree{
				Text: "a\n", embedded: embedded{Inner: "i"}, Yes: true, Small: -8, Count: 9, Ratio: 0.5, Pointer: &five, Bytes: []byte("hi"), List: []string{"x"},
				Map: map[string]int32{"k": 1}, Trees: []*tree{{Plain: 1}}, Named: map[string][]tree{"n": {{}}}, Any: []any{1.0}, Upper: "UP", Deep: map[string]*uint64{"d": &six},
			},
			nil,
		},
		{
			"null keeps", &lenient,
			tree{Text: "t", Small: 1, Pointer: &five, List: []string{"x"}, Map: map[string]int32{"k": 1}, Any: 1},
			`{"text": null, "small": null, "pointer": null, "list": null, "map": null, "any": null}`,
			tree{Text: "t", Small: 1},
			nil,
		},
		{
			"null zeroes", &strict,
			tree{Text: "t", Small: 1, Upper: "U"},
			`{"text": null, "small": null, "upper": null, "map": {"a": null}}`,
			tree{Map: map[string]int32{"a": 0}},
			nil,
		},
		{"null is for the type to read", &lenient, tree{Upper: "U"}, `{"upper": null}`, tree{Upper: "U"}, []string{`3 upper: null for strictjson.upper: no string`}},
		{"null in a list", &lenient, tree{}, `{"list": ["a", null], "trees": [null]}`, tree{List: []string{"a", ""}, Trees: []*tree{nil}}, nil},
		{
			"no null in a list", &strict,
			tree{},
			`{"list": [null, "a", null], "trees": [null]}`,
			tree{List: []string{"", "a", ""}, Trees: []*tree{nil}},
			[]string{`0 list[0]: null for string: <nil>`, `0 list[2]: null for string: <nil>`, `0 trees[0]: null for strictjson.tree: <nil>`},
		},
		{"empty is not nil", &strict, tree{}, `{"list": [], "map": {}, "bytes": ""}`, tree{List: []string{}, Map: map[string]int32{}, Bytes: []byte{}}, nil},
		{
			"read over", &lenient,
			tree{Pointer: &five, List: []string{"x", "y"}, Map: map[string]int32{"k": 1, "l": 2}},
			`{"list": ["z"], "map": {"k": 3, "m": 4, "m": 5}}`,
			tree{Pointer: &five, List: []string{"z"}, Map: map[string]int32{"k": 3, "l": 2, "m": 5}},
			[]string{"duplicate map[m]"},
		},
		{
			"unknown and duplicate", &lenient,
			tree{private: 1},
			`{"Text": 1, "Hidden": 1, "private": {}, "-": [1], "trees": [{"x": {"text": 1}}], "text": "a", "text": "b", "map": {"k": 1, "k": 2}}`,
			tree{private: 1, Text: "b", Trees: []*tree{{}}, Map: map[string]int32{"k": 2}},
			[]string{"unknown |Text", "unknown |Hidden", "unknown |private", "unknown |-", "unknown trees[0]|x", "duplicate text", "duplicate map[k]"},
		},
		{
			"a duplicate is read over the first", &lenient,
			tree{},
			`{"trees": [{"text": "a"}], "map": {"a": 1}, "map": {"b": 2}}`,
			tree{Trees: []*tree{{Text: "a"}}, Map: map[string]int32{"a": 1, "b": 2}},
			[]string{"duplicate map"},
		},
		{"a duplicate replaces the first", &strict, tree{}, `{"map": {"a": 1}, "map": {"b": 2}}`, tree{Map: map[string]int32{"b": 2}}, []string{"duplicate map"}},
		{
			"values that do not fit", &lenient,
			tree{Small: 7},
			`{"text": 1, "yes": "x", "small": 128, "count": -1, "ratio": 1e999, "pointer": 1.5, "bytes": "!", "list": {}, "map": [], "named": {"a": [{}, {"small": {}}]}, "upper": 1, "numbers": {}, "inner": "ok"}`,
			tree{Small: 7, Pointer: new(int32), Named: map[string][]tree{"a": {{}, {}}}, embedded: embedded{Inner: "ok"}},
			[]string{
				`0 text: 1 for string: <nil>`, `0 yes: "x" for bool: <nil>`, `2 small: 128 for int8: <nil>`, `1 count: -1 for uint16: <nil>`,
				`2 ratio: 1e999 for float32: <nil>`, `1 pointer: 1.5 for int32: <nil>`, `3 bytes: "!" for []uint8: illegal base64 data at input byte 0`,
				`0 list: {} for []string: <nil>`, `0 map: [] for map[string]int32: <nil>`, `0 named[a][1].small: {} for int8: <nil>`,
				`3 upper: 1 for strictjson.upper: no string`, `0 numbers: {} for map[int]int: <nil>`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.into
			events, err := read(tt.dialect, tt.text, &got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if !reflect.DeepEqual(tt.want, got) {
				t.Errorf("value (-want +got):\n%s", cmp.Diff(tt.want, got, cmp.AllowUnexported(tree{}, embedded{})))
			}
		})
	}
}

// TestHandlerStops checks that an error of each method ends the work.
func TestHandlerStops(t *testing.T) {
	stop := errors.New("stop")
	for _, text := range []string{
		`{"x": 1, "text": "a"}`, `{"map": {"a": 1, "a": 2}, "text": "a"}`, `{"yes": true, "yes": false, "text": "a"}`, `{"yes": 1, "text": "a"}`,
		`{"upper": 1, "text": "a"}`, `{"list": [1], "text": "a"}`, `{"named": {"a": [{"bytes": "!"}]}, "text": "a"}`, `{"small": 1000, "text": "a"}`,
	} {
		r := recorder{stop: stop}
		var d Decoder
		d.Init(&lenient, []byte(text), &r)
		var got tree
		if err := d.Value(&got); err != stop || len(r.events) != 1 || got.Text != "" {
			t.Errorf("%s: error %v, events %q, text %q, want one event, stop and no text", text, err, r.events, got.Text)
		}
		// After a reset the decoder is as new.
		d.Reset(Mark{})
		r.stop = nil
		if err := d.Value(&got); err != nil || got.Text != "a" {
			t.Errorf("%s: after Reset error %v and text %q, want none and a", text, err, got.Text)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		text string
		want LimitError
	}{
		{`{"list": ["a", "b", "c", "d"]}`, LimitError{Limit: Elements, Max: 3, Path: Path{{Name: "list"}, {Kind: Index, Index: 3}}, Offset: 25, Line: 1}},
		{"\n" + `{"x": ` + strings.Repeat("[", 100), LimitError{Limit: Depth, Max: 100, Path: Path{{Name: "x"}}, Offset: 106, Line: 2}},
		{`{"named": {"k": [{"any": ` + strings.Repeat("[", 97), LimitError{
			Limit: Depth, Max: 100, Offset: 121, Line: 1, Path: Path{{Name: "named"}, {Kind: Key, Name: "k"}, {Kind: Index}, {Name: "any"}},
		}},
	}
	for _, tt := range tests {
		_, err := read(&strict, tt.text, new(tree))
		var got *LimitError
		if !errors.As(err, &got) {
			t.Errorf("%.40s: error %v, want a *LimitError", tt.text, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", tt.text, diff)
		}
	}
	if _, err := read(&strict, `{"named": {"k": [{"text": "a" "b"`, new(tree)); err == nil || err.Error() != `not JSON: line 1, byte 30: unexpected '"', want a comma or '}'` {
		t.Errorf("error %v", err)
	}
}

func TestPath(t *testing.T) {
	p := Path{{Name: "list"}, {Kind: Index, Index: 12}, {Name: "limits"}, {Kind: Key, Name: "a.b/c"}, {Name: "x"}}
	if got, want := p.Dotted(), "list[12].limits.a.b/c.x"; got != want {
		t.Errorf("Dotted() = %q, want %q", got, want)
	}
	if got, want := p.Bracketed(), "list[12].limits[a.b/c].x"; got != want {
		t.Errorf("Bracketed() = %q, want %q", got, want)
	}
}

func TestCannotFill(t *testing.T) {
	defer func() {
		if got, want := recover(), "test: Decode cannot fill a chan int"; got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	_, _ = read(&lenient, `{"C": 1}`, &struct{ C chan int }{})
}

// drawn returns a random tree that JSON can write.
func drawn(t *rapid.T, depth int) tree {
	v := tree{
		Text: rapid.String().Draw(t, "text"), Yes: rapid.Bool().Draw(t, "yes"), Small: rapid.Int8().Draw(t, "small"), Count: rapid.Uint16().Draw(t, "count"),
		Ratio: rapid.Float32Range(-1e6, 1e6).Draw(t, "ratio"), Bytes: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), List: rapid.SliceOf(rapid.String()).Draw(t, "list"),
		Map: rapid.MapOf(rapid.String(), rapid.Int32()).Draw(t, "map"), Pointer: rapid.Ptr(rapid.Int32(), true).Draw(t, "pointer"),
		Any: rapid.SampledFrom([]any{nil, "x", 1.5, []any{true, nil}, map[string]any{"a": "b"}}).Draw(t, "any"), Plain: rapid.Int().Draw(t, "plain"),
		Deep: rapid.MapOf(rapid.String(), rapid.Ptr(rapid.Uint64(), true)).Draw(t, "deep"),
	}
	v.Inner = rapid.String().Draw(t, "inner")
	if depth > 0 {
		for range rapid.IntRange(0, 2).Draw(t, "children") {
			child := drawn(t, depth-1)
			v.Trees = append(v.Trees, &child)
		}
		if rapid.Bool().Draw(t, "has named") {
			v.Named = map[string][]tree{"n": {drawn(t, depth-1)}, "": nil}
		}
	}
	return v
}

// TestLikeEncodingJSON compares with encoding/json, on what that writes.
func TestLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(drawn(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		var got, want tree
		if events, err := read(&plain, string(raw), &got); err != nil || events != nil {
			t.Fatalf("%v, %q\n%s", err, events, raw)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("(-encoding/json +strictjson):\n%s", cmp.Diff(want, got, cmp.AllowUnexported(tree{}, embedded{})))
		}
	})
}

// FuzzValue decodes any text: there is no panic, a text that is read is JSON, and
// if nothing was reported, encoding/json reads the same.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		`{"text": "a", "trees": [{"list": ["x", null]}], "map": {"a": 1}, "bytes": "aGk="}`, `{"named": {"a": [{"any": {"b": [null]}}]}, "deep": {"x": 1, "x": null}}`,
		`{"text": 1, "text": null, "x": [}`, `{"pointer": 1.5, "ratio": 1e400, "upper": {}}`, "\v{}", "[]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		d.Init(&strict, data, silent{})
		if err := d.Value(new(tree)); err == nil && !json.Valid(data[:d.Mark().Pos]) {
			t.Errorf("%q is read, but its first %d bytes are no JSON", data, d.Mark().Pos)
		}
		if !json.Valid(data) {
			return
		}
		var got, want tree
		events, err := read(&plain, string(data), &got)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if events != nil {
			return
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q is read without a report, encoding/json says %v", data, err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%q (-encoding/json +strictjson):\n%s", data, cmp.Diff(want, got, cmp.AllowUnexported(tree{}, embedded{})))
		}
	})
}

// TestShapesAreBuiltOnce decodes in many goroutines with a new dialect: all get the
// same tables. Run it with -race.
func TestShapesAreBuiltOnce(t *testing.T) {
	d := Dialect{Name: "test", MaxDepth: 100, Reads: readUpper}
	text := `{"trees": [{"map": {"a": 1}, "pointer": 1}], "named": {"n": [{"list": ["x"], "upper": "u"}]}, "deep": {"d": 1}}`
	var want tree
	if _, err := read(&lenient, text, &want); err != nil {
		t.Fatal(err)
	}
	shapes := make([]*shape, 16)
	var group sync.WaitGroup
	for i := range shapes {
		group.Go(func() {
			var got tree
			if events, err := read(&d, text, &got); err != nil || events != nil || !reflect.DeepEqual(want, got) {
				t.Errorf("goroutine %d: %v, %q (-want +got):\n%s", i, err, events, cmp.Diff(want, got, cmp.AllowUnexported(tree{}, embedded{})))
			}
			shapes[i] = d.shape(reflect.TypeFor[tree]())
		})
	}
	group.Wait()
	for i, s := range shapes {
		if s != shapes[0] || s.fields["trees"].of(&d) != shapes[0].fields["trees"].of(&d) {
			t.Errorf("goroutine %d has a table of its own", i)
		}
	}
	if shapes[0].fields["numbers"].shape.Load() != nil {
		t.Error("a field that no text has is in the tables")
	}
}

// TestHostileIsLinear compares the allocations for a text with those for one of
// four times its length.
func TestHostileIsLinear(t *testing.T) {
	texts := map[string]func(n int) string{
		"unknown":    func(n int) string { return "{" + strings.Repeat(`"x": [{}], `, n) + `"y": 1}` },
		"duplicates": func(n int) string { return "{" + strings.Repeat(`"text": "a", `, n) + `"yes": true}` },
		"keys":       func(n int) string { return `{"map": {` + strings.Repeat(`"k": 1, `, n) + `"l": 1}}` },
		"misfits":    func(n int) string { return `{"list": [` + strings.Repeat("1, ", n) + "2]}" },
		"nested": func(n int) string {
			return strings.Repeat(`{"trees": [`, 40) + strings.Repeat("{}, ", n) + "{}" + strings.Repeat("]}", 40)
		},
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			allocs := func(n int) float64 {
				raw := []byte(text(n))
				return testing.AllocsPerRun(1, func() {
					var d Decoder
					d.Init(&lenient, raw, silent{})
					if err := d.Value(new(tree)); err != nil {
						t.Fatal(err)
					}
				})
			}
			if small, large := allocs(1000), allocs(4000); large > 5*small+100 {
				t.Errorf("%v allocations for 1,000 items and %v for 4,000", small, large)
			}
		})
	}
}

// silent goes on whatever is found.
type silent struct{}

func (silent) Unknown(Path, []byte) error { return nil }
func (silent) Duplicate(Path) error       { return nil }
func (silent) Invalid(*Misfit) error      { return nil }

// TestAllocs bounds what a decoder allocates besides the values.
func TestAllocs(t *testing.T) {
	text := []byte(`{"text": "a", "trees": [{"small": 1, "map": {"a": 1, "b": 2}}, {"map": {"a": 3}}], "unknown": {"x": [1, "y"]}}`)
	got := testing.AllocsPerRun(100, func() {
		var d Decoder
		d.Init(&lenient, text, silent{})
		if err := d.Value(new(tree)); err != nil {
			t.Fatal(err)
		}
	})
	// The decoder, the tree, two children in a list that grows once, two maps of two
	// parts, two strings, and a place for a key and an element.
	if got > 14 {
		t.Errorf("%v allocations, want at most 14", got)
	}
}

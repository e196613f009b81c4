package args_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/args"
)

// sample has a field of every type that Decode reads.
type sample struct {
	api.TypeMeta `json:",inline"`

	Text    string                     `json:"text"`
	Named   resource.Name              `json:"named"`
	Yes     bool                       `json:"yes"`
	Small   int8                       `json:"small"`
	Wide    int64                      `json:"wide"`
	Count   uint16                     `json:"count"`
	Ratio   float32                    `json:"ratio"`
	Pointer *int32                     `json:"pointer"`
	Bytes   []byte                     `json:"bytes"`
	List    []part                     `json:"list"`
	Map     map[string]int32           `json:"map"`
	Part    part                       `json:"part"`
	Any     any                        `json:"any"`
	Raw     json.RawMessage            `json:"raw"`
	Wait    api.Duration               `json:"wait"`
	Amount  resource.Quantity          `json:"amount"`
	Limits  map[string]json.RawMessage `json:"limits"`
	Plain   int32
	Hidden  int `json:"-"`
}

type part struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

func TestDecode(t *testing.T) {
	raw := `{"kind": "K", "text": "a\"}", "named": "cpu", "yes": true, "small": -8, "wide": 9223372036854775807,
		"count": 65535, "ratio": 0.5, "pointer": 3, "bytes": "aGk=", "list": [{"name": "x", "tags": ["p", "q"]}, null, {}],
		"map": {"a": 1, "b/c": 2}, "part": {"name": "y"}, "any": [1, {"z": null}], "raw": {"q" : 1}, "wait": "1m30s",
		"amount": "1500m", "limits": {"x": [1]}, "Plain": 7}`
	var got sample
	if errs := args.Decode([]byte(raw), &got); errs != nil {
		t.Fatal(errs)
	}
	var want sample
	if err := json.Unmarshal([]byte(raw), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("against encoding/json (-want +got):\n%s", diff)
	}
}

// TestDecodeKeeps checks that absence and null keep the current value, or clear what
// can be cleared.
func TestDecodeKeeps(t *testing.T) {
	n := int32(5)
	v := sample{Text: "t", Small: 1, Pointer: &n, List: []part{{Name: "x"}}, Wait: api.Duration{Duration: 9}}
	if errs := args.Decode([]byte(`{"text": null, "small": null, "pointer": null, "list": null, "wait": null, "raw": null}`), &v); errs != nil {
		t.Fatal(errs)
	}
	want := sample{Text: "t", Small: 1, Wait: api.Duration{Duration: 9}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("after null (-want +got):\n%s", diff)
	}
	for _, raw := range []string{"", " ", "null", "{}"} {
		if errs := args.Decode([]byte(raw), &v); errs != nil {
			t.Errorf("Decode(%q) = %v", raw, errs)
		}
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("after nothing (-want +got):\n%s", diff)
	}
	// A list replaces the old one; it is not decoded over it.
	v.List = []part{{Name: "x", Tags: []string{"t"}}}
	if errs := args.Decode([]byte(`{"list": [{"tags": []}]}`), &v); errs != nil {
		t.Fatal(errs)
	}
	if diff := cmp.Diff([]part{{Tags: []string{}}}, v.List); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct {
		raw  string
		want []string // type and text
	}{
		{`{"Text": "a", "part": {"Name": "x"}}`, []string{`UnknownField unknown field "Text"`, `UnknownField unknown field "part.Name"`}},
		{`{"Hidden": 1, "secret": 1, "-": 1}`, []string{`UnknownField unknown field "Hidden"`, `UnknownField unknown field "secret"`, `UnknownField unknown field "-"`}},
		{`{"text": "a", "text": "b", "text": "c", "list": [{}, {"name": "x", "name": "y"}], "map": {"k": 1, "k": 2}}`, []string{
			`DuplicateField duplicate field "text"`, `DuplicateField duplicate field "list[1].name"`, `DuplicateField duplicate field "map.k"`,
		}},
		{`{"nope": {"text": [1, {"a": "}"}]}, "yes": 1}`, []string{`UnknownField unknown field "nope"`, `WrongType yes: got the number 1, want true or false`}},
		{`{"text": 1, "small": 128, "wide": 1.0, "count": -1, "ratio": "1", "pointer": {}}`, []string{
			`WrongType text: got the number 1, want a string`,
			`WrongType small: got the number 128, want an integer of 8 bits`,
			`WrongType wide: got the number 1.0, want an integer of 64 bits`,
			`WrongType count: got the number -1, want an unsigned integer of 16 bits`,
			`WrongType ratio: got a string, want a number`,
			`WrongType pointer: got an object, want an integer of 32 bits`,
		}},
		{`{"list": {}, "map": [], "part": "x", "bytes": 1}`, []string{
			`WrongType list: got an object, want a list`, `WrongType map: got a list, want an object`,
			`WrongType part: got a string, want an object`, `WrongType bytes: got the number 1, want a list`,
		}},
		{`{"list": [{}, {"tags": ["a", true]}]}`, []string{`WrongType list[1].tags[1]: got true or false, want a string`}},
		{`{"wait": "ten", "bytes": "!"}`, []string{`BadValue wait: time: invalid duration "ten"`, `BadValue bytes: illegal base64 data at input byte 0`}},
		{`{"wait": 10}`, []string{`WrongType wait: got the number 10, want a duration such as "10s"`}},
		{`[]`, []string{`WrongType got a list, want an object`}},
		{`{"text": "a"`, []string{`Syntax unexpected end of JSON input`}},
		{`{} {}`, []string{`Syntax invalid character '{' after top-level value`}},
		{strings.Repeat("[", 20000), []string{`Syntax invalid character '[' exceeded max depth`}},
	}
	for _, tt := range tests {
		var got []string
		for _, e := range args.Decode([]byte(tt.raw), new(sample)) {
			got = append(got, string(e.Type)+" "+e.Error())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Decode(%.80s) (-want +got):\n%s", tt.raw, diff)
		}
	}
	if errs := args.Decode([]byte(`{"amount": "x"}`), new(sample)); len(errs) != 1 || errs[0].Type != args.BadValue || errs[0].Field != "amount" {
		t.Errorf("a bad quantity: %v", errs)
	}
	many := `{"a0": 1` + strings.Repeat(`, "a0": 1`, 5)
	for i := range 200 {
		many += `, "` + strings.Repeat("x", i+1) + `": 1`
	}
	if errs := args.Decode([]byte(many+"}"), new(sample)); len(errs) != 100 {
		t.Errorf("%d unknown fields, want 100", len(errs))
	}
}

// TestDecodePartial checks that the rest is decoded despite errors.
func TestDecodePartial(t *testing.T) {
	var v sample
	args.Decode([]byte(`{"small": "x", "text": "a", "list": [1, {"name": "b"}], "wide": 5}`), &v)
	if v.Text != "a" || v.Wide != 5 || len(v.List) != 2 || v.List[1].Name != "b" {
		t.Errorf("got %+v", v)
	}
}

func TestDecodeNeedsPointer(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	args.Decode([]byte("{}"), sample{})
}

// TestDecodeLikeEncodingJSON compares with encoding/json, on encoding/json's own
// output.
func TestDecodeLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := sample{
			Raw:  json.RawMessage(`{"q":[1]}`), // null is absent for Decode; encoding/json keeps it
			Text: rapid.String().Draw(t, "text"), Yes: rapid.Bool().Draw(t, "yes"),
			Small: rapid.Int8().Draw(t, "small"), Wide: rapid.Int64().Draw(t, "wide"), Count: rapid.Uint16().Draw(t, "count"),
			Ratio: rapid.Float32Range(-1e6, 1e6).Draw(t, "ratio"), Bytes: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"),
			List: rapid.SliceOf(rapid.Custom(func(t *rapid.T) part {
				return part{rapid.String().Draw(t, "name"), rapid.SliceOf(rapid.String()).Draw(t, "tags")}
			})).Draw(t, "list"),
			Map: rapid.MapOf(rapid.String(), rapid.Int32()).Draw(t, "map"),
		}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indent") {
			raw, _ = json.MarshalIndent(want, "", "\t")
		}
		var got, std sample
		if errs := args.Decode(raw, &got); errs != nil {
			t.Fatalf("%v\n%s", errs, raw)
		}
		if err := json.Unmarshal(raw, &std); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(std, got) {
			t.Errorf("(-encoding/json +Decode):\n%s", cmp.Diff(std, got))
		}
	})
}

// FuzzDecode decodes any text: it must not panic, and text without errors is JSON
// that encoding/json decodes to the same value.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text": "a", "list": [{"name": "x"}], "wait": "1s", "raw": {}}`))
	f.Add([]byte(`{"map": {"a": 1}, "any": [null], "bytes": "aGk=", "amount": "1Gi"}`))
	f.Add([]byte(`{"text":1,"text":[{}],"x":"\u00e9"}`))
	f.Add([]byte("\v{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got, want sample
		if errs := args.Decode(raw, &got); errs != nil || len(strings.TrimSpace(string(raw))) == 0 {
			return
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q is read, encoding/json says %v", raw, err)
		}
		if len(want.Raw) > 0 && string(want.Raw) == "null" {
			want.Raw = nil
		}
		for k, v := range want.Limits {
			if string(v) == "null" {
				want.Limits[k] = nil
			}
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%q (-want +got):\n%s", raw, cmp.Diff(want, got))
		}
	})
}

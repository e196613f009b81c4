package resource

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func list(pairs ...string) List {
	l := List{}
	for i := 0; i < len(pairs); i += 2 {
		l[Name(pairs[i])] = MustParse(pairs[i+1])
	}
	return l
}

func TestListNames(t *testing.T) {
	l := list("pods", "110", "cpu", "4", "example.com/gpu", "1", "memory", "1Gi")
	want := []Name{"cpu", "example.com/gpu", "memory", "pods"}
	if diff := cmp.Diff(want, l.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	if got := List(nil).Names(); len(got) != 0 {
		t.Errorf("List(nil).Names() = %v, want none", got)
	}
}

func TestListAddMax(t *testing.T) {
	tests := []struct {
		name     string
		a, b     List
		sum, max List
	}{
		{"nil", nil, nil, List{}, List{}},
		{"one side", list("cpu", "1"), nil, list("cpu", "1"), list("cpu", "1")},
		{"other side", nil, list("cpu", "0"), list("cpu", "0"), list("cpu", "0")},
		{
			"both", list("cpu", "100m", "memory", "1Gi"), list("cpu", "1", "pods", "3"),
			list("cpu", "1100m", "memory", "1Gi", "pods", "3"), list("cpu", "1", "memory", "1Gi", "pods", "3"),
		},
		{"negative", list("cpu", "-1"), list("cpu", "-2"), list("cpu", "-3"), list("cpu", "-1")},
		{"absent is not 0", list("cpu", "-1"), list("memory", "-1"), list("cpu", "-1", "memory", "-1"), list("cpu", "-1", "memory", "-1")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := test.a.Clone(), test.b.Clone()
			if diff := cmp.Diff(test.sum, a.Add(b)); diff != "" {
				t.Errorf("Add (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.max, a.Max(b)); diff != "" {
				t.Errorf("Max (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]List{test.a, test.b}, []List{a, b}); diff != "" {
				t.Errorf("operands changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListMaxKeepsFirstOfEqual(t *testing.T) {
	if got := list("memory", "1Gi").Max(list("memory", "1073741824"))[Memory].String(); got != "1Gi" {
		t.Errorf("Max of 1Gi and 1073741824 = %s, want 1Gi", got)
	}
}

func TestListClone(t *testing.T) {
	a := list("cpu", "1")
	b := a.Clone()
	b[CPU] = Milli(5)
	if got := a[CPU].String(); got != "1" {
		t.Errorf("the original is %s after its clone changed, want 1", got)
	}
	if List(nil).Clone() != nil {
		t.Error("List(nil).Clone() is not nil")
	}
}

func TestListJSON(t *testing.T) {
	tests := []struct {
		name string
		into List
		data string
		want List
		err  string
	}{
		{name: "strings and numbers", data: `{"cpu":0.5,"memory":"500Mi","pods":"110"}`, want: list("cpu", "500m", "memory", "500Mi", "pods", "110")},
		{name: "empty", data: `{}`, want: List{}},
		{name: "null", into: list("cpu", "1"), data: `null`, want: nil},
		{name: "null entry", data: `{"cpu":null}`, want: list("cpu", "0")},
		{name: "into a list", into: list("cpu", "1", "pods", "5"), data: `{"cpu":"2"}`, want: list("cpu", "2", "pods", "5")},
		{
			name: "first bad entry by name", into: list("cpu", "1"), data: `{"memory":"1MB","cpu":"2","gpu":"one"}`, want: list("cpu", "1"),
			err: `resource "gpu": quantity "one" does not consist of a number and a suffix of Kubernetes`,
		},
		{name: "empty text", data: `{"cpu":""}`, err: `resource "cpu": quantity "" is empty`},
		{name: "object", data: `{"cpu":{"a":1}}`, err: `resource "cpu": quantity "{\"a\":1}" does not consist of a number and a suffix of Kubernetes`},
		{name: "bad entry overwritten", data: `{"cpu":"x","cpu":"1"}`, err: `resource list: quantity "x" does not consist of a number and a suffix of Kubernetes`},
		{name: "array", data: `[1]`, err: `resource list: json: cannot unmarshal array into Go value of type map[resource.Name]json.RawMessage`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.into
			err := json.Unmarshal([]byte(test.data), &got)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("error %v, want %s", err, test.err)
				}
			} else if err != nil {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Unmarshal(%s) (-want +got):\n%s", test.data, diff)
			}
		})
	}
}

func TestListErrorUnwraps(t *testing.T) {
	var l List
	var syntax *SyntaxError
	if err := l.UnmarshalJSON([]byte(`{"cpu":"x"}`)); !errors.As(err, &syntax) || syntax.Text != "x" {
		t.Errorf("error %v does not unwrap to the *SyntaxError of x", err)
	}
}

func TestListMarshal(t *testing.T) {
	got, err := json.Marshal(list("memory", "1024Mi", "cpu", "0.10"))
	if want := `{"cpu":"100m","memory":"1Gi"}`; err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v, want %s", got, err, want)
	}
}

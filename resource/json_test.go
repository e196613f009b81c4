package resource

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantityJSON(t *testing.T) {
	tests := []struct {
		data string
		want string // the JSON of the parsed value
	}{
		{`"100m"`, `"100m"`},
		{`"1024Mi"`, `"1Gi"`},
		{`" 5\t"`, ``},
		{"\" 5\t\"", `"5"`},
		{`2`, `"2"`},
		{`0.1`, `"100m"`},
		{`-1.5`, `"-1500m"`},
		{`1e3`, `"1e3"`},
		{`1E+3`, `"1e3"`},
		{`12345678901234567890`, `"12345678901234567890"`},
		{`null`, `"0"`},
		{`"null"`, ``},
		{`""`, ``},
		{`" "`, ``},
		{`true`, ``},
		{`{}`, ``},
		{`["1"]`, ``},
		{`"\u0031"`, ``},
		{`"1`, ``},
		{`"`, ``},
		{``, ``},
	}
	for _, test := range tests {
		t.Run(test.data, func(t *testing.T) {
			q := MustParse("7Ki")
			err := q.UnmarshalJSON([]byte(test.data))
			if test.want == "" {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) {
					t.Errorf("UnmarshalJSON(%s): error %v, want a *SyntaxError", test.data, err)
				}
				if q.String() != "7Ki" {
					t.Errorf("UnmarshalJSON(%s) changed the quantity to %v", test.data, q)
				}
				return
			}
			if err != nil {
				t.Fatalf("UnmarshalJSON(%s): %v", test.data, err)
			}
			if got, err := json.Marshal(q); err != nil || string(got) != test.want {
				t.Errorf("UnmarshalJSON(%s), then Marshal = %s, %v, want %s", test.data, got, err, test.want)
			}
		})
	}
}

// A quantity marshalled to JSON reads back the same inside any document.
func TestQuantityJSONRoundTrip(t *testing.T) {
	type document struct {
		Q Quantity             `json:"q"`
		M map[string]*Quantity `json:"m"`
	}
	rapid.Check(t, func(t *rapid.T) {
		q := MustParse(drawText(t))
		data, err := json.Marshal(document{q, map[string]*Quantity{"x": &q, "y": nil}})
		if err != nil {
			t.Fatal(err)
		}
		var got document
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("Unmarshal(%s): %v", data, err)
		}
		if !got.Q.Equal(q) || !got.M["x"].Equal(q) || got.M["y"] != nil {
			t.Errorf("Unmarshal(%s) = %v", data, got)
		}
	})
}

func TestOmitZero(t *testing.T) {
	type document struct {
		Q Quantity `json:"q,omitzero"`
	}
	if got, err := json.Marshal(document{}); err != nil || string(got) != "{}" {
		t.Errorf("Marshal = %s, %v, want {}", got, err)
	}
}

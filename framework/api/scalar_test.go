package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
)

func TestDurationJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{`"5m0s"`: 5 * time.Minute, `"0s"`: 0, `"1h2m3.5s"`: time.Hour + 2*time.Minute + 3500*time.Millisecond, `"-1s"`: -time.Second} {
		var d api.Duration
		must(t, json.Unmarshal([]byte(text), &d))
		if d.Duration != want {
			t.Errorf("%s decodes to %v, want %v", text, d, want)
		}
		data, err := json.Marshal(d)
		must(t, err)
		if string(data) != text {
			t.Errorf("%v encodes to %s, want %s", d, data, text)
		}
	}
	d := api.Duration{Duration: time.Second}
	must(t, json.Unmarshal([]byte("null"), &d))
	if d.Duration != time.Second {
		t.Errorf("null makes a second %v", d)
	}
	for _, text := range []string{`"5"`, `""`, "5", "{}", "true"} {
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s decodes to %v, want an error", text, d)
		}
	}
}

func TestIntOrStringJSON(t *testing.T) {
	tests := []struct {
		text, str string
		want      api.IntOrString
	}{
		{"3", "3", api.IntOrString{IntVal: 3}},
		{"-1", "-1", api.IntOrString{IntVal: -1}},
		{`"25%"`, "25%", api.IntOrString{Type: api.String, StrVal: "25%"}},
		{`""`, "", api.IntOrString{Type: api.String}},
	}
	for _, tt := range tests {
		got := api.IntOrString{Type: api.String, IntVal: 9, StrVal: "old"}
		must(t, json.Unmarshal([]byte(tt.text), &got))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
		if got.String() != tt.str {
			t.Errorf("%s prints as %q, want %q", tt.text, got, tt.str)
		}
		data, err := json.Marshal(got)
		must(t, err)
		if string(data) != tt.text {
			t.Errorf("%s encodes to %s", tt.text, data)
		}
	}
	v := api.IntOrString{IntVal: 3}
	must(t, json.Unmarshal([]byte("null"), &v))
	if v.IntVal != 3 {
		t.Errorf("null makes 3 %v", v)
	}
	for _, text := range []string{"1.5", "2147483648", "{}", "true"} {
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s decodes to %v, want an error", text, v)
		}
	}
	if _, err := json.Marshal(api.IntOrString{Type: 7}); err == nil {
		t.Error("an IntOrString of type 7 encodes")
	}
}

func TestObjectKey(t *testing.T) {
	for _, tt := range []struct{ namespace, name, want string }{{"shop", "web", "shop/web"}, {"", "n1", "n1"}, {"", "", ""}} {
		m := api.ObjectMeta{Namespace: tt.namespace, Name: tt.name}
		if got := m.Key(); got != tt.want {
			t.Errorf("Key() of %q in %q = %q, want %q", tt.name, tt.namespace, got, tt.want)
		}
	}
}

func TestControllerRef(t *testing.T) {
	m := api.ObjectMeta{OwnerReferences: []api.OwnerReference{{Name: "a"}, {Name: "b", Controller: new(false)}, {Name: "c", Controller: new(true)}, {Name: "d", Controller: new(true)}}}
	if got := m.ControllerRef(); got == nil || got.Name != "c" {
		t.Errorf("ControllerRef() = %v, want c", got)
	}
	m.OwnerReferences = m.OwnerReferences[:2]
	if got := m.ControllerRef(); got != nil {
		t.Errorf("ControllerRef() = %v, want nil", got)
	}
}

func TestCloneNil(t *testing.T) {
	if got := api.Clone[api.Pod](nil); got != nil {
		t.Errorf("Clone(nil) = %v", got)
	}
}

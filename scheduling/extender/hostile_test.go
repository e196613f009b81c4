package extender_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// TestHandlerKeepsSecrets plants a secret in every error that is not about the request.
func TestHandlerKeepsSecrets(t *testing.T) {
	const secret = "token=abc"
	for name, change := range map[string]func(*extender.Handler){
		"snapshot": func(h *extender.Handler) {
			h.Snapshot = func(context.Context) (*framework.Snapshot, error) { return nil, errors.New(secret) }
		},
		"plugin": func(h *extender.Handler) {
			h.Scheduler = scheduler(t, scheduling.Profile{Filter: []framework.Plugin{teller(secret)}, Score: []scheduling.Weighted{{Plugin: teller(secret)}}})
		},
		"bind": func(h *extender.Handler) {
			h.Bind = func(context.Context, extender.BindingArgs) error { return errors.New(secret) }
		},
	} {
		for _, verb := range []string{"/filter", "/prioritize", "/preempt", "/bind"} {
			h := handler(t, cluster(t))
			h.ErrorText = nil
			change(h)
			body := `{"Pod": ` + aPod + `, "NodeNames": ["a"], "NodeNameToMetaVictims": {"a": {}}, "PodName": "web", "Node": "a"}`
			if status, text := ask(h, verb, body); strings.Contains(text, secret) {
				t.Errorf("%s, %s: %d %s", name, verb, status, text)
			}
		}
	}
}

// teller panics with a text.
type teller string

func (teller) Name() string { return "teller" }

func (x teller) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status { panic(string(x)) }

func (x teller) Score(*framework.PodInfo, *framework.NodeInfo) int64 { panic(string(x)) }

// TestHandlerRefuses checks requests and handlers that are refused at once.
func TestHandlerRefuses(t *testing.T) {
	h := handler(t, cluster(t))
	h.Bind = func(_ context.Context, b extender.BindingArgs) error { return fmt.Errorf("bound %+v", b) }
	large := strings.Repeat("x", 3<<20)
	for _, tt := range []struct{ verb, body, want string }{
		{"/bind", `{}`, "malformed request: pod: metadata.name: must not be empty"},
		{"/bind", `{"PodName": "p"}`, "malformed request: pod p: spec.nodeName: must not be empty"},
		{"/filter", `{"Pod": {"metadata": {"name": "p", "annotations": {"a": "` + large + `"}}}, "NodeNames": ["a"]}`, "malformed request: Pod: has 3145781 bytes, more than 2097152"},
		{"/filter", `{"Pod": {"metadata": {"name": "p", "labels": {"` + large[:1<<20] + `": 1}}}, "NodeNames": ["a"]}`, "malformed request: Pod: pod default/p: metadata.labels[xxx"},
		{"/filter", `{"Pod": {"metadata": {"name": "p"}, "spec": {"containers": [` + strings.Repeat("{},", 100_000) + `{}]}}, "NodeNames": ["a"]}`, "malformed request: Pod: pod default/p: spec.containers"},
		{"/filter", strings.Repeat("[", 10_000), "malformed request: nested deeper than 1000 levels"},
		{"/filter", `{"x": ` + strings.Repeat("[", 10_000), "malformed request: nested deeper than 1000 levels"},
	} {
		status, text := ask(h, tt.verb, tt.body)
		if status != http.StatusBadRequest || !strings.HasPrefix(text, tt.want) || len(text) > 2000 {
			t.Errorf("%s: status %d, %d bytes: %.300s, want 400 %s", tt.verb, status, len(text), text, tt.want)
		}
	}
	h.MaxBytes = -1
	if status, text := ask(h, "/filter", "{}"); status != http.StatusInternalServerError || text != "MaxBytes of the handler is -1: must not be negative" {
		t.Errorf("MaxBytes -1: %d %s", status, text)
	}
}

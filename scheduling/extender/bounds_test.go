package extender_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// expectShown fails unless a text is short, says what it must, and has no characters that are
// not seen.
func expectShown(t *testing.T, text, want string) {
	t.Helper()
	if len(text) > 3<<10 || !strings.Contains(text, want) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%d bytes: %.300q, want %s", len(text), text, want)
	}
}

// TestClientTexts has servers whose texts are long, or would be obeyed by a terminal: errors
// repeat a part of them, in which every character is seen.
func TestClientTexts(t *testing.T) {
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	filter := func(c *extender.Client) error { _, err := c.Filter(background, pod, nodes(s, "a b c")); return err }
	preempt := func(c *extender.Client) error { _, err := c.Preempt(background, pod, s, nil); return err }
	schedule := func(c *extender.Client) error {
		p := scheduling.Kubernetes137()
		p.Extenders = []scheduling.Extender{c.Extender()}
		_, err := scheduler(t, p).Schedule(s, pod)
		return err
	}
	for _, bad := range []struct{ name, json string }{
		{"long", strings.Repeat("x", 900<<10)},
		{"control characters", `a\nb\u001b[2J\u202e`},
	} {
		for _, tt := range []struct {
			name   string
			call   func(*extender.Client) error
			answer string
			want   string
		}{
			{"error of filter", filter, `{"Error": "%s"}`, ""},
			{"error of bind", func(c *extender.Client) error { return c.Bind(background, pod.Pod, "a") }, `{"Error": "%s"}`, ""},
			{"field of filter", filter, `{"FailedNodes": {"%s": 1}}`, "want a string"},
			{"victim", preempt, `{"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "%s"}]}}}`, "but the pod is not found on that node"},
			{"node of victims", preempt, `{"NodeNameToMetaVictims": {"%s": {}}}`, "but there is no such node"},
			{"reason", schedule, `{"FailedNodes": {"a": "%s"}, "FailedAndUnresolvableNodes": {"b": "for good"}}`, "0/3 nodes are available: 1 "},
			{"reason for good", schedule, `{"FailedNodes": {"c": "not yet"}, "FailedAndUnresolvableNodes": {"a": "%s"}}`, "0/3 nodes are available: 1 "},
			{"feasible node", schedule, `{"NodeNames": ["%s"]}`, "which is not found in the input node list"},
		} {
			t.Run(tt.name+", "+bad.name, func(t *testing.T) {
				c := client(t, answers(nil, strings.Replace(tt.answer, "%s", bad.json, 1)), extender.Config{NodeCacheCapable: true})
				if err := tt.call(c); err == nil {
					t.Error("no error")
				} else {
					expectShown(t, err.Error(), tt.want)
				}
			})
		}
	}
	t.Run("page", func(t *testing.T) {
		c := client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
		}), extender.Config{})
		err := filter(c)
		if err == nil {
			t.Fatal("no error")
		}
		if n := strings.Count(err.Error(), "x"); n > 220 { // 200, and those in words
			t.Errorf("%d bytes of the page: %v", n, err)
		}
	})
	t.Run("usual reasons stay", func(t *testing.T) {
		c := client(t, answers(nil, `{"FailedNodes": {"a": "no \"GPU\", größer als ☃"}}`), extender.Config{NodeCacheCapable: true})
		if v, err := c.Filter(background, pod, nodes(s, "a")); err != nil || v.Failed["a"] != `no "GPU", größer als ☃` {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// TestClientOrder gives names in another order than they were asked about, and twice: they
// keep the order of the answer, each where it is first, on both paths.
func TestClientOrder(t *testing.T) {
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	for _, tt := range []struct {
		names, want string
	}{
		{`"a", "b", "c"`, "a"}, {`"c", "b", "a"`, "c"}, {`"b", "a", "b"`, "b"}, {`"c", "c", "c", "c", "a"`, "c"}, {`"b", "b"`, "b"},
	} {
		c := client(t, answers(nil, `{"NodeNames": [`+tt.names+`]}`), extender.Config{NodeCacheCapable: true})
		e := c.Extender()
		e.Prioritize = nil
		p := scheduling.Profile{Extenders: []scheduling.Extender{e}, TieRule: scheduling.First}
		p.Cache.Verify = true
		sched := scheduler(t, p)
		for range 3 { // the later ones from what is kept
			if d, err := sched.Schedule(s, pod); err != nil || d.Node != tt.want {
				t.Errorf("%s: %s, %v, want %s", tt.names, d.Node, err, tt.want)
			}
		}
	}
}

// endless is a server whose answers have no end. It notes how long a call may take.
type endless struct{ within time.Duration }

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	if deadline, ok := r.Context().Deadline(); ok {
		e.within = time.Until(deadline)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(e)}, nil
}

func (e *endless) Read(p []byte) (int, error) { return len(p), nil }

// TestClientDefaults checks the bounds of a client that states none.
func TestClientDefaults(t *testing.T) {
	s := cluster(t)
	large := info(t, s, api.MakePod("web").Annotations("a", strings.Repeat("x", 34<<20)).Obj())
	server := &endless{}
	c, err := extender.New(extender.Config{URLPrefix: "http://x", FilterVerb: "filter", HTTP: &http.Client{Transport: server}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Filter(background, large, nodes(s, "a"))
	if err == nil || !strings.HasSuffix(err.Error(), "the answer is larger than 67108864 bytes") {
		t.Errorf("%v, want a bound of 64 MiB", err)
	}
	if server.within <= 0 || server.within > 5*time.Second {
		t.Errorf("a call may take %v, want 5 s", server.within)
	}
}

// TestHandlerDefaultWaiting lets four clients send as much as a request may have, and then
// nothing: a handler that states no bounds has no room for another.
func TestHandlerDefaultWaiting(t *testing.T) {
	h := handler(t, cluster(t))
	gone := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		body := &stalled{left: 16 << 20, all: make(chan struct{}), gone: gone}
		all.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/filter", body)) })
		<-body.all
	}
	if status, text := ask(h, "/filter", "{}"); status != http.StatusServiceUnavailable {
		t.Errorf("beyond 64 MiB: %d %s", status, text)
	}
	close(gone)
	all.Wait()
}

// TestHandlerTexts checks answers to requests with long names, and with characters that are
// not seen.
func TestHandlerTexts(t *testing.T) {
	h := handler(t, cluster(t))
	for _, bad := range []string{strings.Repeat("x", 900<<10), `a\nb\u001b[2J`} {
		for _, tt := range []struct{ verb, body string }{
			{"/preempt", `{"Pod": ` + aPod + `, "NodeNameToMetaVictims": {"%s": null}}`},
			{"/preempt", `{"Pod": ` + aPod + `, "NodeNameToVictims": {"%s": null}}`},
			{"/preempt", `{"Pod": ` + aPod + `, "NodeNameToVictims": {"%s": 1}}`},
			{"/filter", `{"Pod": {"metadata": {"name": "p", "labels": {"%s": 1}}}, "NodeNames": ["a"]}`},
		} {
			status, text := ask(h, tt.verb, strings.Replace(tt.body, "%s", bad, 1))
			if status != http.StatusBadRequest {
				t.Errorf("status %d", status)
			}
			expectShown(t, text, "malformed request: ")
		}
	}
}

// TestClientPreemptTwice: candidates and victims that an extender names twice count once.
func TestClientPreemptTwice(t *testing.T) {
	s := cluster(t)
	for i := range 3 {
		place(t, s, fmt.Sprint("other", i), "c", "1")
	}
	pod := info(t, s, api.MakePod("web").Obj())
	answer := `{"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}]}, "c": {"Pods": [` + strings.Repeat(`{"UID": "uid-other2"}, {"UID": "uid-other0"}, `, 50) + `{"UID": "uid-low"}], "NumPDBViolations": 1000}}}`
	got, err := client(t, answers(nil, answer), extender.Config{}).Preempt(background, pod, s, nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	var names []string
	for _, v := range got[0].Victims {
		names = append(names, v.Pod.Pod.Name)
	}
	if want := []string{"other2", "other0", "low"}; !slices.Equal(names, want) || got[0].Violations != 4 {
		t.Errorf("victims %v, %d violations, want %v, 4", names, got[0].Violations, want)
	}
}

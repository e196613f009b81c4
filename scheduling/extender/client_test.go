package extender_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/preemption"
)

var background = context.Background()

// TestClientRequests compares requests with bodies in kube-scheduler's form, whose
// keys are the names of its Go fields.
func TestClientRequests(t *testing.T) {
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	low := s.Node("c").Pods[0]
	candidates := []*preemption.Candidate{{Node: "c", Victims: []framework.Victim{{Pod: low}}, Violations: 1}}
	tests := []struct {
		name    string
		capable bool
		call    func(*extender.Client) error
		path    string
		want    string // JSON; "*" stands for anything
	}{
		{
			"filter", false, func(c *extender.Client) error { _, err := c.Filter(background, pod, nodes(s, "a c")); return err }, "filter",
			`{"Pod": "*", "Nodes": {"items": [{"metadata": {"name": "a"}, "spec": "*", "status": "*"}, {"metadata": {"name": "c"}, "spec": "*", "status": "*"}]}, "NodeNames": null}`,
		},
		{
			"filter, by name", true, func(c *extender.Client) error { _, err := c.Filter(background, pod, nodes(s, "a c")); return err }, "filter",
			`{"Pod": "*", "Nodes": null, "NodeNames": ["a", "c"]}`,
		},
		{
			"prioritize, by name", true, func(c *extender.Client) error { _, err := c.Prioritize(background, pod, nodes(s, "c")); return err }, "prioritize",
			`{"Pod": "*", "Nodes": null, "NodeNames": ["c"]}`,
		},
		{
			"preempt", false, func(c *extender.Client) error { _, err := c.Preempt(background, pod, s, candidates); return err }, "preempt",
			`{"Pod": "*", "NodeNameToVictims": {"c": {"Pods": ["*"], "NumPDBViolations": 1}}, "NodeNameToMetaVictims": null}`,
		},
		{
			"preempt, by identifier", true, func(c *extender.Client) error { _, err := c.Preempt(background, pod, s, candidates); return err }, "preempt",
			`{"Pod": "*", "NodeNameToVictims": null, "NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 1}}}`,
		},
		{
			"bind", false, func(c *extender.Client) error { return c.Bind(background, low.Pod, "c") }, "bind",
			`{"PodName": "low", "PodNamespace": "default", "PodUID": "uid-low", "Node": "c"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked string
			answer := "{}"
			if tt.path == "prioritize" {
				answer = "[]"
			}
			if err := tt.call(client(t, answers(&asked, answer), extender.Config{NodeCacheCapable: tt.capable})); err != nil {
				t.Fatal(err)
			}
			head, body, _ := strings.Cut(asked, " {")
			if want := "POST /scheduler/" + tt.path + " application/json"; head != want {
				t.Errorf("request %s, want %s", head, want)
			}
			var want, got any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte("{"+body), &got); err != nil {
				t.Fatal(err)
			}
			if !matches(want, got) {
				t.Errorf("sent {%s\nwant %s", body, tt.want)
			}
		})
	}
}

// matches compares JSON values: objects by the fields of the wanted one, where "*"
// matches anything.
func matches(want, got any) bool {
	switch want := want.(type) {
	case string:
		return want == "*" || want == got
	case map[string]any:
		object, ok := got.(map[string]any)
		for k, v := range want {
			if g, there := object[k]; !ok || !(v == "*" || there && matches(v, g)) {
				return false
			}
		}
		return ok
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !matches(want[i], list[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}

// TestClientAnswers decodes answers as extenders give them.
func TestClientAnswers(t *testing.T) {
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	tests := []struct {
		name, answer string
		config       extender.Config
		want         scheduling.ExtenderVerdict
		err          string
	}{
		{
			"names", `{"Nodes": null, "NodeNames": ["c", "a"], "FailedNodes": {"b": "no"}, "FailedAndUnresolvableNodes": null, "Error": ""}`,
			extender.Config{NodeCacheCapable: true},
			scheduling.ExtenderVerdict{Nodes: []string{"c", "a"}, Failed: map[string]string{"b": "no"}},
			"",
		},
		{
			"names in lower case", `{"nodenames": ["c"], "failedAndUnresolvableNodes": {"a": "never"}, "error": ""}`,
			extender.Config{NodeCacheCapable: true},
			scheduling.ExtenderVerdict{Nodes: []string{"c"}, Unresolvable: map[string]string{"a": "never"}},
			"",
		},
		{
			"nodes", `{"Nodes": {"metadata": {}, "items": [{"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {}, "status": {"capacity": {"cpu": "4"}}}]}}`,
			extender.Config{},
			scheduling.ExtenderVerdict{Nodes: []string{"a"}},
			"",
		},
		{
			"nodes, as kube-scheduler would score them", `{"Nodes": {"items": [{"metadata": {"name": "a"}}]}}`,
			extender.Config{EmptyNodes: true},
			scheduling.ExtenderVerdict{Nodes: []string{"a"}, Emptied: true},
			"",
		},
		{
			"nodes of one that could be given names", `{"Nodes": {"items": [{"metadata": {"name": "a"}}]}}`,
			extender.Config{NodeCacheCapable: true},
			scheduling.ExtenderVerdict{Nodes: []string{"a"}},
			"",
		},
		{"names of one that was given nodes are not looked at", `{"NodeNames": ["a"]}`, extender.Config{}, scheduling.ExtenderVerdict{}, ""},
		{"neither", `{}`, extender.Config{}, scheduling.ExtenderVerdict{}, ""},
		{"null", `null`, extender.Config{}, scheduling.ExtenderVerdict{}, ""},
		{"an error", `{"NodeNames": ["a"], "Error": "out of cheese"}`, extender.Config{NodeCacheCapable: true}, scheduling.ExtenderVerdict{}, "out of cheese"},
		{"trailing text does not matter", `{"NodeNames": ["a"]} and more`, extender.Config{NodeCacheCapable: true}, scheduling.ExtenderVerdict{Nodes: []string{"a"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client(t, answers(nil, tt.answer), tt.config).Filter(background, pod, nodes(s, "a b c"))
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Fatalf("Filter: %v, want %s", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Filter (-want +got):\n%s", diff)
			}
		})
	}
	scores, err := client(t, answers(nil, `[{"Host": "a", "Score": 7}, {"host": "b", "score": -1}]`), extender.Config{}).Prioritize(background, pod, nodes(s, "a b"))
	if want := []scheduling.HostScore{{Host: "a", Score: 7}, {Host: "b", Score: -1}}; err != nil || !slices.Equal(scores, want) {
		t.Errorf("Prioritize = %v, %v, want %v", scores, err, want)
	}
	if err := client(t, answers(nil, `{"Error": "already bound"}`), extender.Config{}).Bind(background, pod.Pod, "a"); err == nil || err.Error() != "already bound" {
		t.Errorf("Bind: %v, want already bound", err)
	}
}

func TestClientPreempt(t *testing.T) {
	s := cluster(t)
	place(t, s, "other", "c", "1")
	pod := info(t, s, api.MakePod("web").Obj())
	low := s.Node("c").Pods[0]
	candidates := []*preemption.Candidate{
		{Node: "c", Victims: []framework.Victim{{Pod: low, ViolatesBudget: true}}, Violations: 1},
		{Node: "a", Victims: []framework.Victim{{Pod: low}}},
	}
	show := func(list []*preemption.Candidate) []string {
		var out []string
		for _, c := range list {
			text := c.Node + ":"
			for _, v := range c.Victims {
				text += " " + v.Pod.Pod.Name
				if v.ViolatesBudget {
					text += "!"
				}
			}
			out = append(out, text)
		}
		return out
	}
	tests := []struct {
		name, answer string
		want         []string
		err          string // its end
	}{
		{"all", `{"NodeNameToMetaVictims": {"a": {"Pods": []}, "c": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 1}}}`, []string{"c: low!", "a:"}, ""},
		{"other victims", `{"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-other"}, {"UID": "uid-low"}, {"UID": "uid-low"}]}}}`, []string{"c: other low!"}, ""},
		{"another node, and null", `{"NodeNameToMetaVictims": {"b": null}}`, []string{"b:"}, ""},
		{"none", `{}`, nil, ""},
		{"an unknown pod", `{"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-x"}]}}}`, nil, "claims to preempt pod (UID: uid-x) on node: c, but the pod is not found on that node"},
		{"no identifier", `{"NodeNameToMetaVictims": {"c": {"Pods": [{}]}}}`, nil, "claims to preempt a pod without a UID on node c"},
		{"null for a pod", `{"NodeNameToMetaVictims": {"c": {"Pods": [null]}}}`, nil, "claims to preempt a pod without a UID on node c"},
		{"an unknown node", `{"NodeNameToMetaVictims": {"z": {"Pods": []}}}`, nil, `claims to preempt pods on node "z", but there is no such node`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client(t, answers(nil, tt.answer), extender.Config{}).Preempt(background, pod, s, candidates)
			if (err == nil) != (tt.err == "") || err != nil && !strings.HasSuffix(err.Error(), tt.err) {
				t.Fatalf("Preempt: %v, want %s", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, show(got)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClientFailures has a case for each way in which an extender can fail.
func TestClientFailures(t *testing.T) {
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	status := func(code int, text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		})
	}
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not see that the client has gone
		<-r.Context().Done()
	})
	trickle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
				return
			}
		}
	})
	hangUp := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	short := extender.Config{Timeout: 60 * time.Millisecond}
	tests := []struct {
		name   string
		server http.Handler
		config extender.Config
		want   []string // parts of the error
	}{
		{"says 500", status(500, "no license\nsecond line"), extender.Config{}, []string{"failed filter with extender at URL http://127.0.0.1:", "/scheduler/filter, code 500: no license"}},
		{"says 404", status(404, ""), extender.Config{}, []string{"/scheduler/filter, code 404"}},
		{"says 204", status(204, ""), extender.Config{}, []string{"code 204"}},
		{"control characters", status(502, "a\x1b[31mb"), extender.Config{}, []string{"code 502: a [31mb"}},
		{"characters that are not seen", status(502, "a\u009b31m\u202eb\u2028c"), extender.Config{}, []string{"code 502: a 31m b c"}},
		{"empty", answers(nil, ""), extender.Config{}, []string{"/scheduler/filter: the answer is empty"}},
		{"no JSON", answers(nil, "<html>"), extender.Config{}, []string{"the answer is malformed: not JSON: line 1, byte 0: unexpected '<'"}},
		{"cut off", answers(nil, `{"NodeNames": ["a"`), extender.Config{}, []string{"the answer is malformed: not JSON: line 1, byte 18: unexpected end of input"}},
		{"another type", answers(nil, `{"NodeNames": "a"}`), extender.Config{}, []string{"the answer is malformed: NodeNames: want a list"}},
		{"deeply nested", answers(nil, strings.Repeat("[", 100_000)), extender.Config{}, []string{"the answer is malformed"}},
		{"too large", answers(nil, `{"Error": "`+strings.Repeat("x", 100)+`"}`), extender.Config{MaxBytes: 50}, []string{"the answer is larger than 50 bytes"}},
		{"endless", endless, extender.Config{MaxBytes: 1 << 20}, []string{"the answer is larger than 1048576 bytes"}},
		{"silent", silent, short, []string{"no answer within 60ms: ", "context deadline exceeded"}},
		{"a trickle", trickle, short, []string{"no answer within 60ms: ", "context deadline exceeded"}},
		{"hangs up", hangUp, extender.Config{}, []string{"EOF"}},
		{"sends elsewhere", http.RedirectHandler("http://elsewhere.invalid/", http.StatusTemporaryRedirect), extender.Config{}, []string{"/scheduler/filter, code 307"}},
		{"answers more than was asked", answers(nil, `{"NodeNames": [`+strings.Repeat(`"a",`, 400_000)+`"a"]}`), extender.Config{}, []string{"the answer is larger than 105"}},
		{"no time at all", answers(nil, "{}"), extender.Config{Timeout: -1}, []string{"context deadline exceeded"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			c := client(t, tt.server, tt.config)
			_, err := c.Filter(background, pod, nodes(s, "a"))
			for _, part := range tt.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("Filter: %v\nwant ... %s ...", err, part)
				}
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			// The consequence: the cycle fails, or goes on without the extender.
			e := c.Extender()
			e.Prioritize, e.Bind, e.Preempt = nil, nil, nil
			var failed *scheduling.ExtenderError
			if _, err := scheduler(t, scheduling.Profile{Extenders: []scheduling.Extender{e}}).Schedule(s, pod); !errors.As(err, &failed) || failed.Point != "Filter" {
				t.Errorf("Schedule: %v, want an ExtenderError", err)
			}
			e.Ignorable = true
			if d, err := scheduler(t, scheduling.Profile{Extenders: []scheduling.Extender{e}}).Schedule(s, pod); err != nil || d.Feasible != 3 {
				t.Errorf("ignorable: %d feasible nodes, %v, want 3", d.Feasible, err)
			}
		})
	}
}

func TestClientDead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	s := cluster(t)
	for prefix, want := range map[string]string{
		"http://" + address: "connection refused", "": "unsupported protocol scheme", "http://\x00": "invalid control character in URL",
	} {
		c, err := extender.New(extender.Config{URLPrefix: prefix, FilterVerb: "filter"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Filter(background, info(t, s, api.MakePod("web").Obj()), nodes(s, "a"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", prefix, err, want)
		}
	}
}

func TestClientContext(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	s := cluster(t)
	c := client(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}), extender.Config{})
	_, err := c.Filter(ctx, info(t, s, api.MakePod("web").Obj()), nodes(s, "a"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Filter: %v, want %v", err, context.Canceled)
	}
}

func TestClientTLS(t *testing.T) {
	server := httptest.NewTLSServer(answers(nil, `{"NodeNames": ["a"]}`))
	defer server.Close()
	server.Config.ErrorLog = nil
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := cluster(t)
	pod := info(t, s, api.MakePod("web").Obj())
	for name, tt := range map[string]struct {
		config extender.Config
		want   string
	}{
		"trusted":      {extender.Config{TLS: &tls.Config{RootCAs: roots}}, ""},
		"not verified": {extender.Config{TLS: &tls.Config{InsecureSkipVerify: true}}, ""},
		"unknown":      {extender.Config{}, "failed to verify certificate"},
		"injected":     {extender.Config{HTTP: server.Client()}, ""},
	} {
		tt.config.URLPrefix, tt.config.FilterVerb, tt.config.NodeCacheCapable = server.URL, "filter", true
		c, err := extender.New(tt.config)
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Filter(background, pod, nodes(s, "a"))
		switch {
		case tt.want == "" && (err != nil || !slices.Equal(v.Nodes, []string{"a"})):
			t.Errorf("%s: %v, %v", name, v, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
		c.Close()
	}
}

func TestClientInterested(t *testing.T) {
	s := cluster(t)
	gpu := resource.Name("example.com/gpu")
	with := func(change func(*api.Pod)) *framework.PodInfo {
		pod := api.MakePod("web").Requests("1", "1Gi").Obj()
		change(pod)
		return info(t, s, pod)
	}
	list := resource.List{gpu: resource.MustParse("1")}
	tests := []struct {
		name    string
		pod     *framework.PodInfo
		managed []resource.Name
		want    bool
	}{
		{"no resources named", with(func(*api.Pod) {}), nil, true},
		{"not asked for", with(func(*api.Pod) {}), []resource.Name{gpu}, false},
		{"requested", with(func(p *api.Pod) { p.Spec.Containers[0].Resources.Requests = list }), []resource.Name{"x.y/z", gpu}, true},
		{"limited", with(func(p *api.Pod) { p.Spec.Containers[0].Resources.Limits = list }), []resource.Name{gpu}, true},
		{"by an init container", with(func(p *api.Pod) {
			p.Spec.InitContainers = []api.Container{{Name: "i", Resources: api.ResourceRequirements{Requests: list}}}
		}), []resource.Name{gpu}, true},
	}
	for _, tt := range tests {
		c, err := extender.New(extender.Config{URLPrefix: "http://x", FilterVerb: "filter", ManagedResources: tt.managed})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Interested(tt.pod); got != tt.want || c.Extender().Interested(tt.pod) != got {
			t.Errorf("%s: interested %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestClientConfig(t *testing.T) {
	for want, c := range map[string]extender.Config{
		`extender "u": weight: 0: must have a positive weight applied to it`:    {URLPrefix: "u", PrioritizeVerb: "p"},
		`extender "u": MaxBytes: -1: must not be negative`:                      {URLPrefix: "u", MaxBytes: -1},
		`extender "u": TLS: belongs into the transport of HTTP, which is given`: {URLPrefix: "u", TLS: new(tls.Config), HTTP: new(http.Client)},
	} {
		if _, err := extender.New(c); err == nil || err.Error() != want {
			t.Errorf("New: %v, want %s", err, want)
		}
	}
	c, err := extender.New(extender.Config{FilterVerb: "f"})
	if err != nil {
		t.Fatal(err)
	}
	e := c.Extender()
	if e.Name == "" || e.Filter == nil || e.Prioritize != nil || e.Preempt != nil || e.Bind != nil {
		t.Errorf("an extender that filters only: %+v", e)
	}
	if err := c.Bind(background, api.MakePod("web").Obj(), "a"); err == nil || !strings.Contains(err.Error(), "its verb is empty") {
		t.Errorf("Bind without a verb: %v", err)
	}
}

// A password in the URL is in no name and in no error: these stand in the events of pods.
func TestPasswordIsNotTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://")
	for user, host := range map[string]string{"user:s3cret": at, "s3cret": at, "tokens3cret": "127.0.0.1:1", "other:s3cret": "127.0.0.1:1", "us er:%s3cret": "127.0.0.1:1"} {
		c, err := extender.New(extender.Config{URLPrefix: "http://" + user + "@" + host, FilterVerb: "filter", BindVerb: "bind", NodeCacheCapable: true})
		if err != nil {
			t.Fatal(err)
		}
		p := scheduling.Kubernetes137()
		p.Extenders = append(p.Extenders, c.Extender())
		s, err := scheduling.New(p)
		if err != nil {
			t.Fatal(err)
		}
		snap := framework.NewSnapshot(framework.Arrival)
		if err := snap.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		pod, err := snap.NewPodInfo(api.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Schedule(snap, pod)
		if err == nil || !strings.Contains(err.Error(), host) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v, want one that names the host %s and not the password", err, host)
		}
	}
}

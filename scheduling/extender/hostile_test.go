package extender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
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
		{"/filter", `{"Pod": ` + aPod + `, "Nodes": {"items": [` + strings.Repeat("{},", 20_000) + `{}]}}`, "malformed request: more than "},
	} {
		status, text := ask(h, tt.verb, tt.body)
		if status != http.StatusBadRequest || !strings.HasPrefix(text, tt.want) || len(text) > 2000 {
			t.Errorf("%s: status %d, %d bytes: %.300s, want 400 %s", tt.verb, status, len(text), text, tt.want)
		}
	}
	for _, verb := range []string{"/filter", "/prioritize"} {
		const most = 2*3 + 100_000 // the cluster has three nodes
		names := strings.Repeat(`"a",`, most-1)
		if status, text := ask(h, verb, `{"Pod": `+aPod+`, "NodeNames": [`+names+`"a"]}`); status != http.StatusOK {
			t.Errorf("%s of %d names: %d %.300s", verb, most, status, text)
		}
		want := "malformed request: there are 100007 nodes: at most 100006 are allowed, twice those of the cluster and 100000 more"
		if status, text := ask(h, verb, `{"Pod": `+aPod+`, "NodeNames": [`+names+`"a","a"]}`); status != http.StatusBadRequest || text != want {
			t.Errorf("%s of one name more: %d %.300s, want 400 %s", verb, status, text, want)
		}
	}
	h.MaxWaiting = 9
	if status, text := ask(h, "/filter", "{}"); status != http.StatusInternalServerError || text != "MaxWaiting of the handler is 9: must not be less than MaxBytes, 16777216" {
		t.Errorf("MaxWaiting 9: %d %s", status, text)
	}
	h.MaxBytes = -1
	if status, text := ask(h, "/filter", "{}"); status != http.StatusInternalServerError || text != "MaxBytes of the handler is -1: must not be negative" {
		t.Errorf("MaxBytes -1: %d %s", status, text)
	}
}

// TestHandlerRefusesManyCandidates: preempt has the same bound.
func TestHandlerRefusesManyCandidates(t *testing.T) {
	var b strings.Builder
	for i := range 100_006 {
		fmt.Fprintf(&b, `"%d":{},`, i)
	}
	h := handler(t, cluster(t))
	for _, field := range []string{"NodeNameToVictims", "NodeNameToMetaVictims"} {
		body := `{"Pod": ` + aPod + `, "` + field + `": {` + b.String()
		if status, text := ask(h, "/preempt", strings.TrimSuffix(body, ",")+"}}"); status != http.StatusOK {
			t.Errorf("%s: %d %.300s", field, status, text)
		}
		want := "malformed request: there are 100007 nodes: at most 100006 are allowed, twice those of the cluster and 100000 more"
		if status, text := ask(h, "/preempt", body+`"a":{}}}`); status != http.StatusBadRequest || text != want {
			t.Errorf("%s of one more: %d %.300s, want 400 %s", field, status, text, want)
		}
	}
}

// TestHandlerNamesFewUnknownNodes: the reason against nodes that the snapshot does not have is given for the
// first 1,000 of them, so that an answer is not many times its question. None of them is feasible.
func TestHandlerNamesFewUnknownNodes(t *testing.T) {
	names := []string{`"a"`, `"x0"`} // again below
	for i := range 5000 {
		names = append(names, fmt.Sprintf(`"x%d"`, i))
	}
	h := handler(t, cluster(t))
	status, text := ask(h, "/filter", `{"Pod": `+aPod+`, "NodeNames": [`+strings.Join(names, ",")+`,"a"]}`)
	var result extender.FilterResult
	if err := json.Unmarshal([]byte(text), &result); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %.200s", status, err, text)
	}
	_, first := result.FailedNodes["x999"]
	_, more := result.FailedNodes["x1000"]
	if !slices.Equal(*result.NodeNames, []string{"a", "a"}) || len(result.FailedNodes) != 1000 || !first || more {
		t.Errorf("feasible %v, %d reasons, of the 1000th %t, of the next %t; want a twice, and the first 1000", *result.NodeNames, len(result.FailedNodes), first, more)
	}
	if _, text = ask(h, "/prioritize", `{"Pod": `+aPod+`, "NodeNames": ["a", "x", "a"]}`); strings.Count(text, `"a"`) != 1 {
		t.Errorf("priorities %s, want one", text)
	}
}

// stalled is a body that begins, and then nothing comes until the client is gone.
type stalled struct {
	left int
	all  chan struct{} // closed once more is asked for than there is
	gone chan struct{}
}

func (b *stalled) Read(p []byte) (int, error) {
	if b.left == 0 {
		close(b.all)
		<-b.gone
		return 0, errors.New("gone")
	}
	n := min(b.left, len(p))
	b.left -= n
	return n, nil
}

// TestHandlerBoundsWaiting lets clients send the beginning of large bodies, and then
// nothing. Others that are small are answered; those that would exceed the bound of all
// bodies are asked to come again, and then succeed.
func TestHandlerBoundsWaiting(t *testing.T) {
	h := handler(t, cluster(t))
	h.MaxBytes, h.MaxWaiting = 20_000, 50_000
	gone := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		body := &stalled{left: 20_000, all: make(chan struct{}), gone: gone}
		all.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/filter", body)) })
		<-body.all
	}
	small := `{"Pod": ` + aPod + `, "NodeNames": ["a"]}`
	large := small + strings.Repeat(" ", 15_000)
	for range 3 { // what is refused does not count
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/filter", strings.NewReader(large)))
		if text := strings.TrimSpace(w.Body.String()); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || text != "the requests that wait hold more than 50000 bytes: try again later" {
			t.Errorf("beyond the bound: %d, Retry-After %q, %s", w.Code, w.Header().Get("Retry-After"), text)
		}
		if status, text := ask(h, "/filter", small); status != http.StatusOK {
			t.Errorf("a small request: %d %s", status, text)
		}
	}
	close(gone)
	all.Wait()
	if status, text := ask(h, "/filter", large); status != http.StatusOK {
		t.Errorf("once nothing waits: %d %s", status, text)
	}
}

// manyNodes is a cluster of n nodes, with their names as JSON.
func manyNodes(t *testing.T, n int) (s *framework.Snapshot, names []string) {
	t.Helper()
	s = framework.NewSnapshot(framework.Arrival)
	for i := range n {
		names = append(names, fmt.Sprintf(`"n%d"`, i))
		if err := s.AddNode(api.MakeNode(fmt.Sprintf("n%d", i), "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return s, names
}

// TestHandlerBoundsReasons asks about pods whose contents stand in the reasons of each of
// 100 nodes: the answer stays under 10 KiB for a node.
func TestHandlerBoundsReasons(t *testing.T) {
	const many = 100
	s, names := manyNodes(t, many)
	h := handler(t, s)
	var requests strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&requests, `"example.com/%d": 1, `, i)
	}
	long := strings.Repeat("x", 1<<20)
	for name, spec := range map[string]string{
		"names of resources":        `"containers": [{"resources": {"requests": {` + requests.String() + `"cpu": 1}}}]`,
		"a long name":               `"containers": [{"resources": {"requests": {"hugepages-` + long + `": 1}}}]`,
		"a claim that is not there": `"containers": [{}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "` + long + `"}}]`,
		"claims of devices":         `"containers": [{}], "resourceClaims": [{"name": "c", "resourceClaimName": "` + long + `"}]`,
	} {
		status, text := ask(h, "/filter", `{"Pod": {"metadata": {"name": "p"}, "spec": {`+spec+`}}, "NodeNames": [`+strings.Join(names, ",")+`]}`)
		if status != http.StatusOK || len(text) > many*10<<10 || !strings.Contains(text, `"n99":`) {
			t.Errorf("%s: status %d, %d bytes: %.300s", name, status, len(text), text)
		}
	}
}

// TestHandlerBoundsAnswer asks about 5,000 nodes with a pod whose contents stand in the
// reasons of each: the answer stays under 6 MiB, also with characters that JSON for web pages
// writes as six.
func TestHandlerBoundsAnswer(t *testing.T) {
	s, names := manyNodes(t, 5000)
	claim := strings.Repeat("<", 8<<10)
	body := `{"Pod": {"metadata": {"name": "p"}, "spec": {"containers": [{}], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "` + claim + `"}}]}}, "NodeNames": [` + strings.Join(names, ",") + `]}`
	h := handler(t, s)
	if status, text := ask(h, "/filter", body); status != http.StatusOK || len(text) > 6<<20 || !strings.Contains(text, `"n4999":"persistentvolumeclaim \"<<<`) {
		t.Errorf("status %d, %d bytes: %.300s", status, len(text), text)
	}
}

// slowReader is a client that takes nothing of an answer until it is let go.
type slowReader struct {
	*httptest.ResponseRecorder
	asked, gone chan struct{}
}

func (w *slowReader) Write(p []byte) (int, error) {
	close(w.asked)
	<-w.gone
	return w.ResponseRecorder.Write(p)
}

// TestHandlerBoundsAnswersThatWait has clients that do not read their answers, which are much
// longer than the requests: the answers count, and those beyond the bound are refused.
func TestHandlerBoundsAnswersThatWait(t *testing.T) {
	h := handler(t, cluster(t))
	h.MaxBytes, h.MaxWaiting = 10_000, 10_000
	gone := make(chan struct{})
	var all sync.WaitGroup
	var names strings.Builder
	for i := range 100 { // not in the cluster: each takes 40 bytes of the answer
		fmt.Fprintf(&names, `"x%d",`, i)
	}
	body := `{"Pod": ` + aPod + `, "NodeNames": [` + names.String() + `"a"]}`
	for range 2 {
		w := &slowReader{httptest.NewRecorder(), make(chan struct{}), gone}
		all.Go(func() { h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/filter", strings.NewReader(body))) })
		<-w.asked
	}
	for range 3 { // what is refused does not count
		if status, text := ask(h, "/filter", body); status != http.StatusServiceUnavailable {
			t.Errorf("beyond the bound: %d %s", status, text)
		}
		if status, text := ask(h, "/filter", `{"Pod": `+aPod+`, "NodeNames": ["a"]}`); status != http.StatusOK {
			t.Errorf("a small request: %d %s", status, text)
		}
	}
	close(gone)
	all.Wait()
	if status, text := ask(h, "/filter", body); status != http.StatusOK {
		t.Errorf("once nothing waits: %d %s", status, text)
	}
}

// TestLongTextsOfTransport: what package http says about an answer that is none is cut, too, and says what it was.
func TestLongTextsOfTransport(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1<<16))
			_, _ = c.Write([]byte("HTTP/1.1 " + strings.Repeat("\x01", 60_000) + "\r\n\r\n"))
			_ = c.Close()
		}
	}()
	c, err := extender.New(extender.Config{URLPrefix: "http://" + l.Addr().String(), BindVerb: "bind"})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Bind(t.Context(), api.MakePod("p").Obj(), "n")
	var of *url.Error
	if err == nil || len(err.Error()) > 3<<10 || !errors.As(err, &of) || !strings.Contains(err.Error(), "/bind") {
		t.Errorf("%v, want a short *url.Error", err)
	}
}

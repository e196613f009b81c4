package extender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// ask posts a body and returns the status and the answer.
func ask(h http.Handler, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// aPod is a pod as kube-scheduler sends it, with fields that this library ignores.
const aPod = `{"metadata": {"name": "web", "namespace": "default", "uid": "uid-web", "creationTimestamp": "2026-01-02T15:04:05Z",
	"managedFields": [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {}}}]},
	"spec": {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}, "terminationMessagePath": "/dev/termination-log"}],
	"priority": 100, "schedulerName": "default-scheduler", "dnsPolicy": "ClusterFirst"}, "status": {"phase": "Pending", "qosClass": "Burstable"}}`

// TestHandlerOfOtherSnapshots: a pod is read for the snapshot of its request, also if the one before was of
// another cluster, with other resources.
func TestHandlerOfOtherSnapshots(t *testing.T) {
	asked := 0
	h := handler(t, nil)
	h.Snapshot = func(context.Context) (*framework.Snapshot, error) {
		asked++
		s := framework.NewSnapshot(framework.Arrival)
		gpus := resource.Name(fmt.Sprint("example.com/gpu", asked%2))
		for _, name := range []resource.Name{"example.com/x", gpus}[asked%2:] {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("other-", name), "4", "8Gi").Allocatable(name, "1").Obj()); err != nil {
				return nil, err
			}
		}
		return s, s.AddNode(api.MakeNode("a", "4", "8Gi").Allocatable("example.com/gpu1", "1").Obj())
	}
	pod := strings.Replace(aPod, `"cpu": "2"`, `"cpu": "2", "example.com/gpu1": "1"`, 1)
	for range 4 {
		if status, got := ask(h, "/filter", `{"Pod": `+pod+`, "NodeNames": ["a"]}`); status != 200 || !strings.Contains(got, `"NodeNames":["a"]`) {
			t.Errorf("request %d: status %d, %s; want node a", asked, status, got)
		}
	}
}

// TestHandler sends requests as kube-scheduler does.
func TestHandler(t *testing.T) {
	nodeList := `{"metadata": {}, "items": [
		{"metadata": {"name": "c", "creationTimestamp": null}, "spec": {"podCIDR": "10.0.0.0/24"}, "status": {"nodeInfo": {"kernelVersion": "6.1"}}},
		{"metadata": {"name": "a", "creationTimestamp": null}, "spec": {"podCIDR": "10.0.1.0/24"}, "status": {"nodeInfo": {"kernelVersion": "6.1"}}}]}`
	tests := []struct {
		name, path, body string
		status           int
		want             string
	}{
		{
			"filter by names", "/filter", `{"Pod": ` + aPod + `, "Nodes": null, "NodeNames": ["c", "b", "a", "z"]}`, 200,
			`{"Nodes": null, "NodeNames": ["a"], "FailedNodes": {"c": "Insufficient cpu", "z": "node(s) unknown to the extender"},
				"FailedAndUnresolvableNodes": {"b": "node(s) had untolerated taint(s)"}, "Error": ""}`,
		},
		{
			"filter nodes, which come back as they were", "/prefix/of/any/length/filter", `{"Pod": ` + aPod + `, "Nodes": ` + nodeList + `, "NodeNames": null}`, 200,
			`{"Nodes": {"items": [{"metadata": {"name": "a", "creationTimestamp": null}, "spec": {"podCIDR": "10.0.1.0/24"}, "status": {"nodeInfo": {"kernelVersion": "6.1"}}}]},
				"NodeNames": null, "FailedNodes": {"c": "Insufficient cpu"}, "FailedAndUnresolvableNodes": {}, "Error": ""}`,
		},
		{"keys in lower case", "/filter", `{"pod": ` + aPod + `, "nodenames": ["a"]}`, 200, `{"Nodes": null, "NodeNames": ["a"], "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}`},
		{"no nodes", "/filter", `{"Pod": ` + aPod + `, "NodeNames": []}`, 200, `{"Nodes": null, "NodeNames": [], "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}`},
		{"prioritize", "/prioritize", `{"Pod": ` + aPod + `, "NodeNames": ["a", "c", "z"]}`, 200, ""},
		{
			"preempt by identifiers", "/preempt",
			`{"Pod": ` + aPod + `, "NodeNameToVictims": null, "NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 1}, "b": {"Pods": []}, "z": {"Pods": []}}}`, 200,
			`{"NodeNameToMetaVictims": {"c": {"Pods": [{"UID": "uid-low"}], "NumPDBViolations": 1}}}`,
		},
		{
			"preempt pods; those of another do not help", "/preempt",
			`{"Pod": ` + aPod + `, "NodeNameToVictims": {"c": {"Pods": [{"metadata": {"name": "x", "uid": "uid-x"}}], "NumPDBViolations": 0}}}`, 200,
			`{"NodeNameToMetaVictims": {}}`,
		},
		{"malformed", "/filter", `{"Pod": `, 400, "malformed request: not JSON: line 1, byte 8: unexpected end of input, want a value"},
		{"of another type", "/prioritize", `{"Pod": 7}`, 400, "malformed request: Pod: want an object"},
		{"no pod", "/filter", `{"NodeNames": []}`, 400, "malformed request: there is no Pod"},
		{"neither names nor nodes", "/prioritize", `{"Pod": ` + aPod + `}`, 400, "malformed request: there are neither Nodes nor NodeNames"},
		{"neither pods nor identifiers", "/preempt", `{"Pod": ` + aPod + `}`, 400, "malformed request: there are neither NodeNameToVictims nor NodeNameToMetaVictims"},
		{"both", "/preempt", `{"Pod": ` + aPod + `, "NodeNameToVictims": {}, "NodeNameToMetaVictims": {}}`, 400, "malformed request: there are both NodeNameToVictims and NodeNameToMetaVictims"},
		{"null", "/preempt", `{"Pod": ` + aPod + `, "NodeNameToMetaVictims": {"c": {"Pods": [null]}}}`, 400, "malformed request: NodeNameToMetaVictims: null for victims of node c"},
		{"no such call", "/scores", `{}`, 404, `no call "scores": want filter, prioritize, preempt or, where pods are bound, bind`},
		{"bind, which is not served", "/bind", `{}`, 404, `no call "bind": want filter, prioritize, preempt or, where pods are bound, bind`},
		{"too large", "/filter", strings.Repeat(" ", 5000), 413, "the request is larger than 4096 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := cluster(t)
			h := handler(t, s)
			h.MaxBytes = 4096
			before := s.Node("c").Generation()
			status, got := ask(h, tt.path, tt.body)
			if status != tt.status {
				t.Fatalf("status %d: %s, want %d", status, got, tt.status)
			}
			if s.Node("c").Generation() != before {
				t.Error("the snapshot was changed")
			}
			switch {
			case tt.want == "":
			case status != 200:
				if got != tt.want {
					t.Errorf("%s\nwant %s", got, tt.want)
				}
			default:
				var x, y any
				if err := errors.Join(json.Unmarshal([]byte(tt.want), &x), json.Unmarshal([]byte(got), &y)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(x, y); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// half scores by a table, with weight 3, next to a plugin that scores 0.
type half map[string]int64

func (half) Name() string { return "half" }
func (h half) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return h[n.Name()]
}

type nothing struct{}

func (nothing) Name() string                                        { return "nothing" }
func (nothing) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// TestHandlerScale checks how totals become scores: the highest possible total is
// 400 here, so that 10 stands for 400 and every step for 40.
func TestHandlerScale(t *testing.T) {
	for raw, want := range map[int64]int64{0: 0, 1: 0, 6: 0, 7: 1, 33: 2, 60: 5, 100: 8} { // 3*raw/40, rounded half up
		s := cluster(t)
		h := handler(t, s)
		h.Scheduler = scheduler(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: half{"a": raw}, Weight: 3}, {Plugin: nothing{}}}})
		_, got := ask(h, "/prioritize", `{"Pod": `+aPod+`, "NodeNames": ["a", "z"]}`)
		if want := fmt.Sprintf(`[{"Host":"a","Score":%d}]`, want); got != want {
			t.Errorf("raw score %d: %s, want %s", raw, got, want)
		}
	}
	s := cluster(t)
	h := handler(t, s)
	h.Scheduler = scheduler(t, scheduling.Profile{})
	if _, got := ask(h, "/prioritize", `{"Pod": `+aPod+`, "NodeNames": ["a"]}`); got != `[{"Host":"a","Score":0}]` {
		t.Errorf("without scorers %s, want 0", got)
	}
	h.Scheduler = scheduler(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: half{"a": 50}, Weight: 9e16}}})
	if _, got := ask(h, "/prioritize", `{"Pod": `+aPod+`, "NodeNames": ["a"]}`); got != `[{"Host":"a","Score":5}]` {
		t.Errorf("with the heaviest weight %s, want 5", got)
	}
}

func TestHandlerBind(t *testing.T) {
	h := handler(t, cluster(t))
	var bound []extender.BindingArgs
	h.Bind = func(_ context.Context, b extender.BindingArgs) error {
		if b.Node == "b" {
			return errors.New("reserved for databases")
		}
		bound = append(bound, b)
		return nil
	}
	body := `{"PodName": "web", "PodNamespace": "default", "PodUID": "uid-web", "Node": "%s"}`
	if status, got := ask(h, "/bind", fmt.Sprintf(body, "a")); status != 200 || got != `{"Error":""}` {
		t.Errorf("bind to a: %d %s", status, got)
	}
	if status, got := ask(h, "/bind", fmt.Sprintf(body, "b")); status != 200 || got != `{"Error":"reserved for databases"}` {
		t.Errorf("bind to b: %d %s", status, got)
	}
	want := []extender.BindingArgs{{PodName: "web", PodNamespace: "default", PodUID: "uid-web", Node: "a"}}
	if diff := cmp.Diff(want, bound); diff != "" {
		t.Errorf("bound (-want +got):\n%s", diff)
	}
}

func TestHandlerFailures(t *testing.T) {
	filter := `{"Pod": ` + aPod + `, "NodeNames": ["a"]}`
	broken := func(context.Context) (*framework.Snapshot, error) { return nil, errors.New("not synced yet") }
	none := func(context.Context) (*framework.Snapshot, error) { return nil, nil }
	failing := scheduler(t, scheduling.Profile{Filter: []framework.Plugin{panics{}}, Score: []scheduling.Weighted{{Plugin: panics{}}}})
	for _, tt := range []struct {
		name       string
		change     func(*extender.Handler)
		filter     string // the Error of the result
		prioritize string // the text of status 500
	}{
		{"no snapshot yet", func(h *extender.Handler) { h.Snapshot = broken }, "snapshot: not synced yet", "snapshot: not synced yet"},
		{"a snapshot that is nil", func(h *extender.Handler) { h.Snapshot = none }, "snapshot: there is none", "snapshot: there is none"},
		{"no scheduler", func(h *extender.Handler) { h.Scheduler = nil }, "the handler has no Scheduler or no Snapshot", "the handler has no Scheduler or no Snapshot"},
		{
			"a plugin panics", func(h *extender.Handler) { h.Scheduler = failing },
			`running "panics" filter plugin: panic: ouch (node a)`, `running Score plugins: plugin "panics" failed with: panic: ouch (node a)`,
		},
	} {
		h := handler(t, cluster(t))
		tt.change(h)
		status, got := ask(h, "/filter", filter)
		var result extender.FilterResult
		if err := json.Unmarshal([]byte(got), &result); err != nil || status != 200 || result.Error != tt.filter {
			t.Errorf("%s: filter: %d %s, want the error %s", tt.name, status, got, tt.filter)
		}
		if status, got := ask(h, "/prioritize", filter); status != 500 || got != tt.prioritize {
			t.Errorf("%s: prioritize: %d %s, want 500 %s", tt.name, status, got, tt.prioritize)
		}
	}
	w := httptest.NewRecorder()
	handler(t, cluster(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/filter", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: status %d, Allow %q, want 405, POST", w.Code, w.Header().Get("Allow"))
	}
}

type panics struct{}

func (panics) Name() string { return "panics" }

func (panics) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status { panic("ouch") }

func (panics) Score(*framework.PodInfo, *framework.NodeInfo) int64 { panic("ouch") }

// TestBothSides lets one scheduler call another over the network: the verdicts of
// the other's plugins, with their reasons, must be the same as in place.
func TestBothSides(t *testing.T) {
	for _, capable := range []bool{true, false} {
		t.Run(fmt.Sprintf("capable=%t", capable), func(t *testing.T) {
			for seed := range uint64(6) {
				snap, pending, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
				if err != nil {
					t.Fatal(err)
				}
				c := client(t, handler(t, snap), extender.Config{NodeCacheCapable: capable})
				e := c.Extender()
				e.Prioritize, e.Preempt, e.Bind = nil, nil, nil
				local := scheduler(t, scheduling.Kubernetes137())
				remote := scheduler(t, scheduling.Profile{Extenders: []scheduling.Extender{e}})
				for _, pod := range pending {
					x, y := local.Explain(snap, pod), remote.Explain(snap, pod)
					if strings.HasPrefix(x.Error, "running ") || pod.Pod.Status.NominatedNodeName != "" {
						continue // the protocol does not carry the point of a plugin's error
					}
					for i := range x.Nodes {
						feasible := x.Nodes[i].Verdict == scheduling.VerdictFeasible
						reasons := strings.Join(x.Nodes[i].Reasons, ", ")
						if got := y.Nodes[i].Verdict == scheduling.VerdictFeasible; got != feasible || !feasible && (strings.Join(y.Nodes[i].Reasons, ", ") != reasons || y.Nodes[i].Code != x.Nodes[i].Code) {
							t.Fatalf("cluster %d, pod %s, node %s: %+v over the network, %+v here", seed, pod.Pod.Key(), x.Nodes[i].Node, y.Nodes[i], x.Nodes[i])
						}
					}
				}
			}
		})
	}
}

// TestBothSidesPreempt nominates a node that only the other side accepts.
func TestBothSidesPreempt(t *testing.T) {
	s := cluster(t)
	place(t, s, "low-a", "a", "3")
	// On the other side node a is full for another reason, too.
	theirs := cluster(t)
	place(t, theirs, "low-a", "a", "3")
	place(t, theirs, "hidden", "a", "1")
	for _, capable := range []bool{true, false} {
		c := client(t, handler(t, theirs), extender.Config{NodeCacheCapable: capable})
		e := c.Extender()
		e.Filter, e.Prioritize, e.Bind = nil, nil, nil
		p := scheduling.Kubernetes137()
		p.Extenders = []scheduling.Extender{e}
		sched := scheduler(t, p)
		pod := api.MakePod("high").Requests("4", "1Gi").Obj()
		pod.Spec.Priority = new(int32(1000))
		high := info(t, s, pod)
		d, err := sched.Schedule(s, high)
		if err == nil {
			t.Fatal("the pod fits")
		}
		result, _, status, err := sched.PostFilter(background, s, high, d)
		if err != nil || result.Nominated != "c" || len(result.Victims) != 1 || result.Victims[0].Pod.Pod.Name != "low" {
			t.Errorf("capable %t: nominated to %q with victims %v: %v, %v; want c, from where low goes", capable, result.Nominated, result.Victims, status, err)
		}
	}
}

// TestHandlerConcurrently sends requests from many goroutines at once; use -race.
func TestHandlerConcurrently(t *testing.T) {
	s := cluster(t)
	c := client(t, handler(t, s), extender.Config{NodeCacheCapable: true})
	pod := info(t, s, api.MakePod("web").Requests("2", "1Gi").Obj())
	ns := nodes(s, "a b c")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if v, err := c.Filter(background, pod, ns); err != nil || len(v.Nodes) != 1 {
					t.Errorf("Filter = %v, %v, want a alone", v, err)
				}
				if scores, err := c.Prioritize(background, pod, ns); err != nil || len(scores) != 3 {
					t.Errorf("Prioritize = %v, %v", scores, err)
				}
			}
		})
	}
	wg.Wait()
}

package extender_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// cluster returns a snapshot of three nodes, b tainted, and c with a pod on it.
func cluster(tb testing.TB) *framework.Snapshot {
	tb.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []*api.Node{
		api.MakeNode("a", "4", "16Gi").Obj(),
		api.MakeNode("b", "4", "16Gi").Taint("dedicated=db:NoSchedule").Obj(),
		api.MakeNode("c", "4", "16Gi").Obj(),
	} {
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
	}
	place(tb, s, "low", "c", "3")
	return s
}

// place puts a pod on a node; its UID is its name with a prefix.
func place(tb testing.TB, s *framework.Snapshot, name, node, cpu string) {
	tb.Helper()
	pod := api.MakePod(name).Requests(cpu, "1Gi").Obj()
	pod.UID = api.UID("uid-" + name)
	if err := s.AddPod(info(tb, s, pod), node); err != nil {
		tb.Fatal(err)
	}
}

func info(tb testing.TB, s *framework.Snapshot, pod *api.Pod) *framework.PodInfo {
	tb.Helper()
	p, err := s.NewPodInfo(pod)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func nodes(s *framework.Snapshot, names string) []*framework.NodeInfo {
	var out []*framework.NodeInfo
	for name := range strings.FieldsSeq(names) {
		out = append(out, s.Node(name))
	}
	return out
}

func scheduler(tb testing.TB, p scheduling.Profile) *scheduling.Scheduler {
	tb.Helper()
	s, err := scheduling.New(p)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// handler serves the default profile over a snapshot.
func handler(tb testing.TB, s *framework.Snapshot) *extender.Handler {
	tb.Helper()
	return &extender.Handler{
		Scheduler: scheduler(tb, scheduling.Kubernetes137()),
		Snapshot:  func(context.Context) (*framework.Snapshot, error) { return s, nil },
		ErrorText: error.Error,
	}
}

// client returns a client of h, with all verbs.
func client(tb testing.TB, h http.Handler, c extender.Config) *extender.Client {
	tb.Helper()
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	c.URLPrefix = server.URL + "/scheduler/"
	c.FilterVerb, c.PrioritizeVerb, c.PreemptVerb, c.BindVerb, c.Weight = "filter", "prioritize", "preempt", "bind", max(c.Weight, 1)
	e, err := extender.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	return e
}

// answers returns a handler that gives the same answer to everything, and keeps the
// last request.
func answers(asked *string, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if asked != nil {
			*asked = fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"), body)
		}
		_, _ = io.WriteString(w, text)
	})
}

//go:build full

package work

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// canned answers every request with the same text.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

// repeatedVictims is an extender that names the first of n pods of a node n times.
func repeatedVictims(t *testing.T, n int) {
	w := newWorld(t, api.MakeNode("n", "1", "1Gi").Obj())
	for i := range n {
		w.add(w.derive(api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("u", i))).Obj()), "n")
	}
	answer := `{"NodeNameToMetaVictims": {"n": {"Pods": [` + strings.Repeat(`{"UID": "u0"},`, n) + `{"UID": "u0"}]}}}`
	c, err := extender.New(extender.Config{URLPrefix: "http://x", PreemptVerb: "preempt", HTTP: &http.Client{Transport: canned(answer)}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Preempt(context.Background(), w.derive(api.MakePod("p").Obj()), w.snap, nil)
	if err != nil || len(got) != 1 || len(got[0].Victims) != 1 {
		t.Fatal(got, err)
	}
}

// podsOfOneNode are n pods that were made for a node by its name, and change, the first ones
// first.
func podsOfOneNode(t *testing.T, n int) {
	d := newDriver(t)
	var pods []*api.Pod
	for i := range n {
		pods = append(pods, api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("u", i))).Node("n").Obj())
		d.Apply(lifecycle.Update(pods[i]))
	}
	d.Flush(context.Background())
	for _, p := range pods {
		apply(d, changed(p, "x"))
	}
	for _, p := range pods {
		apply(d, lifecycle.Delete(p))
	}
}

// risingPriorities are pods that differ. Each has a higher priority than those before it, and
// takes the place of the last one, which waits again.
func risingPriorities(t *testing.T, n int) {
	o := &api.Objects{Nodes: []*api.Node{api.MakeNode("n", "1", "1Gi").Obj()}}
	for i := range n / 10 {
		name := fmt.Sprint("p", i)
		at := (time.Duration(i) * time.Second).String()
		o.Pods = append(o.Pods, api.MakePod(name).Labels("app", name).Requests("1", "1Mi").Priority(int32(i)).Annotations(simulate.AnnotationArrival, at).Obj())
	}
	trace, err := simulate.FromObjects(o)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	_, err = simulate.Run(context.Background(), simulate.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace,
		Progress: func(p simulate.Progress) { attempts = p.Attempts },
	})
	if m := n / 10; err != nil || attempts > m*m/2+4*m {
		t.Fatalf("%d attempts for %d pods, %v", attempts, m, err)
	}
}

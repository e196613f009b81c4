//go:build full

package simulate_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// TestDeploymentsSpread: the default constraints spread the pods of a Deployment that comes and grows as time passes. By
// resources alone all of them would be in the zone with more space.
func TestDeploymentsSpread(t *testing.T) {
	deployment := func(replicas int) *api.Objects {
		return decode(workload("Deployment", "apps/v1", "web", fmt.Sprintf(`"replicas": %d, "selector": {"matchLabels": {"app": "web"}},`, replicas), "100m", ""))
	}
	c := config(objects([]*api.Node{api.MakeNode("a", "64", "64Gi").Zone("a").Obj(), api.MakeNode("b", "16", "16Gi").Zone("b").Obj()}))
	c.Trace.Events = append(c.Trace.Events,
		simulate.Event{At: 10 * time.Second, Apply: deployment(2)},
		simulate.Event{At: 20 * time.Second, Apply: deployment(4)},
	)
	count := map[string]int{}
	for _, p := range run(c).Pods {
		count[p.Node]++
	}
	if want := map[string]int{"a": 2, "b": 2}; !maps.Equal(count, want) {
		t.Errorf("pods by node: %v, want %v", count, want)
	}
}

// TestIndexedJob: an index comes again after its pod has lost its node, not after it has succeeded.
func TestIndexedJob(t *testing.T) {
	for mode, want := range map[string][]string{
		"Indexed":    {"run-0", "run-1", "run-1", "run-2"},
		"NonIndexed": {"run-0", "run-1", "run-2", "run-3"},
	} {
		text := workload("Job", "batch/v1", "run", fmt.Sprintf(`"completions": 3, "parallelism": 2, "completionMode": %q,`, mode), "1", `"berth-sched.github.io/run-time": "100s"`)
		c := config(objects([]*api.Node{node("a", "1"), node("b", "1"), node("c", "1")}))
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Second, Apply: decode(text)})
		var lost string
		for _, p := range run(c).Pods {
			if p.Pod == "default/run-1" {
				lost = p.Node
			}
		}
		c.Trace.Events = append(c.Trace.Events, simulate.Event{At: 50 * time.Second, Delete: simulate.Ref{Kind: "Node", Name: lost}})
		var got []string
		completed := 0
		for _, p := range run(c).Pods {
			got = append(got, p.Pod[len("default/"):])
			if p.Completed {
				completed++
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) || completed != 3 {
			t.Errorf("%s: pods %v, %d of them completed; want %v and 3", mode, got, completed, want)
		}
	}
}

// TestTwoOfOneName: the pods of a StatefulSet have its numbers beside a Deployment of its name, whichever comes first, and
// in a trace that was written and read.
func TestTwoOfOneName(t *testing.T) {
	list := func(items ...string) *api.Objects {
		return decode(`{"kind": "List", "items": [` + strings.Join(items, ",") + `]}`)
	}
	of := func(kind string, replicas int) string {
		return workload(kind, "apps/v1", "db", fmt.Sprintf(`"replicas": %d,`, replicas), "100m", "")
	}
	deployments, set := list(cpuNode("n", "4"), of("Deployment", 1)), list(of("StatefulSet", 2))
	for name, first := range map[string][]*api.Objects{
		"together": {list(cpuNode("n", "4"), of("Deployment", 1), of("StatefulSet", 2))}, "set last": {deployments, set}, "set first": {set, deployments},
	} {
		c := config(first[0])
		for _, o := range first[1:] {
			c.Trace.Events = append(c.Trace.Events, simulate.Event{Apply: o})
		}
		c.Trace.Events = append(c.Trace.Events,
			simulate.Event{At: time.Minute, Apply: list(of("StatefulSet", 1))}, simulate.Event{At: 2 * time.Minute, Apply: list(of("Deployment", 2))})
		want := []string{"db-0 0..-", "db-1 1..60", "db-deployment-0 0..-", "db-deployment-1 120..-"}
		t.Run(name, func(t *testing.T) { wantSummary(t, run(c), want...) })
		var written bytes.Buffer
		if err := c.Trace.Write(&written); err != nil {
			t.Fatal(err)
		}
		again, err := simulate.ReadTrace(&written)
		if err != nil {
			t.Fatal(err)
		}
		c.Trace = again
		t.Run(name+", read", func(t *testing.T) { wantSummary(t, run(c), want...) })
	}
}

//go:build full

package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// restless is a trace of workloads that come, change, own each other and go, of pods that are
// theirs, and of nodes that flap.
func restless(t *testing.T, seed uint64) *Trace {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	trace := &Trace{}
	there, pods := map[Ref]bool{}, 0
	for i := range 80 {
		e := Event{At: time.Duration(i/2) * time.Minute}
		name := fmt.Sprint("w", r.IntN(3))
		kind := pick("Deployment", "ReplicaSet", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
		owner := ""
		if kind == "ReplicaSet" && r.IntN(3) > 0 {
			owner = fmt.Sprintf(`"ownerReferences": [{"kind": "Deployment", "name": "w%d", "controller": true}],`, r.IntN(3))
		}
		switch text, n := "", r.IntN(12); {
		case i == 0 || n < 2:
			node := pick("a", "b")
			if i == 0 {
				node = "a"
			}
			text = fmt.Sprintf(`{"kind": "Node", "metadata": {"name": %q}, "status": {"allocatable": {"cpu": "%d", "memory": "4Gi", "pods": "110"}}}`, node, 4+r.IntN(3))
			e.Apply, there[Ref{"Node", node}] = decoded(t, text), true
		case n == 2:
			e.Delete = Ref{"Node", "b"}
		case n < 5:
			e.Delete = Ref{kind, "x/" + name}
		case n == 5:
			pods++
			text = fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": "p%d", "namespace": "x", "ownerReferences": [{"kind": %q, "name": %q, "controller": true}]},
				"spec": {"containers": [{"name": "c"}]}}`, pods, pick("ReplicaSet", "StatefulSet", "Job"), name)
			e.Apply = decoded(t, text)
		default:
			count := pick("replicas", "replicas", "paused")
			if kind == "Job" {
				count = "parallelism"
			}
			text = fmt.Sprintf(`{"kind": %q, "apiVersion": %q, "metadata": {"name": %q, "namespace": "x", %s "creationTimestamp": "2026-01-0%dT00:00:00Z"}, "spec": {%s
				"template": {"metadata": {"annotations": {"berth-sched.github.io/run-time": %q}, "labels": {"app": "a%d"}},
				"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "%d"}}}]}}}}`,
				kind, map[string]string{"Job": "batch/v1"}[kind], name, owner, 1+r.IntN(2), countField(kind, count, r.IntN(4)),
				pick("7m", "31m", "1000h"), r.IntN(2), r.IntN(2))
			e.Apply, there[Ref{kind, "x/" + name}] = decoded(t, text), true
		}
		if e.Apply == nil {
			if !there[e.Delete] {
				continue
			}
			delete(there, e.Delete)
		}
		trace.Events = append(trace.Events, e)
	}
	return trace
}

// countField is the field that says how many pods a workload of the kind wants.
func countField(kind, field string, n int) string {
	if kind == "DaemonSet" || field == "paused" {
		return ""
	}
	return fmt.Sprintf("%q: %d,", field, n)
}

func decoded(t *testing.T, text string) *api.Objects {
	t.Helper()
	o, err := api.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

// TestDue checks after every event that each workload has the pods that it wants, unless it is
// noted as one to look at, or owns others.
func TestDue(t *testing.T) {
	checked, owners, daemons := 0, 0, 0
	for seed := range uint64(100) {
		w, err := newWorld(&Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: restless(t, seed), Until: 2 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.config.Trace.Events {
			w.clock.AfterFunc(e.At, func() {
				w.happen()
				for ref, c := range w.controllers {
					want, err := c.Replicas()
					switch {
					case err != nil:
						t.Fatal(err)
					case len(w.owned[ref]) > 0:
						owners++
						continue
					case slices.Contains(w.changed, c), c.Ordered && slices.ContainsFunc(c.pods(), func(l *life) bool { return !l.started }):
						continue
					case c.Kind == "DaemonSet":
						want = len(w.nodes)
						daemons++
					case c.Kind == "Job":
						switch {
						case c.Completions != nil:
							want = max(0, min(want, int(*c.Completions)-c.succeeded))
						case c.succeeded > 0:
							continue // it makes no pods any more
						}
					}
					have := len(c.live)
					if c.Ordered { // other pods that it owns are nobody's
						have = len(slices.DeleteFunc(c.pods(), func(l *life) bool { return c.numberOf(l) < 0 }))
					}
					if checked++; have != want {
						t.Fatalf("seed %d, %v: %s has %d pods, want %d", seed, w.now(), c.Label(), have, want)
					}
				}
			})
			w.expect(w.begin.Add(e.At))
		}
		if err := w.live(context.Background()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if checked < 1000 || owners < 100 || daemons < 100 {
		t.Fatalf("%d workloads were checked, %d of them DaemonSets, beside %d owners: want more", checked, daemons, owners)
	}
}

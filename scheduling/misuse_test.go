//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
)

// bomb is a plugin with every method that the two paths may call. When armed, it
// panics in the method of one name.
type bomb struct {
	method string
	armed  *bool
}

func (b bomb) tick(method string) {
	if *b.armed && b.method == method {
		panic("boom")
	}
}

func (b bomb) Name() string { return "bomb" }

func (b bomb) Scope(*framework.PodInfo) framework.Scope {
	b.tick("Scope")
	s := framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
	switch b.method {
	case "ValidUntil":
		s.Reads |= framework.ReadsTime
	case "Version", "Changed":
		s.Reads |= framework.ReadsDomain
	}
	return s
}

func (b bomb) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	b.tick("PreFilter")
	return framework.PreFiltered{Filter: b}, framework.Status{}
}

func (b bomb) PreScore(*framework.Cycle, []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	b.tick("PreScore")
	return b, framework.Status{}
}

func (b bomb) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.tick("Filter")
	if b.method == "Reasons" {
		return framework.NewStatus(framework.Unschedulable, b)
	}
	return framework.Status{}
}

func (b bomb) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	b.tick("Score")
	return int64(len(n.Pods))
}

func (b bomb) NormalizeScore(raw, _, _ int64) int64 {
	b.tick("NormalizeScore")
	return raw
}

func (b bomb) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	b.tick("ValidUntil")
	return time.Time{}
}

func (b bomb) Version() uint64 {
	b.tick("Version")
	return 1
}

func (b bomb) Changed(uint64, func(int)) bool {
	b.tick("Changed")
	return false
}

func (b bomb) Reasons(uint64) []string {
	b.tick("Reasons")
	return []string{"no"}
}

// TestPanics has a plugin panic in every method in turn, once its answers are kept.
// Either the cycle fails with an error that names the plugin, or the reference path,
// which does not need the method, decides. The next cycle works as before.
func TestPanics(t *testing.T) {
	for _, off := range []bool{true, false} {
		for _, method := range []string{
			"Scope", "PreFilter", "PreScore", "Filter", "Score", "NormalizeScore", "ValidUntil", "Version", "Changed", "Reasons",
		} {
			t.Run(fmt.Sprintf("%s/plain=%t", method, off), func(t *testing.T) {
				armed := false
				b := bomb{method, &armed}
				sched := build(t, scheduling.Profile{
					Filter: []framework.Plugin{b}, Score: []scheduling.Weighted{{Plugin: b}}, Cache: scheduling.CacheConfig{Off: off},
				})
				s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
				try := func(what string, may ...string) {
					t.Helper()
					_, err := sched.Place(s, podInfo(t, s, api.MakePod("p").Obj()))
					if err == nil {
						return
					}
					for _, part := range may {
						if strings.Contains(err.Error(), part) {
							return
						}
					}
					t.Errorf("%s: %v", what, err)
				}
				rejects := "0/2 nodes are available: 2 no."
				for range 3 {
					try("before", rejects)
				}
				armed = true
				for range 2 {
					try("armed", `plugin "bomb"`, `"bomb" filter plugin`, "0/2 nodes are available: 2 scheduling_test.bomb: panic: boom.")
				}
				armed = false
				try("after", rejects)
			})
		}
	}
}

// moody cannot decide about the node that a pod's label names.
type moody struct{}

func (moody) Name() string { return "moody" }

func (moody) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch p.Pod.Labels["error-on"] {
	case n.Name():
		return framework.AsStatus(errors.New("no idea"))
	case "any":
		return framework.AsStatus(errors.New("no idea at all"))
	}
	return framework.Status{}
}

// TestParallelismAfterErrors checks that a search that ends early ends at the same
// node with any number of workers, because the next search starts there.
func TestParallelismAfterErrors(t *testing.T) {
	run := func(workers int) (answers []string) {
		var nodes []*api.Node
		for i := range 9 {
			nodes = append(nodes, api.MakeNode(fmt.Sprintf("n%d", i), "4", "4Gi").Obj())
		}
		s := smallCluster(t, nodes...)
		sched := build(t, scheduling.Profile{
			Filter: []framework.Plugin{moody{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}, TieRule: scheduling.First,
			Parallelism: workers, Cache: scheduling.CacheConfig{Off: true},
		})
		for _, node := range []string{"", "n5", "", "n2", "any", "", "n0"} {
			d, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Labels("error-on", node).Obj()))
			answers = append(answers, fmt.Sprintf("%q of %d, %d feasible: %v", d.Node, d.Evaluated, d.Feasible, err))
		}
		return answers
	}
	want := []string{
		`"n0" of 9, 9 feasible: <nil>`,
		`"" of 5, 5 feasible: running "moody" filter plugin: no idea (node n5)`,
		`"n5" of 9, 9 feasible: <nil>`,
		`"" of 6, 6 feasible: running "moody" filter plugin: no idea (node n2)`,
		`"" of 0, 0 feasible: running "moody" filter plugin: no idea at all (node n2)`,
		`"n2" of 9, 9 feasible: <nil>`,
		`"" of 7, 7 feasible: running "moody" filter plugin: no idea (node n0)`,
	}
	for _, workers := range []int{1, 2, 4, 20} {
		if diff := cmp.Diff(want, run(workers)); diff != "" {
			t.Errorf("%d workers (-want +got):\n%s", workers, diff)
		}
	}
}

// A filter that cannot decide ends the search: neither the node that it was asked
// about nor later nodes have a verdict.
func TestExplainError(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj(), api.MakeNode("c", "4", "4Gi").Obj())
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{moody{}}, Score: []scheduling.Weighted{{Plugin: emptier{}}}})
	e := sched.Explain(s, podInfo(t, s, api.MakePod("p").Labels("error-on", "b").Obj()))
	want := []scheduling.NodeExplanation{
		{Node: "a", Verdict: scheduling.VerdictFeasible},
		{Node: "b", Verdict: scheduling.VerdictSampled},
		{Node: "c", Verdict: scheduling.VerdictSampled},
	}
	if diff := cmp.Diff(want, e.Nodes); diff != "" {
		t.Errorf("Nodes (-want +got):\n%s", diff)
	}
	if want := `running "moody" filter plugin: no idea (node b)`; e.Error != want {
		t.Errorf("Error = %q, want %q", e.Error, want)
	}
}

// panickyBatch scores nodes in one call, which panics.
type panickyBatch struct{}

func (panickyBatch) Name() string                                        { return "panickyBatch" }
func (panickyBatch) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }
func (panickyBatch) ScoreNodes(*framework.PodInfo, []*framework.NodeInfo, []int64) {
	panic("boom")
}

// The error of a batch does not name a node, whichever path called the scorer.
func TestBatchPanic(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
	for _, workers := range []int{1, 2} {
		sched := build(t, scheduling.Profile{Score: []scheduling.Weighted{{Plugin: panickyBatch{}}}, Parallelism: workers})
		_, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Obj()))
		if want := `running Score plugins: plugin "panickyBatch" failed with: panic: boom`; fmt.Sprint(err) != want {
			t.Errorf("%d workers: error %v, want %s", workers, err, want)
		}
	}
}

// TestForeignPod checks that a pod of another snapshot is refused before anything is
// counted: vectors of two schemas must not meet.
func TestForeignPod(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
	elsewhere := podInfo(t, framework.NewSnapshot(framework.Arrival), api.MakePod("p").Obj())
	own := podInfo(t, s, api.MakePod("p").Obj())
	for _, tt := range []struct {
		name string
		snap *framework.Snapshot
		pod  *framework.PodInfo
		want string
	}{
		{"another snapshot's", s, elsewhere, "pod default/p: its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo"},
		{"nil pod", s, nil, "pod: is nil"},
		{"zero pod", s, new(framework.PodInfo), "pod: is nil"},
		{"nil snapshot", nil, own, "snapshot: is nil"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, off := range []bool{true, false} {
				sched := build(t, scheduling.Profile{Cache: scheduling.CacheConfig{Off: off}})
				_, err := sched.Place(tt.snap, tt.pod)
				var invalid *api.InvalidError
				if !errors.As(err, &invalid) || err.Error() != tt.want {
					t.Errorf("Place: error %v, want %s", err, tt.want)
				}
				if got := sched.Explain(tt.snap, tt.pod).Error; got != tt.want {
					t.Errorf("Explain: error %q, want %s", got, tt.want)
				}
				if d, err := sched.Schedule(s, own); err != nil || d.Number != 0 {
					t.Errorf("Schedule afterwards: decision %d, error %v, want 0, nil", d.Number, err)
				}
			}
		})
	}
	sched := build(t, scheduling.Profile{})
	fork := s.Fork()
	if _, err := sched.Place(fork, own); err != nil {
		t.Errorf("a fork refuses its origin's pod: %v", err)
	}
}

// A nil pointer is not a plugin, even if its type has the methods of one.
func TestNilPointerAsPlugin(t *testing.T) {
	var none *recorder
	_, err := scheduling.New(scheduling.Profile{Name: "p", Reserve: []framework.Plugin{none}})
	if want := `profile "p": Reserve[0]: the plugin is nil`; fmt.Sprint(err) != want {
		t.Errorf("New: error %v, want %s", err, want)
	}
}

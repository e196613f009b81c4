package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

// TestPreemption: victims are evicted, and the nominated pod waits for them to
// leave; pods of lower priority do not get its room.
func TestPreemption(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	w.nodes(api.MakeNode("n", "2", "8Gi"))
	low := api.MakePod("low").Requests("2", "1Gi").Node("n")
	high := api.MakePod("high").Requests("2", "1Gi").Priority(10)
	w.pods(low, high)
	a := w.one()
	if a.State != lifecycle.Failed || a.Nominated != "n" || len(a.Victims) != 1 {
		t.Fatalf("attempt: %v, nominated %q, %d victims", a.State, a.Nominated, len(a.Victims))
	}
	if diff := cmp.Diff([]string{"low for high"}, w.evicted); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
	if got := w.reports[0]; !strings.Contains(got, "Unschedulable") || !strings.HasSuffix(got, `nominated "n"`) {
		t.Errorf("report %q", got)
	}
	w.depth(queue.Length{Unschedulable: 1})
	if n := w.d.Snapshot().Node("n"); len(n.Nominated) != 1 || n.Nominated[0].Pod.Name != "high" {
		t.Errorf("%d pods are nominated to the node", len(n.Nominated))
	}

	// The victim is gone, and a pod of lower priority comes first.
	w.d.Apply(lifecycle.Delete(low.Obj()))
	w.pods(api.MakePod("between").Requests("1", "1Gi").Priority(5))
	states := map[string]lifecycle.State{}
	for _, a := range w.all() {
		states[a.Pod.Pod.Name] = a.State
	}
	if diff := cmp.Diff(map[string]lifecycle.State{"high": lifecycle.Bound, "between": lifecycle.Failed}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if n := w.d.Snapshot().Nominations(); n != 0 {
		t.Errorf("%d nominations are left", n)
	}
	w.noProblems()
}

// TestForbiddenEvictions: a pod whose victims cannot be asked to leave is tried again
// without an event, ever later, and never twice at one instant, whatever the backoff is.
func TestForbiddenEvictions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		backoff queue.Backoff
		want    []int // the seconds of the attempts
	}{
		{"kube-scheduler's", queue.Backoff{}, []int{0, 1, 3, 7, 15, 25, 35, 45, 55}},
		{"none", queue.Backoff{Max: queue.NoBackoff}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Backoff: tt.backoff, FullBackoff: true}, lifecycle.NewHandle())
			w.forbid = errors.New("forbidden")
			w.nodes(api.MakeNode("n", "2", "8Gi"))
			w.pods(api.MakePod("low").Requests("2", "1Gi").Node("n"), api.MakePod("high").Requests("2", "1Gi").Priority(10))
			var at []int
			for second := range 60 {
				if a, ok := w.d.ScheduleOne(w.ctx); ok {
					at = append(at, second)
					if a.Nominated != "n" || a.State != lifecycle.Failed || !strings.HasPrefix(fmt.Sprint(a.Err), "0/1 nodes are available") {
						t.Fatalf("attempt in second %d: %v, nominated %q, %v", second, a.State, a.Nominated, a.Err)
					}
				}
				if a, ok := w.d.ScheduleOne(w.ctx); ok {
					t.Fatalf("second %d: pod %s is tried twice", second, a.Pod.Pod.Name)
				}
				w.pass(time.Second)
			}
			if diff := cmp.Diff(tt.want, at); tt.want != nil && diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if len(at) < 2 || len(w.evicted) != len(at) || len(w.problems) != len(at) {
				t.Errorf("%d attempts, %d evictions, %d problems, want as many of each, and 2 or more", len(at), len(w.evicted), len(w.problems))
			}
			if got := w.reports[0]; !strings.Contains(got, "Unschedulable 0/1 nodes are available") {
				t.Errorf("report %q", got)
			}
			w.forbid = nil
			w.pass(time.Minute)
			if a := w.one(); a.Nominated != "n" {
				t.Errorf("attempt with the right: nominated %q", a.Nominated)
			}
			w.depth(queue.Length{Unschedulable: 1}) // it waits for the victim
		})
	}
}

// TestNominationKeepsRoom: while the preemptor backs off, no pod of lower priority
// gets its room. The nomination survives its node and ends with the pod.
func TestNominationKeepsRoom(t *testing.T) {
	w := newWorld(t, scheduling.Kubernetes137())
	node := api.MakeNode("n", "2", "8Gi")
	w.nodes(node)
	high := api.MakePod("high").Requests("2", "1Gi").Priority(10).Nominated("n").Gates("later")
	w.pods(high, api.MakePod("low").Requests("1", "1Gi"))
	if a := w.one(); a.State != lifecycle.Failed {
		t.Errorf("low: %v, want Failed: the room is another's", a.State)
	}
	w.d.Apply(lifecycle.Delete(node.Obj()))
	w.nodes(node)
	w.d.Flush(w.ctx)
	if got := w.d.Snapshot().Nominations(); got != 1 {
		t.Errorf("%d nominations after the node came back, want 1", got)
	}
	for _, a := range w.all() {
		if a.State != lifecycle.Failed {
			t.Errorf("pod %s: %v, want Failed", a.Pod.Pod.Name, a.State)
		}
	}
	w.d.Apply(lifecycle.Delete(high.Obj()))
	w.pass(time.Minute)
	attempts := w.all()
	if len(attempts) != 1 || attempts[0].State != lifecycle.Bound || w.d.Snapshot().Nominations() != 0 {
		t.Errorf("after the nominated pod left: %d attempts, %d nominations", len(attempts), w.d.Snapshot().Nominations())
	}
	w.noProblems()
}

// chooser is a PostFilter that always makes the same proposal.
type chooser struct {
	name   string
	result func(c *framework.Cycle) framework.PostFiltered
	status framework.Status
	calls  *[]string
}

func (p chooser) Name() string { return p.name }

func (p chooser) PostFilter(_ context.Context, c *framework.Cycle, _ framework.Verdicts) (framework.PostFiltered, framework.Status) {
	*p.calls = append(*p.calls, p.name)
	if p.result == nil {
		return framework.PostFiltered{}, p.status
	}
	return p.result(c), p.status
}

func TestPostFilterOrder(t *testing.T) {
	to := func(node string) func(*framework.Cycle) framework.PostFiltered {
		return func(*framework.Cycle) framework.PostFiltered {
			return framework.PostFiltered{Nominated: node, Override: true}
		}
	}
	no, never := framework.UnschedulableStatus("no"), framework.UnresolvableStatus("never")
	for _, tt := range []struct {
		name      string
		plugins   []chooser
		calls     []string
		message   string
		nominated string
		problems  []string
	}{
		{"success ends it", []chooser{{name: "a", status: no}, {name: "b", result: to("n")}, {name: "c"}}, []string{"a", "b"}, "", "n", nil},
		{"so does for good", []chooser{{name: "a", status: never}, {name: "b"}}, []string{"a"}, " never", "old", nil},
		{"all refuse", []chooser{{name: "a", status: no}, {name: "b", result: to(""), status: framework.UnschedulableStatus("nor I")}}, []string{"a", "b"}, " no, nor I", "", nil},
		{"nothing is proposed", []chooser{{name: "a", status: no}}, []string{"a"}, " no", "old", nil},
		{
			"error",
			[]chooser{{name: "a", status: framework.AsStatus(errors.New("broken"))}, {name: "b"}},
			[]string{"a"},
			" broken", "old",
			[]string{`running PostFilter plugin "a": broken`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			p := scheduling.Profile{Filter: []framework.Plugin{listener{nil}}}
			for _, c := range tt.plugins {
				c.calls = &calls
				p.PostFilter = append(p.PostFilter, c)
			}
			w := newWorld(t, p)
			w.nodes(api.MakeNode("n", "1", "1Gi"), api.MakeNode("old", "1", "1Gi"))
			w.pods(api.MakePod("p").Nominated("old"))
			a := w.one()
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if want := "0/2 nodes are available: 2 never." + tt.message; a.Err.Error() != want {
				t.Errorf("error %q, want %q", a.Err, want)
			}
			if a.Nominated != tt.nominated {
				t.Errorf("nominated %q, want %q", a.Nominated, tt.nominated)
			}
			if diff := cmp.Diff(tt.problems, w.problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWaitingVictim: a victim that waits on Permit is not evicted. Its own attempt
// ends, and the preemptor is tried again.
func TestWaitingVictim(t *testing.T) {
	var calls []string
	p := scheduling.Kubernetes137()
	p.Permit = []framework.Plugin{patient{"low"}}
	p.Reserve = []framework.Plugin{probe{name: "r", calls: &calls}}
	w := newWorld(t, p)
	w.nodes(api.MakeNode("n", "2", "8Gi"))
	w.pods(api.MakePod("low").Requests("2", "1Gi"))
	if a := w.one(); a.State != lifecycle.Waiting {
		t.Fatalf("low: %v, want Waiting", a.State)
	}
	w.pods(api.MakePod("high").Requests("2", "1Gi").Priority(10))
	w.pass(time.Second)
	attempts := w.all()
	if w.bound["high"] != "n" {
		t.Errorf("high is not bound after %d attempts", len(attempts))
	}
	if len(w.evicted) != 0 {
		t.Errorf("evicted %v, want none", w.evicted)
	}
	if diff := cmp.Diff([]string{"Reserve r", "Unreserve r", "Reserve r"}, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	w.noProblems()
}

// patient makes one pod wait for ever.
type patient struct{ pod string }

func (patient) Name() string { return "patient" }

func (p patient) Permit(_ context.Context, c *framework.Cycle, _ string) (framework.Status, time.Duration) {
	if c.Pod.Pod.Name == p.pod {
		return wait, time.Hour
	}
	return framework.Status{}, 0
}

// A mourner remembers who must leave, and whether it had been asked to by then.
type mourner struct {
	w    *world
	told []string
}

func (m *mourner) Attempt(*lifecycle.Attempt) {}

func (m *mourner) Evicting(e lifecycle.Eviction) {
	m.told = append(m.told, fmt.Sprintf("%s from %s after %d at %v", e.Victim.Name, e.Node, len(m.w.evicted), e.At.Equal(m.w.clock.Now())))
}

// TestEvictionObserver: an observer is told of each victim before the Evicter is.
func TestEvictionObserver(t *testing.T) {
	m := &mourner{}
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Observer: m}, nil)
	m.w = w
	w.nodes(api.MakeNode("n", "2", "8Gi"))
	low := api.MakePod("").Requests("1", "1Gi").Node("n")
	w.pods(low.Name("low-0"), low.Name("low-1"), api.MakePod("high").Requests("2", "1Gi").Priority(10))
	w.one()
	want := []string{"low-0 from n after 0 at true", "low-1 from n after 1 at true"}
	if diff := cmp.Diff(want, m.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	w.noProblems()
}

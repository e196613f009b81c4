package lifecycle_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

// TestPoints sends a pod past three plugins that serve every point after Filter. One
// of them may give another answer than Success at one point.
func TestPoints(t *testing.T) {
	skip := framework.SkipStatus()
	reject := framework.UnschedulableStatus("no")
	pending := framework.UnschedulableStatus("later").WithCode(framework.Pending)
	broken := framework.AsStatus(errors.New("broken"))
	reserved := []string{"Reserve a", "Reserve b", "Reserve c"}
	permitted := append(reserved[:3:3], "Permit a", "Permit b", "Permit c")
	prebound := append(permitted[:6:6], "PreBind a", "PreBind b", "PreBind c")
	undone := []string{"Unreserve c", "Unreserve b", "Unreserve a"}
	posted := []string{"PostBind a", "PostBind b", "PostBind c"}
	unschedulable, backoff, none := queue.Length{Unschedulable: 1}, queue.Length{Backoff: 1}, queue.Length{}
	for _, tt := range []struct {
		name    string
		answers map[string]framework.Status
		calls   [][]string
		err     string
		depth   queue.Length
	}{
		{"all agree", nil, [][]string{prebound, {"Bind a"}, posted}, "", none},
		{
			"Bind: skip",
			map[string]framework.Status{"Bind a": skip, "Bind b": skip},
			[][]string{prebound, {"Bind a", "Bind b", "Bind c"}, posted},
			"", none,
		},
		{
			"Reserve: rejected",
			map[string]framework.Status{"Reserve b": reject},
			[][]string{reserved[:2], undone},
			"0/1 nodes are available: 1 no.", unschedulable,
		},
		{
			"Reserve: error",
			map[string]framework.Status{"Reserve c": broken},
			[][]string{reserved, undone},
			`running Reserve plugin "c": broken (node n)`, backoff,
		},
		{
			"Permit: rejected",
			map[string]framework.Status{"Permit b": reject},
			[][]string{permitted[:5], undone},
			"0/1 nodes are available: 1 no.", unschedulable,
		},
		{
			"Permit: pending",
			map[string]framework.Status{"Permit a": pending},
			[][]string{permitted[:4], undone},
			"0/1 nodes are available: 1 later.", unschedulable,
		},
		{
			"Permit: error",
			map[string]framework.Status{"Permit a": broken},
			[][]string{permitted[:4], undone},
			`running Permit plugin "a": broken`, backoff,
		},
		{
			"Permit: skip",
			map[string]framework.Status{"Permit a": skip},
			[][]string{permitted[:4], undone},
			`running Permit plugin "a": unexpected status Skip`, backoff,
		},
		{
			"PreBind: rejected",
			map[string]framework.Status{"PreBind b": reject},
			[][]string{prebound[:8], undone},
			"0/1 nodes are available: 1 no.", backoff,
		},
		{
			"PreBind: error",
			map[string]framework.Status{"PreBind c": broken},
			[][]string{prebound, undone},
			`running PreBind plugin "c": broken`, backoff,
		},
		{
			"Bind: rejected",
			map[string]framework.Status{"Bind a": skip, "Bind b": reject},
			[][]string{prebound, {"Bind a", "Bind b"}, undone},
			"0/1 nodes are available: 1 no.", backoff,
		},
		{
			"Bind: error",
			map[string]framework.Status{"Bind a": broken},
			[][]string{prebound, {"Bind a"}, undone},
			`running Bind plugin "a": broken`, backoff,
		},
		{
			"Bind: all skip",
			map[string]framework.Status{"Bind a": skip, "Bind b": skip, "Bind c": skip},
			[][]string{prebound, {"Bind a", "Bind b", "Bind c"}, undone},
			"pod default/p: every Bind plugin skipped it", backoff,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			// An empty list of events: nothing wakes the pod by itself.
			profile := probes(&calls, tt.answers, nil, "a", "b", "c")
			for i, p := range profile.Reserve {
				profile.Reserve[i] = deaf{p.(probe)}
				profile.Permit[i] = profile.Reserve[i]
			}
			w := newWorld(t, profile)
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.pods(api.MakePod("p").Requests("1", "1Gi"))
			a := w.one()
			var want []string
			for _, part := range tt.calls {
				want = append(want, part...)
			}
			if diff := cmp.Diff(want, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			switch {
			case tt.err == "" && (a.State != lifecycle.Bound || a.Err != nil):
				t.Errorf("state %v, error %v, want Bound", a.State, a.Err)
			case tt.err != "" && (a.State != lifecycle.Failed || fmt.Sprint(a.Err) != tt.err):
				t.Errorf("state %v, error %v, want Failed, %s", a.State, a.Err, tt.err)
			}
			w.depth(tt.depth)
			if tt.err == "" {
				w.wantOn("n", "p")
			} else {
				w.wantOn("n")
				if cpu := w.d.Snapshot().Node("n").Requested.At(0); cpu != 0 {
					t.Errorf("%d milli-CPU are still reserved", cpu)
				}
			}
			w.noProblems()
		})
	}
}

// deaf is a probe that no event helps.
type deaf struct{ probe }

func (deaf) EventsToRegister() []queueing.EventHint { return nil }

// TestPanicsFailOnePod: a plugin that panics at any point fails the attempt with an
// error that names it; no reservation remains.
func TestPanicsFailOnePod(t *testing.T) {
	for _, tt := range []struct{ point, err string }{
		{"Reserve", `running Reserve plugin "bad": panic: oh (node n)`},
		{"Permit", `running Permit plugin "bad": panic: oh`},
		{"PreFlight", `running PreBindPreFlight "bad": panic: oh`},
		{"PreBind", `running PreBind plugin "bad": panic: oh`},
		{"Bind", `running Bind plugin "bad": panic: oh`},
	} {
		t.Run(tt.point, func(t *testing.T) {
			var calls []string
			good := probe{name: "good", calls: &calls}
			bad := panicker{flyer{probe{name: "bad", calls: &calls}}, tt.point}
			both := []framework.Plugin{good, bad}
			w := newWorld(t, scheduling.Profile{Reserve: both, Permit: both, PreBind: both, Bind: []framework.Plugin{bad}, PostBind: both})
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.pods(api.MakePod("p"))
			a := w.one()
			if fmt.Sprint(a.Err) != tt.err {
				t.Errorf("error %v, want %s", a.Err, tt.err)
			}
			if last := calls[len(calls)-2:]; last[0] != "Unreserve bad" || last[1] != "Unreserve good" {
				t.Errorf("the last calls are %v", last)
			}
			w.wantOn("n")
			w.depth(queue.Length{Backoff: 1})
		})
	}
	t.Run("PostBind", func(t *testing.T) {
		var calls []string
		bad := panicker{flyer{probe{name: "bad", calls: &calls}}, "PostBind"}
		w := newWorld(t, scheduling.Profile{PostBind: []framework.Plugin{bad, probe{name: "good", calls: &calls}}})
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(api.MakePod("p"))
		if a := w.one(); a.State != lifecycle.Bound {
			t.Errorf("state %v, want Bound", a.State)
		}
		w.d.Flush(w.ctx)
		if diff := cmp.Diff([]string{`running PostBind plugin "bad": panic: oh`}, w.problems); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"PostBind good"}, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
	t.Run("Binder", func(t *testing.T) {
		w := newWorld(t, scheduling.Profile{})
		w.refuse = func(*api.Pod, string) error { panic("oh") }
		w.nodes(api.MakeNode("n", "4", "8Gi"))
		w.pods(api.MakePod("p"))
		if a := w.one(); fmt.Sprint(a.Err) != "binder: panic: oh" {
			t.Errorf("error %v", a.Err)
		}
		w.wantOn("n")
	})
}

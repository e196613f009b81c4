package scheduling_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
)

// binder is a PreBind plugin that logs when it begins and ends.
type binder struct {
	name     string
	parallel bool
	flight   framework.Status
	status   framework.Status
	hangs    bool // until the context is done
	log      *eventLog
}

// eventLog may be written by many goroutines at once.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *eventLog) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (b binder) Name() string { return b.name }

func (b binder) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	return b.parallel, b.flight
}

func (b binder) PreBind(ctx context.Context, _ *framework.Cycle, _ string) framework.Status {
	b.log.note("begin " + b.name)
	if b.hangs {
		<-ctx.Done()
		return framework.AsStatus(ctx.Err())
	}
	time.Sleep(2 * time.Millisecond)
	b.log.note("end " + b.name)
	return b.status
}

// bindingOf places a pod and returns its binding.
func bindingOf(t *testing.T, p scheduling.Profile) *scheduling.Binding {
	t.Helper()
	s := smallCluster(t, api.MakeNode("n", "4", "4Gi").Obj())
	sched := build(t, p)
	pod := podInfo(t, s, api.MakePod("p").Obj())
	d, err := sched.Place(s, pod)
	if err != nil {
		t.Fatal(err)
	}
	return sched.Binding(pod, d)
}

// TestPreBindGroups: neighbouring parallel plugins run together. A plugin that is
// not parallel closes the group, even if it has nothing to do.
func TestPreBindGroups(t *testing.T) {
	skip := framework.SkipStatus()
	for _, tt := range []struct {
		name    string
		plugins []binder // without log
		groups  [][]string
		acts    bool
	}{
		{"alone", []binder{{name: "a"}, {name: "b"}}, [][]string{{"a"}, {"b"}}, true},
		{"together", []binder{{name: "a", parallel: true}, {name: "b", parallel: true}}, [][]string{{"a", "b"}}, true},
		{
			"a parallel one that skips does not break the group",
			[]binder{{name: "a", parallel: true}, {name: "b", parallel: true, flight: skip}, {name: "c", parallel: true}},
			[][]string{{"a", "c"}},
			true,
		},
		{
			"another one that skips does",
			[]binder{{name: "a", parallel: true}, {name: "b", flight: skip}, {name: "c", parallel: true}},
			[][]string{{"a"}, {"c"}},
			true,
		},
		{
			"one in between",
			[]binder{{name: "a", parallel: true}, {name: "b", parallel: true}, {name: "c"}, {name: "d", parallel: true}, {name: "e", parallel: true}},
			[][]string{{"a", "b"}, {"c"}, {"d", "e"}},
			true,
		},
		{"all skip", []binder{{name: "a", flight: skip}, {name: "b", parallel: true, flight: skip}}, nil, false},
		{"none", nil, nil, false},
	} {
		for _, concurrent := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/concurrent %t", tt.name, concurrent), func(t *testing.T) {
				log := &eventLog{}
				var p scheduling.Profile
				for _, b := range tt.plugins {
					b.log = log
					p.PreBind = append(p.PreBind, b)
				}
				b := bindingOf(t, p)
				acts, err := b.PreFlight(context.Background())
				if err != nil || acts != tt.acts {
					t.Errorf("PreFlight = %t, %v, want %t", acts, err, tt.acts)
				}
				if err := b.PreBind(context.Background(), concurrent); err != nil {
					t.Error(err)
				}
				at := 0
				for _, group := range tt.groups {
					lines := slices.Clone(log.lines[at : at+2*len(group)])
					at += len(lines)
					var want []string
					for _, name := range group {
						want = append(want, "begin "+name, "end "+name)
					}
					if !concurrent {
						if diff := cmp.Diff(want, lines); diff != "" {
							t.Errorf("calls (-want +got):\n%s", diff)
						}
						continue
					}
					slices.Sort(want)
					slices.Sort(lines)
					if diff := cmp.Diff(want, lines); diff != "" {
						t.Errorf("calls of group %v (-want +got):\n%s", group, diff)
					}
				}
				if at != len(log.lines) {
					t.Errorf("more calls than expected: %v", log.lines[at:])
				}
			})
		}
	}
}

// TestPreBindWithoutPreFlight: no plugin is skipped, and none is parallel.
func TestPreBindWithoutPreFlight(t *testing.T) {
	log := &eventLog{}
	b := bindingOf(t, scheduling.Profile{PreBind: []framework.Plugin{
		binder{name: "a", parallel: true, flight: framework.SkipStatus(), log: log}, binder{name: "b", parallel: true, log: log},
	}})
	if err := b.PreBind(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"begin a", "end a", "begin b", "end b"}, log.lines); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestPreBindFailures: the first failure cancels the other members of its group, and
// later groups do not run.
func TestPreBindFailures(t *testing.T) {
	broken := framework.AsStatus(errors.New("broken"))
	for _, tt := range []struct {
		name    string
		plugins []binder
		err     string
	}{
		{"error", []binder{{name: "a", status: broken}, {name: "b"}}, `running PreBind plugin "a": broken`},
		{"rejected", []binder{{name: "a", status: framework.UnschedulableStatus("no")}, {name: "b"}}, "0/1 nodes are available: 1 no."},
		{"odd", []binder{{name: "a", status: framework.SkipStatus()}, {name: "b"}}, `running PreBind plugin "a": unexpected status Skip`},
		{
			"cancels",
			[]binder{{name: "a", parallel: true, hangs: true}, {name: "c", parallel: true, status: broken}, {name: "b"}},
			`running PreBind plugin "c": broken`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := &eventLog{}
			var p scheduling.Profile
			for _, b := range tt.plugins {
				b.log = log
				p.PreBind = append(p.PreBind, b)
			}
			b := bindingOf(t, p)
			if _, err := b.PreFlight(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := b.PreBind(context.Background(), true); fmt.Sprint(err) != tt.err {
				t.Errorf("PreBind: %v, want %s", err, tt.err)
			}
			if slices.Contains(log.lines, "begin b") {
				t.Error("the next group ran")
			}
		})
	}
	t.Run("cancelled from outside", func(t *testing.T) {
		b := bindingOf(t, scheduling.Profile{PreBind: []framework.Plugin{binder{name: "a", hangs: true, log: &eventLog{}}}})
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("preempted"))
		if err := b.PreBind(ctx, false); fmt.Sprint(err) != `running PreBind plugin "a": preempted` {
			t.Errorf("PreBind: %v", err)
		}
	})
}

func TestPreFlightFailures(t *testing.T) {
	for _, tt := range []struct {
		flight framework.Status
		err    string
	}{
		{framework.AsStatus(errors.New("broken")), `running PreBindPreFlight "a": broken`},
		{framework.UnschedulableStatus("no"), `running PreBindPreFlight "a": unsupported status Unschedulable: no`},
		{framework.NewStatus(framework.Wait, nil), `running PreBindPreFlight "a": unsupported status Wait`},
	} {
		b := bindingOf(t, scheduling.Profile{PreBind: []framework.Plugin{binder{name: "a", flight: tt.flight, log: &eventLog{}}}})
		if !b.HasPreFlight() {
			t.Error("HasPreFlight() = false")
		}
		if _, err := b.PreFlight(context.Background()); fmt.Sprint(err) != tt.err {
			t.Errorf("PreFlight: %v, want %s", err, tt.err)
		}
	}
}

// TestEvents: plugins are asked once per name, and only at the points that reject
// pods. A plugin that does not register has the wildcard event.
func TestEvents(t *testing.T) {
	sched := build(t, scheduling.Profile{
		PreEnqueue: []framework.Plugin{scheduling.SchedulingGates{}},
		Filter:     []framework.Plugin{room{}, quiet{}},
		Score:      []scheduling.Weighted{{Plugin: emptier{}}},
		Reserve:    []framework.Plugin{recorder{name: "room", calls: new([]string)}},
	})
	var got []string
	for _, e := range sched.Events() {
		got = append(got, fmt.Sprintf("%s %s %b", e.Plugin, e.Event.Resource, e.Event.Action))
	}
	want := []string{
		fmt.Sprintf("SchedulingGates TargetPod %b", queueing.ActionUpdatePodSchedulingGatesEliminated),
		fmt.Sprintf("room * %b", queueing.ActionAll),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Events (-want +got):\n%s", diff)
	}
}

// quiet registers for nothing.
type quiet struct{}

func (quiet) Name() string { return "quiet" }
func (quiet) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}
func (quiet) EventsToRegister() []queueing.EventHint { return nil }

func TestPointsAreChecked(t *testing.T) {
	wrong := []framework.Plugin{room{}}
	_, err := scheduling.New(scheduling.Profile{
		Name: "bad", PreEnqueue: wrong, QueueSort: room{}, PostFilter: wrong, Permit: wrong, PreBind: wrong, Bind: wrong, PostBind: wrong,
	})
	var want string
	for i, point := range []string{"PreEnqueue", "QueueSort", "PostFilter", "Permit", "PreBind", "Bind", "PostBind"} {
		if i > 0 {
			want += "\n"
		}
		want += fmt.Sprintf(`profile "bad": %s[0]: plugin "room" (scheduling_test.room) does not implement %sPlugin`, point, point)
	}
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("New (-want +got):\n%s", diff)
	}
}

func TestRestrictingPluginsReject(t *testing.T) {
	s := smallCluster(t, api.MakeNode("a", "1", "1Gi").Obj(), api.MakeNode("b", "1", "1Gi").Obj())
	sched := build(t, scheduling.Kubernetes137())
	_, err := sched.Schedule(s, podInfo(t, s, api.MakePod("p").Node("a").Requests("2", "1Gi").Obj()))
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		t.Fatalf("Schedule: %v", err)
	}
	if diff := cmp.Diff([]string{"NodeName", "NodeResourcesFit"}, fit.Plugins()); diff != "" {
		t.Errorf("Plugins (-want +got):\n%s", diff)
	}
	if got := fit.Pending(); got != nil {
		t.Errorf("Pending() = %v, want none", got)
	}
}

package observe_test

import (
	"context"
	"expvar"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/google/go-cmp/cmp"
)

// logger writes lines without times.
func logger(w interface{ Write([]byte) (int, error) }, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// run schedules two pods on two nodes; one of them does not fit.
func run(o lifecycle.Observer) error {
	clock := virtualclock.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	p := scheduling.Kubernetes137()
	p.PostFilter = nil
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Clock: clock, Observer: o,
		Binder: lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
	})
	if err != nil {
		return err
	}
	d.Apply(
		lifecycle.Update(api.MakeNode("small", "2", "4Gi").Obj()), lifecycle.Update(api.MakeNode("large", "8", "16Gi").Obj()),
		lifecycle.Update(api.MakePod("web").Requests("1", "1Gi").Obj()), lifecycle.Update(api.MakePod("huge").Requests("64", "1Gi").Obj()),
	)
	for ok := true; ok; {
		_, ok = d.ScheduleOne(context.Background())
	}
	return nil
}

func ExampleLog() {
	if err := run(observe.Log{Logger: logger(os.Stdout, slog.LevelInfo)}.Observer()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=INFO msg="pod was bound" pod=default/web profile=default-scheduler attempt=1 took=0s node=large score=463 evaluated=2 feasible=2
	// level=INFO msg="pod was not bound" pod=default/huge profile=default-scheduler attempt=1 took=0s error="0/2 nodes are available: 2 Insufficient cpu."
}

func TestScoreLines(t *testing.T) {
	var b strings.Builder
	if err := run(observe.Log{Logger: logger(&b, slog.LevelDebug), Scores: true}.Observer()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`msg="default/web -> small: TaintToleration, Score: (300)"`,
		`msg="default/web -> large: NodeResourcesFit, Score: (90)"`,
		`msg="Host large => Score 463"`,
		`msg=step pod=default/web profile=default-scheduler point=Bind took=0s`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line says %s in\n%s", want, b.String())
		}
	}
}

func TestPluginLines(t *testing.T) {
	var b strings.Builder
	m := new(expvar.Map)
	if err := run(observe.All(observe.Log{Logger: logger(&b, slog.LevelDebug), Plugins: true}.Observer(), observe.NewPluginVars(m))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`msg=plugin pod=default/web profile=default-scheduler point=PreEnqueue plugin=SchedulingGates nodes=0 took=0s`,
		`msg=plugin pod=default/web profile=default-scheduler point=PreFilter plugin=NodeAffinity nodes=0 took=0s`,
		`msg=plugin pod=default/web profile=default-scheduler point=Filter plugin=NodeResourcesFit nodes=2 took=0s`,
		`msg=plugin pod=default/web profile=default-scheduler point=Score plugin=ImageLocality nodes=2 took=0s`,
		`msg=plugin pod=default/web profile=default-scheduler point=NormalizeScore plugin=TaintToleration nodes=0 took=0s`,
		`msg=plugin pod=default/web profile=default-scheduler point=Reserve plugin=VolumeBinding nodes=0 took=0s`,
		`msg=plugin pod=default/huge profile=default-scheduler point=Filter plugin=NodeResourcesFit nodes=2 took=0s`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line says %s in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "Host large") {
		t.Error("scores are written although nobody asked for them")
	}
	for key, want := range map[string]string{"Filter/NodeResourcesFit": "2", "Score/ImageLocality": "1", "Score/NodeAffinity": "<nil>"} {
		if got := fmt.Sprint(m.Get("plugins").(*expvar.Map).Get(key)); got != want {
			t.Errorf("plugins[%s] = %s, want %s", key, got, want)
		}
	}
}

func TestScoresOnlyWhenAsked(t *testing.T) {
	for _, tt := range []struct {
		name     string
		observer lifecycle.Observer
		want     bool
		plugins  bool
	}{
		{"a log", observe.Log{Logger: slog.Default()}.Observer(), false, false},
		{"a log of scores", observe.Log{Logger: slog.Default(), Scores: true}.Observer(), true, false},
		{"a log of plugins", observe.Log{Logger: slog.Default(), Plugins: true}.Observer(), false, true},
		{"a log of both", observe.Log{Logger: slog.Default(), Scores: true, Plugins: true}.Observer(), true, true},
		{"no logger", observe.Log{Scores: true, Plugins: true}.Observer(), false, false},
		{"all without", observe.All(nil, observe.Log{Logger: slog.Default()}.Observer()), false, false},
		{"all with scores", observe.All(observe.NewVars(new(expvar.Map)), observe.Log{Logger: slog.Default(), Scores: true}.Observer()), true, false},
		{"all with plugins", observe.All(observe.NewPluginVars(new(expvar.Map))), false, true},
		{"all with both", observe.All(observe.NewPluginVars(new(expvar.Map)), observe.Log{Logger: slog.Default(), Scores: true}.Observer()), true, true},
	} {
		if _, got := tt.observer.(lifecycle.PluginObserver); got != tt.plugins {
			t.Errorf("%s observes plugins: %t, want %t", tt.name, got, tt.plugins)
		}
		if _, got := tt.observer.(lifecycle.PointObserver); !got && tt.name != "no logger" {
			t.Errorf("%s observes no points", tt.name)
		}
		if _, got := tt.observer.(lifecycle.ScoreObserver); got != tt.want {
			t.Errorf("%s observes scores: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestVars(t *testing.T) {
	m := new(expvar.Map)
	var b strings.Builder
	if err := run(observe.All(observe.NewVars(m), observe.Log{Logger: logger(&b, slog.LevelInfo)}.Observer())); err != nil {
		t.Fatal(err)
	}
	want := `{"attempt_seconds": 0, "attempts": {"bound": 1, "unschedulable": 1}, ` +
		`"group_attempts": {}, "queue": {"active": 0, "backoff": 0, "gated": 0, "inFlight": 0, "unschedulable": 1}, ` +
		`"step_seconds": {"Assume": 0, "Bind": 0, "Permit": 0, "PostBind": 0, "PreBind": 0, "Schedule": 0}, ` +
		`"steps": {"Assume": 1, "Bind": 1, "Permit": 1, "PostBind": 1, "PreBind": 1, "Schedule": 2}}`
	for _, name := range []string{"decision_times", "binding_times"} {
		m.Delete(name) // see TestVarsHistograms
	}
	if diff := cmp.Diff(want, m.String()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if got := strings.Count(b.String(), "\n"); got != 2 {
		t.Errorf("the log has %d lines, want 2", got)
	}
}

// A name cannot make a line of its own: messages are written as they are by some handlers.
func TestScoreLinesOfHostileNames(t *testing.T) {
	e := &scheduling.Explanation{Pod: "default/x\nFAKE", Nodes: []scheduling.NodeExplanation{{
		Node: "a\nFAKE\x1b[31m", Rank: 1, Scores: []scheduling.ScoreExplanation{{Plugin: "P"}},
	}}}
	var messages []string
	collect := func(r slog.Record) { messages = append(messages, r.Message) }
	log := observe.Log{Logger: slog.New(collector{logger(io.Discard, slog.LevelDebug).Handler(), collect}), Scores: true}
	log.Observer().(lifecycle.ScoreObserver).Scores(e)
	if len(messages) != 2 {
		t.Fatalf("%d messages, want 2: %q", len(messages), messages)
	}
	for _, m := range messages {
		if strings.ContainsAny(m, "\n\x1b") {
			t.Errorf("message %q", m)
		}
	}
}

// A collector calls a function for each record.
type collector struct {
	slog.Handler
	collect func(slog.Record)
}

func (c collector) Handle(_ context.Context, r slog.Record) error {
	c.collect(r)
	return nil
}

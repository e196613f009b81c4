package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var simulateCommand = command{
	name:  "simulate",
	short: "what becomes of the pods over time: waits, evictions, utilization",
	yes:   "no pod waits at the end",
	long: `Runs the cluster on a virtual clock, with queue, backoff and preemption. Annotations say
when a pod comes (berth-sched.github.io/arrival) and how long it runs
(berth-sched.github.io/run-time); the OpenB tables have such times. Without times all pods
are there from the beginning and never end.

-trace runs a recorded trace; -record writes one, with all decisions, for "replay".`,
	example: []string{
		"berth simulate -f nodes.yaml -f pods.yaml -o html >simulation.html",
		"berth simulate -f nodes.csv -f pods.csv -clock -type extra:cpu=64,memory=256Gi,max=50",
		"berth simulate -f cluster.yaml -controllers -until 168h -record week.jsonl",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		var x simulation
		flags.BoolVar(&x.clock, "clock", false, "let time pass also if only tables have times")
		flags.BoolVar(&x.controllers, "controllers", false, "let controllers make pods again that are evicted or end")
		flags.DurationVar(&x.until, "until", 0, "end after this `time`, such as 168h; 0 means when nothing more can happen")
		flags.StringVar(&x.trace, "trace", "", "`file` with a trace, in place of -f")
		flags.StringVar(&x.record, "record", "", "`file` to write the trace and all decisions to")
		x.types.addFlags(flags)
		return func(s *session) (*answer, error) { return x.run(s) }
	},
}

// A simulation holds the flags of simulate.
type simulation struct {
	clock, controllers bool
	until              time.Duration
	trace, record      string
	types              nodeTypes // of an autoscaler
}

// SimulateAnswer is the answer of simulate.
type SimulateAnswer struct {
	// Result is what came of the run.
	Result *simulate.Result `json:"result"`
	// Busiest says how full the nodes were when most was in use, by name.
	Busiest []NodeShare `json:"busiest"`
}

func (x *simulation) run(s *session) (*answer, error) {
	if err := s.readRules(); err != nil {
		return nil, err
	}
	trace, err := x.readTrace(s)
	if err != nil {
		return nil, err
	}
	config := s.simulateConfig(trace)
	config.Until, config.NoControllers = x.until, !x.controllers
	if len(x.types.types)+len(x.types.likes) > 0 {
		if s.snapshot == nil && len(x.types.likes) > 0 {
			return nil, errors.New("-like: name a node of the files of -f; with -trace use -type")
		}
		types, err := x.nodeTypes(s, trace)
		if err != nil {
			return nil, err
		}
		config.Autoscaler = &simulate.Autoscaler{Types: types}
	}
	var busiest *framework.Snapshot
	config.Busiest = func(snap *framework.Snapshot) { busiest = snap }
	result, err := x.runRecorded(s, config)
	if err != nil {
		return nil, err
	}
	return simulated(result, busiest), nil
}

// nodeTypes are the types of the autoscaler. Without controllers, the pods of the DaemonSets that are
// there from the beginning come with the nodes.
func (x *simulation) nodeTypes(s *session, trace *simulate.Trace) ([]whatif.NodeType, error) {
	if x.controllers {
		return x.types.build(s)
	}
	var o api.Objects
	for _, e := range trace.Events {
		if e.At == 0 && e.Apply != nil {
			o.DaemonSets = append(o.DaemonSets, e.Apply.DaemonSets...)
			o.PriorityClasses = append(o.PriorityClasses, e.Apply.PriorityClasses...)
		}
	}
	return x.types.withDaemons(s, &o)
}

// runRecorded runs the simulation, and writes the file of -record if there is one. A file that cannot be
// written whole is an error.
func (x *simulation) runRecorded(s *session, config simulate.Config) (result *simulate.Result, err error) {
	if x.record == "" {
		return s.simulate(config)
	}
	f, err := os.Create(x.record)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	if x.controllers || x.until > 0 || config.Autoscaler != nil {
		// What they do is no part of the trace that causes it.
		config.Recorder = simulate.NewRecorder(f, config.Trace.Begin())
		if result, err = s.simulate(config); err != nil {
			return nil, err
		}
		return result, config.Recorder.Close()
	}
	if result, err = s.simulate(config); err != nil {
		return nil, err
	}
	recorded := *config.Trace
	recorded.Decisions = result.Decisions
	return result, recorded.Write(f)
}

// simulateConfig returns what every run has in common.
func (s *session) simulateConfig(trace *simulate.Trace) simulate.Config {
	return simulate.Config{Profiles: s.rules.Profiles, Trace: trace, Seed: s.seed, Handle: s.rules.Handle, Backoff: s.rules.Backoff}
}

// simulate runs a simulation with progress.
func (s *session) simulate(config simulate.Config) (*simulate.Result, error) {
	pods := 0
	for _, e := range config.Trace.Events {
		if e.Apply != nil {
			pods += len(e.Apply.Pods)
		}
	}
	step, done := s.progress(pods)
	config.Progress = func(p simulate.Progress) {
		step(min(p.Bound, pods), "%d pods placed, %d wait, %v simulated", p.Bound, p.Waiting, p.Now)
	}
	defer done()
	result, err := simulate.Run(context.Background(), config)
	return result, s.explained(err)
}

// explained says where an error is, if it is one of objects in files.
func (s *session) explained(err error) error {
	if err == nil || s.cluster == nil {
		return err
	}
	return s.cluster.Explain(err)
}

// readTrace reads the trace, or makes one of the files.
func (x *simulation) readTrace(s *session) (*simulate.Trace, error) {
	if x.trace != "" {
		if len(s.files) > 0 || s.sample {
			return nil, errors.New("-trace and -f: give one of the two")
		}
		return s.openTrace(x.trace)
	}
	if x.controllers {
		// Controllers make the pods of workloads themselves.
		if err := s.readObjects(); err != nil {
			return nil, err
		}
		snap, pending, err := s.cluster.SnapshotAsWritten()
		if err != nil {
			return nil, err
		}
		s.snapshot, s.pending = snap, pending
	} else if err := s.read(); err != nil {
		return nil, err
	}
	if !x.clock && !s.cluster.Timed() {
		forgetTimes(&s.cluster.Objects)
	}
	trace, err := simulate.FromObjects(s.cluster.Counted())
	if err != nil {
		return nil, s.cluster.Explain(err)
	}
	return trace, nil
}

// forgetTimes lets all pods be there from the beginning, and never end.
func forgetTimes(o *api.Objects) {
	for i, p := range o.Pods {
		copied := *p
		copied.Annotations = maps.Clone(p.Annotations)
		delete(copied.Annotations, simulate.AnnotationArrival)
		delete(copied.Annotations, simulate.AnnotationRunTime)
		o.Pods[i] = &copied
	}
}

// openTrace reads a trace from a file, or from standard input for "-".
func (s *session) openTrace(file string) (*simulate.Trace, error) {
	in := s.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	} else {
		file = "standard input"
	}
	trace, err := simulate.ReadTrace(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a trace is what %q writes", file, err, s.name+" simulate -record FILE")
	}
	return trace, nil
}

// simulated shows the result of a run.
func simulated(r *simulate.Result, busiest *framework.Snapshot) *answer {
	data := SimulateAnswer{Result: r, Busiest: []NodeShare{}}
	a := &answer{yes: r.Waiting == 0}
	a.text = fmt.Sprintf("%v simulated: %d pods, %d bound, %d evicted, %d wait at the end", page.Seconds(r.Simulated), len(r.Pods), r.Waits[0].Pods, r.Evictions, r.Waiting)
	if r.NodesAdded > 0 {
		a.text += fmt.Sprintf("; %d nodes added", r.NodesAdded)
	}
	a.add(waitsSection(r))
	a.add(waitingSection(r))
	peaks := page.Table{Head: []string{"resource", "utilization", "after"}}
	for _, p := range r.Peaks {
		peaks.Add(string(p.Resource), page.Percent(p.Utilization), page.Seconds(p.At))
	}
	a.add(page.Section{Title: "Peaks", Note: "The largest share of each resource that was requested, and since when.", Table: peaks})
	a.addSeries(r)
	if busiest != nil {
		use := usageOf(busiest)
		data.Busiest = use.nodes
		a.add(use.section("When most was in use", "What pods requested then, as a share of what was allocatable."))
	}
	a.data = data
	return a
}

func waitsSection(r *simulate.Result) page.Section {
	s := page.Section{Title: "How long pods waited", Note: "Until they were bound, by priority.", Table: page.Table{Head: []string{"priority", "pods", "mean", "p50", "p95", "p99", "longest", "pod"}}}
	bars := &page.Bars{Series: []page.Series{{Name: "mean"}, {Name: "p50"}, {Name: "p95"}, {Name: "p99"}}, Text: func(v float64) string { return page.Seconds(v).String() }}
	for _, w := range r.Waits {
		name := "all"
		if w.Priority != nil {
			name = fmt.Sprint(*w.Priority)
		}
		s.Table.Add(name, w.Pods, page.Seconds(w.Mean), page.Seconds(w.P50), page.Seconds(w.P95), page.Seconds(w.P99), page.Seconds(w.Longest), w.Pod)
		bars.Labels = append(bars.Labels, name)
		for i, v := range []float64{w.Mean, w.P50, w.P95, w.P99} {
			bars.Series[i].Values = append(bars.Series[i].Values, v)
		}
	}
	if len(r.Waits) > 0 && r.Waits[0].Longest > 0 {
		s.Figure = bars
	}
	return s
}

// waitingSection groups the pods that wait at the end by why.
func waitingSection(r *simulate.Result) page.Section {
	counts, names := map[string]int{}, map[string][]string{}
	var reasons []string
	for i := range r.Pods {
		p := &r.Pods[i]
		if p.Node != "" || p.Ended != nil || p.Running {
			continue
		}
		if counts[p.Message]++; counts[p.Message] == 1 {
			reasons = append(reasons, p.Message)
		}
		names[p.Message] = append(names[p.Message], cmp.Or(p.Owner, p.Pod))
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return counts[b] - counts[a] })
	t := page.Table{Head: []string{"pods", "of", "why"}}
	bars := &page.Bars{Series: []page.Series{{Name: "pods"}}}
	for _, why := range reasons {
		t.Add(counts[why], tally(names[why]), why)
		bars.Labels = append(bars.Labels, tally(names[why]))
		bars.Series[0].Values = append(bars.Series[0].Values, float64(counts[why]))
	}
	return page.Section{Title: "Pods that wait at the end", Table: t, Figure: bars}
}

// addSeries shows the samples over time.
func (a *answer) addSeries(r *simulate.Result) {
	if len(r.Series) < 2 {
		return // nothing passes
	}
	use := page.Table{Head: []string{"after", "cpu", "memory", "fragmented"}}
	pods := page.Table{Head: []string{"after", "nodes", "running", "waiting"}}
	shares := &page.Lines{Percent: true, Series: []page.Series{{Name: "cpu"}, {Name: "memory"}, {Name: "fragmented"}}}
	counts := &page.Lines{Series: []page.Series{{Name: "running"}, {Name: "waiting"}}}
	for _, x := range r.Series {
		use.Add(page.Seconds(x.At), page.Percent(x.CPU), page.Percent(x.Memory), page.Percent(x.Fragmented))
		pods.Add(page.Seconds(x.At), x.Nodes, x.Running, x.Waiting)
		shares.At, counts.At = append(shares.At, x.At), append(counts.At, x.At)
		for i, v := range []float64{x.CPU, x.Memory, x.Fragmented} {
			shares.Series[i].Values = append(shares.Series[i].Values, v)
		}
		for i, v := range []float64{float64(x.Running), float64(x.Waiting)} {
			counts.Series[i].Values = append(counts.Series[i].Values, v)
		}
	}
	a.add(page.Section{
		Title: "Utilization over time", Table: use, Figure: shares, HTMLOnly: true,
		Note: "What pods request, as a share of what is allocatable. Fragmented is the free CPU on nodes without room for a mean pod.",
	})
	a.add(page.Section{Title: "Pods over time", Table: pods, Figure: counts, HTMLOnly: true})
}

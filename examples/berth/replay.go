package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/scheduling/simulate"
)

var replayCommand = command{
	name: "replay", args: "TRACE", input: readsTrace,
	short: "a recorded day again: which decisions differ under these rules",
	yes:   "every decision is the same",
	long: `Runs a trace again and compares each decision with the recorded one. "simulate -record"
writes a trace, and so does a simulate.Recorder in a scheduler that works. A - is standard
input. Give the rules and the seed that recorded the trace, or others to see what changes.`,
	example: []string{
		"berth simulate -f cluster.yaml -record day.jsonl",
		"berth replay day.jsonl -profile 1.34",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		controllers := flags.Bool("controllers", false, "let controllers make pods again that are evicted or end")
		return func(s *session) (*answer, error) { return replay(s, !*controllers) }
	},
}

// ReplayAnswer is the answer of replay.
type ReplayAnswer struct {
	// Recorded and Decided count the decisions of the trace and of the run.
	Recorded int `json:"recorded"`
	Decided  int `json:"decided"`
	// Differences are the decisions that are not alike: a is the recorded one.
	Differences []simulate.Difference `json:"differences"`
}

func replay(s *session, noControllers bool) (*answer, error) {
	if len(s.args) != 1 {
		return nil, errors.New("name one trace")
	}
	if err := s.readRules(); err != nil {
		return nil, err
	}
	trace, err := s.openTrace(s.args[0])
	if err != nil {
		return nil, err
	}
	if len(trace.Decisions) == 0 {
		return nil, fmt.Errorf("%s: the trace has no decisions to compare with; record one with simulate -record", s.args[0])
	}
	config := s.simulateConfig(trace)
	config.NoControllers = noControllers
	if err := config.CheckDecisions(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.args[0], err)
	}
	result, err := s.simulate(config)
	if err != nil {
		return nil, err
	}
	x := ReplayAnswer{len(trace.Decisions), len(result.Decisions), simulate.Differences(trace.Decisions, result.Decisions)}
	a := &answer{yes: len(x.Differences) == 0, data: x}
	a.text = fmt.Sprintf("%d of %d decisions differ", len(x.Differences), x.Recorded)
	t := page.Table{Head: []string{"pod", "number", "recorded", "now"}}
	for _, d := range x.Differences {
		t.Add(d.Pod, d.Number, decisionText(d.A), decisionText(d.B))
	}
	a.add(page.Section{Title: "Decisions that differ", Note: "The number counts the decisions about one pod.", Table: t})
	for _, section := range simulated(result, nil).sections {
		a.add(section)
	}
	return a, nil
}

// decisionText writes a decision for people, "" for none.
func decisionText(d *simulate.Decision) string {
	switch {
	case d == nil:
		return ""
	case d.Evicted:
		return "evicted from " + d.Node
	case d.Node == "":
		return "nowhere: " + d.Message
	}
	return d.Node
}

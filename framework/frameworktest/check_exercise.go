package frameworktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// An Exercise is something that a plugin has to do at least once on the
// clusters of a test: otherwise the checks have looked at nothing.
//
// If a plugin never does it, bring it about with [Config].Labels, Annotations,
// Generate or Prepare. If it cannot happen, say why in [Config].Unexercised.
type Exercise string

// The exercises. Those of a point that the plugin does not implement do not
// apply.
const (
	// Rejects: PreFilter or Filter rejects a node.
	Rejects Exercise = "Rejects"
	// Passes: PreFilter and Filter let a node pass.
	Passes Exercise = "Passes"
	// Scores: PreScore does not skip, and Score is asked about a node.
	Scores Exercise = "Scores"
	// Ranks: two feasible nodes have different scores, after normalization.
	Ranks Exercise = "Ranks"
	// Expires: the plugin declares ReadsTime, and ValidUntil returns a time.
	Expires Exercise = "Expires"
	// Reserves: Reserve succeeds and changes an answer, a node's generation, an
	// object, or what Config.State shows.
	Reserves Exercise = "Reserves"
)

// exercise is what has to happen at least once.
type exercise struct {
	name    Exercise
	what    string
	applies func(*session) bool
}

var exercises = []exercise{
	{Rejects, "nodes that it rejected", func(s *session) bool { return s.filters() }},
	{Passes, "nodes that it let pass", func(s *session) bool { return s.filters() }},
	{Scores, "pods for which PreScore bound a scorer", func(s *session) bool { return s.scores() }},
	{Ranks, "pods for which two feasible nodes had different scores", func(s *session) bool { return s.scores() }},
	{Expires, "answers with an end by ValidUntil", func(s *session) bool { return s.readsTime }},
	{Reserves, "calls of Reserve that changed something", func(s *session) bool { return s.reserves() }},
}

// tally counts what the exercises ask for.
type tally struct {
	asked     int // pods
	counts    map[Exercise]int
	readsTime bool // a scope said so
}

func (t *tally) count(e Exercise, times int) {
	if t.counts == nil {
		t.counts = map[Exercise]int{}
	}
	t.counts[e] += times
}

// checkExercise counts what the plugin does.
func (k *kit) checkExercise() *Failure {
	r := k.random()
	for i, p := range k.pods {
		k.asked++
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		k.countAnswers(a)
		if scope, ok := k.scope(p); ok && scope.Reads&framework.ReadsTime != 0 {
			k.readsTime = true
			k.countEnds(p, a)
		}
		if k.reserve != nil && k.snapshot.Len() > 0 {
			k.countReserve(k.newTrial(i, r))
		}
	}
	return nil
}

func (k *kit) countAnswers(a *answers) {
	for _, v := range a.verdicts {
		switch {
		case v.passes():
			k.count(Passes, 1)
		case v.status.IsRejected():
			k.count(Rejects, 1)
		}
	}
	if len(a.raw) > 0 {
		k.count(Scores, 1)
		if slices.Min(a.normalized) < slices.Max(a.normalized) {
			k.count(Ranks, 1)
		}
	}
}

// countReserve reserves, and counts the answers to the next pod as well. What is
// wrong with a Reserve is for the reserve check to say.
func (k *kit) countReserve(t trial) {
	s, c := t.snapshot, new(framework.Cycle)
	k.ask(c, s, t.pod, nil)
	if s.AddPodAt(t.pod, s.Node(t.node)) != nil {
		return
	}
	was := t.keep(s)
	if t.reserve(s, c) != nil || !t.reserved {
		return
	}
	if changed, _ := t.checkRenewed(s, was, "Reserve"); changed {
		k.count(Reserves, 1)
	}
	k.countAnswers(k.ask(c, s, t.other, nil))
}

// countEnds counts the answers that ValidUntil gives an end.
func (k *kit) countEnds(p *framework.PodInfo, a *answers) {
	filter, filters := a.bound.(incremental.Expirer)
	scorer, scores := a.scorer.(incremental.Expirer)
	k.calling = "ValidUntil"
	for _, n := range k.snapshot.All() {
		k.node = n.Name()
		if filters && !filter.ValidUntil(p, n).IsZero() || scores && slices.Contains(a.feasible, n) && !scorer.ValidUntil(p, n).IsZero() {
			k.count(Expires, 1)
		}
	}
}

// endExercise wants each exercise done, or a reason.
func (s *session) endExercise() *Failure {
	for _, e := range slices.Sorted(maps.Keys(s.config.Unexercised)) {
		if !slices.ContainsFunc(exercises, func(known exercise) bool { return known.name == e }) {
			return s.fail("exercise", "a key of Config.Unexercised", fmt.Sprintf("%q", e), "an Exercise")
		}
		if strings.TrimSpace(s.config.Unexercised[e]) == "" {
			return s.fail("exercise", fmt.Sprintf("Config.Unexercised[%s]", e), `""`, "a reason")
		}
	}
	s.note("%d pods on %d clusters", s.asked, len(s.clusters))
	for _, e := range exercises {
		if f := s.exercised(e); f != nil {
			return f
		}
	}
	return nil
}

func (s *session) exercised(e exercise) *Failure {
	if !e.applies(s) {
		return nil
	}
	done, reason := s.counts[e.name], s.config.Unexercised[e.name]
	switch {
	case done > 0:
		s.note("%s: %d %s", e.name, done, e.what)
	case reason != "":
		s.note("%s: never, because %s", e.name, reason)
	default:
		return s.fail("exercise", e.what, "0", fmt.Sprintf("one or more (bring it about with Config.Labels, Annotations, Generate or Prepare, or give a reason in Config.Unexercised[frameworktest.%s])", e.name))
	}
	return nil
}

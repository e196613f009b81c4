package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
)

// Check compares a case. If needs is not empty, the case cannot be compared without
// the plugin of that name.
func Check(c *golden.Case) (differences []string, needs string) {
	p, missing, err := Profile(c.Config)
	if err != nil {
		return []string{"profile: " + err.Error()}, ""
	}
	for _, name := range missing {
		if matters(c, name) {
			return nil, name
		}
	}
	s, err := c.Snapshot()
	if err != nil {
		return []string{"snapshot: " + err.Error()}, ""
	}
	k, err := newChecker(c, p, s)
	if err != nil {
		return []string{err.Error()}, ""
	}
	k.check()
	return k.differences, ""
}

// Decide decides a case without comparing the answers, because the original failed
// and left none. It reports only if decisions of one pod differ; the incremental
// path, say, may differ from the first decision.
func Decide(c *golden.Case) []string {
	p, _, err := Profile(c.Config)
	if err != nil {
		return []string{"profile: " + err.Error()}
	}
	s, err := c.Snapshot()
	if err != nil {
		return []string{"snapshot: " + err.Error()}
	}
	k, err := newChecker(c, p, s)
	if err != nil {
		return []string{err.Error()}
	}
	k.scheduler.Explain(k.snapshot, k.anywhere)
	k.again(k.scheduler.Schedule(k.snapshot, k.pod))
	return k.differences
}

// matters reports whether the plugin has an effect in the case.
func matters(c *golden.Case, name string) bool {
	if a, ok := c.Expect.Filter[name]; ok && a.PreFilter.Code != framework.Skip.String() {
		return true
	}
	if a, ok := c.Expect.Score[name]; ok {
		return slices.ContainsFunc(a.Raw, func(x int64) bool { return x != 0 })
	}
	return false
}

// checker compares one case.
type checker struct {
	*golden.Case
	snapshot    *framework.Snapshot
	pod         *framework.PodInfo
	anywhere    *framework.PodInfo // pod without its nomination: all nodes are looked at
	scheduler   *scheduling.Scheduler
	preemption  *recorder
	differences []string
}

func newChecker(c *golden.Case, p scheduling.Profile, s *framework.Snapshot) (*checker, error) {
	plugin, err := DefaultPreemption(c)
	if err != nil {
		return nil, err
	}
	k := &checker{Case: c, snapshot: s, preemption: &recorder{DefaultPreemption: plugin}}
	p.Cache.Verify = true
	p.PostFilter = []framework.Plugin{k.preemption}
	if c.Expect.Preemption != nil {
		p.Extenders = cutters(c.Pod)
	}
	if k.scheduler, err = scheduling.New(p); err != nil {
		return nil, err
	}
	if k.pod, err = s.NewPodInfo(c.Pod); err != nil {
		return nil, err
	}
	k.anywhere = k.pod
	if c.Pod.Status.NominatedNodeName != "" {
		pod := *c.Pod
		pod.Status.NominatedNodeName = ""
		if k.anywhere, err = s.NewPodInfo(&pod); err != nil {
			return nil, err
		}
	}
	if !c.Expect.Nominations {
		return k, nil
	}
	for _, pod := range c.Nominated {
		info, err := s.NewPodInfo(pod)
		if err != nil {
			return nil, err
		}
		if s.Node(pod.Status.NominatedNodeName) == nil {
			continue
		}
		if err := s.Nominate(info, pod.Status.NominatedNodeName, ""); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *checker) differ(format string, args ...any) {
	k.differences = append(k.differences, fmt.Sprintf(format, args...))
}

func (k *checker) compare(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		k.differ("pipeline: %s = %v, want %v", what, got, want)
	}
}

func (k *checker) check() {
	want := &k.Expect.Pipeline
	e := k.scheduler.Explain(k.snapshot, k.anywhere)
	d, err := k.scheduler.Schedule(k.snapshot, k.pod)
	if text, fails := failure(&k.Expect); fails {
		k.compareError(err, text)
		return
	}
	var fit *scheduling.FitError
	switch {
	case errors.As(err, &fit):
		if want.Message != "" {
			k.compare("error", fit.Error(), want.Message)
		}
	case err != nil:
		k.differ("pipeline: error: %v", err)
		return
	case want.Chosen != "":
		k.compare("chosen node", d.Node, want.Chosen)
	case !slices.Contains(want.Feasible, d.Node), len(want.Best) > 0 && k.pod == k.anywhere && !slices.Contains(want.Best, d.Node):
		k.differ("pipeline: chose %s of %v, want one of %v", d.Node, want.Feasible, want.Best)
	}
	// If the pod has a nominated node, the cycle may end before it meets another
	// node's error.
	if want.Err == nil || k.pod == k.anywhere {
		k.compareVerdicts(e)
		k.compareScores(e)
	}
	k.again(d, err)
	if k.Expect.Preemption != nil && fit != nil {
		k.comparePreemption(d)
	}
}

// failure returns the text of the error with which the cycle failed. If only the
// pipeline was recorded, not the cycle, it uses the pipeline's error. But no cycle
// scores a single feasible node.
func failure(e *golden.Expect) (text string, fails bool) {
	p := e.Pipeline
	if e.Nominations {
		return p.Failure, p.Failure != ""
	}
	if p.Err == nil || len(p.Feasible) == 1 {
		return "", false
	}
	return strings.Join(p.Err.Reasons, ", "), true
}

// compareError compares the text of an error.
func (k *checker) compareError(err error, want string) {
	var plugin *scheduling.PluginError
	if !errors.As(err, &plugin) {
		k.differ("pipeline: error = %v, want %v", err, want)
		return
	}
	k.compare("error", Text(plugin), want)
}

// Text is kube-scheduler's text of an error, without the name of the node.
func Text(err *scheduling.PluginError) string {
	text, _ := strings.CutSuffix(err.Error(), " (node "+err.Node+")")
	return text
}

// compareVerdicts compares the verdict on each node.
func (k *checker) compareVerdicts(e *scheduling.Explanation) {
	want := &k.Expect.Pipeline
	var feasible, left []string
	failed := map[string]golden.Status{}
	rejected := golden.Status{}
	for _, n := range e.Nodes {
		status := golden.Status{Code: n.Code, Plugin: n.Plugin, Reasons: n.Reasons}
		switch n.Verdict {
		case scheduling.VerdictFeasible:
			feasible = append(feasible, n.Node)
		case scheduling.VerdictRejected:
			failed[n.Node] = status
		case scheduling.VerdictExcluded:
			rejected = status
			continue
		}
		left = append(left, n.Node)
	}
	if want.PreFilter != nil {
		k.compare("PreFilter", rejected, *want.PreFilter)
		return
	}
	if want.PreFilterNodes != nil {
		slices.Sort(left)
		known := slices.DeleteFunc(slices.Clone(want.PreFilterNodes), func(name string) bool { return k.snapshot.Node(name) == nil })
		k.compare("PreFilter nodes", append([]string{}, left...), known)
	}
	for _, n := range e.Nodes {
		if got, want := failed[n.Node], want.Failed[n.Node]; !reflect.DeepEqual(got, want) {
			k.differ("pipeline: verdict of %s = %v, want %v", n.Node, got, want)
		}
	}
	k.compare("feasible nodes", append([]string{}, feasible...), append([]string{}, want.Feasible...))
}

// compareScores compares each plugin's scores and the totals.
func (k *checker) compareScores(e *scheduling.Explanation) {
	want := &k.Expect.Pipeline
	scores := map[string]golden.PipelineScore{}
	var totals []int64
	if e.Unscored {
		return // the recording goes beyond the point where kube-scheduler ends
	}
	for _, n := range e.Nodes {
		if n.Rank == 0 {
			continue
		}
		totals = append(totals, n.Total)
		for _, s := range n.Scores {
			of := scores[s.Plugin]
			of.Raw, of.Weighted = append(of.Raw, s.Raw), append(of.Weighted, s.Weighted)
			scores[s.Plugin] = of
		}
	}
	k.compare("totals", totals, want.Totals)
	k.compare("best nodes", e.TiedNodes, want.Best)
	for name, s := range want.Scores {
		if _, ok := scores[name]; ok || slices.ContainsFunc(s.Raw, func(x int64) bool { return x != 0 }) {
			k.compare("scores of "+name, scores[name], s)
		}
	}
	for name := range scores {
		if _, ok := want.Scores[name]; !ok {
			k.differ("pipeline: scores of %s = %v, want none", name, scores[name])
		}
	}
}

// again decides twice more, so that the incremental path caches its answers, and
// Verify compares them.
func (k *checker) again(first scheduling.Decision, firstErr error) {
	for range 2 {
		d, err := k.scheduler.Schedule(k.snapshot, k.pod)
		if d.Node != first.Node && len(k.Expect.Pipeline.PreFilterNodes) == 0 || fmt.Sprint(err) != fmt.Sprint(firstErr) {
			k.differ("pipeline: the next decision is %q (%v), the first was %q (%v)", d.Node, err, first.Node, firstErr)
		}
	}
}

package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// recorder is DefaultPreemption, and also records the result of a dry run on every
// node.
type recorder struct {
	preemption.DefaultPreemption
	candidates []*preemption.Candidate
	failed     map[string]framework.Status
	potential  []string

	places   []int // where searches begin
	searches []search
}

func (r *recorder) PostFilter(ctx context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	r.candidates, r.failed = r.DryRun(c, v)
	r.potential = nil
	for _, n := range c.Snapshot.All() {
		if _, status := v.Verdict(n); status.Code() == framework.Unschedulable {
			r.potential = append(r.potential, n.Name())
		}
	}
	slices.Sort(r.potential)
	r.search(ctx, c, v)
	return r.DefaultPreemption.PostFilter(ctx, c, v)
}

// comparePreemption compares DefaultPreemption's result for a decision that found no
// node.
func (k *checker) comparePreemption(d scheduling.Decision) {
	want := k.Expect.Preemption
	generations := k.generations()
	k.preemption.places = nil
	for _, s := range want.Searches {
		k.preemption.places = append(k.preemption.places, s.Offset)
	}
	result, _, status, err := k.scheduler.PostFilter(context.Background(), k.snapshot, k.pod, d)
	if want.Searches != nil && k.Pod.Annotations[AnnCutters] != "" {
		k.compareCandidates(want) // extenders have not seen these
		k.compareSearches(want)
		return
	}
	if want.PostFilterCode == framework.Error.String() {
		k.comparePreemptionError(err, want.PostFilterMsg)
		return
	}
	if err != nil {
		k.differ("preemption: error: %v", err)
		return
	}
	k.compare("generations after PostFilter", k.generations(), generations)
	k.compare("preemption: code", status.Code().String(), want.PostFilterCode)
	if status.IsSuccess() != (result.Nominated != "") {
		k.differ("preemption: %v nominates %q", status, result.Nominated)
	}
	if !status.IsSuccess() {
		k.compare("preemption: message", status.Message(), want.PostFilterMsg)
	}
	k.compare("preemption: nodes that a removal could help", k.preemption.potential, slices.Sorted(slices.Values(want.Potential)))
	if !want.Eligible {
		return
	}
	k.compareCandidates(want)
	failed := map[string]golden.Status{}
	for name, status := range k.preemption.failed {
		failed[name] = golden.StatusOf(status)
		for i, reason := range failed[name].Reasons {
			failed[name].Reasons[i] = strings.TrimSuffix(reason, " (node "+name+")") // of an error
		}
	}
	for name, got := range failed {
		expected := want.Failed[name]
		expected.Plugin = "" // names the rejecting filter, which the text shows
		k.compare("preemption: status of "+name, got, expected)
	}
	k.compare("preemption: number of failed nodes", len(failed), len(want.Failed))
	if status.IsSuccess() {
		k.compareChoice(result, want)
	}
	k.compareSearches(want)
}

// comparePreemptionError compares the text of an error. Here it names one node; the
// original lists the texts of all nodes.
func (k *checker) comparePreemptionError(err error, want string) {
	got := fmt.Sprint(err)
	_, text, _ := strings.Cut(got, ": preemption: node ")
	_, text, _ = strings.Cut(text, ": ")
	if i := strings.LastIndex(text, " (node "); i >= 0 {
		text = text[:i]
	}
	if text == "" || !strings.Contains(want, text) {
		k.differ("preemption: error = %s, want %s", got, want)
	}
}

// compareCandidates compares victims, in order, and violated budgets.
func (k *checker) compareCandidates(want *golden.Preemption) {
	got := map[string]golden.PreemptionCandidate{}
	for _, c := range k.preemption.candidates {
		got[c.Node] = golden.PreemptionCandidate{Node: c.Node, Victims: keys(c.Victims), Violations: c.Violations}
	}
	for _, w := range want.Candidates {
		k.compare("preemption: candidate "+w.Node, got[w.Node], w)
		delete(got, w.Node)
	}
	for name := range got {
		k.differ("preemption: candidate %s = %v, want none", name, got[name])
	}
}

// compareChoice compares the choice. kube-scheduler's choice was recorded many
// times, so the case has all nodes that no criterion tells apart.
func (k *checker) compareChoice(result framework.PostFiltered, want *golden.Preemption) {
	var tied []string
	for _, c := range preemption.Tied(k.preemption.candidates, preemption.Criteria()) {
		tied = append(tied, c.Node)
		if c.Node == result.Nominated {
			k.compare("preemption: victims of the choice", keys(result.Victims), keys(c.Victims))
		}
	}
	slices.Sort(tied)
	picked := slices.Sorted(slices.Values(want.Picked))
	k.compare("preemption: nodes that may be chosen", tied, picked)
	if want.Searches != nil {
		return // it searched from a place of its own
	}
	if !slices.Contains(picked, result.Nominated) {
		k.differ("preemption: chose %s, want one of %v", result.Nominated, picked)
	}
}

func keys(victims []framework.Victim) []string {
	list := []string{}
	for _, v := range victims {
		list = append(list, v.Pod.Pod.Key())
	}
	return list
}

// generations returns the generations of all nodes.
func (k *checker) generations() []uint64 {
	var list []uint64
	for _, n := range k.snapshot.All() {
		list = append(list, n.Generation())
	}
	return list
}

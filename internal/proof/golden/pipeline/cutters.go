package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// AnnCutters is the annotation of pods for preemption extenders. It lists the verb
// of each extender, separated by commas. See [Cut]. A question mark after the verb
// makes the extender ignorable.
const AnnCutters = "cutters"

// Cut returns an extender's answer for a candidate with that many victims: whether
// it keeps the node, and which victims, by index. The extender fails if ok is false.
// These are the verbs:
//
//   - odd drops some nodes;
//   - first keeps the most important victim;
//   - last keeps the least important victim;
//   - turn reverses the order;
//   - none drops all nodes;
//   - bare keeps no victim of some nodes.
func Cut(verb, node string, victims int) (keep bool, kept []int, ok bool) {
	all := make([]int, victims)
	for i := range all {
		all[i] = i
	}
	some := len(node) > 0 && node[len(node)-1]%2 == 1
	switch verb {
	case "odd":
		return !some, all, true
	case "first":
		return true, all[:1], true
	case "last":
		return true, all[victims-1:], true
	case "turn":
		slices.Reverse(all)
		return true, all, true
	case "none":
		return false, nil, true
	case "bare":
		if some {
			return true, nil, true
		}
		return true, all, true
	}
	return false, nil, false
}

// Cutters returns the verbs of a pod's extenders, with their question marks.
func Cutters(annotations map[string]string) []string {
	if annotations[AnnCutters] == "" {
		return nil
	}
	return strings.Split(annotations[AnnCutters], ",")
}

// ErrCut is the error of an extender that fails.
var ErrCut = errors.New("the extender does not know")

// cutters returns berth's extenders for the annotation.
func cutters(p *api.Pod) (list []scheduling.Extender) {
	for _, verb := range Cutters(p.Annotations) {
		verb, ignorable := strings.CutSuffix(verb, "?")
		list = append(list, scheduling.Extender{Name: verb, Ignorable: ignorable, Preempt: func(
			_ context.Context, _ *framework.PodInfo, _ *framework.Snapshot, candidates []*preemption.Candidate,
		) (out []*preemption.Candidate, err error) {
			for _, c := range candidates {
				keep, kept, ok := Cut(verb, c.Node, len(c.Victims))
				if !ok {
					return nil, ErrCut
				}
				if !keep {
					continue
				}
				cut := &preemption.Candidate{Node: c.Node, Violations: c.Violations}
				for _, i := range kept {
					cut.Victims = append(cut.Victims, c.Victims[i])
				}
				out = append(out, cut)
			}
			return out, nil
		}})
	}
	return list
}

package frameworktest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// same compares two sets of answers about one pod. How says how the second
// came about, such as "asked again".
func (k *kit) same(want, got *answers, how string) *Failure {
	k.node = ""
	// Skip and a filter that lets everything pass are one answer.
	if got.preFilter.String() != want.preFilter.String() && !(lets(got.preFilter) && lets(want.preFilter)) {
		return k.fail("PreFilter, "+how, got.preFilter.String(), want.preFilter.String())
	}
	if got.preScore.String() != want.preScore.String() {
		return k.fail("PreScore, "+how, got.preScore.String(), want.preScore.String())
	}
	for _, name := range slices.Sorted(maps.Keys(want.verdicts)) {
		if f := k.sameOn(name, want, got, how); f != nil {
			return f
		}
	}
	if f := k.sameScores("normalized score", want.feasible, want.normalized, got.feasible, got.normalized, how); f != nil {
		return f
	}
	return nil
}

func lets(s framework.Status) bool { return s.IsSuccess() || s.IsSkip() }

// sameOn compares the answers for one node: the verdict and the raw score. A
// node that one side does not know is left out.
func (k *kit) sameOn(node string, want, got *answers, how string) *Failure {
	k.node = node
	a, known := want.verdicts[node]
	b, too := got.verdicts[node]
	if known && too && a.String() != b.String() {
		return k.fail("verdict, "+how, b.String(), a.String())
	}
	x, scored := scoreOf(node, want.feasible, want.raw)
	y, scoredToo := scoreOf(node, got.feasible, got.raw)
	if scored && scoredToo && x != y {
		return k.fail("raw score, "+how, fmt.Sprint(y), fmt.Sprint(x))
	}
	return nil
}

func (k *kit) sameScores(what string, nodes []*framework.NodeInfo, want []int64, others []*framework.NodeInfo, got []int64, how string) *Failure {
	if len(nodes) != len(others) || len(want) != len(got) {
		return k.fail("number of scores, "+how, fmt.Sprint(len(got)), fmt.Sprint(len(want)))
	}
	for i, x := range want {
		k.node = nodes[i].Name()
		if y, ok := scoreOf(k.node, others, got); !ok || x != y {
			return k.fail(what+", "+how, fmt.Sprint(y), fmt.Sprint(x))
		}
	}
	return nil
}

func scoreOf(node string, nodes []*framework.NodeInfo, scores []int64) (int64, bool) {
	for i := range scores {
		if nodes[i].Name() == node {
			return scores[i], true
		}
	}
	return 0, false
}

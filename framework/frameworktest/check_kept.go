package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// checkIdle wants PreFilter and PreScore to skip each pod that Idle is true for, or the
// filter to pass all nodes.
func (k *kit) checkIdle() *Failure {
	for _, p := range k.pods {
		c := new(framework.Cycle)
		c.Reset(p, k.snapshot, k.seed, ^k.seed)
		k.pod, k.node, k.calling = p, "", "Idle"
		if !k.idler.Idle(c) {
			continue
		}
		a := k.ask(c, k.snapshot, p, nil)
		if k.preFilter != nil && !a.preFilter.IsSkip() && (!a.preFilter.IsSuccess() || a.restrict) {
			return k.fail("status of PreFilter, where Idle is true", a.preFilter.String(), "Skip, or Success without names of nodes")
		}
		for _, n := range k.snapshot.All() {
			if v := a.verdicts[n.Name()]; k.preFilter != nil && !v.passes() {
				k.node = n.Name()
				return k.fail("verdict, where Idle is true", v.String(), "Success")
			}
		}
		if k.preScore != nil && len(a.feasible) > 0 && !a.preScore.IsSkip() {
			return k.fail("status of PreScore, where Idle is true", a.preScore.String(), "Skip")
		}
	}
	return nil
}

// checkKept asks a bound filter and scorer again after other pods were bound to the same
// snapshot, within a transaction that changed objects and was rolled back. A runner
// keeps what is bound, unless the scope reads more than nodes, their pods, the time and
// objects.
func (k *kit) checkKept() *Failure {
	const bound = framework.ReadsCluster | framework.ReadsDomain | framework.ReadsFeasible
	for i, p := range k.pods {
		scope, ok := k.scope(p)
		if !ok || scope.Reads&bound != 0 {
			continue
		}
		want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		mark := k.snapshot.Begin()
		if err := k.changeObjects(k.snapshot); err != nil {
			k.snapshot.Rollback(mark)
			return k.fail("the changed objects", err.Error(), "no error")
		}
		other := new(framework.Cycle)
		k.ask(other, k.snapshot, k.pods[(i+1)%len(k.pods)], nil)
		k.ask(other, k.snapshot, p, nil)
		k.snapshot.Rollback(mark)
		k.pod = p
		for _, n := range k.snapshot.All() {
			if got, was := k.verdict(want, p, n), want.verdicts[n.Name()]; got.String() != was.String() {
				return k.fail("the kept filter, after a rollback", got.String(), was.String())
			}
		}
		for j, n := range want.feasible {
			if want.scorer == nil {
				break
			}
			k.node, k.calling = n.Name(), "Score"
			if got := want.scorer.Score(p, n); got != want.raw[j] {
				return k.fail("the kept scorer, after a rollback", fmt.Sprint(got), fmt.Sprint(want.raw[j]))
			}
		}
		k.node = ""
	}
	return nil
}

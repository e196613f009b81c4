package frameworktest

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// comparesForks believes what a ForkTracker says of a fork in which one change was made, of the snapshot and of
// another fork: where it calls no slot, answers are the same. before are those of the snapshot, after those of the fork.
func (k *kit) comparesForks(p *framework.PodInfo, reads framework.Reads, c change, before, after *answers) *Failure {
	if !before.tellsForks() || !after.tellsForks() {
		return nil
	}
	names := before.feasibleNames()
	other := k.ask(new(framework.Cycle), k.snapshot.Fork(), p, func(n *framework.NodeInfo) bool { return names[n.Name()] })
	if !other.tellsForks() {
		return nil
	}
	now, then := k.states(after), k.states(before)
	origin := k.origins(after)
	for _, x := range [...]struct {
		a, b  *answers
		stale staleSlots
	}{
		{before, after, k.changedFrom(after, then)},
		{after, before, k.changedFrom(before, now)},
		{after, other, k.changedFrom(other, now)},
		{other, after, k.changedFrom(after, origin).or(k.changedFrom(other, origin))},
	} {
		if f := k.sameUnlessStale(x.a, x.b, reads, c, x.stale.verdict, x.stale.score); f != nil {
			return f
		}
	}
	return nil
}

// tellsForks reports whether what is bound is a ForkTracker.
func (a *answers) tellsForks() bool {
	_, filters := a.bound.(incremental.ForkTracker)
	_, scores := a.scorer.(incremental.ForkTracker)
	return filters || scores
}

// texts are those of a filter and of a scorer; empty if it is no ForkTracker.
type texts struct{ filter, scorer []byte }

// states are those of now, origins those in which the snapshot was forked.
func (k *kit) states(a *answers) texts {
	k.calling = "AppendState"
	return a.texts(func(t incremental.ForkTracker) []byte { return t.AppendState(nil) })
}

func (k *kit) origins(a *answers) texts {
	k.calling = "AppendOrigin"
	return a.texts(func(t incremental.ForkTracker) []byte { return t.AppendOrigin(nil) })
}

func (a *answers) texts(of func(t incremental.ForkTracker) []byte) (x texts) {
	if t, ok := a.bound.(incremental.ForkTracker); ok {
		x.filter = of(t)
	}
	if t, ok := a.scorer.(incremental.ForkTracker); ok {
		x.scorer = of(t)
	}
	return x
}

// staleSlots says which slots have a verdict or a score that may be another one.
type staleSlots struct{ verdict, score func(slot int) bool }

func (x staleSlots) or(y staleSlots) staleSlots {
	return staleSlots{
		func(slot int) bool { return x.verdict(slot) || y.verdict(slot) },
		func(slot int) bool { return x.score(slot) || y.score(slot) },
	}
}

// changedFrom asks what has changed since some states.
func (k *kit) changedFrom(a *answers, x texts) staleSlots {
	k.calling = "ChangedFrom"
	return staleSlots{calledFrom(a.bound, x.filter), calledFrom(a.scorer, x.scorer)}
}

// calledFrom returns which slots a ForkTracker calls, all if it is none or cannot say.
func calledFrom(bound any, state []byte) func(slot int) bool {
	t, ok := bound.(incremental.ForkTracker)
	called := map[int]bool{}
	if !ok || len(state) == 0 || !t.ChangedFrom(state, func(slot int) { called[slot] = true }) {
		return func(int) bool { return true }
	}
	return func(slot int) bool { return called[slot] }
}

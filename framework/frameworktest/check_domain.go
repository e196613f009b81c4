package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// checkDomain changes the cluster and believes what a DomainTracker says of
// it: where it calls no slot, the answer must stay.
func (k *kit) checkDomain() *Failure {
	r := k.random()
	for _, p := range k.pods {
		scope, ok := k.scope(p)
		if !ok || scope.Reads&framework.ReadsDomain == 0 || scope.Reads&framework.ReadsCluster != 0 {
			continue
		}
		for range 3 {
			for _, c := range k.changes(r) {
				if f := k.followsChange(p, scope.Reads, c); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// followsChange compares the answers before and after one change.
func (k *kit) followsChange(p *framework.PodInfo, reads framework.Reads, c change) *Failure {
	want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
	seen := k.track(want)
	if !seen.filters && !seen.scores {
		if want.bound == nil && want.scorer == nil {
			return nil
		}
		return k.fail("what is bound with a Scope that has ReadsDomain", "no DomainTracker", "a incremental.DomainTracker")
	}
	names := want.feasibleNames()
	f := k.snapshot.Fork()
	if err := c.apply(f); err != nil {
		return nil
	}
	got := k.ask(new(framework.Cycle), f, p, func(n *framework.NodeInfo) bool { return names[n.Name()] })
	verdict, score := seen.stale(k, got)
	if failure := k.sameUnlessStale(want, got, reads, c, verdict, score); failure != nil {
		return failure
	}
	return k.comparesForks(p, reads, c, want, got)
}

// sameUnlessStale compares the answers before and after a change, but for those that are stale.
func (k *kit) sameUnlessStale(want, got *answers, reads framework.Reads, c change, verdict, score func(slot int) bool) *Failure {
	// Where the answer may differ for another reason, it is not looked at.
	others := reads &^ framework.ReadsDomain
	for _, n := range k.snapshot.All() {
		excuse := c
		excuse.here &^= framework.ReadsDomain
		excuse.elsewhere &^= framework.ReadsDomain
		if !got.has(n.Name()) || excuse.excuses(others, n.Name()) {
			continue
		}
		a, b := *want, *got
		if verdict(n.Slot()) {
			b.verdicts = a.verdicts
		}
		if score(n.Slot()) {
			a.raw, b.raw = nil, nil
		}
		if failure := k.sameOn(n.Name(), &a, &b, fmt.Sprintf("with %s, of which the DomainTracker tells nothing,", c.what)); failure != nil {
			return failure
		}
	}
	return nil
}

// trackers holds the versions that the DomainTrackers among bound values had.
type trackers struct {
	filters, scores bool // there is one
	filter, scorer  uint64
}

func (k *kit) track(a *answers) (t trackers) {
	k.calling = "Version"
	if d, ok := a.bound.(incremental.DomainTracker); ok {
		t.filters, t.filter = true, d.Version()
	}
	if d, ok := a.scorer.(incremental.DomainTracker); ok {
		t.scores, t.scorer = true, d.Version()
	}
	return t
}

// stale returns the slots whose verdict and score the trackers of now call.
func (t trackers) stale(k *kit, now *answers) (verdict, score func(slot int) bool) {
	filter, filters := now.bound.(incremental.DomainTracker)
	scorer, scores := now.scorer.(incremental.DomainTracker)
	return k.stale(filter, filters, t.filter), k.stale(scorer, scores, t.scorer)
}

// stale returns which slots a tracker calls, all if it cannot say.
func (k *kit) stale(d incremental.DomainTracker, ok bool, since uint64) func(slot int) bool {
	if !ok {
		return func(int) bool { return true }
	}
	k.calling = "Changed"
	called := map[int]bool{}
	if d.Version() != since && !d.Changed(since, func(slot int) { called[slot] = true }) {
		return func(int) bool { return true }
	}
	return func(slot int) bool { return called[slot] }
}

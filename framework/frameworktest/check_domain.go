package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
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
	filter, filters := want.bound.(framework.DomainTracker)
	scorer, scores := want.scorer.(framework.DomainTracker)
	if !filters && !scores {
		if want.bound == nil && want.scorer == nil {
			return nil
		}
		return k.fail("what is bound with a Scope that has ReadsDomain", "no DomainTracker", "a framework.DomainTracker")
	}
	var seenFilter, seenScorer uint64
	if filters {
		seenFilter = filter.Version()
	}
	if scores {
		seenScorer = scorer.Version()
	}
	names := map[string]bool{}
	for _, n := range want.feasible {
		names[n.Name()] = true
	}
	f := k.snapshot.Fork()
	if err := c.apply(f); err != nil {
		return nil
	}
	got := k.ask(new(framework.Cycle), f, p, func(n *framework.NodeInfo) bool { return names[n.Name()] })
	filter, filters = got.bound.(framework.DomainTracker)
	scorer, scores = got.scorer.(framework.DomainTracker)
	staleVerdict := stale(filter, filters, seenFilter)
	staleScore := stale(scorer, scores, seenScorer)
	// Where the answer may differ for another reason, it is not looked at.
	others := reads &^ framework.ReadsDomain
	for _, n := range k.snapshot.All() {
		excuse := c
		excuse.here &^= framework.ReadsDomain
		excuse.elsewhere &^= framework.ReadsDomain
		now := f.Node(n.Name())
		if now == nil || excuse.excuses(others, n.Name()) {
			continue
		}
		a, b := *want, *got
		if staleVerdict(n.Slot()) {
			b.verdicts = a.verdicts
		}
		if staleScore(n.Slot()) {
			a.raw, b.raw = nil, nil
		}
		if failure := k.sameOn(n.Name(), &a, &b, fmt.Sprintf("with %s, of which the DomainTracker tells nothing,", c.what)); failure != nil {
			return failure
		}
	}
	return nil
}

// stale returns which slots a tracker calls, all if it cannot tell.
func stale(d framework.DomainTracker, ok bool, since uint64) func(slot int) bool {
	if !ok {
		return func(int) bool { return true }
	}
	called := map[int]bool{}
	if d.Version() != since && !d.Changed(since, func(slot int) { called[slot] = true }) {
		return func(int) bool { return true }
	}
	return func(slot int) bool { return called[slot] }
}

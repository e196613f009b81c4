package frameworktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// checkExpiry lets time pass: an answer must stay until the time that
// ValidUntil told, or forever.
func (k *kit) checkExpiry() *Failure {
	for _, p := range k.pods {
		scope, ok := k.scope(p)
		if !ok || scope.Reads&framework.ReadsTime == 0 || scope.Reads&framework.ReadsCluster != 0 {
			continue
		}
		want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		filter, filters := want.bound.(incremental.Expirer)
		scorer, scores := want.scorer.(incremental.Expirer)
		if !filters && !scores {
			if want.bound == nil && want.scorer == nil {
				continue
			}
			return k.fail("what is bound with a Scope that has ReadsTime", "no Expirer", "a incremental.Expirer")
		}
		if filters {
			if f := k.holdsUntil(p, want, filter, false); f != nil {
				return f
			}
		}
		if scores {
			if f := k.holdsUntil(p, want, scorer, true); f != nil {
				return f
			}
		}
	}
	return nil
}

// holdsUntil compares answers at later times, up to the last moment before
// they expire.
func (k *kit) holdsUntil(p *framework.PodInfo, want *answers, e incremental.Expirer, score bool) *Failure {
	now := k.snapshot.Now()
	until := map[string]time.Time{}
	times := []time.Time{now.Add(time.Second), now.Add(10 * time.Minute), now.Add(36 * time.Hour)}
	for _, n := range k.snapshot.All() {
		if score && !slices.Contains(want.feasible, n) {
			continue
		}
		k.node, k.calling = n.Name(), "ValidUntil"
		until[n.Name()] = e.ValidUntil(p, n)
		if t := until[n.Name()]; t.After(now) {
			times = append(times, t.Add(-1))
		}
	}
	names := map[*framework.NodeInfo]bool{}
	for _, n := range want.feasible {
		names[n] = true
	}
	for _, t := range times {
		f := k.snapshot.Fork()
		f.SetNow(t)
		got := k.ask(new(framework.Cycle), f, p, func(n *framework.NodeInfo) bool { return names[n] })
		if !score { // the scorer speaks for itself
			got.raw = nil
		}
		for _, n := range k.snapshot.All() {
			end, asked := until[n.Name()]
			if !asked || !end.IsZero() && !t.Before(end) {
				continue
			}
			side := *got
			if score { // and so does the filter
				side.verdicts = want.verdicts
			}
			when := "for good"
			if !end.IsZero() {
				when = "until " + end.Format(time.RFC3339Nano)
			}
			if failure := k.sameOn(n.Name(), want, &side, fmt.Sprintf("at %s, though valid %s,", t.Format(time.RFC3339Nano), when)); failure != nil {
				return failure
			}
		}
	}
	return nil
}

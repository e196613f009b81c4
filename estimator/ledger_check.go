package estimator

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// Check implements [framework.Checker]: it finds anew who every pod of an account is, and
// the sums of a fork whose accounts are all rebuilt.
func (l *Ledger) Check(s *framework.Snapshot) error {
	if l.snapshot != s {
		return fmt.Errorf("ledger: it is another snapshot's")
	}
	fresh := l.Fork(s).(*Ledger)
	for _, n := range s.All() {
		a := l.account(n.Slot())
		if a == nil {
			continue
		}
		if err := a.check(); err != nil {
			return fmt.Errorf("ledger: node %s: %w", n.Name(), err)
		}
		again := fresh.own(n.Slot())
		fresh.rebuild(again, n)
		for i := range a.sums {
			for b := range Basis(bases) {
				if got, want := a.sums[i].use(b), again.sums[i].use(b); !slices.Equal(got, want) {
					return fmt.Errorf("ledger: node %s: sums %d say %v for purpose %d, want %v", n.Name(), i, got, b, want)
				}
			}
		}
	}
	return nil
}

// check checks the lists by pod.
func (a *account) check() error {
	if len(a.ids) != len(a.pods) || len(a.matches.names) != len(a.pods) {
		return fmt.Errorf("%d ids, %d names, want one for each of %d pods", len(a.ids), len(a.matches.names), len(a.pods))
	}
	unlisted, differing := 0, 0
	for i := range a.pods {
		p := &a.pods[i]
		if a.ids[i] != podID(p.pod.Pod) || a.matches.names[i] != nameOf(p.pod.Pod) {
			return fmt.Errorf("pod %d is %s, but is known as %v, %d", i, p.pod.Pod.Key(), a.matches.names[i], a.ids[i])
		}
		unlisted += one(!p.listed)
		differing += one(p.differs)
	}
	if a.unlisted != unlisted || a.differing != differing {
		return fmt.Errorf("%d pods are unlisted, %d differ, want %d, %d", a.unlisted, a.differing, unlisted, differing)
	}
	for i, s := range a.sums {
		if n := s.pods(); n != len(a.pods) {
			return fmt.Errorf("sums %d have %d pods, want %d", i, n, len(a.pods))
		}
	}
	return nil
}

func (q *quantitySums) pods() int { return len(q.seen) }

func (v *vectorSums) pods() int { return len(v.entries) }

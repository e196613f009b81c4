package frameworktest

import (
	"fmt"
	"sync"

	"github.com/berth-sched/berth/framework"
)

// checkScratch asks about all pods in turn, twice, in one cycle that hands out
// the same memory again and again, and wants the answers of new cycles.
func (k *kit) checkScratch() *Failure {
	want := make([]*answers, len(k.pods))
	for i, p := range k.pods {
		want[i] = k.ask(new(framework.Cycle), k.snapshot, p, nil)
	}
	var c framework.Cycle
	for range 2 {
		for i, p := range k.pods {
			if f := k.same(want[i], k.ask(&c, k.snapshot, p, nil), "after other pods"); f != nil {
				return f
			}
		}
	}
	return nil
}

// checkConcurrency asks a bound filter and scorer from several goroutines. Each
// goroutine begins at another node.
func (k *kit) checkConcurrency() *Failure {
	const goroutines = 4
	for _, p := range k.pods {
		want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		var failures [goroutines]*Failure
		var wg sync.WaitGroup
		for g := range goroutines {
			w := *k // each has its own place
			wg.Go(func() {
				defer func() {
					if v := recover(); v != nil {
						failures[g] = w.panicked(v, " beside others")
					}
				}()
				failures[g] = w.askAgain(want, p, g)
			})
		}
		wg.Wait()
		for _, f := range failures {
			if f != nil {
				return f
			}
		}
	}
	return nil
}

// askAgain asks the bound filter and scorer for all nodes once more.
func (k *kit) askAgain(want *answers, p *framework.PodInfo, start int) *Failure {
	for i := range k.snapshot.Len() {
		n := k.snapshot.At((i + start*k.snapshot.Len()/4) % k.snapshot.Len())
		v := k.verdict(want, p, n)
		if w := want.verdicts[n.Name()]; v.String() != w.String() {
			return k.fail("verdict, asked by several goroutines", v.String(), w.String())
		}
	}
	for i := range want.raw {
		at := (i + start*len(want.raw)/4) % len(want.raw)
		n := want.feasible[at]
		k.node, k.calling = n.Name(), "Score"
		if got := want.scorer.Score(p, n); got != want.raw[at] {
			return k.fail("raw score, asked by several goroutines", fmt.Sprint(got), fmt.Sprint(want.raw[at]))
		}
	}
	return nil
}

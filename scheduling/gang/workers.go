package gang

import (
	"fmt"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
)

// trials tries the group in each of the domains and takes it back.
func (a *attempt) trials(domains []*domain) (list []*Trial, err error) {
	if a.rules.Workers > 1 && len(domains) > 1 && (a.room == nil || a.rules.Detailed) && !a.forksDiffer() {
		return a.trialsAside(domains)
	}
	for _, d := range domains {
		t, err := a.trial(d)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// forksDiffer reports whether a fork of the snapshot may answer in another way: in a trial of preemption
// victims keep the devices that nobody has written yet, but a fork takes it for granted that they have gone.
func (a *attempt) forksDiffer() bool {
	return len(framework.List[api.ResourceSlice](a.snap)) > 0 && devices.HasLeft(a.snap)
}

// trialsAside is trials with workers: each has a fork of the snapshot, and a scheduler of
// its own, which the Placer keeps. The error of the first domain that fails counts.
func (a *attempt) trialsAside(domains []*domain) ([]*Trial, error) {
	n := min(a.rules.Workers, len(domains))
	for len(a.workers) < n {
		a.Placer.workers = append(a.Placer.workers, a.Placer.Fork())
	}
	for _, d := range domains { // so that workers only read domains
		if _, err := d.nodes(a.snap); err != nil {
			return nil, err
		}
	}
	list, errs, decided := make([]*Trial, len(domains)), make([]error, len(domains)), make([]int, len(domains))
	var wg sync.WaitGroup
	for w := range n {
		own := *a.workers[w]
		own.rules = a.rules
		x := &attempt{Placer: &own, snap: a.snap.Fork(), g: a.g, keys: a.keys, root: a.root, out: &Outcome{}, position: a.position, hash: a.hash}
		wg.Go(func() {
			for i := w; i < len(domains); i += n {
				before := x.decided
				list[i], errs[i] = x.greedyAside(domains[i])
				decided[i] = x.decided - before
			}
		})
	}
	wg.Wait()
	for i, d := range domains {
		if a.decided += decided[i]; a.decided > a.decisions() {
			return nil, a.tooMany()
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		if a.verify {
			total := a.decided
			a.decided = 0
			t, err := a.greedyAside(d)
			if err != nil {
				return nil, err
			}
			a.decided = total
			if t.Text != list[i].Text || !slices.Equal(t.Placed, list[i].Placed) {
				return nil, fmt.Errorf("gang: a fork says of domain %q that %v fit (%s), but %v do (%s)", d.name, list[i].Placed, list[i].Text, t.Placed, t.Text)
			}
		}
	}
	return list, nil
}

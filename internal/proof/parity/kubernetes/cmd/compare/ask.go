package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
)

// asker asks both sides about one item after the other. It keeps the schedulers that
// it has built, because building one takes longer than most cases.
type asker struct {
	schedulers []*built // the last used one at the end
	plugins    func(*golden.Case) []string
	asking     bool // kube-scheduler is at work
}

type built struct {
	*rival.Scheduler
	config     string
	percentage int32
	stop       context.CancelFunc
}

func newAsker() *asker { return &asker{plugins: golden.CheckPlugins()} }

// kept is how many schedulers an asker keeps.
const kept = 3

// scheduler returns a kube-scheduler with one worker for a configuration.
func (a *asker) scheduler(config string, percentage int32) (*rival.Scheduler, error) {
	at := slices.IndexFunc(a.schedulers, func(b *built) bool { return b.config == config && b.percentage == percentage })
	if at >= 0 {
		b := a.schedulers[at]
		a.schedulers = append(slices.Delete(a.schedulers, at, at+1), b)
		return b.Scheduler, nil
	}
	ctx, stop := context.WithCancel(context.Background())
	s, err := rival.New(ctx, rival.Options{Config: config, Percentage: percentage, Parallelism: 1, Refuse: true})
	if err != nil {
		stop()
		return nil, err
	}
	if len(a.schedulers) == kept {
		a.schedulers[0].stop()
		a.schedulers = slices.Delete(a.schedulers, 0, 1)
	}
	a.schedulers = append(a.schedulers, &built{s, config, percentage, stop})
	return s, nil
}

// forget drops the schedulers, because one of them may be in any state.
func (a *asker) forget() {
	for _, b := range a.schedulers {
		b.stop()
	}
	a.schedulers = nil
}

// verdict is the result for an item.
type verdict struct {
	differences []string
	needs       string // the plugin without which berth cannot answer
	placements  int
	events      map[string]int // of a sequence: how often each event happened
	known       int            // of a sequence: attempts with a known deviation that was put right
	crash       bool           // kube-scheduler panicked
	err         error          // kube-scheduler could not be asked
}

// ask asks both sides. A panic of berth is a difference. If kube-scheduler panics,
// there is nothing to compare with; but berth must still decide, and in the same way
// on both paths.
func (a *asker) ask(i *item) (v verdict) {
	v = a.try(i)
	if !v.crash || i.Steps != nil {
		return v
	}
	defer func() {
		if p := recover(); p != nil {
			v.differences = []string{fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	v.differences = pipeline.Decide(i.Case)
	return v
}

// try asks both sides and survives a panic of either.
func (a *asker) try(i *item) (v verdict) {
	defer func() {
		if p := recover(); p != nil {
			a.forget()
			if a.asking {
				v = verdict{crash: true}
			} else {
				v = verdict{differences: []string{fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}}
			}
		}
	}()
	a.asking = false
	if i.Steps != nil {
		return a.sequence(i)
	}
	return a.single(i.Case)
}

// single compares the answers to a case, and records kube-scheduler's in it.
func (a *asker) single(c *golden.Case) (v verdict) {
	s, err := a.scheduler(string(c.Config), 100)
	if err != nil {
		return verdict{err: err}
	}
	a.asking = true
	if c.Expect, err = s.Answer(c); err != nil {
		return verdict{err: err}
	}
	poisoned, err := adoptPoisoned(s, c)
	if err != nil {
		return verdict{err: err}
	}
	a.asking = false
	v.differences = a.plugins(c)
	if poisoned {
		v.differences = append(v.differences, pipeline.Decide(c)...)
		return v
	}
	whole, needs := pipeline.Check(c)
	v.differences, v.needs = append(v.differences, whole...), needs
	return v
}

// adoptPoisoned replaces kube-scheduler's errors of NodeVolumeLimits about volumes of pods on
// nodes by its verdicts without these volumes, and reports whether there were such errors. An
// error that is there without those pods is about the pod to place, and stays.
func adoptPoisoned(s *rival.Scheduler, c *golden.Case) (poisoned bool, err error) {
	const plugin = "NodeVolumeLimits"
	all := failing(c.Expect.Filter[plugin])
	if all == 0 {
		return false, nil
	}
	with := func(pods []*api.Pod) (golden.FilterAnswer, error) {
		other := *c
		other.Pods, other.Expect = pods, golden.Expect{}
		expect, err := s.Answer(&other)
		return expect.Filter[plugin], err
	}
	alone, err := with(nil)
	own := failing(alone)
	if err != nil || own == all {
		return false, err
	}
	var sound []*api.Pod // with the volumes about which there is no error
	for _, p := range c.Pods {
		kept := *p
		kept.Spec.Volumes = nil
		for _, v := range p.Spec.Volumes {
			one := *p
			one.Spec.Volumes = []api.Volume{v}
			answer, err := with([]*api.Pod{&one})
			if err != nil {
				return false, err
			}
			if failing(answer) == own {
				kept.Spec.Volumes = append(kept.Spec.Volumes, v)
			}
		}
		sound = append(sound, &kept)
	}
	c.Expect.Filter[plugin], err = with(sound)
	return true, err
}

// failing counts the nodes about which the plugin ends with an error.
func failing(a golden.FilterAnswer) (n int) {
	for _, status := range a.Nodes {
		if status.Code == framework.Error.String() {
			n++
		}
	}
	return n
}

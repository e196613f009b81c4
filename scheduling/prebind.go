package scheduling

import (
	"context"
	"sync"

	"github.com/berth-sched/berth/framework"
)

// PreBind runs the PreBind plugins in groups, one group after the other.
// Neighbouring plugins that PreFlight found to be parallel form one group; every
// other plugin is a group of its own. Plugins that have nothing to do are skipped;
// if PreFlight has not run, all plugins run.
//
// If concurrent is set, the members of a group run concurrently, otherwise in order.
// The first failure cancels the context of the other members and ends PreBind. The
// error is a [*FitError] for a rejection, otherwise a [*PluginError]; for a
// cancelled context it has the context's cause.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPreBindPlugins.
func (b *Binding) PreBind(ctx context.Context, concurrent bool) error {
	for _, group := range b.preBindGroups() {
		var err error
		if concurrent && len(group) > 1 {
			err = b.preBindTogether(ctx, group)
		} else {
			for _, i := range group {
				if err = b.preBind(ctx, i); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// preBindGroups lists the plugins of each group.
func (b *Binding) preBindGroups() [][]int {
	var groups [][]int
	open := false // the last group may still grow
	for i := range b.plugins.preBind {
		var f flight
		if b.flight != nil {
			f = b.flight[i]
		}
		if !f.parallel {
			open = false
		}
		if f.skip {
			continue
		}
		if open {
			groups[len(groups)-1] = append(groups[len(groups)-1], i)
			continue
		}
		groups = append(groups, []int{i})
		open = f.parallel
	}
	return groups
}

func (b *Binding) preBindTogether(ctx context.Context, group []int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for _, i := range group {
		wg.Go(func() {
			var err error = &PluginError{Point: "PreBind", Plugin: b.plugins.preBind[i].name, Err: errExited}
			defer func() {
				if err != nil {
					once.Do(func() {
						first = err
						cancel(err)
					})
				}
			}()
			err = b.preBind(ctx, i)
		})
	}
	wg.Wait()
	return first
}

func (b *Binding) preBind(ctx context.Context, i int) error {
	p := b.plugins.preBind[i]
	status := callPreBind(ctx, p, b)
	switch {
	case status.IsSuccess():
		return nil
	case status.IsRejected():
		return rejection(b.Pod, p.name, status)
	case ctx.Err() != nil:
		return &PluginError{Point: "PreBind", Plugin: p.name, Err: context.Cause(ctx)}
	}
	return refusal("PreBind", p.name, status)
}

func callPreBind(ctx context.Context, p named[framework.PreBindPlugin], b *Binding) (s framework.Status) {
	defer catchStatus(&s)
	return p.plugin.PreBind(ctx, b.cycle, b.Node)
}

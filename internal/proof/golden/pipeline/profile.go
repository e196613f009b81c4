package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

// stock is the configuration of cases without one.
const stock = `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}`

// Profile builds the first profile of a configuration; nil means the default one. It
// leaves out plugins that this module does not have, and names them.
func Profile(raw json.RawMessage) (p scheduling.Profile, missing []string, err error) {
	if raw == nil {
		raw = json.RawMessage(stock)
	}
	c, err := config.Load(raw, config.LoadConfig{})
	if err != nil {
		return p, nil, err
	}
	b := builder{profile: c.Effective().Profiles[0], made: map[config.Point][]framework.Plugin{}}
	p.Name = b.profile.SchedulerName
	p.TieRule = scheduling.Heap
	for _, pl := range b.profile.Plugins[config.Filter] {
		if made := b.plugin(config.Filter, pl.Name); made != nil {
			p.Filter = append(p.Filter, made)
		}
	}
	for _, pl := range b.profile.Plugins[config.Score] {
		if made := b.plugin(config.Score, pl.Name); made != nil {
			p.Score = append(p.Score, scheduling.Weighted{Plugin: made, Weight: int64(pl.Weight)})
		}
	}
	p.PreFilter = preparing[framework.PreFilterPlugin](&b, config.PreFilter, config.Filter)
	p.PreScore = preparing[framework.PreScorePlugin](&b, config.PreScore, config.Score)
	slices.Sort(b.missing)
	return p, slices.Compact(b.missing), b.err
}

// preparing lists the plugins of a point that prepares another one, in the order of
// the configuration. It includes plugins that only prepare, because they are
// disabled at the other point. After them come the plugins that have no such point
// in kube-scheduler.
func preparing[T any](b *builder, prepare, main config.Point) []framework.Plugin {
	order := b.profile.Plugins[prepare]
	for _, o := range order {
		if !slices.ContainsFunc(b.made[main], func(p framework.Plugin) bool { return p.Name() == o.Name }) {
			b.plugin(main, o.Name)
		}
	}
	list := []framework.Plugin{}
	rank := func(p framework.Plugin) int {
		i := slices.IndexFunc(order, func(o config.Plugin) bool { return o.Name == p.Name() })
		if i < 0 {
			i = len(order)
		}
		return i
	}
	for _, p := range b.made[main] {
		if _, ok := framework.As[T](p); ok {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b framework.Plugin) int { return rank(a) - rank(b) })
	return list
}

// builder makes the plugins of a profile.
type builder struct {
	profile config.EffectiveProfile
	made    map[config.Point][]framework.Plugin
	missing []string
	err     error
}

// plugin makes the filter or score plugin with that name; nil if there is none.
func (b *builder) plugin(point config.Point, name string) framework.Plugin {
	known := golden.Filters
	if point == config.Score {
		known = golden.Scorers
	}
	make, ok := known[name]
	if !ok {
		b.missing = append(b.missing, name)
		return nil
	}
	p, err := make(b.args(name))
	if err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("%s: %w", name, err))
		return nil
	}
	b.made[point] = append(b.made[point], p)
	return p
}

// args returns the arguments of a plugin, nil if it has none.
func (b *builder) args(name string) json.RawMessage {
	for _, pc := range b.profile.PluginConfig {
		if pc.Name != name || pc.Args == nil {
			continue
		}
		raw, err := json.Marshal(pc.Args)
		if err != nil {
			b.err = errors.Join(b.err, fmt.Errorf("%s: %w", name, err))
		}
		return raw
	}
	return nil
}

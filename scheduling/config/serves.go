package config

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
)

// serves reports whether a plugin has the methods of a point. A plugin whose
// PreFilter returns the filter serves filter, too; likewise for score.
func serves(p framework.Plugin, point Point) bool {
	switch point {
	case PreEnqueue:
		return is[queueing.PreEnqueuePlugin](p)
	case QueueSort:
		return is[queueing.QueueSortPlugin](p)
	case PreFilter:
		return is[framework.PreFilterPlugin](p)
	case Filter:
		return is[framework.FilterPlugin](p) || is[framework.PreFilterPlugin](p)
	case PostFilter:
		return is[framework.PostFilterPlugin](p)
	case PreScore:
		return is[framework.PreScorePlugin](p)
	case Score:
		return is[framework.ScorePlugin](p) || is[framework.PreScorePlugin](p)
	case Reserve:
		return is[framework.ReservePlugin](p)
	case Permit:
		return is[framework.PermitPlugin](p)
	case PreBind:
		return is[framework.PreBindPlugin](p)
	case Bind:
		return is[framework.BindPlugin](p)
	case PostBind:
		return is[framework.PostBindPlugin](p)
	}
	return false
}

func is[T any](p framework.Plugin) bool {
	_, ok := framework.As[T](p)
	return ok
}

// register adds the plugins of a registry that neither the preset nor
// LoadConfig.Plugins describes.
func (p Preset) register(r *scheduling.Registry) {
	for _, name := range r.Names() {
		if _, ok := p.Plugins[name]; ok {
			continue
		}
		reg, _ := r.Lookup(name)
		known := Known{Args: reg.Args}
		for _, point := range Points() {
			if scheduling.PluginFor(reg.Like, func(part framework.Plugin) bool { return serves(part, point) }) != nil {
				known.Points = append(known.Points, point)
			}
		}
		p.Plugins[name] = known
	}
}

package scheduling

import (
	"cmp"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// WithDeviceSelectors returns the profile with a compiler of device selectors for each of
// this library's plugins that looks at devices and has no compiler. A nil compiler changes
// nothing.
func (p Profile) WithDeviceSelectors(compiler api.DeviceSelectorCompiler) Profile {
	if compiler == nil {
		return p
	}
	with := func(q framework.Plugin) framework.Plugin {
		switch d := q.(type) {
		case filter.DynamicResources:
			d.DeviceSelectors = cmp.Or(d.DeviceSelectors, compiler)
			return d
		case scoring.DynamicResources:
			d.DeviceSelectors = cmp.Or(d.DeviceSelectors, compiler)
			return d
		case scoring.NodeResourcesFit: // it counts the devices behind extended resources
			d.DeviceSelectors = cmp.Or(d.DeviceSelectors, compiler)
			return d
		case scoring.NodeResourcesBalancedAllocation:
			d.DeviceSelectors = cmp.Or(d.DeviceSelectors, compiler)
			return d
		}
		return q
	}
	for _, list := range []*[]framework.Plugin{&p.PreEnqueue, &p.PreFilter, &p.Filter, &p.PostFilter, &p.PreScore, &p.Reserve} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = with((*list)[i])
		}
	}
	p.Score = slices.Clone(p.Score)
	for i := range p.Score {
		p.Score[i].Plugin = with(p.Score[i].Plugin)
	}
	return p
}

package config

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/scheduling/args"
)

// A Preset is the built-in knowledge of a kube-scheduler release.
type Preset struct {
	// Release is the kube-scheduler release, such as "1.37"; "" for none.
	Release string
	// Plugins are the in-tree plugins by name.
	Plugins map[string]Known
	// Default are the plugins of a profile without plugin settings.
	Default Plugins
	// Removed names plugins that earlier releases had and this one rejects by name,
	// in files of version v1, at the points that upstream checks.
	Removed []string
}

// clone returns a preset with its own maps and lists.
func (p Preset) clone() Preset {
	p.Plugins = maps.Clone(p.Plugins)
	p.Removed = slices.Clone(p.Removed)
	return p
}

// names returns the names of the plugins in order.
func (p Preset) names() []string { return slices.Sorted(maps.Keys(p.Plugins)) }

// inTree returns the table of plugins that serve the given points, with the
// decoders of package args.
func inTree(points map[string][]Point) map[string]Known {
	decoders := args.InTree()
	table := make(map[string]Known, len(points))
	for name, list := range points {
		table[name] = Known{Points: list, Args: decoders[name], LateArgs: name == "NodeResourcesFit"}
	}
	return table
}

// weighedLater reports whether a default plugin has weighed more than 1 only since v1beta3.
//
// Source: kube-scheduler 1.27.16, getDefaultPlugins of v1beta2 and of v1beta3.
func weighedLater(plugin string) bool {
	return plugin == "TaintToleration" || plugin == "NodeAffinity" || plugin == "InterPodAffinity"
}

// perPoint returns the default plugins listed at each point that they serve, with the weights that they had then,
// for versions of the file format without a default multiPoint.
func (p Preset) perPoint() Plugins {
	out := p.Default
	out.MultiPoint.Enabled = nil
	for _, point := range Points() {
		set := out.At(point)
		set.Enabled = slices.Clone(set.Enabled)
		for _, plugin := range p.Default.MultiPoint.Enabled {
			if !p.Plugins[plugin.Name].serves(point) || set.enables(plugin.Name) || set.disables(plugin.Name) {
				continue
			}
			switch {
			case !point.weighted():
				plugin.Weight = 0
			case plugin.Weight > 1 && weighedLater(plugin.Name):
				plugin.Weight = 1
			}
			set.Enabled = append(set.Enabled, plugin)
		}
	}
	return out
}

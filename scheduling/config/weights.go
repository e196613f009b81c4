package config

import (
	"cmp"
	"math"
)

// maxScore is the highest score of a node.
const maxScore = 100

// weights returns the weights of the plugins that serve a point, by the names in
// files: if the point enables a plugin, its weight there, else its weight at
// multiPoint; 0 means 1. It checks that the weighted total cannot overflow and that
// every plugin of list has a weight. The map holds until the next call.
//
// Upstream's check subtracts a running total that may be negative, which wraps. So a
// negative weight is rejected if another plugin follows while the total is below 0,
// and is accepted otherwise. The error names the negative weight. Plugins whose point is
// disabled count, too.
func (b *builder) weights(point Point, list []string) map[string]int32 {
	prefix := "score plugins"
	if point == PlacementScore {
		prefix = "placement score plugins"
	}
	weights := b.scores
	clear(weights)
	total := int64(0)
	var negative *Plugin // the first one
	for _, set := range []*PluginSet{b.profile.Plugins.At(point), &b.profile.Plugins.MultiPoint} {
		for _, plugin := range set.Enabled {
			if _, ok := weights[plugin.Name]; ok || !b.preset.Plugins[plugin.Name].serves(point) {
				continue
			}
			w := plugin.Weight
			if w == 0 {
				w = 1
			}
			weights[plugin.Name] = w
			if total < 0 || int64(w)*maxScore > math.MaxInt64-total {
				cause := cmp.Or(negative, &plugin)
				field := b.written.plugin(point, cause.Name)
				b.failIn(field, WeightOverflow, cause.Name, "%s: total score of Score plugins could overflow; plugin %q has weight %d", prefix, cause.Name, cause.Weight)
				return weights
			}
			if w < 0 && negative == nil {
				negative = &plugin
			}
			total += int64(w) * maxScore
		}
	}
	for _, plugin := range list {
		if name := b.reported(plugin); weights[name] == 0 {
			b.failIn(b.written.plugin(point, name), NoWeight, name, "%s %q is not configured with weight", prefix[:len(prefix)-1], name)
		}
	}
	return weights
}

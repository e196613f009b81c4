package config

import "slices"

// A Plugin is one entry of a plugin list.
type Plugin struct {
	Name string `json:"name"`
	// Weight counts at Score and PlacementScore; 0 means 1. Elsewhere it is kept but
	// has no effect.
	Weight int32 `json:"weight,omitempty"`
}

// A PluginSet holds a file's settings for one extension point.
type PluginSet struct {
	// Enabled plugins run in addition to the default ones.
	Enabled []Plugin `json:"enabled,omitempty"`
	// Disabled names default plugins that do not run; "*" means all.
	Disabled []Plugin `json:"disabled,omitempty"`
}

// Plugins are the plugin sets of a profile.
type Plugins struct {
	PreEnqueue         PluginSet `json:"preEnqueue,omitzero"`
	QueueSort          PluginSet `json:"queueSort,omitzero"`
	PreFilter          PluginSet `json:"preFilter,omitzero"`
	Filter             PluginSet `json:"filter,omitzero"`
	PostFilter         PluginSet `json:"postFilter,omitzero"`
	PreScore           PluginSet `json:"preScore,omitzero"`
	Score              PluginSet `json:"score,omitzero"`
	Reserve            PluginSet `json:"reserve,omitzero"`
	Permit             PluginSet `json:"permit,omitzero"`
	PreBind            PluginSet `json:"preBind,omitzero"`
	Bind               PluginSet `json:"bind,omitzero"`
	PostBind           PluginSet `json:"postBind,omitzero"`
	MultiPoint         PluginSet `json:"multiPoint,omitzero"`
	PlacementGenerate  PluginSet `json:"placementGenerate,omitzero"`
	PlacementScore     PluginSet `json:"placementScore,omitzero"`
	PodGroupPostFilter PluginSet `json:"podGroupPostFilter,omitzero"`
}

// At returns the set of a point, which may be MultiPoint, or nil for an unknown
// point.
func (p *Plugins) At(point Point) *PluginSet {
	switch point {
	case PreEnqueue:
		return &p.PreEnqueue
	case QueueSort:
		return &p.QueueSort
	case PreFilter:
		return &p.PreFilter
	case Filter:
		return &p.Filter
	case PostFilter:
		return &p.PostFilter
	case PreScore:
		return &p.PreScore
	case Score:
		return &p.Score
	case Reserve:
		return &p.Reserve
	case Permit:
		return &p.Permit
	case PreBind:
		return &p.PreBind
	case Bind:
		return &p.Bind
	case PostBind:
		return &p.PostBind
	case MultiPoint:
		return &p.MultiPoint
	case PlacementGenerate:
		return &p.PlacementGenerate
	case PlacementScore:
		return &p.PlacementScore
	case PodGroupPostFilter:
		return &p.PodGroupPostFilter
	}
	return nil
}

// disables reports whether the set disables a plugin by its name; "*" is a name
// like any other here.
func (s *PluginSet) disables(name string) bool {
	for _, p := range s.Disabled {
		if p.Name == name {
			return true
		}
	}
	return false
}

// enables reports whether the set enables a plugin.
func (s *PluginSet) enables(name string) bool {
	for _, p := range s.Enabled {
		if p.Name == name {
			return true
		}
	}
	return false
}

// named returns the names of all plugins that p enables at any point except the
// given ones, each once and in order.
func (p *Plugins) named(except ...Point) (names []string) {
	n := 0
	for _, point := range allPoints() {
		n += len(p.At(point).Enabled)
	}
	names = make([]string, 0, n)
	for _, point := range allPoints() {
		if slices.Contains(except, point) {
			continue
		}
		for _, plugin := range p.At(point).Enabled {
			names = append(names, plugin.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

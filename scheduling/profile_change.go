package scheduling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// A pointPlugins is the list of plugins that a profile has at one extension point.
type pointPlugins struct {
	point  string
	list   *[]framework.Plugin
	want   string // what each plugin must implement
	serves func(framework.Plugin) bool
}

// pluginLists returns the lists of all points but Score and QueueSort. A plugin that
// stands at several points is reported at the first of them.
func (p *Profile) pluginLists() []pointPlugins {
	return []pointPlugins{
		{"Filter", &p.Filter, "FilterPlugin or PreFilterPlugin", filters},
		{"PreFilter", &p.PreFilter, "PreFilterPlugin", is[framework.PreFilterPlugin]},
		{"PreScore", &p.PreScore, "PreScorePlugin", is[framework.PreScorePlugin]},
		{"Reserve", &p.Reserve, "ReservePlugin", is[framework.ReservePlugin]},
		{"PreEnqueue", &p.PreEnqueue, "PreEnqueuePlugin", is[queueing.PreEnqueuePlugin]},
		{"PostFilter", &p.PostFilter, "PostFilterPlugin", is[framework.PostFilterPlugin]},
		{"Permit", &p.Permit, "PermitPlugin", is[framework.PermitPlugin]},
		{"PreBind", &p.PreBind, "PreBindPlugin", is[framework.PreBindPlugin]},
		{"Bind", &p.Bind, "BindPlugin", is[framework.BindPlugin]},
		{"PostBind", &p.PostBind, "PostBindPlugin", is[framework.PostBindPlugin]},
	}
}

func filters(p framework.Plugin) bool {
	return is[framework.FilterPlugin](p) || is[framework.PreFilterPlugin](p)
}

func scores(p framework.Plugin) bool {
	return is[framework.ScorePlugin](p) || is[framework.PreScorePlugin](p)
}

// Replace puts the plugin in the place of the one of its name, at every point that
// both serve. Its weight stays. A QueueSort that is nil has no name; set it yourself. So a scorer replaces the scorer of its name and
// leaves the filter of its name as it is. [Combined] replaces at the points of all its
// plugins.
//
// A name that the profile does not have, and a plugin that serves none of the points
// where the name stands, are an error; the profile is then as it was. Copies of the
// profile do not change.
func (p *Profile) Replace(plugin framework.Plugin) error {
	if isNil(plugin) {
		return fmt.Errorf("profile %q: Replace: the plugin is nil", p.Name)
	}
	name := plugin.Name()
	var points []string // where the name stands
	changed := 0
	for _, l := range p.pluginLists() {
		i := indexOf(*l.list, name)
		if i < 0 {
			continue
		}
		points = append(points, l.point)
		if part := PluginFor(plugin, l.serves); part != nil {
			*l.list = slices.Clone(*l.list)
			(*l.list)[i] = part
			changed++
		}
	}
	if p.QueueSort != nil && nameOf(p.QueueSort) == name {
		points = append(points, "QueueSort")
		if part := PluginFor(plugin, is[queueing.QueueSortPlugin]); part != nil {
			p.QueueSort = part
			changed++
		}
	}
	if i := p.scorer(name); i >= 0 {
		points = append(points, "Score")
		if part := PluginFor(plugin, scores); part != nil {
			p.Score = slices.Clone(p.Score)
			p.Score[i].Plugin = part
			changed++
		}
	}
	switch {
	case len(points) == 0:
		return p.unknown("Replace", name)
	case changed == 0:
		return fmt.Errorf("profile %q: Replace: plugin %q (%T) serves none of the points where the profile has it: %s",
			p.Name, name, plugin, strings.Join(points, ", "))
	}
	return nil
}

// Remove leaves the plugins of that name out, at every point. A name that the profile
// does not have is an error. Copies of the profile do not change.
func (p *Profile) Remove(name string) error {
	removed := false
	for _, l := range p.pluginLists() {
		if i := indexOf(*l.list, name); i >= 0 {
			*l.list = slices.Delete(slices.Clone(*l.list), i, i+1)
			removed = true
		}
	}
	if i := p.scorer(name); i >= 0 {
		p.Score = slices.Delete(slices.Clone(p.Score), i, i+1)
		removed = true
	}
	if !removed {
		return p.unknown("Remove", name)
	}
	return nil
}

// Reweigh sets the weight of the scorer of that name. 0 means 1, as in [Weighted]; to
// leave a scorer out, call [Profile.Remove]. A name that does not score in the profile,
// and a negative weight, are an error. Copies of the profile do not change.
func (p *Profile) Reweigh(name string, weight int64) error {
	i := p.scorer(name)
	switch {
	case i < 0:
		return p.unknown("Reweigh", name)
	case weight < 0:
		return fmt.Errorf("profile %q: Reweigh: plugin %q: weight %d: must not be negative", p.Name, name, weight)
	}
	p.Score = slices.Clone(p.Score)
	p.Score[i].Weight = weight
	return nil
}

// scorer returns the place of the scorer of that name, -1 if there is none.
func (p *Profile) scorer(name string) int {
	return slices.IndexFunc(p.Score, func(w Weighted) bool { return !isNil(w.Plugin) && nameOf(w.Plugin) == name })
}

func indexOf(list []framework.Plugin, name string) int {
	return slices.IndexFunc(list, func(p framework.Plugin) bool { return !isNil(p) && nameOf(p) == name })
}

// unknown is the error of a name that the profile does not have; it lists those that
// it has.
func (p *Profile) unknown(method, name string) error {
	known := names(scorePlugins(p.Score))
	if method != "Reweigh" {
		for _, l := range p.pluginLists() {
			for has := range names(*l.list) {
				known[has] = true
			}
		}
	}
	return fmt.Errorf("profile %q: %s: no plugin %q; the profile has %s", p.Name, method, name, strings.Join(sorted(known), ", "))
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

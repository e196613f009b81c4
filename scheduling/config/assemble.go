package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// Built is the result of [Configuration.Build].
type Built struct {
	// Profiles are in the order of the file. Their seed is 0.
	Profiles []scheduling.Profile
	// Missing lists the plugins, sorted, that kube-scheduler enables by default and
	// the registry does not have. The profiles omit them.
	Missing []string
}

// Build makes the profiles that the configuration describes, with the plugins of
// LoadConfig.Registry. It makes every plugin once per profile, however many points
// the plugin serves there. [scheduling.New] makes a scheduler of each profile.
//
// A percentageOfNodesToScore of 0 becomes [scheduling.Adaptive], and ties are broken
// by the rule of the registry's release. The error is an [*Error] with every plugin
// and every extender that could not be made. Certificates of extenders are read with
// LoadConfig.ReadFile. A plugin that the registry does not have is an error, too,
// unless it is enabled by default.
//
// Differs: a plugin that is enabled at filter or score, disabled at preFilter or
// preScore, and cannot work unprepared.
// Original: kube-scheduler's fails every pod, or prepares itself for every node.
// Here: it is prepared all the same, after the others.
// Why: a plugin that fails every pod helps nobody.
//
// Differs: in-tree plugins at points where they have nothing to do here.
// Original: kube-scheduler calls them there.
// Here: they are left out.
// Why: the call would have no effect.
//
// Differs: the points of pod groups.
// Original: kube-scheduler runs plugins there.
// Here: they have no effect.
// Why: package gang places groups, outside of a profile.
func (c *Configuration) Build(o BuildConfig) (*Built, error) {
	p := &problems{stage: StageBuild}
	missing := make(map[string]bool)
	built := new(Built)
	extenders := c.buildExtenders(o, p)
	for i := range c.effective.Profiles {
		a := &assembler{
			problems: p, config: c, profile: &c.effective.Profiles[i], handle: o.Handle,
			made: make(map[string]framework.Plugin), missing: missing,
		}
		profile := a.assemble()
		profile.Extenders = extenders
		built.Profiles = append(built.Profiles, profile)
	}
	if err := p.located(func() *place { return new(place) }); err != nil {
		return nil, err
	}
	built.Missing = slices.Sorted(maps.Keys(missing))
	return built, nil
}

// An assembler makes one profile.
type assembler struct {
	*problems
	config  *Configuration
	profile *EffectiveProfile
	handle  framework.Handle
	made    map[string]framework.Plugin // nil for plugins that could not be made
	missing map[string]bool
}

func (a *assembler) assemble() scheduling.Profile {
	p := scheduling.Profile{
		Name:        a.profile.SchedulerName,
		PreEnqueue:  a.list(PreEnqueue),
		Filter:      a.list(Filter),
		PostFilter:  a.list(PostFilter),
		Reserve:     a.list(Reserve),
		Permit:      a.list(Permit),
		PreBind:     a.list(PreBind),
		Bind:        a.list(Bind),
		PostBind:    a.list(PostBind),
		Percentage:  a.percentage(),
		TieRule:     a.config.registry.TieRule(),
		Parallelism: int(a.config.Parallelism),
	}
	if a.config.preset.Release == "1.18" {
		a.builtIn118(&p)
	}
	if sort := a.list(QueueSort); len(sort) > 0 {
		p.QueueSort = sort[0]
	}
	weights := make(map[string]int64)
	for _, entry := range a.profile.Plugins[Score] {
		weights[entry.Name] = int64(entry.Weight)
	}
	scorers := a.list(Score)
	for _, pl := range scorers {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: pl, Weight: weights[pl.Name()]})
	}
	p.PreFilter = prepare(a.list(PreFilter), p.Filter, is[framework.PreFilterPlugin], is[framework.FilterPlugin])
	p.PreScore = prepare(a.list(PreScore), scorers, is[framework.PreScorePlugin], is[framework.ScorePlugin])
	return p
}

// builtIn118 adds what kube-scheduler 1.18 did itself and later releases do with
// plugins: preemption, and reserving volumes. Scheduling gates came later, but a pod
// with gates must wait for them.
func (a *assembler) builtIn118(p *scheduling.Profile) {
	p.PreEnqueue = append(p.PreEnqueue, scheduling.SchedulingGates{})
	p.PostFilter = append(p.PostFilter, preemption.DefaultPreemption{})
	if volumes, ok := a.made["VolumeBinding"]; ok {
		if part := scheduling.PluginFor(volumes, is[framework.ReservePlugin]); part != nil {
			p.Reserve = append([]framework.Plugin{part}, p.Reserve...)
		}
	}
}

// percentage returns the percentage of nodes to search.
func (a *assembler) percentage() int {
	percentage := a.config.PercentageOfNodesToScore
	if own := a.profile.PercentageOfNodesToScore; own != nil {
		percentage = *own
	}
	if percentage == 0 {
		return scheduling.Adaptive
	}
	return int(percentage)
}

// list returns the plugins of a point, each as the part that serves it.
func (a *assembler) list(point Point) []framework.Plugin {
	var list []framework.Plugin
	for _, entry := range a.profile.Plugins[point] {
		p := a.plugin(entry.Name)
		if p == nil {
			continue
		}
		part := scheduling.PluginFor(p, func(part framework.Plugin) bool { return serves(part, point) })
		switch _, inTree := a.config.preset.Plugins[entry.Name]; {
		case part != nil:
			list = append(list, part)
		case !inTree:
			a.fail(NotExtending, entry.Name, "plugin %q does not extend %s plugin, though it is registered like one that does", entry.Name, point.typeName())
		}
	}
	return list
}

// plugin makes a plugin on first use.
func (a *assembler) plugin(name string) framework.Plugin {
	if p, ok := a.made[name]; ok {
		return p
	}
	a.made[name] = nil
	registry := a.config.registry
	if _, ok := registry.Lookup(name); !ok {
		if a.config.preset.byDefault(name) {
			a.missing[name] = true
			return nil
		}
		a.fail(UnknownPlugin, name, "plugin %q does not exist%s", name, a.unlessListed(registry.Names))
		return nil
	}
	var arguments any
	for _, pc := range a.profile.PluginConfig {
		if pc.Name == name {
			arguments = pc.Args
			break
		}
	}
	p, err := registry.Make(name, arguments, a.handle)
	if err != nil {
		a.failWith(err, InitPlugin, name, "%v", err)
		return nil
	}
	a.made[name] = p
	return p
}

func (a *assembler) fail(class Class, plugin, format string, values ...any) {
	a.failWith(nil, class, plugin, format, values...)
}

// failWith records a problem of the profile; the text follows upstream's prefix.
func (a *assembler) failWith(cause error, class Class, plugin, format string, values ...any) {
	name := a.profile.SchedulerName
	text := fmt.Sprintf("initializing profiles: creating profile for scheduler name %s: ", name) + fmt.Sprintf(format, values...)
	a.add(Problem{Class: class, Profile: name, Plugin: plugin, Text: text, err: cause})
}

// byDefault reports whether the preset enables the plugin by default.
func (p Preset) byDefault(name string) bool {
	return slices.Contains(p.Default.named(), name)
}

// prepare returns the plugins of PreFilter or PreScore. own are the file's; prepare
// adds the plugins of main that do nothing unprepared. If the result equals the
// meaning of a nil list (all of main that can prepare), it is nil.
func prepare(own, main []framework.Plugin, prepares, alone func(framework.Plugin) bool) []framework.Plugin {
	list := append([]framework.Plugin{}, own...)
	ordered := own // what is left of own while main is in its order
	usual := true
	for _, p := range main {
		if !prepares(p) {
			continue
		}
		switch {
		case len(ordered) > 0 && ordered[0].Name() == p.Name():
			ordered = ordered[1:]
		case slices.ContainsFunc(own, func(q framework.Plugin) bool { return q.Name() == p.Name() }):
			usual = false
		case alone(p):
			usual = false
		default:
			list = append(list, p)
		}
	}
	if usual && len(ordered) == 0 {
		return nil
	}
	return list
}

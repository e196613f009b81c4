package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/scheduling/args"
)

// build resolves the profiles, as upstream does when it starts: extenders first,
// then one profile after the other.
func (l *loader) build(c *Configuration) error {
	p := &problems{stage: StageBuild}
	l.buildExtenders(c, p)
	var first *resolved
	written := l.written()
	c.effective.Profiles = make([]EffectiveProfile, 0, len(c.Profiles))
	b := &builder{problems: p, preset: l.preset, scores: make(map[string]int32), lists: make(map[Point][]string)}
	for i := range c.Profiles {
		if p.full() {
			break
		}
		b.profile, b.written, b.unknown = &c.Profiles[i], nil, make(map[string]bool)
		if i < len(written) {
			b.written = written[i]
		}
		r := b.resolve()
		c.effective.Profiles = append(c.effective.Profiles, r.EffectiveProfile)
		switch {
		case r.queueSort == "":
		case first == nil:
			first = r
		default:
			b.compareQueueSort(first, r)
		}
	}
	return p.located(l.lines)
}

// buildExtenders completes the extenders. It passes the resources that they hide
// from the scheduler to NodeResourcesFit, replacing the plugin's own list.
func (l *loader) buildExtenders(c *Configuration, p *problems) {
	var ignored []string
	for i := range c.Extenders {
		e := &c.Extenders[i]
		if e.HTTPTimeout.Duration == 0 {
			e.HTTPTimeout.Duration = defaultExtenderTimeout
		}
		if err := e.checkTLS(l.options.ReadFile); err != nil {
			p.add(Problem{Class: ExtenderTLS, Field: fmt.Sprintf("extenders[%d]", i), Text: "couldn't build extenders: " + err.Error(), err: err})
		}
		for _, r := range e.ManagedResources {
			if r.IgnoredByScheduler {
				ignored = append(ignored, r.Name)
			}
		}
	}
	if len(ignored) == 0 {
		return
	}
	for i := range c.Profiles {
		profile := &c.Profiles[i]
		at := slices.IndexFunc(profile.PluginConfig, func(pc PluginConfig) bool { return pc.Name == "NodeResourcesFit" })
		if at < 0 {
			p.add(Problem{Class: FitConfigMissing, Profile: profile.SchedulerName, Text: "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"})
			continue
		}
		fit, ok := profile.PluginConfig[at].Args.(*args.NodeResourcesFit)
		if !ok {
			p.add(Problem{Class: FitConfigMissing, Profile: profile.SchedulerName, Text: fmt.Sprintf("couldn't build extenders: want args to be of type NodeResourcesFitArgs, got %T", profile.PluginConfig[at].Args)})
			continue
		}
		fit.IgnoredResources = slices.Clone(ignored)
	}
}

// A builder resolves one profile after the other.
type builder struct {
	*problems
	preset  Preset
	profile *Profile
	written *writtenProfile    // nil if it is not in the file
	unknown map[string]bool    // multiPoint plugins reported as unknown
	multi   []string           // memory for the plugins that a point has of multiPoint
	scores  map[string]int32   // memory for the weights of a point
	lists   map[Point][]string // memory for the plugins of a profile
}

// resolved is a profile and its queue sort plugin, empty unless there is exactly
// one.
type resolved struct {
	EffectiveProfile
	queueSort     string
	queueSortArgs any
}

// failIn records a problem of a field of the profile, "" for all of it; the text follows
// upstream's prefix.
func (b *builder) failIn(field string, class Class, plugin, format string, values ...any) {
	if b.full() {
		return
	}
	text := fmt.Sprintf("initializing profiles: creating profile for scheduler name %s: ", b.profile.SchedulerName)
	b.add(Problem{Class: class, Field: field, other: b.written.self(), Profile: b.profile.SchedulerName, Plugin: plugin, Text: text + fmt.Sprintf(format, values...)})
}

// resolve returns the effective profile. With problems the result is partial.
func (b *builder) resolve() *resolved {
	name := b.profile.SchedulerName
	b.construct()
	lists := b.lists
	clear(lists)
	for _, point := range buildOrder() {
		lists[point] = b.own(point)
	}
	if len(b.profile.Plugins.MultiPoint.Enabled) > 0 {
		for _, point := range buildOrder() {
			lists[point] = b.expand(point, lists[point])
		}
	}
	if n := len(lists[QueueSort]); n != 1 {
		part := "disabled"
		if n > 1 {
			part = "enabled"
		}
		b.failIn(b.written.list(QueueSort, part), QueueSortCount, "", "only one queue sort plugin required for profile with scheduler name %q, but got %d", name, n)
	}
	if len(lists[Bind]) == 0 {
		b.failIn(b.written.list(Bind, "disabled"), NoBind, "", "at least one bind plugin is needed for profile with scheduler name %q", name)
	}
	if len(lists[PlacementGenerate]) > 1 {
		b.failIn(b.written.list(PlacementGenerate, "enabled"), PlacementGenerateCount, "", "at most one placement generate plugin is allowed for profile with scheduler name %q", name)
	}
	b.neverMet()
	r := &resolved{EffectiveProfile: EffectiveProfile{
		SchedulerName:            name,
		PercentageOfNodesToScore: b.profile.PercentageOfNodesToScore,
		Plugins:                  make(PluginLists),
		PluginConfig:             append([]PluginConfig{}, b.profile.PluginConfig...),
	}}
	for _, point := range Points() {
		if len(lists[point]) == 0 && !point.weighted() {
			continue
		}
		var weights map[string]int32
		if point.weighted() {
			weights = b.weights(point, lists[point])
		}
		run := make([]Plugin, 0, len(lists[point]))
		for _, plugin := range lists[point] {
			reported := b.reported(plugin)
			run = append(run, Plugin{Name: reported, Weight: weights[reported]})
		}
		if len(run) > 0 {
			r.Plugins[point] = run
		}
	}
	if sort := r.Plugins[QueueSort]; len(sort) == 1 {
		r.queueSort = sort[0].Name
		for _, pc := range b.profile.PluginConfig {
			if pc.Name == r.queueSort {
				r.queueSortArgs = pc.Args
				break
			}
		}
	}
	return r
}

// reported returns a plugin's own name for itself.
func (b *builder) reported(plugin string) string {
	if name := b.preset.Plugins[plugin].Reports; name != "" {
		return name
	}
	return plugin
}

// construct calls the constructors of all plugins in any enabled list, in the order
// of their names, and records whose arguments are used.
func (b *builder) construct() {
	configs := make(map[string]*PluginConfig)
	for i := range b.profile.PluginConfig {
		pc := &b.profile.PluginConfig[i]
		configs[pc.Name] = pc
	}
	for _, name := range b.profile.Plugins.named() {
		known, ok := b.preset.Plugins[name]
		if !ok {
			continue
		}
		var decoded any
		if pc := configs[name]; pc != nil {
			decoded = pc.Args
			pc.Used = decoded != nil
		}
		if known.Args != nil && decoded == nil {
			b.failIn(b.written.plugin("", name), InitPlugin, name, "initializing plugin %q: got args of type <nil>, want *%sArgs", name, name)
			continue
		}
		if err := known.construct(decoded); err != nil {
			b.failIn(b.written.arguments(name, err), InitPlugin, name, "initializing plugin %q: %v", name, err)
		}
	}
}

// own returns the plugins that the profile itself enables at a point, except plugins
// that cannot run there.
func (b *builder) own(point Point) []string {
	var list []string
	for _, plugin := range b.profile.Plugins.At(point).Enabled {
		if b.full() {
			break
		}
		known, ok := b.preset.Plugins[plugin.Name]
		switch {
		case !ok:
			b.failUnknown(point, plugin.Name)
		case !known.serves(point):
			b.failIn(b.written.plugin(point, plugin.Name), NotExtending, plugin.Name, "plugin %q does not extend %s plugin", plugin.Name, point.typeName())
		case slices.Contains(list, plugin.Name):
			b.failIn(b.written.plugin(point, plugin.Name), AlreadyRegistered, plugin.Name, "plugin %q already registered as %q", plugin.Name, point.typeName())
		default:
			list = append(list, plugin.Name)
		}
	}
	return list
}

// failUnknown records that a plugin name is unknown.
func (b *builder) failUnknown(point Point, name string) {
	b.failIn(b.written.plugin(point, name), UnknownPlugin, name, "%s %q does not exist%s", point.typeName(), name, b.unlessListed(b.preset.names))
}

// unlessListed returns the part of an unknown-plugin error that lists the known
// plugins: all of them in the first such error, nothing in later ones.
func (p *problems) unlessListed(known func() []string) string {
	if slices.ContainsFunc(p.list, func(p Problem) bool { return p.Class == UnknownPlugin }) {
		return ""
	}
	return "; known plugins: " + strings.Join(known(), ", ")
}

// expand returns the plugins of a point in run order: first the plugins of own that
// multiPoint has too (overrides), then the others of multiPoint, then the rest of
// own. Plugins that the point disables are not taken from multiPoint.
func (b *builder) expand(point Point, own []string) []string {
	set := b.profile.Plugins.At(point)
	if set.disables("*") {
		return own
	}
	multi := b.multi[:0]
	override := make(map[string]bool)
	for _, plugin := range b.profile.Plugins.MultiPoint.Enabled {
		if b.full() {
			break
		}
		known, ok := b.preset.Plugins[plugin.Name]
		switch {
		case !ok && !b.unknown[plugin.Name]:
			b.unknown[plugin.Name] = true
			b.failUnknown(point, plugin.Name)
		case !known.serves(point) || set.disables(plugin.Name):
		case set.enables(plugin.Name):
			override[plugin.Name] = true
		case slices.Contains(multi, plugin.Name):
			b.failIn(b.written.plugin(point, plugin.Name), AlreadyRegistered, plugin.Name, "plugin %q already registered as %q", plugin.Name, point.typeName())
		default:
			multi = append(multi, plugin.Name)
		}
	}
	b.multi = multi
	var first, rest []string
	for _, name := range own {
		if override[name] {
			first = append(first, name)
		} else {
			rest = append(rest, name)
		}
	}
	return slices.Concat(first, multi, rest)
}

// neverMet records unknown multiPoint plugins that no point looked up, because every
// point disables "*". Upstream panics here.
func (b *builder) neverMet() {
	for _, plugin := range b.profile.Plugins.MultiPoint.Enabled {
		if _, ok := b.preset.Plugins[plugin.Name]; !ok && !b.unknown[plugin.Name] {
			b.unknown[plugin.Name] = true
			b.failUnknown(PreFilter, plugin.Name)
		}
	}
}

// compareQueueSort checks that a profile sorts the queue as the first one does.
func (b *builder) compareQueueSort(first, r *resolved) {
	name := b.profile.SchedulerName
	switch {
	case first.queueSort != r.queueSort:
		b.add(Problem{Class: QueueSortDiffers, Field: b.written.list(QueueSort, "enabled"), other: b.written.self(), Profile: name, Plugin: r.queueSort, Text: fmt.Sprintf(
			"initializing profiles: different queue sort plugins for profile %q: %q, first: %q", name, r.queueSort, first.queueSort)})
	case !bytes.Equal(indented(first.queueSortArgs), indented(r.queueSortArgs)):
		b.add(Problem{Class: QueueSortArgsDiffer, Field: b.written.arguments(r.queueSort, nil), other: b.written.self(), Profile: name, Plugin: r.queueSort, Text: fmt.Sprintf(
			"initializing profiles: different queue sort plugin args for profile %q", name)})
	}
}

// indented returns the JSON of arguments without regard to white space. The order of
// fields counts, as upstream.
func indented(a any) []byte {
	var out bytes.Buffer
	if err := json.Compact(&out, argsText(a)); err != nil {
		return argsText(a)
	}
	return out.Bytes()
}

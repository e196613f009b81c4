package config

import (
	"cmp"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/args"
)

// complete turns a document into a configuration: it fills in the defaults, merges
// the plugin sets and decodes the arguments.
func (l *loader) complete(doc document, p *problems) *Configuration {
	c := &Configuration{
		TypeMeta:                  api.TypeMeta{Kind: configurationKind, APIVersion: args.APIVersion},
		Parallelism:               doc.Parallelism,
		LeaderElection:            doc.LeaderElection,
		ClientConnection:          doc.ClientConnection,
		EnableProfiling:           doc.EnableProfiling,
		EnableContentionProfiling: doc.EnableProfiling,
		PercentageOfNodesToScore:  doc.PercentageOfNodesToScore,
		PodInitialBackoffSeconds:  doc.PodInitialBackoffSeconds,
		PodMaxBackoffSeconds:      doc.PodMaxBackoffSeconds,
		Extenders:                 doc.Extenders,
		DelayCacheUntilActive:     doc.DelayCacheUntilActive,
	}
	if doc.EnableContentionProfiling != nil {
		c.EnableContentionProfiling = *doc.EnableContentionProfiling
	}
	c.LeaderElection.complete()
	c.ClientConnection.complete()
	if len(doc.Profiles) == 0 {
		doc.Profiles = make([]profileDocument, 1)
	}
	if only := &doc.Profiles[0]; len(doc.Profiles) == 1 && only.SchedulerName == nil {
		name := api.DefaultSchedulerName
		only.SchedulerName = &name
	}
	c.Profiles = make([]Profile, 0, len(doc.Profiles))
	for i := range doc.Profiles {
		if p.full() {
			break
		}
		c.Profiles = append(c.Profiles, l.profile(i, &doc.Profiles[i], p))
	}
	return c
}

func (e *LeaderElection) complete() {
	for _, d := range []struct {
		field *api.Duration
		value time.Duration
	}{{&e.LeaseDuration, 15 * time.Second}, {&e.RenewDeadline, 10 * time.Second}, {&e.RetryPeriod, 2 * time.Second}} {
		d.field.Duration = cmp.Or(d.field.Duration, d.value)
	}
	e.ResourceLock = cmp.Or(e.ResourceLock, "leases")
	e.ResourceName = cmp.Or(e.ResourceName, "kube-scheduler")
	e.ResourceNamespace = cmp.Or(e.ResourceNamespace, "kube-system")
}

func (c *ClientConnection) complete() {
	c.ContentType = cmp.Or(c.ContentType, "application/vnd.kubernetes.protobuf")
	c.QPS = cmp.Or(c.QPS, 50)
	c.Burst = cmp.Or(c.Burst, 100)
}

// profile makes the i-th profile: its plugins, and its arguments with defaults for
// enabled plugins without arguments in the file.
func (l *loader) profile(i int, doc *profileDocument, p *problems) Profile {
	out := Profile{PercentageOfNodesToScore: doc.PercentageOfNodesToScore}
	if doc.SchedulerName != nil {
		out.SchedulerName = *doc.SchedulerName
	}
	defaults := &l.preset.Default
	if l.version.perPoint {
		if l.perPoint == nil {
			each := l.preset.perPoint()
			l.perPoint = &each
		}
		defaults = l.perPoint
	}
	if doc.Plugins == nil {
		doc.Plugins = new(Plugins)
	}
	out.Plugins = merge(defaults, doc.Plugins)

	given := make(map[string]bool)
	enabled := out.Plugins.named(PodGroupPostFilter)
	out.PluginConfig = make([]PluginConfig, 0, len(doc.PluginConfig)+len(enabled)/2)
	for j, pc := range doc.PluginConfig {
		given[pc.Name] = true
		entry := PluginConfig{Name: pc.Name}
		switch {
		case l.preset.Plugins[pc.Name].Args != nil:
			entry.Args = l.decodeArgs(pluginConfigPath(i, j), pc.Name, pc.Args, p)
		case pc.Args != nil:
			entry.Args = pc.Args
		}
		out.PluginConfig = append(out.PluginConfig, entry)
	}
	// Upstream omits the plugins of pod groups here.
	for _, name := range enabled {
		if !given[name] && l.preset.Plugins[name].Args != nil {
			decoded := l.decodeArgs(profilePath(i)+".pluginConfig", name, nil, p)
			out.PluginConfig = append(out.PluginConfig, PluginConfig{Name: name, Args: decoded})
		}
	}
	return out
}

package config

import (
	"fmt"

	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// buildExtenders makes the clients of the extenders, in the order of their use.
func (c *Configuration) buildExtenders(o BuildConfig, p *problems) []scheduling.Extender {
	var out []scheduling.Extender
	for _, e := range c.OrderedExtenders() {
		settings, err := c.extenderConfig(&e, o)
		var client *extender.Client
		if err == nil {
			client, err = extender.New(settings)
		}
		if err != nil {
			p.add(Problem{Class: ExtenderTLS, Text: fmt.Sprintf("couldn't build extenders: %s: %v", e.URLPrefix, err), err: err})
			continue
		}
		out = append(out, client.Extender())
	}
	return out
}

// extenderConfig returns the settings of a client.
func (c *Configuration) extenderConfig(e *Extender, o BuildConfig) (extender.Config, error) {
	settings := extender.Config{
		URLPrefix: e.URLPrefix, FilterVerb: e.FilterVerb, PrioritizeVerb: e.PrioritizeVerb, PreemptVerb: e.PreemptVerb, BindVerb: e.BindVerb,
		Weight: e.Weight, NodeCacheCapable: e.NodeCacheCapable, Ignorable: e.Ignorable,
		Timeout: e.HTTPTimeout.Duration,
	}
	for _, r := range e.ManagedResources {
		settings.ManagedResources = append(settings.ManagedResources, resource.Name(r.Name))
	}
	if o.Extender != nil {
		o.Extender(&settings)
	}
	if settings.HTTP != nil || settings.TLS != nil {
		return settings, nil
	}
	var err error
	settings.TLS, err = e.TLS(c.readFile)
	return settings, err
}

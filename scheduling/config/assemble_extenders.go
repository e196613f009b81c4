//go:build !noextenders

package config

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
)

// BuildConfig holds what profiles need besides the configuration. The zero value is
// enough for a scheduler that only places pods.
type BuildConfig struct {
	// Handle is passed to the plugin factories; nil if there is none.
	Handle framework.Handle
	// Extender may change how an extender is called before its client is made: the
	// HTTP client, the bounds. If it sets neither TLS nor HTTP, the file's TLS
	// settings apply. nil changes nothing.
	Extender func(*extender.Config)
}

// checkTLS checks the TLS settings of an extender. Files need not be readable if no
// function reads them.
func (e *Extender) checkTLS(readFile func(name string) ([]byte, error)) error {
	if _, err := e.TLS(readFile); err != nil && !errors.Is(err, ErrUnreadFile) {
		return err
	}
	return nil
}

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
			p.add(Problem{Class: ExtenderTLS, Text: fmt.Sprintf("couldn't build extenders: %s: %v", (&extender.Config{URLPrefix: e.URLPrefix}).Name(), err), err: err})
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

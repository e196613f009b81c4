package observe

import (
	"expvar"
	"time"

	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// PluginVars is [Vars] that counts plugins, too; see [lifecycle.PluginObserver] for
// the cost. Its variables are those of Vars and
//
//	plugins             of each "Point/Plugin", how often it was called
//	plugin_seconds      of each, the sum of the times
type PluginVars struct {
	*Vars
	calls, seconds *expvar.Map
}

// NewPluginVars adds the variables to the map, as [NewVars] does.
func NewPluginVars(m *expvar.Map) *PluginVars {
	if m == nil {
		m = new(expvar.Map)
	}
	v := &PluginVars{NewVars(m), new(expvar.Map), new(expvar.Map)}
	m.Set("plugins", v.calls)
	m.Set("plugin_seconds", v.seconds)
	return v
}

// Plugin implements [lifecycle.PluginObserver].
func (v *PluginVars) Plugin(t lifecycle.PluginTiming) {
	key := t.Point + "/" + t.Plugin
	v.calls.Add(key, 1)
	v.seconds.AddFloat(key, float64(t.Duration)/float64(time.Second))
}

package observe_test

import (
	"testing"

	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
)

// TestVarsWithoutMap checks that counting without a map does not panic.
func TestVarsWithoutMap(t *testing.T) {
	observe.NewVars(nil).Attempt(&lifecycle.Attempt{})
	v := observe.NewPluginVars(nil)
	v.Attempt(&lifecycle.Attempt{})
	v.Plugin(lifecycle.PluginTiming{})
}

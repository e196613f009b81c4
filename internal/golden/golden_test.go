package golden_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/golden"
)

// families are those of the vectors, with the plugin that each is about. A
// family is run when that plugin exists; all others that exist are checked in
// it too.
var families = []struct{ name, plugin string }{
	{"fit", "NodeResourcesFit"},
	{"balanced", "NodeResourcesBalancedAllocation"},
	{"taint", "TaintToleration"},
	{"nodeaffinity", "NodeAffinity"},
	{"ports", "NodePorts"},
	{"name", "NodeName"},
	{"image", "ImageLocality"},
	{"spread", "PodTopologySpread"},
	{"interpod", "InterPodAffinity"},
	{"volumes", "VolumeBinding"},
	{"preemption", "DefaultPreemption"},
	{"mixed", "the whole profile"},
}

func TestGoldenFamilies(t *testing.T) {
	for _, family := range families {
		t.Run(family.name, func(t *testing.T) {
			if !golden.Exists(family.plugin) {
				golden.NotRun(t, family.name, family.plugin)
			}
			golden.Run(t, family.name, golden.CheckPlugins())
		})
	}
}

// TestGoldenPlugins checks the plugins that exist in the families that cannot
// be run yet as such.
func TestGoldenPlugins(t *testing.T) {
	for _, family := range families {
		if golden.Exists(family.plugin) {
			continue
		}
		t.Run(family.name, func(t *testing.T) {
			cases, err := golden.Load(family.name)
			if err != nil {
				t.Fatal(err)
			}
			golden.Report(t, "plugins that exist, in "+family.name, cases, golden.CheckPlugins())
		})
	}
}

//go:build full

package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestFilteringDoesNotAllocate runs PreFilter and Filter over and over, on nodes
// that pass and on nodes that do not; only the first run may need memory.
func TestFilteringDoesNotAllocate(t *testing.T) {
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("a", "4", "4Gi").Resource(gpu, "4").Labels("zone", "a").Obj(),
		api.MakeNode("b", "4", "4Gi").Taint("t:NoSchedule").Unschedulable().Resource("pods", "0").Obj(),
	}, api.MakePod("x").HostPort(80).Node("b").Obj())
	pod := podInfo(t, s, api.MakePod("p").Requests("1", "1Gi").Request(gpu, "1").HostPort(80).NodeSelector("zone", "a").Obj())
	toA := podInfo(t, s, api.MakePod("p").Node("a").Obj())
	for _, test := range []struct {
		plugin framework.Plugin
		pod    *framework.PodInfo
	}{
		{filter.NodeName{}, toA},
		{filter.NodeUnschedulable{}, pod},
		{filter.TaintToleration{}, pod},
		{filter.NodePorts{}, pod},
		{filter.NodeAffinity{}, pod},
		{filter.NodeAffinity{AddedAffinity: demanding(has("zone"))}, pod},
		{filter.NodeResourcesFit{}, pod},
		{filter.NodeResourcesFit{IgnoredResourceGroups: []string{"example.com"}}, pod},
	} {
		var c framework.Cycle
		rejected := 0
		if n := testing.AllocsPerRun(100, func() {
			c.Reset(test.pod, s, 0, 0)
			var bound framework.NodeFilter
			if pre, ok := test.plugin.(framework.PreFilterPlugin); ok {
				result, _ := pre.PreFilter(&c)
				bound = result.Filter
			} else {
				bound = test.plugin.(framework.FilterPlugin)
			}
			for i := range s.Len() {
				if status := bound.Filter(test.pod, s.At(i)); status.IsRejected() {
					rejected++
				}
			}
		}); n != 0 {
			t.Errorf("%s %+v allocates %v times for a pod, want 0", test.plugin.Name(), test.plugin, n)
		}
		if rejected == 0 {
			t.Errorf("%s rejects no node; the test needs one", test.plugin.Name())
		}
	}
}

package whatif

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// gatesOf returns the names of the pod's scheduling gates.
func gatesOf(p *api.Pod) (names []string) {
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return names
}

func writeGates(t *table, gates []string) {
	if len(gates) > 0 {
		t.line("the pod waits for its scheduling gates to be removed: %s", strings.Join(gates, ", "))
	}
}

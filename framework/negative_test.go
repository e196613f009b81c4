//go:build full

package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestNegativeSource checks that an error names the field that the author wrote,
// not the one that defaulting made from it.
func TestNegativeSource(t *testing.T) {
	pod := func(spec string) string { return `{"kind":"Pod","metadata":{"name":"p"},"spec":{` + spec + `}}` }
	tests := []struct{ name, text, want string }{
		{"limit", pod(`"containers":[{"resources":{"limits":{"cpu":"-1"}}}]`), `pod default/p: spec.containers[0].resources.limits[cpu]: "-1": must not be negative`},
		{"limit of an init container", pod(`"initContainers":[{"resources":{"limits":{"memory":"-1Gi"}}}]`), `pod default/p: spec.initContainers[0].resources.limits[memory]: "-1Gi": must not be negative`},
		{"limit of the pod", pod(`"containers":[{}],"resources":{"limits":{"cpu":"-1"}}`), `pod default/p: spec.resources.limits[cpu]: "-1": must not be negative`},
		{"request", pod(`"containers":[{"resources":{"requests":{"cpu":"-1"},"limits":{"cpu":"1"}}}]`), `pod default/p: spec.containers[0].resources.requests[cpu]: "-1": must not be negative`},
		{"both", pod(`"containers":[{"resources":{"requests":{"cpu":"-1"},"limits":{"cpu":"-2"}}}]`), `pod default/p: spec.containers[0].resources.requests[cpu]: "-1": must not be negative`},
		{"capacity", `{"kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"-4"}}}`, `node n: status.capacity[cpu]: "-4": must not be negative`},
		{"allocatable", `{"kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"-4"}}}`, `node n: status.allocatable[cpu]: "-4": must not be negative`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, err := api.Decode([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Default(); err != nil {
				t.Fatal(err)
			}
			_, _, err = framework.SnapshotOf(o, framework.Arrival)
			wantError(t, err, test.want)
		})
	}
}

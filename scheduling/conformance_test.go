package scheduling_test

import (
	"encoding/json"
	"testing"

	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
)

// Every plugin that a registry makes keeps the contract, as far as clusters of pods
// and nodes can show it. Packages filter and scoring also test their plugins on
// other clusters.
func TestRegisteredPluginsConform(t *testing.T) {
	arguments := map[string]json.RawMessage{ // for plugins that have no defaults
		"RequestedToCapacityRatio": json.RawMessage(`{"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}`),
	}
	for _, r := range []*scheduling.Registry{scheduling.Kubernetes118Registry(), scheduling.Kubernetes134Registry(), scheduling.Kubernetes137Registry()} {
		for _, name := range r.Names() {
			t.Run(r.Release()+"/"+name, func(t *testing.T) {
				made, err := r.Make(name, arguments[name], nil)
				if err != nil {
					t.Fatal(err)
				}
				parts, several := made.(scheduling.Combined)
				if !several {
					parts = scheduling.Combined{made}
				}
				for _, p := range parts {
					frameworktest.Run(t, p, frameworktest.Config{Clusters: 1, Seed: 3})
				}
			})
		}
	}
}

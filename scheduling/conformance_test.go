package scheduling_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
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
	var tested []framework.Plugin
	// One cluster of pods and nodes is too little for many of them.
	unexercised := map[frameworktest.Exercise]string{}
	for _, e := range []frameworktest.Exercise{
		frameworktest.Rejects, frameworktest.Passes, frameworktest.Scores, frameworktest.Ranks, frameworktest.Expires, frameworktest.Reserves,
	} {
		unexercised[e] = "the tests of filter and scoring exercise it"
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
					if slices.ContainsFunc(tested, func(earlier framework.Plugin) bool { return reflect.DeepEqual(p, earlier) }) {
						continue // of an earlier release
					}
					tested = append(tested, p)
					frameworktest.Run(t, p, frameworktest.Config{Clusters: 1, Seed: 3, Unexercised: unexercised})
				}
			})
		}
	}
}

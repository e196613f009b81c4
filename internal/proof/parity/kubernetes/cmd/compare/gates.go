package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/scoring"
)

// comparisons is the feature gate for which berth's plugins have a switch.
const comparisons = "TaintTolerationComparisonOperators"

// enable turns on feature gates of kube-scheduler, and berth's switch for
// comparisons.
func enable(gates []string) (restore func(), err error) {
	filters, scorers := maps.Clone(golden.Filters), maps.Clone(golden.Scorers)
	undo := []func(){func() { golden.Filters, golden.Scorers = filters, scorers }}
	restore = func() {
		for _, f := range slices.Backward(undo) { // a gate may need those before it
			f()
		}
	}
	for _, gate := range gates {
		f, err := rival.Enable(gate)
		if err != nil {
			restore()
			return nil, err
		}
		undo = append(undo, f)
		if gate == comparisons {
			golden.Filters, golden.Scorers = maps.Clone(filters), maps.Clone(scorers)
			golden.Filters["TaintToleration"] = always(filter.TaintToleration{CompareNumbers: true})
			golden.Filters["NodeUnschedulable"] = always(filter.NodeUnschedulable{CompareNumbers: true})
			golden.Scorers["TaintToleration"] = always(scoring.TaintToleration{CompareNumbers: true})
		}
	}
	return restore, nil
}

// always is the factory of one plugin.
func always(p framework.Plugin) golden.Factory {
	return func(json.RawMessage) (framework.Plugin, error) { return p, nil }
}

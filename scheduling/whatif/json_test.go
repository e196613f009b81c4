package whatif_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/scheduling/whatif"
)

// Example_json shows the JSON form of the answers.
func Example_json() {
	for _, answer := range []any{
		whatif.Headroom{Pod: "default/web", Total: 4, Nodes: []whatif.NodeHeadroom{{Node: "a", Pods: 4, Plugin: "NodeResourcesFit", Reasons: []string{"Insufficient cpu"}}}},
		whatif.Placement{Placed: []whatif.Placed{{Pod: "default/web-0", Node: "a"}}, Unplaced: []whatif.Unplaced{}},
		whatif.NodesNeeded{Counts: []whatif.NodeCount{{Type: "small", Nodes: 2}}, Price: 20, LowerBound: 20, Exact: true, Placement: whatif.Placement{Placed: []whatif.Placed{}, Unplaced: []whatif.Unplaced{}}},
		whatif.Drain{Nodes: []string{"a"}, Batches: 1, Moves: []whatif.Move{{Pod: "default/web-0", From: "a", To: "b", Batch: 1}}, Stuck: []whatif.Stuck{}},
		whatif.Consolidation{Removed: []string{"a"}, Moves: []whatif.Move{}, Kept: []whatif.Stuck{}},
		whatif.Rebalance{Nodes: []whatif.NodeUse{{Node: "a", Class: whatif.UseHigh, Shares: map[string]float64{"cpu": 80}}}, Moves: []whatif.Move{}},
		whatif.WhyNot{Pod: "default/web", Node: "a", Chosen: "b", Remedies: []whatif.Remedy{{Changes: []whatif.Change{{Kind: whatif.ChangePin, To: "a"}}}}},
		whatif.Comparison{
			A:      whatif.ProfileResult{Placed: 1, Capacity: []whatif.Capacity{{Resource: "cpu", Utilization: 0.5}}},
			Differ: []whatif.Difference{{Pod: "default/web-0", A: "a", B: "b"}},
		},
		whatif.Sweep{Pods: []string{"default/web-0"}, Base: []string{"a"}, Outcomes: []whatif.SweepOutcome{{Weights: whatif.Weights{"ImageLocality": 2}, Nodes: []string{"b"}, Differ: 1}}},
	} {
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
	// Output:
	// {"pod":"default/web","total":4,"nodes":[{"node":"a","pods":4,"plugin":"NodeResourcesFit","reasons":["Insufficient cpu"]}]}
	// {"placed":[{"pod":"default/web-0","node":"a"}],"unplaced":[]}
	// {"counts":[{"type":"small","nodes":2}],"price":20,"lowerBound":20,"exact":true,"placement":{"placed":[],"unplaced":[]}}
	// {"nodes":["a"],"batches":1,"moves":[{"pod":"default/web-0","from":"a","to":"b","batch":1}],"stuck":[]}
	// {"removed":["a"],"moves":[],"kept":[]}
	// {"nodes":[{"node":"a","class":"high","shares":{"cpu":80}}],"moves":[]}
	// {"pod":"default/web","node":"a","chosen":"b","rejections":null,"remedies":[{"changes":[{"kind":"pin","to":"a"}]}]}
	// {"a":{"placed":1,"unplaced":0,"capacity":[{"resource":"cpu","utilization":0.5,"fragmentation":0,"stranded":0}]},"b":{"placed":0,"unplaced":0,"capacity":null},"differ":[{"pod":"default/web-0","a":"a","b":"b"}]}
	// {"pods":["default/web-0"],"base":["a"],"outcomes":[{"weights":{"ImageLocality":2},"nodes":["b"],"differ":1}]}
}

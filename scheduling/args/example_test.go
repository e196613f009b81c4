package args_test

import (
	"fmt"

	"github.com/berth-sched/berth/scheduling/args"
)

func ExampleInTree() {
	decode := args.InTree()["NodeResourcesFit"]
	a, errs := decode([]byte(`{"scoringStrategy": {"type": "MostAllocated"}}`))
	fit := a.(*args.NodeResourcesFit)
	fmt.Println(fit.ScoringStrategy.Type, fit.ScoringStrategy.Resources, errs)
	// Output:
	// MostAllocated [{cpu 1} {memory 1}] []
}

func ExampleDecode() {
	var v struct {
		Limit int `json:"limit"`
	}
	for _, err := range args.Decode([]byte(`{"limit": "5", "Limit": 5}`), &v) {
		fmt.Println(err)
	}
	// Output:
	// limit: got a string, want an integer of 64 bits
	// unknown field "Limit"
}

func ExampleNodeResourcesFit_Validate() {
	a := args.NewNodeResourcesFit()
	a.ScoringStrategy.Type = "Balanced"
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// scoringStrategy.type: Unsupported value: "Balanced": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"
}

func ExampleQualifiedName() {
	fmt.Println(len(args.QualifiedName("example.com/gpu")), args.QualifiedName("/gpu"))
	// Output:
	// 0 [prefix part must be non-empty]
}

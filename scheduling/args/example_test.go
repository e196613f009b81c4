package args_test

import (
	"fmt"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
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

// A custom shape, checked before it is used.
func ExampleNodeResourcesFit() {
	a := args.NewNodeResourcesFit()
	a.ScoringStrategy = &args.ScoringStrategy{
		Type:      args.RequestedToCapacityRatio,
		Resources: []args.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "example.com/gpu", Weight: 5}},
		RequestedToCapacityRatio: &args.RequestedToCapacityRatioParam{Shape: []args.UtilizationShapePoint{
			{Utilization: 0, Score: 0}, {Utilization: 100, Score: 11},
		}},
	}
	for _, err := range a.Validate("args") {
		fmt.Println(err)
	}
	// Output:
	// args.scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in valid range [0, 10]
}

func ExampleNodeResourcesBalancedAllocation() {
	a := args.NodeResourcesBalancedAllocation{Resources: []args.ResourceSpec{{Name: "cpu", Weight: 2}}}
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// resources[0].weight: Invalid value: 2: must be 1
}

func ExampleInterPodAffinity() {
	a := args.NewInterPodAffinity()
	fmt.Println(a.HardPodAffinityWeight, args.Join(a.Validate("")))
	a.HardPodAffinityWeight = 101
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// 1 <nil>
	// hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]
}

// The list spreads pods without constraints of their own.
func ExamplePodTopologySpread() {
	a := args.PodTopologySpread{
		DefaultingType:     args.ListDefaulting,
		DefaultConstraints: []api.TopologySpreadConstraint{{MaxSkew: 0, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway}},
	}
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)
}

func ExampleNodeAffinity() {
	a := args.NodeAffinity{AddedAffinity: api.MakePod("any").NodeAffinity("pool=batch").Obj().Spec.Affinity.NodeAffinity}
	fmt.Println(args.Join(a.Validate("")))
	// Output: <nil>
}

func ExampleVolumeBinding() {
	a := args.NewVolumeBinding()
	fmt.Println(a.BindTimeoutSeconds, a.Shape)
	a.BindTimeoutSeconds = -1
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// 600 [{0 10} {100 0}]
	// bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value
}

func ExampleDefaultPreemption() {
	a := args.NewDefaultPreemption()
	fmt.Println(a.MinCandidateNodesPercentage, a.MinCandidateNodesAbsolute)
	a.MinCandidateNodesPercentage, a.MinCandidateNodesAbsolute = 0, 0
	fmt.Println(args.Join(a.Validate("")))
	// Output:
	// 10 100
	// [minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]
}

func ExampleDynamicResources() {
	a := args.NewDynamicResources()
	fmt.Println(a.FilterTimeout.Duration, a.BindingTimeout.Duration)
	// Output: 10s 10m0s
}

// Koordinator's arguments become the configuration of filter and score.
func ExampleLoadAwareScheduling() {
	a := args.NewLoadAwareScheduling(estimator.Koordinator18)
	a.UsageThresholds = map[resource.Name]int64{resource.CPU: 60}
	a.Aggregated = &args.LoadAwareAggregated{UsageAggregationType: api.P95, UsageThresholds: a.UsageThresholds}
	fmt.Println(args.Join(a.Validate("")), a.Config().Expiration)
	// Output: <nil> 3m0s
}

// Errors are data: a program can act on the type and the field.
func ExampleFieldError() {
	err := args.Invalid("limits[2]", -1, "must not be negative")
	fmt.Println(err.Type == args.FieldValueInvalid, err.Field, err.Value)
	fmt.Println(err)
	// Output:
	// true limits[2] -1
	// limits[2]: Invalid value: -1: must not be negative
}

// QuotaArgs are the arguments of your own plugin.
type QuotaArgs struct {
	Limit int `json:"limit"`
}

// Validate makes QuotaArgs an args.Validator.
func (a *QuotaArgs) Validate(path string) []args.FieldError {
	if a.Limit >= 0 {
		return nil
	}
	return []args.FieldError{args.Invalid(path+".limit", a.Limit, "must not be negative")}
}

// A Decoder fills in the defaults, and its value may validate itself.
func ExampleDecoder() {
	var decode args.Decoder = func(raw []byte) (any, []args.FieldError) {
		a := &QuotaArgs{Limit: 10}
		return a, args.Decode(raw, a)
	}
	for _, text := range []string{`{}`, `{"limit": -1}`, `{"limits": 5}`} {
		a, errs := decode([]byte(text))
		if v, ok := a.(args.Validator); ok && len(errs) == 0 {
			errs = v.Validate("args")
		}
		fmt.Println(a.(*QuotaArgs).Limit, args.Join(errs))
	}
	// Output:
	// 10 <nil>
	// -1 args.limit: Invalid value: -1: must not be negative
	// 10 unknown field "limits"
}

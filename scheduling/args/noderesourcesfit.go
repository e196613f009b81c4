package args

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// NodeResourcesFit holds the arguments of the plugin of that name.
//
// Source: NodeResourcesFitArgs, kubescheduler.config.k8s.io/v1.
type NodeResourcesFit struct {
	api.TypeMeta `json:",inline"`

	// IgnoredResources are extended resources that the filter ignores. They do not
	// affect scores.
	IgnoredResources []string `json:"ignoredResources,omitempty"`
	// IgnoredResourceGroups are prefixes of extended resources that the filter
	// ignores: "example.com" covers all of "example.com/...".
	IgnoredResourceGroups []string `json:"ignoredResourceGroups,omitempty"`
	// ScoringStrategy selects how nodes are ranked. nil becomes LeastAllocated of
	// cpu and memory, weight 1 each.
	ScoringStrategy *ScoringStrategy `json:"scoringStrategy,omitempty"`
}

// ScoringStrategy selects how NodeResourcesFit ranks nodes.
type ScoringStrategy struct {
	// Type is required: building the plugin fails if it is empty.
	Type ScoringStrategyType `json:"type,omitempty"`
	// Resources are the resources in the score, with weights of 1 to 100. Empty
	// becomes cpu and memory, weight 1 each.
	Resources []ResourceSpec `json:"resources,omitempty"`
	// RequestedToCapacityRatio is required for the type of that name, and must be
	// nil for others.
	RequestedToCapacityRatio *RequestedToCapacityRatioParam `json:"requestedToCapacityRatio,omitempty"`
}

// ScoringStrategyType is a way to rank nodes by their resources.
type ScoringStrategyType string

// The scoring strategies.
const (
	LeastAllocated           ScoringStrategyType = "LeastAllocated"           // the emptiest node first
	MostAllocated            ScoringStrategyType = "MostAllocated"            // the fullest node first
	RequestedToCapacityRatio ScoringStrategyType = "RequestedToCapacityRatio" // by a function of the utilization
)

// RequestedToCapacityRatioParam is the scoring function of the strategy
// RequestedToCapacityRatio, linear between its points.
type RequestedToCapacityRatioParam struct {
	Shape []UtilizationShapePoint `json:"shape,omitempty"`
}

const maxResourceWeight = 100

// NewNodeResourcesFit returns the default arguments.
func NewNodeResourcesFit() *NodeResourcesFit {
	a := new(NodeResourcesFit)
	a.complete()
	return a
}

func (a *NodeResourcesFit) complete() {
	a.TypeMeta = meta("NodeResourcesFit")
	if a.ScoringStrategy == nil {
		a.ScoringStrategy = &ScoringStrategy{Type: LeastAllocated}
	}
	a.ScoringStrategy.Resources = completeResources(a.ScoringStrategy.Resources)
}

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *NodeResourcesFit) Validate(path string) []FieldError {
	var errs []FieldError
	for i, name := range a.IgnoredResources {
		errs = append(errs, labelName(index(child(path, "ignoredResources"), i), name)...)
	}
	for i, group := range a.IgnoredResourceGroups {
		at := index(child(path, "ignoredResourceGroups"), i)
		if strings.Contains(group, "/") {
			errs = append(errs, Invalid(at, group, "resource group name can't contain '/'"))
		}
		errs = append(errs, labelName(at, group)...)
	}
	at := child(path, "scoringStrategy")
	if a.ScoringStrategy == nil {
		return append(errs, Required(at, "ScoringStrategy field is required"))
	}
	return append(errs, a.ScoringStrategy.validate(at)...)
}

func (s *ScoringStrategy) validate(path string) []FieldError {
	var errs []FieldError
	types := []ScoringStrategyType{LeastAllocated, MostAllocated, RequestedToCapacityRatio}
	switch s.Type {
	case LeastAllocated, MostAllocated, RequestedToCapacityRatio:
	default:
		errs = append(errs, NotSupported(child(path, "type"), s.Type, types))
	}
	for i, r := range s.Resources {
		if r.Weight <= 0 || r.Weight > maxResourceWeight {
			at := child(index(child(path, "resources"), i), "weight")
			errs = append(errs, Invalid(at, r.Weight, fmt.Sprintf("resource weight of %s not in valid range (0, 100]", r.Name)))
		}
	}
	at := child(path, "requestedToCapacityRatio")
	ratio := s.RequestedToCapacityRatio
	switch {
	case s.Type == RequestedToCapacityRatio && ratio == nil:
		errs = append(errs, Required(at, "must be specified when type is RequestedToCapacityRatio"))
	case s.Type == RequestedToCapacityRatio:
		errs = append(errs, validateShape(child(at, "shape"), ratio.Shape)...)
	case ratio != nil:
		errs = append(errs, Forbidden(at, "must be nil when type is not RequestedToCapacityRatio"))
	}
	return errs
}

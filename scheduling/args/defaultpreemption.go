package args

import "github.com/berth-sched/berth/framework/api"

// DefaultPreemption holds the arguments of the plugin of that name. It looks for
// victims on the larger of the two numbers of candidate nodes, but never on more
// than all nodes.
//
// Source: DefaultPreemptionArgs, kubescheduler.config.k8s.io/v1.
type DefaultPreemption struct {
	api.TypeMeta `json:",inline"`

	// MinCandidateNodesPercentage is the share of all nodes, 0 to 100. The
	// default is 10.
	MinCandidateNodesPercentage int32 `json:"minCandidateNodesPercentage"`
	// MinCandidateNodesAbsolute is a number of nodes, 0 or more. The default is 100.
	// The two must not both be 0.
	MinCandidateNodesAbsolute int32 `json:"minCandidateNodesAbsolute"`
}

// NewDefaultPreemption returns the default arguments.
func NewDefaultPreemption() *DefaultPreemption {
	a := &DefaultPreemption{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	a.complete()
	return a
}

func (a *DefaultPreemption) complete() { a.TypeMeta = meta("DefaultPreemption") }

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *DefaultPreemption) Validate(path string) []FieldError {
	var errs []FieldError
	percentage, absolute := child(path, "minCandidateNodesPercentage"), child(path, "minCandidateNodesAbsolute")
	if p := a.MinCandidateNodesPercentage; p < 0 || p > 100 {
		errs = append(errs, Invalid(percentage, p, "not in valid range [0, 100]"))
	}
	if n := a.MinCandidateNodesAbsolute; n < 0 {
		errs = append(errs, Invalid(absolute, n, "not in valid range [0, inf)"))
	}
	if a.MinCandidateNodesPercentage == 0 && a.MinCandidateNodesAbsolute == 0 {
		errs = append(errs,
			Invalid(percentage, int32(0), "cannot be zero at the same time as minCandidateNodesAbsolute"),
			Invalid(absolute, int32(0), "cannot be zero at the same time as minCandidateNodesPercentage"))
	}
	return errs
}

package args

import "github.com/berth-sched/berth/framework/api"

// InterPodAffinity holds the arguments of the plugin of that name.
//
// Source: InterPodAffinityArgs, kubescheduler.config.k8s.io/v1.
type InterPodAffinity struct {
	api.TypeMeta `json:",inline"`

	// HardPodAffinityWeight is the weight, 0 to 100, of a required affinity term of
	// a placed pod in the score of an incoming pod that the term selects. The
	// default is 1.
	HardPodAffinityWeight int32 `json:"hardPodAffinityWeight"`
	// IgnorePreferredTermsOfExistingPods leaves the preferred terms of placed pods
	// out of the score, unless the incoming pod has preferred terms itself.
	IgnorePreferredTermsOfExistingPods bool `json:"ignorePreferredTermsOfExistingPods"`
}

// NewInterPodAffinity returns the default arguments.
func NewInterPodAffinity() *InterPodAffinity {
	a := &InterPodAffinity{HardPodAffinityWeight: 1}
	a.complete()
	return a
}

func (a *InterPodAffinity) complete() { a.TypeMeta = meta("InterPodAffinity") }

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *InterPodAffinity) Validate(path string) []FieldError {
	if w := a.HardPodAffinityWeight; w < 0 || w > 100 {
		return []FieldError{Invalid(child(path, "hardPodAffinityWeight"), w, "not in valid range [0, 100]")}
	}
	return nil
}

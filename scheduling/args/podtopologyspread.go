package args

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// PodTopologySpread holds the arguments of the plugin of that name.
//
// Source: PodTopologySpreadArgs, kubescheduler.config.k8s.io/v1.
type PodTopologySpread struct {
	api.TypeMeta `json:",inline"`

	// DefaultConstraints are for pods that have none of their own. Their
	// LabelSelector must be nil: it is derived from the pod's owners and services.
	// They require ListDefaulting.
	DefaultConstraints []api.TopologySpreadConstraint `json:"defaultConstraints,omitempty"`
	// DefaultingType selects the constraints of pods without any. Empty becomes
	// SystemDefaulting.
	DefaultingType PodTopologySpreadConstraintsDefaulting `json:"defaultingType,omitempty"`
}

// PodTopologySpreadConstraintsDefaulting is a source of default constraints.
type PodTopologySpreadConstraintsDefaulting string

// The sources of default constraints.
const (
	// SystemDefaulting spreads over zones and nodes by Kubernetes' own soft
	// constraints.
	SystemDefaulting PodTopologySpreadConstraintsDefaulting = "System"
	// ListDefaulting uses DefaultConstraints.
	ListDefaulting PodTopologySpreadConstraintsDefaulting = "List"
)

// NewPodTopologySpread returns the default arguments.
func NewPodTopologySpread() *PodTopologySpread {
	a := new(PodTopologySpread)
	a.complete()
	return a
}

func (a *PodTopologySpread) complete() {
	a.TypeMeta = meta("PodTopologySpread")
	if a.DefaultingType == "" {
		a.DefaultingType = SystemDefaulting
	}
}

// DecodePodTopologySpreadListed is the [Decoder] of PodTopologySpread in 1.18, which
// had no defaultingType and no system constraints: its default is ListDefaulting.
func DecodePodTopologySpreadListed(raw []byte) (any, []FieldError) {
	a := &PodTopologySpread{DefaultingType: ListDefaulting}
	errs := Decode(raw, a)
	a.complete()
	return a, errs
}

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty. Like upstream it does not check minDomains, the node inclusion policies and
// matchLabelKeys.
func (a *PodTopologySpread) Validate(path string) []FieldError {
	var errs []FieldError
	at := child(path, "defaultingType")
	switch {
	case a.DefaultingType != SystemDefaulting && a.DefaultingType != ListDefaulting:
		errs = append(errs, NotSupported(at, a.DefaultingType, []PodTopologySpreadConstraintsDefaulting{SystemDefaulting, ListDefaulting}))
	case a.DefaultingType == SystemDefaulting && len(a.DefaultConstraints) > 0:
		errs = append(errs, Invalid(at, a.DefaultingType, "when .defaultConstraints are not empty"))
	}
	for i := range a.DefaultConstraints {
		at := index(child(path, "defaultConstraints"), i)
		errs = append(errs, validateConstraint(at, &a.DefaultConstraints[i])...)
		if repeated(a.DefaultConstraints, i) {
			c := &a.DefaultConstraints[i]
			errs = append(errs, Duplicate(at, fmt.Sprintf("{%s, %s}", c.TopologyKey, c.WhenUnsatisfiable)))
		}
	}
	return errs
}

// validateConstraint checks one default constraint by itself.
func validateConstraint(path string, c *api.TopologySpreadConstraint) []FieldError {
	var errs []FieldError
	if c.MaxSkew <= 0 {
		errs = append(errs, Invalid(child(path, "maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
	}
	if at := child(path, "topologyKey"); c.TopologyKey == "" {
		errs = append(errs, Required(at, "can not be empty"))
	} else {
		errs = append(errs, labelName(at, c.TopologyKey)...)
	}
	at := child(path, "whenUnsatisfiable")
	switch c.WhenUnsatisfiable {
	case api.DoNotSchedule, api.ScheduleAnyway:
	case "":
		errs = append(errs, Required(at, "can not be empty"))
	default:
		actions := []api.UnsatisfiableConstraintAction{api.DoNotSchedule, api.ScheduleAnyway}
		errs = append(errs, NotSupported(at, c.WhenUnsatisfiable, actions))
	}
	if c.LabelSelector != nil {
		errs = append(errs, Forbidden(child(path, "labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
	}
	return errs
}

// repeated reports whether a constraint before the i-th has the same key and action.
func repeated(list []api.TopologySpreadConstraint, i int) bool {
	for j := range i {
		if list[j].TopologyKey == list[i].TopologyKey && list[j].WhenUnsatisfiable == list[i].WhenUnsatisfiable {
			return true
		}
	}
	return false
}

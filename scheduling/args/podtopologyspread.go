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
	type pair struct {
		key    string
		action api.UnsatisfiableConstraintAction
	}
	seen := make(map[pair]bool, len(a.DefaultConstraints)) // each is compared with all before it
	for i := range a.DefaultConstraints {
		c := &a.DefaultConstraints[i]
		at := index(child(path, "defaultConstraints"), i)
		errs = append(errs, validateConstraint(at, c)...)
		if p := (pair{c.TopologyKey, c.WhenUnsatisfiable}); seen[p] {
			errs = append(errs, Duplicate(at, fmt.Sprintf("{%s, %s}", c.TopologyKey, c.WhenUnsatisfiable)))
		} else {
			seen[p] = true
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

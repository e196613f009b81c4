package golden

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// A Factory makes a plugin from its arguments in a configuration; nil means that
// there are none.
type Factory func(args json.RawMessage) (framework.Plugin, error)

// Filters and Scorers are the plugins of this module, by name. A plugin listed here
// is checked in every case that recorded its answers.
var (
	Filters = map[string]Factory{
		"NodeName":          plain(filter.NodeName{}),
		"NodeUnschedulable": plain(filter.NodeUnschedulable{}),
		"TaintToleration":   plain(filter.TaintToleration{}),
		"NodePorts":         plain(filter.NodePorts{}),
		"NodeAffinity": with(func(a nodeAffinityArgs) (framework.Plugin, error) {
			return filter.NodeAffinity{AddedAffinity: a.AddedAffinity}, nil
		}),
		"PodTopologySpread": with(func(a spreadArgs) (framework.Plugin, error) {
			return filter.PodTopologySpread{ListDefaulting: a.DefaultingType == "List", DefaultConstraints: a.DefaultConstraints}, nil
		}),
		"InterPodAffinity":     with(func(interPodArgs) (framework.Plugin, error) { return filter.InterPodAffinity{}, nil }),
		"VolumeRestrictions":   plain(filter.VolumeRestrictions{}),
		"NodeVolumeLimits":     plain(filter.NodeVolumeLimits{}),
		"VolumeBinding":        with(func(volumeBindingArgs) (framework.Plugin, error) { return filter.VolumeBinding{}, nil }),
		"VolumeZone":           plain(filter.VolumeZone{}),
		"NodeDeclaredFeatures": plain(filter.NodeDeclaredFeatures{}),
		"NodeResourcesFit": with(func(a fitArgs) (framework.Plugin, error) {
			return filter.NodeResourcesFit{IgnoredResources: a.IgnoredResources, IgnoredResourceGroups: a.IgnoredResourceGroups}, nil
		}),
	}
	Scorers = map[string]Factory{
		"TaintToleration": plain(scoring.TaintToleration{}),
		"ImageLocality":   plain(scoring.ImageLocality{}),
		"NodeAffinity": with(func(a nodeAffinityArgs) (framework.Plugin, error) {
			return scoring.NodeAffinity{AddedAffinity: a.AddedAffinity}, nil
		}),
		"NodeResourcesFit": with(func(a fitArgs) (framework.Plugin, error) {
			s := a.ScoringStrategy
			return scoring.NodeResourcesFit{Strategy: s.Type, Resources: s.Resources, Shape: s.RequestedToCapacityRatio.Shape}, nil
		}),
		"PodTopologySpread": with(func(a spreadArgs) (framework.Plugin, error) {
			return scoring.PodTopologySpread{ListDefaulting: a.DefaultingType == "List", DefaultConstraints: a.DefaultConstraints}, nil
		}),
		"InterPodAffinity": with(func(a interPodArgs) (framework.Plugin, error) {
			return scoring.InterPodAffinity{
				HardPodAffinityWeight:              a.HardPodAffinityWeight,
				IgnorePreferredTermsOfExistingPods: a.IgnorePreferredTermsOfExistingPods,
			}, nil
		}),
		"VolumeBinding": with(func(a volumeBindingArgs) (framework.Plugin, error) {
			return scoring.VolumeBinding{Shape: a.Shape}, nil
		}),
		"NodeResourcesBalancedAllocation": with(func(a balancedArgs) (framework.Plugin, error) {
			return scoring.NodeResourcesBalancedAllocation{Resources: a.Resources}, nil
		}),
	}
)

type nodeAffinityArgs struct {
	AddedAffinity *api.NodeAffinity `json:"addedAffinity"`
}

type fitArgs struct {
	IgnoredResources      []resource.Name `json:"ignoredResources"`
	IgnoredResourceGroups []string        `json:"ignoredResourceGroups"`
	ScoringStrategy       struct {
		Type                     scoring.Strategy       `json:"type"`
		Resources                []scoring.ResourceSpec `json:"resources"`
		RequestedToCapacityRatio struct {
			Shape scoring.Shape `json:"shape"`
		} `json:"requestedToCapacityRatio"`
	} `json:"scoringStrategy"`
}

type balancedArgs struct {
	Resources []scoring.ResourceSpec `json:"resources"`
}

type spreadArgs struct {
	DefaultingType     string                         `json:"defaultingType"`
	DefaultConstraints []api.TopologySpreadConstraint `json:"defaultConstraints"`
}

type interPodArgs struct {
	HardPodAffinityWeight              *int32 `json:"hardPodAffinityWeight"`
	IgnorePreferredTermsOfExistingPods bool   `json:"ignorePreferredTermsOfExistingPods"`
}

type volumeBindingArgs struct {
	Shape scoring.Shape `json:"shape"`
}

// plain is the factory of a plugin without arguments.
func plain(p framework.Plugin) Factory {
	return func(args json.RawMessage) (framework.Plugin, error) {
		if args != nil {
			return nil, fmt.Errorf("%s takes no arguments, but the case has %s", p.Name(), args)
		}
		return p, nil
	}
}

// with returns the factory of a plugin whose arguments decode into an A.
func with[A any](build func(A) (framework.Plugin, error)) Factory {
	return func(args json.RawMessage) (framework.Plugin, error) {
		var a A
		if args != nil {
			if err := json.Unmarshal(args, &a); err != nil {
				return nil, fmt.Errorf("args: %w", err)
			}
		}
		return build(a)
	}
}

package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// The functions of this file turn the arguments of in-tree plugins into the
// plugins.

func nodeAffinity(a *args.NodeAffinity) Combined {
	return Combined{filter.NodeAffinity{AddedAffinity: a.AddedAffinity}, scoring.NodeAffinity{AddedAffinity: a.AddedAffinity}}
}

func nodeResourcesFit(a *args.NodeResourcesFit) Combined {
	f := filter.NodeResourcesFit{IgnoredResourceGroups: a.IgnoredResourceGroups}
	for _, name := range a.IgnoredResources {
		f.IgnoredResources = append(f.IgnoredResources, resource.Name(name))
	}
	var s scoring.NodeResourcesFit
	if strategy := a.ScoringStrategy; strategy != nil {
		s.Strategy = scoring.Strategy(strategy.Type)
		s.Resources = resourceSpecs(strategy.Resources)
		if strategy.RequestedToCapacityRatio != nil {
			s.Shape = shapeOf(strategy.RequestedToCapacityRatio.Shape)
		}
	}
	return Combined{f, s}
}

func nodeResourcesFit118(a *args.NodeResourcesFit) Combined {
	c := nodeResourcesFit(a)
	f := c[0].(filter.NodeResourcesFit)
	f.Alone = true
	c[0] = f
	return c
}

func balanced(version scoring.Rules) func(*args.NodeResourcesBalancedAllocation) Combined {
	return func(a *args.NodeResourcesBalancedAllocation) Combined {
		return Combined{scoring.NodeResourcesBalancedAllocation{Resources: resourceSpecs(a.Resources), Rules: version}}
	}
}

func podTopologySpread(a *args.PodTopologySpread) Combined {
	list := a.DefaultingType == args.ListDefaulting
	return Combined{
		filter.PodTopologySpread{ListDefaulting: list, DefaultConstraints: a.DefaultConstraints},
		scoring.PodTopologySpread{ListDefaulting: list, DefaultConstraints: a.DefaultConstraints},
	}
}

func podTopologySpread118(a *args.PodTopologySpread) Combined {
	return Combined{
		filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: a.DefaultConstraints},
		scoring.EvenPodsSpread{DefaultConstraints: a.DefaultConstraints},
	}
}

func interPodAffinity(a *args.InterPodAffinity) Combined {
	return Combined{filter.InterPodAffinity{}, scoring.InterPodAffinity{
		HardPodAffinityWeight:              new(a.HardPodAffinityWeight),
		IgnorePreferredTermsOfExistingPods: a.IgnorePreferredTermsOfExistingPods,
	}}
}

func interPodAffinity118(a *args.InterPodAffinity) Combined {
	return Combined{filter.InterPodAffinity{}, scoring.InterPodAffinity{HardPodAffinityWeight: new(a.HardPodAffinityWeight), RangeWithZero: true}}
}

// volumeBinding scores only with a shape; the arguments have one by default since
// 1.37.
func volumeBinding(a *args.VolumeBinding) Combined {
	parts := Combined{filter.VolumeBinding{}}
	if len(a.Shape) > 0 {
		parts = append(parts, scoring.VolumeBinding{Shape: shapeOf(a.Shape)})
	}
	return parts
}

func defaultPreemption(a *args.DefaultPreemption) Combined {
	return Combined{preemption.DefaultPreemption{
		MinCandidateNodesPercentage: new(a.MinCandidateNodesPercentage),
		MinCandidateNodesAbsolute:   new(a.MinCandidateNodesAbsolute),
	}}
}

// nodeLabelArgs are the arguments of NodeLabel in kube-scheduler 1.18.
type nodeLabelArgs struct {
	PresentLabels           []string `json:"presentLabels,omitempty"`
	AbsentLabels            []string `json:"absentLabels,omitempty"`
	PresentLabelsPreference []string `json:"presentLabelsPreference,omitempty"`
	AbsentLabelsPreference  []string `json:"absentLabelsPreference,omitempty"`
}

func nodeLabel118(a *nodeLabelArgs) Combined {
	return Combined{
		filter.NodeLabel{Present: a.PresentLabels, Absent: a.AbsentLabels},
		scoring.NodeLabel{Present: a.PresentLabelsPreference, Absent: a.AbsentLabelsPreference},
	}
}

// serviceAffinityArgs are the arguments of ServiceAffinity in kube-scheduler 1.18.
type serviceAffinityArgs struct {
	AffinityLabels               []string `json:"affinityLabels,omitempty"`
	AntiAffinityLabelsPreference []string `json:"antiAffinityLabelsPreference,omitempty"`
}

func serviceAffinity118(a *serviceAffinityArgs) Combined {
	return Combined{
		filter.ServiceAffinity{AffinityLabels: a.AffinityLabels},
		scoring.ServiceAffinity{AntiAffinityLabels: a.AntiAffinityLabelsPreference},
	}
}

// capacityRatioArgs are the arguments of RequestedToCapacityRatio in
// kube-scheduler 1.18.
type capacityRatioArgs struct {
	Shape     scoring.Shape          `json:"shape"`
	Resources []scoring.ResourceSpec `json:"resources,omitempty"`
}

func capacityRatio118(a *capacityRatioArgs) Combined {
	return Combined{scoring.NodeResourcesRequestedToCapacityRatio{Shape: a.Shape, Resources: a.Resources}}
}

func resourceSpecs(list []args.ResourceSpec) []scoring.ResourceSpec {
	var out []scoring.ResourceSpec
	for _, r := range list {
		out = append(out, scoring.ResourceSpec(r))
	}
	return out
}

func shapeOf(points []args.UtilizationShapePoint) scoring.Shape {
	var shape scoring.Shape
	for _, p := range points {
		shape = append(shape, scoring.ShapePoint{Utilization: int64(p.Utilization), Score: int64(p.Score)})
	}
	return shape
}

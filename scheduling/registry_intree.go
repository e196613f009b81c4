package scheduling

import (
	"fmt"
	"maps"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scoring"
)

// Kubernetes137Registry returns a registry with the in-tree plugins of
// kube-scheduler 1.37. You own it and may register more plugins.
//
// Differs: the plugins of pod groups.
// Original: kube-scheduler has them.
// Here: they are missing.
// Why: package gang places groups, outside of a profile.
func Kubernetes137Registry() *Registry {
	return inTree("1.37", Heap, everyRelease(), since118(), map[string]Registration{
		"NodeResourcesBalancedAllocation": typed(args.NewNodeResourcesBalancedAllocation, balanced("")),
		"VolumeBinding":                   typed(args.NewVolumeBinding, volumeBinding),
		"NodeDeclaredFeatures":            plain(filter.NodeDeclaredFeatures{}),
		"DynamicResources":                dynamicResources(true),
		"ImageLocality":                   plain(scoring.ImageLocality{}),
	})
}

// Kubernetes134Registry returns a registry with the in-tree plugins of
// kube-scheduler 1.34. You own it and may register more plugins. Plugins differ as in
// [Kubernetes134].
func Kubernetes134Registry() *Registry {
	return inTree("1.34", Random, everyRelease(), since118(), map[string]Registration{
		"NodeResourcesBalancedAllocation": typed(args.NewNodeResourcesBalancedAllocation, balanced(scoring.Kubernetes134)),
		"VolumeBinding":                   typed(fresh[args.VolumeBinding], volumeBinding),
		"ImageLocality":                   plain(scoring.ImageLocality{Rules: scoring.Kubernetes134}),
		"DynamicResources":                dynamicResources(false),
	})
}

// Kubernetes118Registry returns a registry with the in-tree plugins of
// kube-scheduler 1.18, the release of the articles about priorities and predicates.
// You own it and may register more plugins.
//
// Differs: NodeResourceLimits.
// Original: 1.18 has it.
// Here: it is missing.
// Why: 1.18 does not enable it by default.
//
// Differs: default constraints of the filter PodTopologySpread.
// Original: in 1.18 they count the pods of every controller that selects the pod.
// Here: they apply to the same pods as in [Kubernetes137Registry].
// Why: the filter is that of 1.37.
//
// Plugins differ as in [Kubernetes118].
func Kubernetes118Registry() *Registry {
	return inTree("1.18", Reservoir, everyRelease(), map[string]Registration{
		"InterPodAffinity":                typed(args.NewInterPodAffinity, interPodAffinity118),
		"NodeResourcesFit":                typed(args.NewNodeResourcesFit, nodeResourcesFit118),
		"NodeResourcesBalancedAllocation": typed(args.NewNodeResourcesBalancedAllocation, balanced(scoring.Kubernetes118)),
		"ImageLocality":                   plain(scoring.ImageLocality{Rules: scoring.Kubernetes118}),
		"NodeResourcesLeastAllocated":     plain(scoring.NodeResourcesLeastAllocated{}),
		"NodeResourcesMostAllocated":      plain(scoring.NodeResourcesMostAllocated{}),
		"RequestedToCapacityRatio":        typed(fresh[capacityRatioArgs], capacityRatio118),
		"NodePreferAvoidPods":             plain(scoring.NodePreferAvoidPods{}),
		"NodeLabel":                       typed(fresh[nodeLabelArgs], nodeLabel118),
		"ServiceAffinity":                 typed(fresh[serviceAffinityArgs], serviceAffinity118),
		"DefaultPodTopologySpread":        plain(scoring.DefaultPodTopologySpread{}),
		"PodTopologySpread":               typed(args.NewPodTopologySpread, podTopologySpread118),
		"VolumeBinding":                   typed(fresh[args.VolumeBinding], volumeBinding),
		"EBSLimits":                       plain(filter.EBSLimits{}),
		"GCEPDLimits":                     plain(filter.GCEPDLimits{}),
		"AzureDiskLimits":                 plain(filter.AzureDiskLimits{}),
		"CinderLimits":                    plain(filter.CinderLimits{}),
	})
}

// everyRelease lists the plugins that are made alike for all releases with a
// registry. Kubernetes118 says where their rules in 1.18 were slightly different.
func everyRelease() map[string]Registration {
	return map[string]Registration{
		"PrioritySort":       plain(PrioritySort{}),
		"NodeName":           plain(filter.NodeName{}),
		"NodeUnschedulable":  plain(filter.NodeUnschedulable{}),
		"NodePorts":          plain(filter.NodePorts{}),
		"TaintToleration":    plain(filter.TaintToleration{}, scoring.TaintToleration{}),
		"NodeAffinity":       typed(args.NewNodeAffinity, nodeAffinity),
		"VolumeRestrictions": plain(filter.VolumeRestrictions{}),
		"NodeVolumeLimits":   plain(filter.NodeVolumeLimits{}),
		"VolumeZone":         plain(filter.VolumeZone{}),
		defaultBinderName:    defaultBinder(),
	}
}

// since118 lists the plugins that 1.18 did not have, or had with other rules; they
// are the same in 1.34 and 1.37.
func since118() map[string]Registration {
	return map[string]Registration{
		"SchedulingGates":   plain(SchedulingGates{}),
		"DefaultPreemption": typed(args.NewDefaultPreemption, defaultPreemption),
		"NodeResourcesFit":  typed(args.NewNodeResourcesFit, nodeResourcesFit),
		"PodTopologySpread": typed(args.NewPodTopologySpread, podTopologySpread),
		"InterPodAffinity":  typed(args.NewInterPodAffinity, interPodAffinity),
	}
}

// inTree returns the registry of a release.
func inTree(release string, tie TieRule, tables ...map[string]Registration) *Registry {
	r := &Registry{release: release, tie: tie, table: map[string]Registration{}}
	for _, table := range tables {
		maps.Copy(r.table, table)
	}
	decoders := args.InTree()
	if release != "1.37" {
		decoders["VolumeBinding"] = args.DecodeVolumeBindingUnscored
	}
	if release == "1.18" {
		decoders["PodTopologySpread"] = args.DecodePodTopologySpreadListed
	}
	for name, decoder := range decoders {
		if reg, ok := r.table[name]; ok {
			reg.Args = decoder
			r.table[name] = reg
		}
	}
	return r
}

// plain registers an in-tree plugin without arguments. Like upstream, it ignores any
// arguments in a file.
func plain(parts ...framework.Plugin) Registration {
	p := Combined(parts)
	return Registration{Like: p, New: func(any, framework.Handle) (framework.Plugin, error) { return p, nil }}
}

// typed registers an in-tree plugin with arguments; start returns their defaults. If
// package args has a decoder for the plugin, that one is used.
func typed[A any](start func() *A, make func(*A) Combined) Registration {
	return Registration{
		Like: make(start()),
		Args: decodeInto[A],
		New: func(decoded any, _ framework.Handle) (framework.Plugin, error) {
			a, ok := decoded.(*A)
			if !ok {
				return nil, fmt.Errorf("got args of type %T, want %T", decoded, a)
			}
			return make(a), nil
		},
	}
}

func fresh[A any]() *A { return new(A) }

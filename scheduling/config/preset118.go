package config

import "github.com/berth-sched/berth/scheduling/args"

// Kubernetes118 returns the preset of kube-scheduler 1.18, the release that articles
// about priorities and predicates describe, with the feature gates at their
// defaults. Its default plugins are listed at the points, not at multiPoint. The
// caller may change the result.
//
// The plugins that later releases dropped keep their arguments as JSON.
//
// Differs: the arguments of the plugins that still exist.
// Original: 1.18 has fewer fields.
// Here: they are read as in 1.37.
// Why: each plugin has one type of arguments.
//
// Differs: the defaultingType of PodTopologySpread.
// Original: 1.18 does not have it.
// Here: it defaults to List.
// Why: 1.18 takes its default constraints from the list.
//
// Source: kube-scheduler 1.18.20, pkg/scheduler/algorithmprovider and
// framework/plugins.
func Kubernetes118() Preset {
	at := func(plugins ...Plugin) PluginSet { return PluginSet{Enabled: plugins} }
	p := Preset{
		Release: "1.18",
		Plugins: inTree(map[string][]Point{
			"PrioritySort":                    {QueueSort},
			"NodeName":                        {Filter},
			"NodeUnschedulable":               {Filter},
			"TaintToleration":                 {Filter, PreScore, Score},
			"NodeAffinity":                    {Filter, Score},
			"NodePorts":                       {PreFilter, Filter},
			"NodeResourcesFit":                {PreFilter, Filter},
			"VolumeRestrictions":              {Filter},
			"NodeVolumeLimits":                {Filter},
			"VolumeBinding":                   {Filter},
			"VolumeZone":                      {Filter},
			"PodTopologySpread":               {PreFilter, Filter, PreScore, Score},
			"InterPodAffinity":                {PreFilter, Filter, PreScore, Score},
			"NodeResourcesBalancedAllocation": {Score},
			"ImageLocality":                   {Score},
			"DefaultBinder":                   {Bind},

			"AzureDiskLimits":             {Filter},
			"CinderLimits":                {Filter},
			"DefaultPodTopologySpread":    {PreScore, Score},
			"EBSLimits":                   {Filter},
			"GCEPDLimits":                 {Filter},
			"NodeLabel":                   {Filter, Score},
			"NodePreferAvoidPods":         {Score},
			"NodeResourceLimits":          {PreScore, Score},
			"NodeResourcesLeastAllocated": {Score},
			"NodeResourcesMostAllocated":  {Score},
			"RequestedToCapacityRatio":    {Score},
			"ServiceAffinity":             {PreFilter, Filter, Score},
		}),
		Default: Plugins{
			QueueSort: at(Plugin{Name: "PrioritySort"}),
			PreFilter: at(
				Plugin{Name: "NodeResourcesFit"},
				Plugin{Name: "NodePorts"},
				Plugin{Name: "InterPodAffinity"},
				Plugin{Name: "PodTopologySpread"},
			),
			Filter: at(
				Plugin{Name: "NodeUnschedulable"},
				Plugin{Name: "NodeResourcesFit"},
				Plugin{Name: "NodeName"},
				Plugin{Name: "NodePorts"},
				Plugin{Name: "NodeAffinity"},
				Plugin{Name: "VolumeRestrictions"},
				Plugin{Name: "TaintToleration"},
				Plugin{Name: "EBSLimits"},
				Plugin{Name: "GCEPDLimits"},
				Plugin{Name: "NodeVolumeLimits"},
				Plugin{Name: "AzureDiskLimits"},
				Plugin{Name: "VolumeBinding"},
				Plugin{Name: "VolumeZone"},
				Plugin{Name: "InterPodAffinity"},
				Plugin{Name: "PodTopologySpread"},
			),
			PreScore: at(
				Plugin{Name: "InterPodAffinity"},
				Plugin{Name: "DefaultPodTopologySpread"},
				Plugin{Name: "TaintToleration"},
				Plugin{Name: "PodTopologySpread"},
			),
			Score: at(
				Plugin{Name: "NodeResourcesBalancedAllocation", Weight: 1},
				Plugin{Name: "ImageLocality", Weight: 1},
				Plugin{Name: "InterPodAffinity", Weight: 1},
				Plugin{Name: "NodeResourcesLeastAllocated", Weight: 1},
				Plugin{Name: "NodeAffinity", Weight: 1},
				Plugin{Name: "NodePreferAvoidPods", Weight: 10000},
				Plugin{Name: "DefaultPodTopologySpread", Weight: 1},
				Plugin{Name: "TaintToleration", Weight: 1},
				Plugin{Name: "PodTopologySpread", Weight: 1},
			),
			Bind: at(Plugin{Name: "DefaultBinder"}),
		},
	}
	unscored(p.Plugins)
	spread := p.Plugins["PodTopologySpread"]
	spread.Args = args.DecodePodTopologySpreadListed
	p.Plugins["PodTopologySpread"] = spread
	return p
}

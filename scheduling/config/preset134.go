package config

import "github.com/berth-sched/berth/scheduling/args"

// Kubernetes134 returns the preset of kube-scheduler 1.34, with the feature gates at
// their defaults. The caller may change the result.
//
// It differs from 1.37 as follows: NodeUnschedulable comes before NodeName, nothing
// concerns pod groups, DynamicResources does not score, and VolumeBinding scores
// only if its arguments give a shape.
//
// Differs: the arguments shape of VolumeBinding and bindingTimeout of
// DynamicResources.
// Original: 1.34 rejects them, because it has their feature gates off.
// Here: they are accepted.
// Why: the arguments are read as in 1.37.
//
// Source: kube-scheduler 1.34.2, pkg/scheduler/apis/config/v1 and
// framework/plugins.
func Kubernetes134() Preset {
	p := Preset{
		Release: "1.34",
		Plugins: inTree(map[string][]Point{
			"SchedulingGates":                 {PreEnqueue},
			"PrioritySort":                    {QueueSort},
			"NodeUnschedulable":               {Filter},
			"NodeName":                        {Filter},
			"TaintToleration":                 {Filter, PreScore, Score},
			"NodeAffinity":                    {PreFilter, Filter, PreScore, Score},
			"NodePorts":                       {PreFilter, Filter},
			"NodeResourcesFit":                {PreFilter, Filter, PreScore, Score},
			"VolumeRestrictions":              {PreFilter, Filter},
			"NodeVolumeLimits":                {PreFilter, Filter},
			"VolumeBinding":                   {PreFilter, Filter, PreScore, Score, Reserve, PreBind},
			"VolumeZone":                      {PreFilter, Filter},
			"PodTopologySpread":               {PreFilter, Filter, PreScore, Score},
			"InterPodAffinity":                {PreFilter, Filter, PreScore, Score},
			"DynamicResources":                {PreEnqueue, PreFilter, Filter, PostFilter, Reserve, PreBind},
			"DefaultPreemption":               {PreEnqueue, PostFilter},
			"NodeResourcesBalancedAllocation": {PreScore, Score},
			"ImageLocality":                   {Score},
			"DefaultBinder":                   {Bind},
		}),
		Default: Plugins{MultiPoint: PluginSet{Enabled: []Plugin{
			{Name: "SchedulingGates"},
			{Name: "PrioritySort"},
			{Name: "NodeUnschedulable"},
			{Name: "NodeName"},
			{Name: "TaintToleration", Weight: 3},
			{Name: "NodeAffinity", Weight: 2},
			{Name: "NodePorts"},
			{Name: "NodeResourcesFit", Weight: 1},
			{Name: "VolumeRestrictions"},
			{Name: "NodeVolumeLimits"},
			{Name: "VolumeBinding"},
			{Name: "VolumeZone"},
			{Name: "PodTopologySpread", Weight: 2},
			{Name: "InterPodAffinity", Weight: 2},
			{Name: "DynamicResources"},
			{Name: "DefaultPreemption"},
			{Name: "NodeResourcesBalancedAllocation", Weight: 1},
			{Name: "ImageLocality", Weight: 1},
			{Name: "DefaultBinder"},
		}}},
		Removed: []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"},
	}
	unscored(p.Plugins)
	return p
}

// unscored gives VolumeBinding the arguments of releases that do not score volumes
// by default.
func unscored(plugins map[string]Known) {
	known := plugins["VolumeBinding"]
	known.Args = args.DecodeVolumeBindingUnscored
	plugins["VolumeBinding"] = known
}

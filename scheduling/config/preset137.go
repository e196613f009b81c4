package config

// Kubernetes137 returns the preset of kube-scheduler 1.37, with the feature gates at
// their defaults. [Load] uses it by default. The caller may change the result.
//
// Plugins whose gates are off by default (DeferredPodScheduling, GangScheduling,
// TopologyPlacementGenerator, PodGroupPodsCount) are known and not enabled.
//
// Source: kube-scheduler 1.37.1, pkg/scheduler/apis/config/v1 and
// framework/plugins.
func Kubernetes137() Preset {
	return Preset{
		Release: "1.37",
		Plugins: inTree(map[string][]Point{
			"SchedulingGates":                 {PreEnqueue},
			"PrioritySort":                    {QueueSort},
			"NodeName":                        {PreFilter, Filter},
			"NodeUnschedulable":               {PreFilter, Filter},
			"TaintToleration":                 {PreFilter, Filter, PreScore, Score},
			"NodeAffinity":                    {PreFilter, Filter, PreScore, Score},
			"NodePorts":                       {PreFilter, Filter},
			"NodeResourcesFit":                {PreFilter, Filter, PreScore, Score, PlacementScore},
			"VolumeRestrictions":              {PreFilter, Filter},
			"NodeVolumeLimits":                {PreFilter, Filter},
			"VolumeBinding":                   {PreFilter, Filter, PreScore, Score, Reserve, PreBind},
			"VolumeZone":                      {PreFilter, Filter},
			"PodTopologySpread":               {PreFilter, Filter, PreScore, Score},
			"InterPodAffinity":                {PreFilter, Filter, PreScore, Score},
			"DynamicResources":                {PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind, PodGroupPostFilter},
			"DefaultPreemption":               {PreEnqueue, PostFilter, PodGroupPostFilter},
			"NodeResourcesBalancedAllocation": {PreScore, Score},
			"ImageLocality":                   {Score},
			"DefaultBinder":                   {Bind},
			"NodeDeclaredFeatures":            {PreFilter, Filter},
			"DeferredPodScheduling":           {PreFilter, Filter, Permit},
			"GangScheduling":                  {PreEnqueue, Permit},
			"TopologyPlacementGenerator":      {PlacementGenerate},
			"PodGroupPodsCount":               {PlacementScore},
		}),
		Default: Plugins{MultiPoint: PluginSet{Enabled: []Plugin{
			{Name: "SchedulingGates"},
			{Name: "PrioritySort"},
			{Name: "NodeName"},
			{Name: "NodeUnschedulable"},
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
			{Name: "DynamicResources", Weight: 2},
			{Name: "DefaultPreemption"},
			{Name: "NodeResourcesBalancedAllocation", Weight: 1},
			{Name: "ImageLocality", Weight: 1},
			{Name: "DefaultBinder"},
			{Name: "NodeDeclaredFeatures"},
		}}},
		Removed: []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"},
	}
}

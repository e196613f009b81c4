// Package scoring holds the score plugins, which rank the nodes that a pod may
// run on, and the pure formulas under them.
//
//	packed := scoring.NodeResourcesFit{
//		Strategy:  scoring.MostAllocated,
//		Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: 2}, {Name: "example.com/gpu", Weight: 10}},
//	}
//
// # What it does
//
// Every exported plugin type is the configuration of one plugin: a value that
// can be copied, whose zero value is kube-scheduler's default. What is computed
// for one pod lives in the scorer that PreScore returns, in memory that the
// cycle reuses, so that scoring a thousand nodes allocates nothing.
//
//	NodeResourcesFit                 how full a node would be, by three strategies
//	NodeResourcesBalancedAllocation  how evenly its resources would be used
//	TaintToleration                  how few preferences of the node it goes against
//	NodeAffinity                     how well it meets the pod's preferences
//	ImageLocality                    how much of the pod's images is there already
//	PodTopologySpread                how few pods of the kind its topology domains have
//	InterPodAffinity                 how welcome the pods in its topology domains are
//	VolumeBinding                    how well the volumes that it would use fit
//	LoadAware                        how little is really used (Koordinator)
//
// Of kube-scheduler 1.18, where the strategies were plugins of their own:
// [NodeResourcesLeastAllocated], [NodeResourcesMostAllocated],
// [NodeResourcesRequestedToCapacityRatio], [SelectorSpread], [DefaultPodTopologySpread],
// [EvenPodsSpread], [ServiceAffinity], [NodeLabel] and [NodePreferAvoidPods].
//
// The formulas are functions of numbers, for those who want nothing else:
// [LeastAllocatedScore], [MostAllocatedScore], [RequestedToCapacityRatioScore],
// [Shape.At], [BalanceScore], [BalancedAllocationScore],
// [BalancedAllocationScoreKubernetes118], [ImageLocalityScore], [ScaledImageSize],
// [TaintTolerationScore], [SpreadScore], [SpreadNormalizeScore],
// [InterPodAffinityScore], [StorageUtilization], [SelectorSpreadScore],
// [SelectorSpreadZonedScore], [ServiceAffinityPart], [DefaultNormalizeScore].
// They accept any int64, and divide exactly: no intermediate result wraps. What
// they return is from 0 to 100, unless they say otherwise.
//
// # What it leaves to you
//
// A plugin returns raw scores; the profile in package scheduling normalizes
// them with the plugin's rule, checks that they are from 0 to 100, and adds
// them up with the plugins' weights. Which nodes are feasible is for package
// filter.
//
// # Determinism and concurrency
//
// A score depends on the configuration, the pod, the node and, for some, on
// others: ImageLocality on the images of all nodes, PodTopologySpread on the set
// of feasible nodes, InterPodAffinity on the pods of whole domains. Scope says so
// for each. Floating-point operations are
// those of kube-scheduler in its order, and none is fused, so results are the
// same on every machine. A plugin may be shared by any number of schedulers; a
// bound scorer belongs to its cycle and may be called for different nodes at
// once.
//
// # Source
//
// The plugins of kube-scheduler 1.37.1, pkg/scheduler/framework/plugins, with
// the feature gates at their defaults; formulas of older versions are named.
// LoadAware is Koordinator's. Deviations are listed at each type under
// "Differs:".
package scoring

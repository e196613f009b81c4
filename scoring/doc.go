// Package scoring holds the score plugins, which rank the feasible nodes of a pod,
// and the pure formulas behind them.
//
//	packed := scoring.NodeResourcesFit{
//		Strategy:  scoring.MostAllocated,
//		Resources: []scoring.ResourceSpec{{Name: "cpu", Weight: 2}, {Name: "example.com/gpu", Weight: 10}},
//	}
//
// # What it does
//
// Every exported plugin type is the configuration of one plugin: a copyable value
// whose zero value is kube-scheduler's default. State computed for one pod lives in
// the scorer that PreScore returns, in memory that the cycle reuses, so scoring a
// thousand nodes allocates nothing.
//
//	NodeResourcesFit                 how full a node would be, by three strategies
//	NodeResourcesBalancedAllocation  how evenly its resources would be used
//	TaintToleration                  how few preferences of the node it goes against
//	NodeAffinity                     how well it meets the pod's preferences
//	ImageLocality                    how much of the pod's images is there already
//	PodTopologySpread                how few matching pods its topology domains have
//	InterPodAffinity                 how welcome the pods in its topology domains are
//	VolumeBinding                    how well the volumes that it would use fit
//	DynamicResources                 how early among the alternatives its devices stand
//	LoadAware                        how little is really used (Koordinator)
//
// In kube-scheduler 1.18 the strategies were separate plugins. Its plugins are
// [NodeResourcesLeastAllocated], [NodeResourcesMostAllocated],
// [NodeResourcesRequestedToCapacityRatio], [SelectorSpread],
// [DefaultPodTopologySpread], [EvenPodsSpread], [ServiceAffinity], [NodeLabel] and
// [NodePreferAvoidPods].
//
// # Which formula is whose
//
// If you need only a formula, call it directly; all are functions of numbers:
//
//	NodeResourcesFit                 LeastAllocatedScore, MostAllocatedScore,
//	                                 RequestedToCapacityRatioScore, Shape.At
//	NodeResourcesBalancedAllocation  BalancedAllocationScore, BalanceScore; for 1.18
//	                                 BalancedAllocationScoreKubernetes118,
//	                                 BalancedVolumesScoreKubernetes118
//	TaintToleration                  TaintTolerationScore, then DefaultNormalizeScore
//	NodeAffinity                     the sum of the weights, then DefaultNormalizeScore
//	ImageLocality                    ScaledImageSize, then ImageLocalityScore
//	PodTopologySpread                SpreadWeight, SpreadScore, then SpreadNormalizeScore
//	InterPodAffinity                 InterPodAffinityScore
//	VolumeBinding                    StorageUtilization, then Shape.At
//	LoadAware                        LeastAllocatedScore, MostAllocatedScore, BalanceScore
//	SelectorSpread                   SelectorSpreadScore, SelectorSpreadZonedScore
//	ServiceAffinity                  ServiceAffinityPart
//
// They accept any int64, and divide exactly: no intermediate result wraps. Results are
// from 0 to 100 unless stated otherwise. Package estimator has what LoadAware estimates.
//
// # What it leaves to you
//
// A plugin returns raw scores. The profile in package scheduling normalizes them
// with the plugin's rule, checks that they are from 0 to 100, and adds them up with
// the plugins' weights. Package filter decides which nodes are feasible.
//
// # Determinism and concurrency
//
// A score depends on the configuration, the pod and the node. Some scores read more:
// ImageLocality the images of all nodes, PodTopologySpread the set of feasible
// nodes, InterPodAffinity the pods of whole domains. The Scope method of each plugin
// declares it. Floating-point operations are kube-scheduler's, in its order, and
// none is fused, so results are the same on every machine. Any number of schedulers
// may share a plugin. A bound scorer belongs to its cycle and may be called for
// different nodes at once.
//
// # Source
//
// The plugins of kube-scheduler 1.37.1, pkg/scheduler/framework/plugins, with
// the feature gates at their defaults; formulas of older versions are named.
// LoadAware is Koordinator's. Deviations are listed at each type under
// "Differs:".
package scoring

// Package capacity estimates how many replicas a cluster can take, from its
// summary, its resource models, or its nodes.
//
// Karmada's Cluster object describes a cluster: the sums of its resources and, if
// it has resource models, the number of its nodes of each grade. [General]
// estimates from that description, by the rules of Karmada 1.11, 1.13 or 1.18:
//
//	g := capacity.General{Rules: capacity.Karmada111}
//	e, err := g.Estimate(cluster, &capacity.Replica{Request: resource.List{
//		resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("20Gi"),
//	}})
//	e.Replicas // 7
//
// Explain gives the reasons: which resource limits, and how much each grade
// contributes. [General.EstimateSets] estimates workloads with several components,
// and [OnNode] a single node. [Combine] asks several estimators and takes the
// smallest answer. If an estimator does not know a cluster, it says so; if it
// fails, it fails for that cluster only.
//
// # Resource models
//
// [DefaultModels] are Karmada's nine grades. [StandardizeModels] and
// [ValidateModels] apply Karmada's steps for a cluster to be stored. [Grader] finds
// the grade of a node, and [Summarize] turns a snapshot into a Cluster's status.
//
// # What it leaves to you
//
// Nothing here asks clusters or watches them. To divide replicas among clusters by
// these estimates, use package scheduling/multicluster.
//
// # Determinism and concurrency
//
// Estimators and graders are values without run state, so goroutines may share
// them. An [InFlight] keeps state: use it in one goroutine at a time. Nothing here
// reads a clock or a random source.
//
// Karmada's mistakes are not repeated; each type and function lists its deviations.
// In short, numbers saturate instead of wrapping, malformed input is an error with
// the cluster, the field and the value instead of a panic, and one bad cluster or
// node does not hide the others.
//
// Source: Karmada 1.11, 1.13 and 1.18.
package capacity

// Package capacity estimates how many replicas a cluster can take on, by its summary,
// its resource models, or its nodes.
//
// A cluster is described by Karmada's Cluster object: the sums of its resources and,
// if it has resource models, the number of its nodes of each grade. [General]
// estimates from that description, by the rules of Karmada 1.11, 1.13 or 1.18:
//
//	g := capacity.General{Rule: capacity.Karmada111}
//	e, err := g.Estimate(cluster, &capacity.Replica{Request: resource.List{
//		resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("20Gi"),
//	}})
//	e.Replicas // 7
//
// Explain says why: which resource limits, and what each grade contributes.
// [General.EstimateSets] does the same for workloads of several kinds of pods,
// [OnNode] for one node, and [Combine] asks several estimators and takes the smallest
// answer. An estimator that does not know a cluster says so; one that fails, fails
// for that cluster only.
//
// # Resource models
//
// [DefaultModels] are Karmada's nine grades. [StandardizeModels] and [ValidateModels]
// do what Karmada does when a cluster is stored. [Grader] finds the grade of a node,
// and [Summarize] turns a snapshot into a Cluster's status.
//
// # What it leaves to you
//
// Nothing here asks clusters or watches them. Package scheduling/multicluster divides
// replicas among clusters by these estimates.
//
// # Determinism and concurrency
//
// Estimators and graders are values without run state, and goroutines may share them.
// Nothing here reads a clock or a random source.
//
// Differs: what Karmada gets wrong is not repeated; each type and function lists its
// deviations. In short, numbers saturate instead of wrapping, malformed input is an
// error that names the cluster, the field and the value instead of a panic, and one
// bad cluster or node does not hide the others.
//
// Source: Karmada 1.11, 1.13 and 1.18.
package capacity

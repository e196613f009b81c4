// Package estimator predicts: how much a pod will use, and how many replicas a
// cluster can take on.
//
// # Clusters
//
// A cluster is described by Karmada's Cluster object: the sums of its resources
// and, if it has resource models, the number of its nodes of each grade.
// [General] estimates from that description, by the rules of Karmada 1.11, 1.13
// or 1.18:
//
//	g := estimator.General{Rule: estimator.Contains}
//	e, err := g.Estimate(cluster, &estimator.Replica{Request: resource.List{
//		resource.CPU: resource.MustParse("3"), resource.Memory: resource.MustParse("20Gi"),
//	}})
//	e.Replicas // 7
//
// Explain says why: which resource limits, and what each grade contributes.
// [General.EstimateSets] does the same for workloads of several kinds of pods,
// [OnNode] for a node that is at hand, and [Combine] asks several estimators
// and takes the smallest answer. An estimator that does not know a cluster says
// so; one that fails, fails for that cluster only.
//
// Resource models: [DefaultModels] are Karmada's nine grades,
// [StandardizeModels] and [ValidateModels] do what Karmada does when a cluster
// is stored, [Grader] finds the grade of a node, and [Summarize] turns a
// snapshot into a Cluster's status.
//
// Differs: what Karmada gets wrong is not repeated; each type and function
// lists its deviations. In short, numbers saturate instead of wrapping,
// malformed input is an error that names the cluster, the field and the value
// instead of a panic, and one bad cluster or node does not hide the others.
//
// # Pods
//
// A node's requests say little about its load. What it really uses is reported
// by an agent on it, as Koordinator's NodeMetric, but late: a pod that was just
// placed does not show. So the use of each pod is predicted, and a [Ledger] in
// the snapshot adds what is predicted of young pods to what was measured:
//
//	ledger := estimator.LedgerOf(snapshot)
//	err := ledger.SetMetric(metric) // a report has come in
//	load, err := estimator.NewLoad(estimator.LoadAware{})
//	filter.LoadAware{Load: load}    // keeps pods off hot nodes
//	scoring.LoadAware{Load: load}   // prefers cool ones
//
// [LoadAware] configures it, by the rules of Koordinator 1.4, 1.5, 1.6 or 1.8
// ([Rules]). An [Estimator] predicts; [DefaultEstimator] takes a percentage of
// what a pod requests, and [Estimators] chooses among several by name. [View]
// is what filters and scorers read: the sums are kept as pods and metrics come
// and go, so that a decision costs O(resources) per node.
//
// A decision for a known class of pods looks at the nodes that changed since the
// last one, so a new metric of every node costs the metrics, by
// [Ledger.SetMetric], and one look at every node. A metric costs a look at the name
// of each pod that it reports, in order, and where the use of prod pods is asked
// for, by LoadAware.ScoreProd, ProdThresholds or a node, one map access for each
// pod and resource as well. With everything in the processor's caches, 1,000 nodes
// of 50 pods each take 0.4 ms, and 1.7 ms with prod pods, of which reading the
// maps is 0.9 ms. Metrics that come from main memory take several times as long,
// almost all of which is waiting for it. Reports in another order than the last
// time, and such of pods that are gone or new, are looked up by a hash of their
// names: up to 0.8 ms if it is all of them. BenchmarkLedgerRefresh measures this,
// its variants "reading" what reading alone costs, and BenchmarkRefreshAndDecision
// in internal/golden/loadaware a decision with it.
//
// For simulators, a [Sampler] makes the reports that an agent would make of
// simulated use, with averages and percentiles; a [Histogram] keeps a
// distribution that forgets.
//
// Differs: see [Ledger], [Estimators] and [Arithmetic].
//
// # What it leaves to you
//
// Reports have to be brought: nothing here watches nodes or asks clusters. What
// follows from a prediction is for the plugins LoadAware of filter and scoring,
// and for scheduling/multicluster.
//
// # Determinism and concurrency
//
// Nothing here reads a clock or a random source: the time is the snapshot's. The
// estimators, graders and Loads are values without run state that may be shared
// by goroutines. A ledger belongs to its snapshot; a Sampler and a Histogram are
// used by one goroutine at a time.
//
// Source: Karmada 1.11, 1.13 and 1.18; Koordinator 1.4, 1.5, 1.6 and 1.8.
package estimator

// Package estimator predicts how much a pod will use, and keeps the ledger of pods
// that are placed but not yet measured.
//
// A node's requests say little about its load. What it really uses is reported by an
// agent on it, as Koordinator's NodeMetric, but late: a pod that was just placed does
// not show. So the use of each pod is predicted, and a [Ledger] in the snapshot adds
// the predictions for young pods to what was measured:
//
//	ledger := estimator.LedgerOf(snapshot)
//	err := ledger.SetMetric(metric) // a report has come in
//	load, err := estimator.NewLoad(estimator.LoadConfig{})
//	filter.LoadAware{Load: load}    // keeps pods off hot nodes
//	scoring.LoadAware{Load: load}   // prefers cool ones
//
// [LoadAware] configures it, by the rules of Koordinator 1.4, 1.5, 1.6 or 1.8
// ([Rules]). An [Estimator] predicts; [DefaultEstimator] takes a percentage of what a
// pod requests, and [Estimators] chooses among several by name. Filters and scorers
// read a [View]: its sums follow pods and metrics, so a decision costs O(resources)
// per node.
//
// The ledger is what Koordinator calls the assign cache. Package estimator/nodemetric
// makes reports for simulators, and estimator/capacity estimates whole clusters.
//
// # What it leaves to you
//
// Reports have to be brought: nothing here watches nodes. The plugins LoadAware of
// filter and scoring act on the predictions.
//
// # Cost
//
// A decision for a known class of pods looks at the nodes that changed since the last
// one. A new metric of every node costs the metrics, by [Ledger.SetMetric], and one
// look at every node. A metric costs a look at the name of each pod that it reports,
// in order. Where the use of prod pods is asked for (LoadAware.ScoreProd,
// ProdThresholds, or a node), it also costs one map access for each pod and resource.
// With everything in the processor's caches, 1,000 nodes of 50 pods each take 0.4 ms,
// and 1.7 ms with prod pods, 0.9 ms of which is reading the maps. Metrics that come
// from main memory take several times as long. Reports in another order than the last
// time, or with pods that are gone or new, are looked up by a hash of their names: up
// to 0.8 ms if it is all of them. BenchmarkLedgerRefresh measures this; its variants
// "reading" show what reading alone costs.
//
// # Determinism and concurrency
//
// Nothing here reads a clock or a random source: the time is the snapshot's.
// Estimators and Loads are values without run state, and goroutines may share them. A
// ledger belongs to its snapshot.
//
// Differs: see [Ledger], [Estimators] and [Arithmetic].
//
// Source: Koordinator 1.4, 1.5, 1.6 and 1.8.
package estimator

// Package estimator predicts how much a pod will use, and keeps a ledger of pods
// that are placed but not yet measured.
//
// A node's requests say little about its load. An agent on the node reports its
// real use, as Koordinator's NodeMetric, but late: a pod that was just placed does
// not show in it. So an estimator predicts the use of each pod, and a [Ledger] in
// the snapshot adds the predictions for young pods to the measured use:
//
//	ledger := estimator.LedgerOf(snapshot)
//	err := ledger.SetMetric(metric) // a new report
//	load, err := estimator.NewLoad(estimator.LoadConfig{})
//	filter.LoadAware{Load: load}    // keeps pods off hot nodes
//	scoring.LoadAware{Load: load}   // prefers cool ones
//
// [LoadConfig] configures it, by the rules of Koordinator 1.4, 1.5, 1.6 or 1.8
// ([Rules]). An [Estimator] predicts; [DefaultEstimator] takes a percentage of a
// pod's requests, and [Estimators] chooses among several by name. Filters and
// scorers read a [View]. Its sums follow pods and metrics, so a decision costs
// O(resources) per node.
//
// Koordinator calls the ledger the assign cache. Package estimator/nodemetric makes
// reports for simulators, and estimator/capacity estimates whole clusters.
//
// # What it leaves to you
//
// You bring the reports: nothing here watches nodes. To act on the predictions, use
// the LoadAware plugins of packages filter and scoring.
//
// # Cost
//
// A decision for a known equivalence class of pods reads the nodes that changed
// since the last decision. A new metric for every node costs one [Ledger.SetMetric]
// per metric and one visit to every node. SetMetric reads the name of each reported
// pod, in order. If a Load or a node needs the use of prod pods
// (LoadConfig.ScoreProd, ProdThresholds, or the node's annotation), SetMetric also
// costs one map access for each pod and resource.
//
// With all data in the processor's caches, 1,000 nodes of 50 pods each take 0.4 ms.
// With prod pods they take 1.7 ms, and reading the maps is 0.9 ms of this. Metrics
// read from main memory take several times as long. If reports change their order,
// or name deleted or new pods, SetMetric looks those pods up by a hash of their
// names: up to 0.8 ms if this concerns all of them. BenchmarkLedgerRefresh measures
// these costs; its "reading" variants show the cost of reading alone.
//
// # Determinism and concurrency
//
// Nothing here reads a clock or a random source: the time is the snapshot's.
// Estimators and Loads are values without run state, so goroutines may share them.
// A ledger belongs to its snapshot.
//
// Deviations are listed at [Ledger], [DefaultEstimator], [Estimators.New] and
// [Wrapping].
//
// Source: Koordinator 1.4, 1.5, 1.6 and 1.8.
package estimator

// Package multicluster places workloads on clusters. It decides how many replicas
// each cluster takes and, if it has the clusters' nodes, which node each replica
// goes to.
//
//	decision, err := multicluster.Scheduler{}.Schedule(clusters, &multicluster.Workload{
//		Name:     "default/web",
//		Replicas: 12,
//		Replica:  &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("500m")}},
//		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{
//			ReplicaDivisionPreference: multicluster.PreferAggregated,
//		}},
//	})
//	decision.Targets // [{m1 4} {m3 8}]
//
// # What it does
//
// [Scheduler] does what Karmada's scheduler does:
//
//	clusters ─▶ filters ─▶ scores ─▶ availability ─▶ selection ─▶ division ─▶ targets
//	            taints,    holds it   estimators     spread        Duplicated,
//	            affinity   already                   constraints   StaticWeight,
//	            ...                                                DynamicWeight, Aggregated
//
// You can use each part alone: [ClusterAffinity.Matches], [Divide], and
// [Method.Divide] to divide a number by weights. [Nodes] estimates through the
// filters that place pods. [Federation] joins the two levels: it decides for the
// clusters and places each cluster's replicas on its nodes. If some replicas find no
// room, it decides again for these.
//
// Overflow tiers take the replicas that the preferred clusters cannot take
// ([ClusterAffinityTerm]). [AffinityToWorkloads] keeps workloads together,
// [AntiAffinityToWorkloads] apart. A workload with several components, each with its
// own pods, is placed as a whole ([Workload.Components]).
//
// [Scheduler.Explain] returns the reasons as data: each cluster's verdict, scores
// and estimates, the chosen groups, the clusters exchanged for capacity, and the
// weights of the division.
//
// # What it leaves to you
//
// The package sends nothing to any cluster, and watches and writes no objects. A
// controller must roll out decisions, handle failover, and deschedule replicas that
// wait too long.
//
// # Versions
//
// The zero [Scheduler] follows the rules of Karmada 1.18, and the clusters that it
// selects meet every spread constraint. Spread constraints bind the selected
// clusters, not the used ones: division may leave a selected cluster without
// replicas. With static weights they do not apply; see [SpreadRule]. [Karmada113],
// [Karmada116] and [Karmada118] give Karmada's answers. Each type and function lists
// its deviations under "Differs:". In short: nothing is random, nothing panics, and
// numbers do not wrap. If one cluster cannot be estimated, the estimates of the
// others still count.
//
// # Determinism and concurrency
//
// A decision depends only on the arguments, and not on the order of the clusters.
// The scheduler breaks ties by name; the workload's UID decides the direction.
// Schedulers, filters, scorers and estimators are values without run state, and
// goroutines may share them. A [Federation] changes its snapshots, so only one
// goroutine at a time may use it.
//
// # Source
//
// Karmada 1.11, 1.13, 1.16 and 1.18: pkg/scheduler and pkg/estimator.
package multicluster

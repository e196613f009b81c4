// Package multicluster places workloads on clusters: which clusters take how
// many replicas, and, where the nodes of the clusters are at hand, which node
// each replica goes to.
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
// Each part can be used alone: [ClusterAffinity.Matches], [Divide], and
// [Method.Divide] for dividing a number by weights. [Nodes] estimates through
// the filters that place pods. [Federation] joins the two levels: it decides for
// the clusters, places each cluster's replicas on its nodes, and decides again
// for those that found no room.
//
// Overflow tiers take what the clusters of choice cannot ([ClusterAffinityTerm]);
// [AffinityToWorkloads] keeps workloads together, [AntiAffinityToWorkloads] apart;
// workloads of several kinds of pods go as a whole ([Workload.Components]).
//
// [Scheduler.Explain] says why, as data: each cluster's verdict, scores and
// estimates, which groups were chosen, what was exchanged for capacity, and by
// which weights was divided.
//
// # What it leaves to you
//
// Nothing is sent to any cluster, and no object is watched or written. Rolling
// out a decision, failover and the descheduling of replicas that wait too long
// are the business of a controller.
//
// # Versions
//
// The zero [Scheduler] follows the rules of Karmada 1.18 and meets every spread
// constraint. [Karmada113], [Karmada116] and [Karmada118] give Karmada's answers.
// Deviations are listed under "Differs:" at each type and function. In short:
// nothing is random, nothing panics, numbers do not wrap, and one cluster that
// cannot be estimated does not take the others' estimates with it.
//
// # Determinism and concurrency
//
// A decision depends on the arguments alone, and not on the order of the
// clusters. Ties are broken by name, in a direction that depends on the
// workload's UID. Schedulers, filters, scorers and estimators are values without
// run state and may be shared by goroutines; a [Federation] changes its
// snapshots and belongs to one goroutine at a time.
//
// # Source
//
// Karmada 1.11, 1.13, 1.16 and 1.18: pkg/scheduler and pkg/estimator.
package multicluster

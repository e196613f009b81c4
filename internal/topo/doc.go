// Package topo counts pods by topology domain: the pods that a selector selects, on
// the nodes with one value of a node label. The filters and scorers of pod topology
// spread and inter-pod affinity use it.
//
// # Idea
//
// kube-scheduler recounts for every pod that it places. Here the counts are an
// extension of the snapshot that follows pods and nodes:
//
//	counter  "app=web in default, by zone"        zone-a  zone-b  zone-c
//	                                                 7       6       7      +1 when such a pod is added
//	class    "app=web, tier=front in default" ──▶ the counters that its pods count in
//
// A counter is made when a pod first needs it, at the cost of a look at every pod.
// From then on, a pod added or removed costs one step for each counter that counts
// it. Affinity terms of pods on nodes are counted in the same way, with one counter
// for each different term. So a new pod is compared with terms, not with pods.
//
// [Affinity] holds the counts for one pod's affinity, in both directions; [Spread]
// holds the counts for its spread constraints. Each is made once for all pods with
// the same needs, and then only looked up.
//
// # What it leaves to you
//
// The package only counts. Packages filter and scoring decide which counts make a
// node infeasible, and how counts become a score. Objects are used as they are:
// match label keys of affinity terms must be merged into selectors before (see
// api.Objects.Default).
//
// # Changes
//
// Every counter remembers which domains changed recently, so that cached answers
// can be renewed node by node ([Affinity.FilterVersion]). Forks of the snapshot
// share all counters until one side changes them, page by page. A rollback sends
// the opposite events and needs nothing else.
//
// Counters that were not used for a long time are evicted when their memory passes
// a limit.
//
// # Concurrency
//
// As for the snapshot: one goroutine at a time. But several goroutines may read
// answers of [Affinity] and [Spread] about nodes at once.
//
// Source: kube-scheduler 1.37.1, plugins PodTopologySpread and
// InterPodAffinity, and framework.AffinityTerm.
package topo

// Package topo counts pods by topology domain: how many pods that a selector
// selects are on the nodes with one value of a node label. Pod topology spread
// and inter-pod affinity, as filters and as scorers, ask it.
//
// # Idea
//
// kube-scheduler counts anew for every pod that it places. Here the counts are
// an extension of the snapshot that follows pods and nodes:
//
//	counter  "app=web in default, by zone"        zone-a  zone-b  zone-c
//	                                                 7       6       7      +1 when such a pod comes
//	class    "app=web, tier=front in default" ──▶ the counters that its pods count in
//
// A counter is made when a pod asks for it first, which costs a look at every
// pod, and from then on a pod that comes or goes costs one step for each
// counter that counts it. What pods demand of their neighbours (their affinity
// terms) is counted in the same way, one counter for each different term, so
// that a pod to be placed meets terms, not pods.
//
// [Affinity] is what counts for one pod's affinity, in both directions;
// [Spread] what counts for its spread constraints. Both are made once for all
// pods that ask for the same, and then only looked up.
//
// # What it leaves to you
//
// It counts. Which counts make a node infeasible, and how they become a score,
// is for packages filter and scoring. Objects are taken as they are: match
// label keys of affinity terms have been merged into selectors before (see
// api.Objects.Default).
//
// # Changes
//
// Every counter remembers which domains changed lately, so that answers that
// were kept can be renewed node by node ([Version]). Forks of the snapshot
// share all counters until one side changes them, page by page; a rollback
// tells the opposite events and needs nothing else.
//
// Counters that nobody has asked for for long are given up when their memory
// passes a limit.
//
// # Concurrency
//
// As for the snapshot: one goroutine at a time, but what [Affinity] and
// [Spread] answer about nodes may be asked by several at once.
//
// Source: kube-scheduler 1.37.1, plugins PodTopologySpread and
// InterPodAffinity, and framework.AffinityTerm.
package topo

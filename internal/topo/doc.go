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
// A counter is made when a pod first needs it. It finds its pods through an index of
// classes by label. A new class finds its counters through an index of selectors, by
// namespace and one required label. From then on, a pod added or removed costs one
// step for each counter that counts it. Affinity terms of pods on nodes are counted
// in the same way, with one counter for each different term. A new pod finds the
// terms that can match it through the index. So the cost of a placement depends on
// the terms that match, not on how many there are or have been.
//
// Which class a pod is of, and what its constraints say, follows from texts of its labels and
// constraints. A pod that is like the last one of its controller has what that one has, so its
// texts are not made (replicas.go).
//
// A selector that demands no label, such as one of NotIn, counts most pods. Classes list those
// counters that do not count them, and such a counter begins with all pods less those (broad.go).
//
// [Affinity] holds the counts for one pod's affinity, in both directions; [Spread]
// holds the counts for its spread constraints. Each is made once for all pods with
// the same needs, and then only looked up. Of a pod's labels, only those that some term
// names tell its Affinity from others (mentions.go).
//
// A selector is vacant if it matches no pod on a node, or no node has its topology key. All
// vacant selectors count alike, so they share the counter of nobody, and pods that differ
// in such selectors only have one class key ([KeyVersion], vacant.go). That lasts until a
// pod like no other comes, or a node that is the first with the key. While pods are
// nominated to nodes, no selector is vacant. In the same way, terms of pods in the cluster
// sleep until a node has their topology key.
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
// share all counters until one side changes them, page by page, and know the latest changes of the
// time before: a state of counts is one of all forks ([Affinity.FilterChangedFrom], branches.go). A rollback sends
// the opposite events and needs nothing else.
//
// Nothing stays for ever. A class goes some time after its last pod, a term with
// the last class that has it, and a topology key some time after the last counter.
// [Affinity] and [Spread] go when thousands of look-ups were made since, when their counters have
// counted thousands of pods since, or when memory passes a limit, and the other counters go with
// them. The history of a counter goes with it, so answers from before its last change then count
// as unknown.
//
// # Concurrency
//
// As for the snapshot: one goroutine at a time. But several goroutines may read
// answers of [Affinity] and [Spread] about nodes at once.
//
// Source: kube-scheduler 1.37.1, plugins PodTopologySpread and
// InterPodAffinity, and framework.AffinityTerm.
package topo

// Package framework holds the nouns of scheduling and the contract that
// plugins fulfil. It contains no algorithm and no plugin.
//
//	objects, err := api.Decode(data) // what "kubectl get nodes,pods -A -o json" prints
//	snapshot, pending, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
//	fork := snapshot.Fork()                // for a what-if; costs next to nothing
//	err = fork.AddPod(pending[0], "n1")
//	fork.Node("n1").Requested              // with the pod; in snapshot, without it
//
// # Nouns
//
// [api.Pod], [api.Node] and the other objects have the field names and the JSON form
// of the Kubernetes API, cut down to what scheduling reads; [api.Decode] reads
// what kubectl prints. A [PodInfo] is a pod with everything derived from it
// once; a [NodeInfo] is a node with the totals of its pods. A [Snapshot] holds
// the cluster at one moment: it forks cheaply, can be rolled back, and knows
// which nodes changed.
//
// # Contract
//
// A plugin is a value with a name and one or more methods. A scorer needs two:
//
//	type Spare struct{}
//
//	func (Spare) Name() string { return "Spare" }
//
//	func (Spare) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
//		return max(0, 100-int64(len(node.Pods)))
//	}
//
// Everything else is an optional upgrade that is found once, when a profile is
// built, with [As]:
//
//	PreFilter ──returns──▶ a NodeFilter bound to this cycle     (nil: nothing to check)
//	PreScore  ──returns──▶ a NodeScorer bound to this cycle     (Skip: leave me out)
//	Scope     ──declares─▶ what an answer may depend on         (only for speed)
//
// The bound value holds, typed, what the Kubernetes framework keeps under
// string keys in its CycleState; what several plugins share within a cycle
// goes through a [Key]. A plugin itself has no run state, so one value can
// serve many schedulers at once.
//
// Runners never hand a nil pod, node, snapshot or cycle to a plugin, so plugins
// need not look. For everybody else a nil where the documentation does not allow
// one is an [*api.InvalidError] if there is an error to return, and a panic if not.
//
// A [Status] is an answer; its zero value is Success. An error means "could
// not decide", a rejecting status "decided no", and a panic in a plugin fails
// that pod's cycle with an error that names the plugin.
//
// # Who needs what
//
// The author of a plugin needs [PodInfo], [NodeInfo], [Status], one of the plugin
// interfaces, and, to prepare a cycle, [Cycle] and [Scratch]; state that
// decisions change is an [Extension]. [api.Decode], [api.Objects], [Order],
// [Snapshot.Begin], [Snapshot.Fork], [Snapshot.Changes] and the other methods
// that change a snapshot are for those who run plugins.
//
// # What it leaves to you
//
// Whether, when and in which order plugins are asked is for package scheduling;
// the plugins are in filter and scoring. Objects are taken as they are: what the
// API server would fill in, [api.Objects.Default] does when asked to. Nothing here
// watches a cluster: a snapshot changes when its user says so.
//
// # Time and chance: determinism
//
// Nothing here reads a clock or a global random source. The time is the
// snapshot's, set by its user; the only random word is the cycle's seed. The
// same snapshot, pod, number and seed give the same answers anywhere.
//
// # Concurrency
//
// A PodInfo and a plugin may be shared by goroutines. A Snapshot is used by
// one goroutine at a time, and its forks are independent. Bound filters and
// scorers may be called for different nodes at once.
//
// # Design notes
//
// The contract was tried on paper on the cases that bend it most.
//
// Load-aware scheduling reads the time and a ledger that Reserve changes. The
// time is in the snapshot; the ledger is an [Extension] of it, so forks and
// rollbacks cover it, and [Snapshot.Touch] renews kept answers. An answer that
// holds until a metric expires says so through [Expirer].
//
// PodTopologySpread scores by the set of feasible nodes: PreScore sees it, and
// ReadsFeasible declares it. Its sums per domain are an Extension that follows
// pods; what a change of a sum makes stale is told through [DomainTracker].
//
// Preemption asks whether a pod would fit if others were gone: it opens a
// transaction, removes them, filters, puts some back and rolls back. Filters
// see only the snapshot, so nothing needs to be told; a bound filter that has
// copied sums implements [FilterUpdater].
//
// A share of a GPU is a second choice inside the node: Reserve makes it and
// keeps it in an Extension; the filter and scorer read that.
//
// An extender is a network call in the middle of a cycle. It is not a plugin:
// the runner calls it between filtering and scoring with a context, and a
// profile with extenders does not use the fast road.
//
// Two profiles over one cache share one Snapshot; each has its own plugins and
// kept answers. Nothing in a snapshot belongs to a profile.
//
// Gangs need several placements that hold together or not at all: a
// transaction over Assume and Reserve of each pod.
//
// Source: the extension points, codes and texts follow k8s.io/kube-scheduler
// v0.37 (kube-scheduler 1.37.1).
package framework

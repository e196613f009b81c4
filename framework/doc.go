// Package framework is the contract between scheduling plugins and the programs that
// run them. It contains no algorithm and no plugin.
//
//	objects, err := api.Decode(data) // what "kubectl get nodes,pods -A -o json" prints
//	snapshot, pending, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
//	fork := snapshot.Fork()                // for a what-if; costs next to nothing
//	err = fork.AddPod(pending[0], "n1")
//	fork.Node("n1").Requested              // with the pod; in snapshot, without it
//
// # Nouns
//
// A [PodInfo] is an [api.Pod] with everything that is derived from it once. A
// [NodeInfo] is an [api.Node] with the totals of its pods. A [Snapshot] holds the
// cluster at one moment: it forks cheaply, can be rolled back, and knows which nodes
// changed. A [Status] is an answer; its zero value is Success.
//
// # Contract
//
// A plugin is a value with a name and one more method. This is a whole scorer:
//
//	type Spare struct{}
//
//	func (Spare) Name() string { return "Spare" }
//
//	func (Spare) Score(pod *framework.PodInfo, node *framework.NodeInfo) int64 {
//		return max(0, 100-int64(len(node.Pods)))
//	}
//
// Everything else is an optional interface. A runner finds it once, with [As], when
// it builds a profile. Climb only as far as you need to. To be right, a plugin needs
// rung 2 only if its raw scores leave the range from 0 to 100, and rung 4 only if it
// holds state; every other rung makes it faster.
//
//	   rung        you add                     stop here unless                      a decision then asks           Example
//	1  scorer      Score, or Filter            scores are not from 0 to 100          about every node               ScorePlugin, FilterPlugin
//	2  normalizer  NormalizeScore              work is the same for every node       about every node               RangeNormalizer
//	3  prepared    PreFilter, PreScore         placing a pod uses something up       once, and about every node     PreFilterPlugin, PreScorePlugin
//	4  holds state Reserve, a NodeState        thousands of nodes take too long      and a hook per pod that moves  NodeState: a device plugin
//	5  scope       Scope                       calls alone take too long             about nodes that changed       Scoper
//	6  batch       FilterNodes, ScoreNodes     answers change as time passes         the same, in one call          BatchFilter, BatchScorer
//	7  expiry      ValidUntil                  answers depend on other nodes' pods   and about what has expired     Expirer
//	8  domains     Version, Changed            a change concerns a whole zone        about nodes whose sum changed  DomainTracker
//	9  groups      Groups                      -                                     about one node of each group   Grouper, GroupTracker
//
// The interfaces of the rungs 6 to 9 are in package framework/incremental, with five more
// about pods. A filter that can count replicas is in framework/replica, what
// the scheduling queue asks in framework/queueing.
//
// A bound filter that is a [Detailer] also tells people the numbers behind a rejection,
// and a Reserve plugin that is a [ReserveDetailer] what a pod gets.
//
// From rung 5 on the runner keeps answers from decision to decision, so a decision
// takes microseconds. Package frameworktest checks that what a plugin declares is true.
//
// PreFilter returns a [NodeFilter] and PreScore a [NodeScorer] that are bound to one
// cycle. They hold, typed, what the Kubernetes framework keeps under string keys in
// its CycleState; what several plugins share within a cycle goes through a [Key]. A
// plugin itself has no run state, so one value can serve many schedulers at once.
//
// Runners never hand a nil pod, node, snapshot or cycle to a plugin. For everybody
// else a nil where the documentation does not allow one is an [*api.InvalidError] if
// there is an error to return, and a panic if not.
//
// An error means "could not decide", a rejecting status "decided no". A panic in a
// plugin fails that pod's cycle with an error that names the plugin.
//
// # A plugin that holds state
//
// Devices, licences, shares of a GPU: what a placed pod takes must count for the next
// pod. Keep it in the snapshot, where forks and transactions cover it: in a
// [NodeState] if it belongs to nodes, otherwise in an [Extension] of your own. Five
// facts decide how:
//
//   - Reserve is not the only way to a node. A pod that runs comes by
//     [Snapshot.AddPod]; filters count nominated pods by adding them in a transaction;
//     a preemption removes victims and puts some back. Only [NodeHooks] (or a
//     [PodWatcher]) see all of them, so make the choice of a device there.
//   - A pod that is bound has its device already. Read it from the pod, where PreBind
//     wrote it; choose only for a pod that names none.
//   - Reserve sees the node with the pod already counted, and the hook has run. Find
//     the choice there and pass it on with a [Key]; do not choose again.
//   - Do not count on calls of Filter and Score: the runner keeps answers, and does not
//     score a node that is the only feasible one. What they chose is lost. Let filter,
//     scorer and hook call one function that depends on its arguments alone.
//   - Unreserve may be called without Reserve, and the pod leaves the node afterwards.
//     The hook takes back what the hook gave; give back only what Reserve itself took.
//
// The Example of [NodeState] is such a plugin, in about 130 lines. It has one limit: if a
// preemption takes a pod off its node and puts it back, and the pod is assumed but not
// bound yet, it may have another device until the trial is rolled back.
//
// # Who needs what
//
// The author of a plugin needs [PodInfo], [NodeInfo], [Status], one of the plugin
// interfaces, [Cycle] and [Scratch] from rung 3 on, and [NodeState] on rung 4. The
// methods that change a snapshot, fork it or list its changes are for programs that run
// plugins; so are [SnapshotOf] and [NodeOrder]. The methods named Runner are for this
// module alone.
//
// # What it leaves to you
//
// Whether, when and in which order plugins are asked is for package scheduling;
// the plugins are in filter and scoring. Objects are taken as they are: call
// [api.Objects.Default] for objects that have never passed an API server. Nothing here
// watches a cluster: a snapshot changes when its user changes it.
//
// # Determinism
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
// # Cases that shaped the contract
//
// Load-aware scheduling reads the time and a ledger. The time is in the snapshot. The
// ledger is an [Extension] of it, and [Snapshot.Touch] renews kept answers. An answer
// that holds until a metric expires says so through incremental.Expirer.
//
// PodTopologySpread scores by the set of feasible nodes: PreScore sees it, and
// ReadsFeasible declares it. Its sums per domain are an Extension that follows
// pods. An incremental.DomainTracker names the nodes whose sum has changed, and an
// incremental.ForkTracker those whose sum is another one in a fork.
//
// Preemption asks whether a pod would fit if others were gone. It opens a
// transaction, removes them, filters, puts some back and rolls back. Filters
// see only the snapshot, so they need not be told; a bound filter that has
// copied sums implements [FilterUpdater].
//
// An extender is a network call in the middle of a cycle. It is not a plugin:
// the runner calls it between filtering and scoring with a context. Its answers are not
// kept.
//
// Two profiles over one cache share one Snapshot; each has its own plugins and
// kept answers. Nothing in a snapshot belongs to a profile.
//
// Gangs need several placements that hold together or not at all: a
// transaction over AddPod and Reserve of each pod.
//
// Source: the extension points, codes and texts follow k8s.io/kube-scheduler
// v0.37 (kube-scheduler 1.37.1).
package framework

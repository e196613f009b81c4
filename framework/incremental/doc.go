// Package incremental is the upper part of the plugin contract: what a plugin may add so
// that the incremental path asks it less often. Without any of it a plugin is just as
// right; package framework has all that it needs for that.
//
//	// Spare prefers nodes with few pods, and scores a thousand of them in one call.
//	func (Spare) ScoreNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
//		for i, n := range nodes {
//			scores[i] = max(0, 100-int64(len(n.Pods)))
//		}
//	}
//
// The rungs go on where the table of package framework's page is at rung 5: a plugin
// with a [framework.Scope] is asked only about the nodes that have changed.
//
//   - Batch: a [BatchFilter] or [BatchScorer] answers for many nodes in one call.
//   - Node keys: a [NodeKeyer] says which nodes it scores alike, and is asked about one of
//     them when a class of pods is new.
//   - Expiry: an [Expirer] says until when an answer holds that depends on the time.
//   - Domains: a [DomainTracker] reads sums over other nodes' pods, and says which
//     answers a change of a sum concerns. A [ForkTracker] also says in which of them forks of
//     a snapshot differ, and a [ForkExceptionScorer] in which exceptions.
//   - Groups: a [Grouper] gives all nodes of a zone one answer, and is asked about one of
//     them. An [ExceptionScorer] does so but for a few nodes. A [GroupPreScorePlugin]
//     sees the feasible nodes by groups, as [VersionedNodes] if the set has a number. A
//     [GroupTracker] names the groups that have changed.
//
// Six more concern pods instead of nodes. A [ClassKeyer] says itself which pods it treats
// alike, and a [ConcernedKeyer] which parts a pod must have for that. An [Idler] says for which
// pods it has nothing to do at the moment. A [Concerned] says which parts a pod must have to
// concern it at all, a [VaryingScoper] which it must have for its scope to vary, a
// [SelectiveGate] which it must have to be kept out of the queue.
//
// # What it leaves to you
//
// The declarations must be true: package frameworktest checks them on random clusters.
// Nothing here asks a plugin; package scheduling does.
//
// # Errors and costs
//
// No method returns an error. One that panics fails the pod's decision with an error that
// names the plugin. A method must not change the snapshot. What it costs is paid in each
// decision, so it should allocate nothing.
//
// # Determinism
//
// The same snapshot and pod must give the same answers, in the same order of slots.
//
// # Concurrency
//
// Methods of bound filters and scorers follow the rules of [framework.NodeFilter] and
// [framework.NodeScorer]; the others are called by one goroutine at a time.
package incremental

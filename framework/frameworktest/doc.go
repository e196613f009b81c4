// Package frameworktest tests plugins: whether they keep the contract of
// package framework. One line in a test does it:
//
//	func TestSpare(t *testing.T) { frameworktest.Run(t, Spare{}) }
//
// # What it does
//
// [Run] makes random clusters and asks the plugin about pods on their nodes,
// as a scheduler would: PreFilter, Filter for each node, PreScore, Score for
// each feasible node, normalization; then Reserve and Unreserve. It checks
//
//	mutation     pod, nodes, snapshot and the slices handed over stay as they are
//	name         Name is not empty and always the same
//	determinism  the same question has the same answer, in any order of nodes
//	bounds       scores are from 0 to 100 after normalization, and both ways to normalize agree
//	codes        every point answers with a code that it may use
//	reasons      reasons can be compared, and read when the cycle is long over
//	details      numbers behind a rejection explain it, and there are none without one
//	restrict     names that PreFilter restricts to are sorted, and Filter rejects the others
//	batch        FilterNodes gives what Filter gives, and ScoreNodes what Score gives
//	nodekey      nodes with equal keys have equal scores
//	concurrency  a bound filter or scorer answers several goroutines (use -race)
//	scratch      answers do not depend on the pods that came before
//	scope        what Scope declares is all that answers depend on
//	classkey     keys of a plugin's own stay while their version does
//	expiry       an answer stays until the time that ValidUntil tells
//	domain       answers stay on nodes that Changed does not call
//	idle         PreFilter and PreScore skip each pod that Idle is true for, or no node fails
//	concern      pods that have none of the parts of Concern change nothing, and no answer
//	gate         PreEnqueue lets every pod in that has none of the parts of Gates
//	kept         what is bound answers alike after objects changed and were rolled back
//	hints        hints answer alike for waiting pods that differ in nothing that Scope names
//	updater      a bound filter follows pods that come and go while others are tried
//	reserve      Unreserve, a rollback and a fork leave nothing of a Reserve behind,
//	             and a call that changes answers renews the node; Reserves says the same
//	             before and after
//	exercise     the plugin did what it is there for: see [Exercise]
//
// and skips what the plugin does not implement. Optional interfaces are found
// with [framework.As], so a wrapped plugin is tested like the one inside. The
// first failure of each check is reported, as a [*Failure], with plugin, check,
// cluster, pod, node and the two values; [Check] returns them outside of tests. A
// panic is reported once, by the first check that meets it, with the method.
//
// A plugin that the clusters do not exercise fails: a filter that rejects no
// node, for example, or a scorer that scores all nodes alike. If it reads labels
// or annotations of its own, name them with their values in [Config].Labels and
// Annotations, and the kit puts them on nodes and pods. For anything else there
// are [Config].Generate and Prepare. If the plugin never does such a thing, say
// why in [Config].Unexercised.
//
// [Cluster], [Node] and [Pod] are the generators, for tests of anything that
// works on clusters.
//
// # What it leaves to you
//
// That the answers are right: the kit knows no formula. What Permit, PreBind,
// Bind, PostBind, PostFilter, PreEnqueue and QueueSort do. State that a plugin
// keeps in the snapshot is seen only through its answers, unless
// [Config].State shows it.
//
// # Determinism and concurrency
//
// Everything is a function of the seed; no clock and no global random source is
// read. Clusters of one seed may change between versions of this package.
// Functions may be called from several goroutines.
//
// In the spirit of testing/fstest and testing/slogtest of the standard library.
package frameworktest

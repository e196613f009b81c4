// Package engine is the incremental path: it decides from answers that it keeps, and
// agrees with the reference path of package scheduling in every decision, score and
// reason.
//
// # Idea
//
// Most pods of a cluster are copies of a few templates. Two pods are of one class (an
// equivalence class) if everything that an enabled plugin reads of a pod is equal, so
// every plugin answers alike for both. The first pods of a class ask every plugin about
// every node; the answers are kept. For the next pod, only the nodes that changed in
// between are asked about again: usually the one on which the last pod was placed.
//
//	base "500m, 1Gi, tolerates spot"       shared by classes that differ otherwise
//	  rows     slot  reason  score                  tracker of the snapshot
//	           0     -       187                      slot  generation  entry
//	           1     taint   -                        0     812         -
//	           2     dirty: its entry is new    ◀──   2     1033        57
//	  lists    raw scores of plugins that normalize
//
//	class "..., app=web, spread by zone"              order of places
//	                                                   0   1   2   3 ...
//	  own      rejection by the row or by gates      ┌───┬───┬───┬───┬──
//	  gates    filters that count other pods   ───▶  │187│  -│191│187│    leaves: totals
//	  columns  raw scores in buckets, ranges         └───┴───┴───┴───┴──
//	  groups   zone-a: 0 2 ..  zone-b: 1 3 ..            \   /   \   /
//	           shut            offset +40               187 x1  191 x1    best, how many
//	                                                         \     /
//	                                                       191 x1         root, by group
//
// A base keeps the answers of plugins that read one node only. A class has the rest: gates
// for filters, and live columns for scorers, that read more, such as the pods of a topology
// domain. They are bound in every decision, unless they are idle, and asked
// again about what they say has changed.
//
// # Why did a decision take the reference path?
//
// [Engine.Find] returns false, and [Stats] counts a bypass, in these cases only:
//
//	another cluster              isAbout: few queries in a row were about the snapshot's origin
//	the base is new              newBase: it is built for its second pod,
//	                             or for its first if many bases get a second: sightings
//	the budget is too small      newBase: for one base and class of this many nodes;
//	                             admits: for one more class
//	a plugin broke its class     bar: for the next 256 decisions
//	a PreFilter says no          sync (declined), base.bind: it rejected the pod, failed,
//	                             or named nodes
//	a PreScore failed            syncScores, base.bindScores, View.sample
//	a plugin left its bounds     unusable, broken: a score outside of [0,100], a status
//	                             that is an error, a deadline in the past
//	a plugin panicked            Find recovers; the class and its base are dropped
//	the engine panicked          Find recovers; all is dropped, and Stats.Faults counts it
//
// Package scheduling does not even ask if its cache is off, if the key of the pod's class
// is longer than 16 KiB, if the profile has very large weights, or if there are no nodes.
// It asks about few pods where kept answers have cost more than they saved, counted in nodes
// that were evaluated (scheduling/incremental_balance.go). It decides without the engine,
// and without the reference path, if a PreFilter rejects the pod or names few nodes, and if
// the pod fits the node that it is nominated to. It takes the reference path without asking
//
//	if a nominated pod has a PreFilter that says no, or a filter that fails
//	if a filter fails for a node with the pods that are nominated to it
//
// and after asking, with the extenders' answers, if an extender wants the nodes scored as
// if they were empty, or refuses all of a sample. Such decisions are not counted.
// [Describe] prints what is kept of a class.
//
// # Nominations and extenders
//
// Pods nominated to a node may only matter there. So package scheduling asks the filters
// about such nodes with these pods, keeps what it can (scheduling/incremental_nominated.go),
// and hands the rejections to Find as overrides; a class with overrides has a tree of its
// own (overrides.go). Extenders get the nodes of
// [View.Listed]; [View.TotalsAmong] scores those that they leave.
//
// # How to add a tie rule
//
// The rule belongs to package scheduling: a constant before Custom and its name in
// tieNames (ties.go), and a case in referencePath.choose and in incrementalPath.choose; a
// missing case fails every tied decision. [ScoreTable.pick] of package scheduling asks
// referencePath.choose about rules that it has no shortcut for. soak_test.go of
// internal/proof/soak lists the rules that a soak must meet. A [View] answers in the order of the
// search: Tied(k) is the k-th of the best nodes, AllTied lists them, Totals visits all
// feasible ones. A rule that needs more has a file of its own here; view_heap.go is the
// example. The machine (machine_test.go) and the soak then compare both paths.
//
// # What makes it fast
//
//	rows          a node that changed is evaluated once for all classes of a base
//	tracker       what changed is found once for all bases
//	many at once  if many rows are dirty, each plugin is asked about all of them in turn
//	              ([incremental.BatchScorer])
//	node keys     a scorer that says which nodes it scores alike is asked about one of
//	              them ([incremental.NodeKeyer])
//	one tree      rows are the leaves of a tree, which the classes of a base share as
//	              long as nothing else tells nodes apart (class_totals.go); they share
//	              one more for each division into groups (grouping.go), so a row that
//	              changes is followed once, and a new class looks at no node
//	idle          while nothing live takes part and no row flips, a class that shares
//	              has nothing to do (state)
//	buckets       a normalized score is found once for each different raw score; if a
//	              range moves, only nodes whose score moves are touched
//	groups        a plugin that treats the nodes of a zone alike is asked about one of
//	              them; its answer shuts the zone or is its offset
//	exceptions    few nodes that differ from their group, such as those with pods of the
//	              same app, are written into the shared tree for the class that asks,
//	              and only if they would be among the best
//	tree          knows the best total of every part of the cluster and how many nodes
//	              have it, so each tie rule finds its node in O(log N), and so do samples
//
// # What makes it exact
//
// A plugin declares what its answers depend on ([framework.Scope]):
//
//	the node, its pods     kept in rows; renewed if the generation has changed
//	time                   kept until the plugin's deadline (deadlines.go)
//	set of nodes, objects  kept until that version differs (base.go, move), also for plugins
//	                       that had nothing to do so far
//	domains                gates and columns renew what a tracker names
//	feasible nodes         columns renewed if that set changes
//	anything, or no scope  gates and columns renewed in every decision
//
// A generation identifies the content of a node across all forks of a snapshot, and so
// does the generation of a run of 16 slots. So the tracker can go from one fork to
// another and back: it compares runs, looks into those that differ, and takes a node with
// another generation for one that changed. Plugins are bound anew, because they may have
// kept the snapshot; rows of the other nodes stand, with their scores (base.go, move). What
// live plugins said stands, too, but for the nodes that their trackers call: a
// [incremental.ForkTracker] knows what has changed since a state that both snapshots have in their past
// (anchors.go). What others said is unknown then. An engine reads the snapshot of the query and no other, and one for
// another goroutine may start from what it keeps (legacy.go). Snapshots that are no forks of each other cannot be compared:
// for a snapshot of another origin, an engine forgets all that it kept.
//
// Each "Invariant:" has a check (check.go), which asks plugins again and counts again.
// A verifying scheduler runs all checks every few decisions.
//
// # Where to look
//
//	engine.go          Find, counts, failures of the engine itself; guard/ tells them from
//	                   a plugin's
//	engine_classes.go  classes and bases, their budget; recency.go which class was used last
//	source.go          what binds the plugins
//	nodelog/           places of the order; which nodes changed, and when
//	rows.go            what a base keeps of each node
//	base.go            build, follow, move to another snapshot or to other nodes;
//	                   base_filter.go, base_score.go, lists.go, bykey.go
//	legacy.go          how an engine starts from what another one keeps
//	reasons.go         rejections by number; deadlines.go until when rows hold
//	class.go           states of a class, and how it is brought up to date
//	class_nodes.go     own reasons, from rows and gates; which groups are shut
//	visits.go          which bases let go of a snapshot
//	anchors.go         states of other forks from which live plugins can tell what differs
//	overrides.go       rejections of single nodes that hold for one query
//	class_totals.go    totals; classes that share a tree of their base
//	grouping.go        trees that classes with groups share; exceptions in them
//	guess.go           which groups scorers are shown that are not bound yet
//	ask.go             all calls of live plugins; gate.go live filters
//	columns.go         all columns of a class
//	column.go          scores of one scorer, in one of four forms:
//	                   column_value.go, column_node.go, column_group.go,
//	                   column_except.go; bucket/
//	division.go        groups of nodes
//	slotlist/          lists by slot
//	tree/              the tournament, and questions to it; heap.go lays it out for Heap
//	                   and ByName, levels.go knows where levels of that heap begin
//	view.go            one query's answer; view_heap.go, names.go; sample.go; feasible.go
//	check.go           the invariants; describe.go a class as text
//
// # Cost
//
// A decision of a known class costs O(log N) for every node that changed, O(G) for G
// groups, O(E) for E exceptions to groups, and O(G log N) for the choice, and allocates
// nothing. For classes that share a tree, a node that changed counts once in all. Some tie
// rules cost more. Heap and ByName take O(log N) while the tree is laid out for them (tree/heap.go).
// For ByName, that is until nodes come or go; for Heap, until the feasible nodes differ
// or the search begins elsewhere, so never for samples. Laying out costs O(N G). It is
// done once questions that could not use it have cost as much: O(N) each for ByName. For Heap it is
// O(G log N) for each level of the heap that it looks at, which are at most log N. To list T tied nodes, as Custom does, costs O(T log N) and an allocation.
// Reservoir visits all feasible nodes and lists them.
//
// Memory that the budget counts, in bytes a node:
//
//	a base                       14, and 8 for each plugin that normalizes; its reasons
//	a tree by groups             8, and 1 for each group; a base has up to four of them
//	a class with its own tree    6, and 12 for each plugin that normalizes; lists of 30
//	a tree laid out by a rule    13, and 4 for each group, up to 16 groups
//
// A base has at most 1,024 more reasons than there are nodes. If the budget is spent, a
// class is built only if it was asked for later than the class that was used longest ago,
// which is then dropped for it. A scorer whose raw scores are all equal takes no memory.
//
// Memory that the budget does not count, whatever the number of classes:
//
//	the tracker                  25 bytes a node and 32 KiB
//	divisions                    32, each of 6 bytes a node
//	the order of the nodes       8 bytes a node, and 4 for ByName
//	lists of nodes to ask about  50 bytes a node (lists.go); if a scorer has keys of nodes,
//	                             the different keys, and 80 bytes for each (bykey.go)
//	nodes of an answer, listed   36 bytes a node (sample.go), with slots and names
//	memory to use again          that of up to two bases and four classes
//
// The tracker, bases and lists keep the snapshots and nodes that they were used with last
// from being collected.
//
// An Engine must be used by one goroutine at a time.
package engine

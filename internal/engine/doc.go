// Package engine is the fast road: it decides from answers that it keeps, and
// agrees with the plain road of package scheduling in every decision, score
// and reason.
//
// # Idea
//
// Most pods of a cluster are copies of a few templates. Two pods are of one
// class when everything that an enabled plugin reads of a pod is equal, so
// every plugin answers alike for both. The first pod of a class asks every
// plugin about every node; the answers are kept. When the next pod comes, only
// the nodes that changed in between, the dirty rows, are asked about again:
// usually the one on which the last pod was placed.
//
//	base "500m, 1Gi, tolerates spot"       shared by classes that differ otherwise
//	  rows     slot  reason  score                  timeline of the snapshot
//	           0     -       187                      slot  generation  entry
//	           1     taint   -                        0     812         -
//	           2     dirty: its entry is new    ◀──   2     1033        57
//	  kept     raw scores of plugins that normalize
//
//	class "..., app=web, spread by zone"              order of places
//	                                                   0   1   2   3 ...
//	  own      rejection by the row or by gates      ┌───┬───┬───┬───┬──
//	  gates    filters that count other pods   ───▶  │187│  -│191│187│    leaves: totals
//	  columns  raw scores in buckets, ranges         └───┴───┴───┴───┴──
//	  division zone-a: 0 2 ..  zone-b: 1 3 ..            \   /   \   /
//	           shut                offset +40           187 x1  191 x1    best, how many
//	                                                         \     /
//	                                                       191 x1         root, by group
//
// A base keeps what plugins answer that read one node only. A class has the
// rest: gates are filters, and live columns scorers, that read more than that,
// such as the pods of a topology domain; they are bound in every decision, unless
// they are known to have nothing to do, and asked again about what they say has
// changed.
//
// # What makes it fast
//
//	rows          a node that changed is evaluated once for all classes of a base;
//	              a row has 4 bytes, which hold the score or the reason why there
//	              is none
//	timeline      what changed is found out once for all bases, and a base asks
//	              about every node that changed once, however often it did
//	many at once  of many dirty rows, one filter, and then one scorer after the
//	              other is asked about all ([framework.BatchScorer])
//	one tree      rows are the leaves of a tree, which the classes of a base share
//	              as long as nothing else tells nodes apart (share.go)
//	calm          while nothing live takes part and no row turns, a class that
//	              shares the tree has nothing to bring up to date (class.finish)
//	buckets       a normalized score is computed once for each different raw
//	              score; when a range moves, only nodes whose score moves are touched
//	groups        a plugin that cannot tell the nodes of a zone apart is asked
//	              about one of them, and its answer shuts the zone or is its offset
//	tree          knows the best total of every part of the cluster and how many
//	              nodes have it, so each tie rule finds its node in O(log N), and
//	              so do samples; a leaf has 4 bytes, which hold the total or the
//	              reason why there is none
//	early loads   what many rows, or the chosen node, will be asked for is touched
//	              at once before, so that loads from memory do not wait for each
//	              other (base.listDirty, class.warm, View.kthTied)
//
// # What makes it exact
//
// A plugin declares what its answers depend on ([framework.Scope]):
//
//	the node, its pods     kept in rows; renewed when the generation has changed
//	time                   kept until the plugin's deadline (deadlines.go)
//	set of nodes, objects  kept until that version differs (base.move), also by
//	                       plugins that had nothing to do so far
//	domains                gates and columns that renew what a tracker names
//	feasible nodes         columns renewed when that set changes
//	anything, or no scope  gates and columns renewed in every decision
//
// A generation identifies the content of a node across all forks of a
// snapshot, so a base can turn from one fork to another and back: rows whose
// generation matches stand, the others are renewed, and nothing is mixed. Across
// snapshots that are no forks of each other nothing can be compared: an engine
// that is asked about another origin forgets all that it kept.
//
// Whatever does not fit (a PreFilter that rejects the pod or names nodes, a
// plugin that fails, panics or leaves its bounds) is left to the plain road,
// which gives the answer or the error.
//
// # Rooms
//
//	engine.go     the classes and bases, their budget, Find
//	source.go     what binds the plugins
//	timeline.go   the nodes of a snapshot by place; which changed, and when
//	base.go       rows: build, follow, move; row.go, rowlog.go, deadlines.go, lists.go
//	basefilter.go verdicts of rows, reasons.go why; basescore.go their scores
//	class.go      own reasons, from rows and gates; classfollow.go
//	share.go      classes that ask the tree of their base
//	gate.go       filters that are not kept in rows
//	column.go     raw scores; buckets.go
//	score.go      bringing scores up to date; total.go adds them up
//	division.go   groups of nodes
//	tree.go       the tournament; treeask.go questions to it
//	view.go       one query's answer: ties, reasons; sample.go, feasible.go
//
// # Cost
//
// A decision of a known class costs O(log N) for every node that changed, O(G)
// for G groups, and O(G log N) for the choice, and allocates nothing. That does not
// hold for all rules that choose among tied nodes: to list T tied nodes costs
// O(T log N) and an allocation, which Custom and ByName need; Reservoir goes
// through all feasible nodes and lists them; and Heap costs O((log N)^3), but
// allocates nothing.
//
// A base holds 14 bytes for each node, and 8 more for each plugin that normalizes;
// a class with a tree of its own holds 6, and 12 more for each plugin that
// normalizes; its lists that are gone through once come to about 30 more. The
// reasons of a base are counted, too: at most 1,024 more than there are nodes.
// Classes used longest ago are given up when the budget is spent.
//
// Besides the budget there are, whatever the number of classes: four timelines of
// snapshots, and those that bases hold on to, of 24 bytes for each slot and up to
// 64 KiB; up to 32 divisions, of two bytes and four for each node; the order, of
// eight; the lists of nodes that bases ask about (lists.go), of about 50; and the
// memory of up to two bases and four classes that were given up. Timelines and
// these lists keep their snapshots, or the nodes that were listed, from being
// collected.
//
// An Engine is used by one goroutine at a time.
package engine

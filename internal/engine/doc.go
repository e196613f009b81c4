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
//	class "web"                                          order of places
//	                                                       0   1   2   3 ...
//	rows     slot  generation  reason     score          ┌───┬───┬───┬───┬──
//	         0     812         feasible   187   ───┐     │187│  -│191│187│     leaves: totals
//	         1     97          taint      -        ├───▶ └───┴───┴───┴───┴──
//	         2     1033 ≠ node's: dirty            │        \   /   \   /
//	columns  raw scores of plugins that           ─┘        187 x1  191 x1     best, how many
//	         normalize, with their range                       \     /
//	gates    verdicts that are asked for every time            191 x1          root
//
// A row holds a node's verdict and the sum of the scores that need no
// normalization. A column holds the raw scores of a plugin that normalizes,
// and the range of those of the feasible nodes; while the range stands, a
// dirty row changes one total, and when it moves all totals are added up
// again. The tree over the totals knows the best total of every part of the
// cluster and how many nodes have it, so each tie rule finds its node in
// O(log N), and so do samples of the nodes.
//
// # What makes it exact
//
// A plugin declares what its answers depend on ([framework.Scope]):
//
//	the node, its pods     kept in rows; renewed when the generation differs
//	time                   kept until the plugin's deadline (deadlines.go)
//	set of nodes, objects  kept until that version differs (sync.go, move)
//	domains                columns and gates that renew what a tracker names
//	feasible nodes         columns renewed when that set changes
//	anything, or no scope  columns and gates renewed in every decision
//
// A generation identifies the content of a node across all forks of a
// snapshot, so a class can turn from one fork to another and back: rows whose
// generation matches stand, the others are renewed, and nothing is mixed.
//
// Whatever does not fit (a PreFilter that rejects the pod or names nodes, a
// plugin that fails, panics or leaves its bounds) is left to the plain road,
// which gives the answer or the error.
//
// # Rooms
//
//	engine.go     the classes, their budget, Find
//	class.go      rows: evaluate, settle, score
//	sync.go       bringing a class up to date with the snapshot
//	score.go      bringing scores and totals up to date
//	column.go     raw scores with a range; gates
//	deadlines.go  answers that hold up to a time
//	tree.go       the tournament
//	view.go       one query's answer: samples, ties, reasons
//
// # Cost
//
// A decision of a known class costs O(log N) for every dirty row and O(log N)
// for the choice, and allocates nothing. A class holds about 100 bytes per
// node, and 8 more per column; classes used longest ago are given up when the
// budget is spent.
//
// An Engine is used by one goroutine at a time.
package engine

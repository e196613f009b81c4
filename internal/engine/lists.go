package engine

import "github.com/berth-sched/berth/framework"

// lists is memory for what a base lists while it renews rows. All bases of an
// engine share it: with many bases in turn, each would find its own cold.
//
// Invariant: nothing in it is needed after the call of the base that filled it.
type lists struct {
	nodes   []*framework.NodeInfo // those that many questions are about
	at      []int32               // their slots
	said    []int32               // the first rejections of them
	refused bool                  // there may be rejections among them

	rejected []int // indexes in nodes
	buffers  [2][]int64
	raw      []int64
	carried  []int32
}

// listNone empties the list of nodes that many questions are about.
func (l *lists) listNone() {
	l.nodes, l.at, l.said = l.nodes[:0], l.at[:0], l.said[:0]
	l.refused = false
}

// list adds a node to them, with its first rejection so far.
func (l *lists) list(n *framework.NodeInfo, slot, reason int32) {
	l.nodes, l.at, l.said = append(l.nodes, n), append(l.at, slot), append(l.said, reason)
	l.refused = l.refused || reason != feasible
}

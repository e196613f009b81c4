package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// lists is memory for what a base lists while it renews rows, and a class while it shows
// nodes to plugins. All bases of an engine share it: with many bases in turn, each would
// find its own lists cold.
//
// Nothing in it may be needed after the call of the base or class that filled it.
type lists struct {
	nodes        []*framework.NodeInfo // the nodes that many questions are about
	slots        []int32               // of the nodes
	verdicts     []int32               // the first rejection of each
	someRejected bool                  // some of verdicts may be rejections

	rejected []int // indexes in nodes
	buffers  [2][]int64
	raw      []int64
	byKey    byKey
	carried  []int32
	timed    []incremental.Expirer // the plugins of a base that read the time

	feasible []*framework.NodeInfo // as shown to plugins; for a class
	scores   []int64               // of these
	shown    twoNodes

	evaluated int64 // see Engine.Evaluated; in half nodes
	walked    int64 // nodes that were listed or added up besides; see Stats.Looks
}

// listAll lists nodes that nothing has rejected so far.
func (l *lists) listAll(nodes []*framework.NodeInfo, slots []int32) {
	l.nodes, l.slots = append(l.nodes[:0], nodes...), append(l.slots[:0], slots...)
	l.verdicts = slotlist.AtLeast(l.verdicts, len(slots))[:len(slots)]
	clear(l.verdicts)
	l.someRejected = false
}

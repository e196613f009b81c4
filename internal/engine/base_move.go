package engine

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// How a base follows another snapshot, such as a fork.

// move goes to another snapshot, or to the same one with other nodes or objects. All
// plugins are bound anew, because they may have kept the snapshot. A row stands if the
// generation of its node does: generations identify content across forks.
//
// Scores stand as well, unless a plugin reads what differs between the snapshots besides
// nodes, or is skipped now and was not before.
func (b *base) move(src Source) bool {
	s, o, at, p := b.tracker.Snapshot, b.tracker.Order, &b.at, &b.plugins
	was := b.state
	same, ok := b.bind(src, s)
	if !ok {
		return false
	}
	var differs framework.Reads // of all that the whole snapshot has
	if at.nodeSet != s.NodeSet() {
		differs |= framework.ReadsNodeSet
	}
	if at.objects != s.Objects() {
		differs |= framework.ReadsObjects
	}
	at.snapshot, at.nodeSet, at.objects = s, s.NodeSet(), s.Objects()
	b.grow(s.SlotLimit())
	b.arrange()
	verdicts := same && differs&p.filterReads == 0
	if was == scored && verdicts && differs&p.scorerReads == 0 && b.bindScorersAgain(src) {
		b.state = scored
	} else {
		p.forgetScorers()
		b.rows.uniform = false
		b.epoch++
	}
	switch {
	case !verdicts:
		b.evaluateAll(o.Slots)
		at.entry = b.tracker.End()
	case differs&framework.ReadsNodeSet == 0:
		b.follow(s)
	default:
		b.epoch++ // classes rely on what stands while only the pods of nodes change
		b.slots = b.tracker.Since(at.entry, b.slots[:0])
		at.entry = b.tracker.End()
		b.rows.uniform = false // until nodes that are new, or changed, have scores
		b.evaluateAll(b.slots)
		b.rows.uniform = b.state == scored && b.isUniform()
	}
	return true
}

// arrange gives the rows the order of the tracker. Rows of nodes that are new or changed
// are evaluated next.
func (b *base) arrange() {
	o := b.tracker.Order
	if b.rows.order == o {
		return
	}
	for _, slot := range b.rows.order.Slots {
		if !o.Has(slot) {
			b.due.remove(slot)
			b.rows.nodes[slot] = nodeRow{}
		}
	}
	b.carried = b.rows.carry(o, b.carried)
	b.epoch++
}

// evaluateAll renews all that the rows keep of the nodes of some slots.
func (b *base) evaluateAll(slots []int32) {
	for _, slot := range slots {
		b.evaluate(b.at.snapshot.AtSlot(int(slot)))
	}
}

// bindScorersAgain binds the scorers of a base that is scored. false means that rows have
// to be scored anew: the scorers are others than before, or could not be bound.
func (b *base) bindScorersAgain(src Source) bool {
	shown := b.firstTwo()
	if shown.count < 2 {
		return false // scorers are not asked about a single node, nor bound for it
	}
	scorers, ok := b.preScore(src, shown)
	return ok && b.plugins.replaceScorers(scorers)
}

// firstTwo lists the first two feasible nodes; fewer, if there are not so many.
func (b *base) firstTwo() *twoNodes {
	shown := &b.shown
	*shown = twoNodes{}
	for place, leaf := range b.rows.tree.Leaves {
		if leaf >= 0 {
			shown.nodes[shown.count] = b.tracker.At[place]
			if shown.count++; shown.count == len(shown.nodes) {
				break
			}
		}
	}
	return shown
}

// replaceScorers takes over scorers, which were bound again; false if they are not as
// many, at the same places, as before.
func (p *basePlugins) replaceScorers(scorers []Scorer) bool {
	if len(scorers) != len(p.nodeScorers)+len(p.podScorers)+len(p.normalized) {
		return false
	}
	node, pod, normalized := p.nodeScorers, p.podScorers, p.normalized
	for _, s := range scorers {
		var at *Scorer
		switch {
		case s.normalizes():
			if len(normalized) > 0 {
				at, normalized = &normalized[0].scorer, normalized[1:]
			}
		case nodeOnly(s.Reads):
			if len(node) > 0 {
				at, node = &node[0], node[1:]
			}
		default:
			if len(pod) > 0 {
				at, pod = &pod[0], pod[1:]
			}
		}
		if at == nil || !at.replaceable(&s) {
			return false
		}
		*at = s
		p.timed = p.timed || s.Reads&framework.ReadsTime != 0
	}
	return true
}

// replaceable reports whether x is the same scorer as s, bound again.
func (s *Scorer) replaceable(x *Scorer) bool {
	return s.At == x.At && s.Reads == x.Reads && s.Weight == x.Weight &&
		(s.ByRange == nil) == (x.ByRange == nil) && (s.ByNodes == nil) == (x.ByNodes == nil) && (s.Except == nil) == (x.Except == nil)
}

// isUniform reports whether all nodes have one score as far as no pods are read.
func (b *base) isUniform() bool {
	r := &b.rows
	if b.plugins.readPods() {
		r.uniformScore = 0
		return true
	}
	if slices.ContainsFunc(b.plugins.normalized, func(l rawList) bool { return !l.nodeOnly }) {
		return false
	}
	for _, slot := range r.order.Slots {
		if n := &r.nodes[slot]; !n.known() || n.reason() != feasible || n.score != r.nodes[r.order.Slots[0]].score {
			return false
		}
	}
	r.uniformScore = r.nodes[r.order.Slots[0]].score
	return true
}

// twoNodes shows PreScore plugins two nodes that are feasible, as far as is known before
// the nodes that changed are evaluated. What scorers of a base answer does not depend on
// which nodes they see, or the answers could not be kept.
type twoNodes struct {
	nodes [2]*framework.NodeInfo
	count int // of nodes, if there are fewer
}

func (l *twoNodes) List() []*framework.NodeInfo { return l.nodes[:l.count] }

func (l *twoNodes) Groups(int) incremental.FeasibleNodes { return l }

func (l *twoNodes) Len() int { return l.count }

func (l *twoNodes) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range l.List() {
		f(n, 1)
	}
}

package engine

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// The scores of rows, and until when rows hold.

// bindScores binds the scorers of the base and scores every feasible row, one scorer
// after the other. false means that the reference path must be taken.
//
// Invariant (afterwards, while scored): every feasible row has its scores, and the
// normalized lists have its raw scores.
func (b *base) bindScores(src Source, shown Feasible) bool {
	scorers, ok := b.preScore(src, shown)
	if !ok {
		return false
	}
	p := &b.plugins
	p.forgetScorers()
	for _, s := range scorers {
		switch {
		case s.normalizes():
			p.normalize(s, len(b.rows.nodes))
		case nodeOnly(s.Reads):
			p.nodeScorers = append(p.nodeScorers, s)
		default:
			p.podScorers = append(p.podScorers, s)
		}
	}
	p.timed = p.timed || slices.ContainsFunc(scorers, func(s Scorer) bool { return s.Reads&framework.ReadsTime != 0 })
	b.listFeasible()
	b.scoreAll()
	if p.timed {
		b.schedule(b.nodes...)
	}
	if b.state != broken {
		b.state = scored
	}
	return b.state != broken
}

// listFeasible lists the feasible nodes, and makes the scores of all nodes unknown.
func (b *base) listFeasible() {
	o, r := b.rows.order, &b.rows
	b.listAll(b.tracker.Nodes(), o.Slots)
	k := 0
	for place, slot := range o.Slots {
		x := &r.nodes[slot]
		x.setReason(x.reason())
		if r.tree.Leaves[place] >= 0 {
			b.nodes[k], b.slots[k] = b.nodes[place], slot
			k++
		}
	}
	b.nodes, b.slots, b.verdicts = b.nodes[:k], b.slots[:k], b.verdicts[:k]
}

// preScore runs the PreScores; false if the reference path must be taken.
func (b *base) preScore(src Source, shown Feasible) (scorers []Scorer, ok bool) {
	b.cycle.Reset(b.pod, b.at.snapshot, 0, 0)
	b.guard.Enter()
	scorers, ok = src.BindKeptScorers(&b.cycle, shown)
	b.guard.Returned()
	return scorers, ok
}

// forgetScorers makes no scorer take part.
func (p *basePlugins) forgetScorers() {
	p.nodeScorers, p.podScorers, p.normalized = p.nodeScorers[:0], p.podScorers[:0], p.normalized[:0]
}

// normalizes reports whether the scorer's raw scores are normalized.
func (s *Scorer) normalizes() bool { return s.ByRange != nil || s.ByNodes != nil }

// scoreAll scores the listed nodes, which are all feasible ones.
func (b *base) scoreAll() {
	p, r := &b.plugins, &b.rows
	b.evaluated += int64(2 * (refreshCost + len(b.slots)))
	byNode, byPods := b.sums(p.nodeScorers, 0), b.sums(p.podScorers, 1)
	r.uniform = p.readPods() || len(b.nodes) == len(r.order.Slots) &&
		!slices.ContainsFunc(p.normalized, func(l rawList) bool { return !l.nodeOnly })
	r.uniformScore = 0
	for k, slot := range b.slots {
		r.nodes[slot].setScore(int32(byNode[k]))
		byPods[k] += byNode[k]
		r.uniform = r.uniform && byNode[k] == byNode[0]
	}
	if b.state != broken {
		r.putMany(b.slots, byPods, 0)
	}
	if r.uniform && len(byNode) > 0 {
		r.uniformScore = int32(byNode[0])
	}
	for i := range p.normalized {
		l := &p.normalized[i]
		raw := b.rawOf(&l.scorer)
		l.same = len(raw) > 0
		for k, x := range raw {
			l.raw[b.slots[k]] = x
			l.same = l.same && x == raw[0]
		}
		if l.same {
			l.value = raw[0]
		}
	}
}

// readPods reports whether every plugin reads pods, so nothing stands while only the pods
// of a node change, and the sum of the scores that do is 0.
func (p *basePlugins) readPods() bool {
	return len(p.nodeFilters)+len(p.nodeScorers)+len(p.normalized) == 0
}

// rawOf asks a scorer about the listed nodes.
func (b *base) rawOf(s *Scorer) []int64 {
	b.raw = slotlist.AtLeast(b.raw, len(b.nodes))
	raw := b.raw[:len(b.nodes)]
	b.askScorer(s, raw)
	return raw
}

// fewAlike is how many nodes are not worth a look for equal ones: those that changed since
// the last pod of a class are seldom equal.
const fewAlike = 8

// askScorer writes the scores of the listed nodes.
func (b *base) askScorer(s *Scorer, scores []int64) {
	b.guard.Enter()
	if s.Keys != nil && len(b.nodes) >= fewAlike {
		b.byKey.score(s, b.pod, b.nodes, scores)
	} else {
		s.scoreEach(b.pod, b.nodes, scores)
	}
	b.guard.Leave()
}

// scoreEach asks the scorer about each of the nodes.
func (s *Scorer) scoreEach(pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if s.Batch != nil {
		s.Batch.ScoreNodes(pod, nodes, scores)
		return
	}
	for k, n := range nodes {
		scores[k] = s.Scorer.Score(pod, n)
	}
}

// scoreMany renews the scores of the rows of the listed nodes.
func (b *base) scoreMany() {
	byPods := b.sums(b.plugins.podScorers, 1)
	if b.rows.uniform {
		if b.state != broken {
			b.rows.putMany(b.slots, byPods, b.rows.uniformScore)
		}
		return
	}
	for k, n := range b.nodes {
		b.scoreOne(n, b.slots[k], byPods[k])
	}
}

// normalize gives the scorer a list of raw scores, with the memory of an earlier one
// if there is any.
func (p *basePlugins) normalize(s Scorer, slots int) {
	i := len(p.normalized)
	if i < cap(p.normalized) {
		p.normalized = p.normalized[:i+1]
	} else {
		p.normalized = append(p.normalized, rawList{})
	}
	l := &p.normalized[i]
	l.scorer, l.nodeOnly, l.raw, l.same = s, nodeOnly(s.Reads), slotlist.AtLeast(l.raw, slots), false
}

// sums adds up the weighted scores of the listed nodes, one scorer after the other, in
// one of two buffers.
func (b *base) sums(scorers []Scorer, buffer int) []int64 {
	sum := slotlist.AtLeast(b.buffers[buffer], len(b.nodes))[:len(b.nodes)]
	b.buffers[buffer] = sum
	if len(scorers) == 0 {
		clear(sum)
		return sum
	}
	most := uint64(0)
	b.askScorer(&scorers[0], sum)
	weight := scorers[0].Weight
	for k, x := range sum {
		most = max(most, uint64(x))
		sum[k] = x * weight
	}
	for i := range scorers[1:] {
		raw, weight := b.rawOf(&scorers[1+i])[:len(sum)], scorers[1+i].Weight
		for k, x := range raw {
			most = max(most, uint64(x))
			sum[k] += x * weight
		}
	}
	if most > uint64(framework.MaxNodeScore) {
		b.state = broken
	}
	return sum
}

// scoreOne renews the scores of one row. byPods is the sum of the scores that depend on pods.
func (b *base) scoreOne(n *framework.NodeInfo, slot int32, byPods int64) {
	if b.rows.uniform {
		b.put(slot, row(b.rows.uniformScore+int32(byPods)))
		return
	}
	r := &b.rows.nodes[slot]
	known := r.known()
	if !known {
		r.setScore(int32(b.askScores(b.plugins.nodeScorers, n)))
	}
	b.put(slot, row(r.score+int32(byPods)))
	for i := range b.plugins.normalized {
		if l := &b.plugins.normalized[i]; !l.nodeOnly || !known {
			b.guard.Enter()
			raw := l.scorer.Scorer.Score(b.pod, n)
			b.guard.Leave()
			l.raw[slot] = raw
			l.same = l.same && raw == l.value
		}
	}
}

// askScores adds up the weighted scores of a node.
func (b *base) askScores(scorers []Scorer, n *framework.NodeInfo) (sum int64) {
	b.guard.Enter()
	for i := range scorers {
		s := &scorers[i]
		x := s.Scorer.Score(b.pod, n)
		if uint64(x) > uint64(framework.MaxNodeScore) {
			b.state = broken
		}
		sum += x * s.Weight
	}
	b.guard.Leave()
	return sum
}

// schedule sets the deadlines of the nodes' rows. It is called only if a plugin reads
// the time. The base is broken if one cannot tell until when its answer holds, or says that it does not
// hold even now.
func (b *base) schedule(nodes ...*framework.NodeInfo) {
	timed := b.timed[:0]
	note := func(plugin any, reads framework.Reads) {
		if reads&framework.ReadsTime == 0 {
			return
		}
		e, expires := plugin.(incremental.Expirer)
		if !expires {
			b.state = broken
			return
		}
		timed = append(timed, e)
	}
	p := &b.plugins
	for i := range p.filters {
		note(p.filters[i].Filter, p.filters[i].Reads)
	}
	for _, list := range [...][]Scorer{p.nodeScorers, p.podScorers} {
		for i := range list {
			note(list[i].Scorer, list[i].Reads)
		}
	}
	for i := range p.normalized {
		note(p.normalized[i].scorer.Scorer, p.normalized[i].scorer.Reads)
	}
	b.timed = timed
	for _, n := range nodes {
		b.due.set(int32(n.Slot()), b.validUntil(n))
	}
	clear(b.timed) // the engine must not keep what they are bound to
}

// validUntil is the time up to which the timed plugins say that the row of the node holds, the zero time if it
// holds forever.
func (b *base) validUntil(n *framework.NodeInfo) (until time.Time) {
	b.guard.Enter()
	for _, e := range b.timed {
		t := e.ValidUntil(b.pod, n)
		if t.IsZero() {
			continue
		}
		if until.IsZero() || t.Before(until) {
			until = t
		}
	}
	b.guard.Leave()
	if !until.IsZero() && !until.After(b.at.now) {
		b.state = broken
	}
	return until
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
			shown.nodes[shown.count] = b.tracker.Node(place)
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

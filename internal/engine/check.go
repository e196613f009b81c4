package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// The invariants of the engine as checks. A check finds anew, in the simplest way, what
// the engine keeps, and returns the first thing that differs. Each plugin of the class
// at hand is asked about every node again.

// checkEngine checks all that the engine keeps, right after Find. What was dropped, or not
// brought up to date, is only checked as far as it claims to be right.
func checkEngine(e *Engine) error {
	if err := checkKept(e); err != nil {
		return err
	}
	for _, d := range e.divisions.list {
		if err := d.check(); d.count > 0 && err != nil {
			return err
		}
	}
	c := e.view.class
	if c == nil || c.base == nil || c.used != e.clock {
		return nil // the last query was declined
	}
	return checkCurrent(e, c)
}

// checkKept checks which classes and bases are kept, and what holds of them at any time.
func checkKept(e *Engine) error {
	bytes, users := 0, map[*base]int{}
	for key, c := range e.classes {
		switch {
		case c.key != key || c.base == nil || e.bases[c.base.key] != c.base:
			return fmt.Errorf("engine: class %q, kept as %q, has no base that is kept", c.key, key)
		case c.number < 1 || c.number > len(e.numbered) || e.numbered[c.number-1] != c:
			return fmt.Errorf("engine: class %q does not have the number %d", key, c.number)
		}
		bytes += c.bytes
		if users[c.base]++; users[c.base] == 1 {
			bytes += c.base.bytes
		}
		if err := c.at.check(c); err != nil {
			return fmt.Errorf("class %d: %w", c.number, err)
		}
	}
	if err := e.recency.check(len(e.classes)); err != nil {
		return err
	}
	if bytes != e.stats.Bytes {
		return fmt.Errorf("engine: classes and bases hold %d bytes, but %d are counted", bytes, e.stats.Bytes)
	}
	for key, b := range e.bases {
		switch {
		case b.users != users[b]:
			return fmt.Errorf("engine: base %q counts %d classes, want %d", key, b.users, users[b])
		case b.tracker != e.tracker || b.guard != e.guard || b.lists != e.lists:
			return fmt.Errorf("engine: base %q is of another engine", key)
		}
		if err := checkBase(b); err != nil {
			return fmt.Errorf("base %q: %w", key, err)
		}
	}
	return nil
}

// checkCurrent checks the class of the last query, which is up to date with the snapshot,
// and the view of it.
func checkCurrent(e *Engine, c *class) error {
	if err := e.tracker.Check(); err != nil {
		return err
	}
	if err := checkAnswers(c.base); err != nil {
		return fmt.Errorf("base %q: %w", c.base.key, err)
	}
	if err := checkClass(c); err != nil {
		return fmt.Errorf("class %d: %w", c.number, err)
	}
	// In a sample, live scorers were bound to its nodes and cannot be asked about others.
	if sampled := len(e.view.explicit) > 0; !sampled && c.state >= totaled && c.totals.tree.Feasible() > 1 {
		if err := checkTotals(c); err != nil {
			return fmt.Errorf("class %d: %w", c.number, err)
		}
	}
	if err := checkView(&e.view); err != nil {
		return fmt.Errorf("view of class %d: %w", c.number, err)
	}
	return nil
}

// checkBase checks what holds of a base at any time.
func checkBase(b *base) error {
	if b.state == broken {
		return fmt.Errorf("is broken, and still kept")
	}
	if err := b.reasons.check(); err != nil {
		return err
	}
	if err := b.due.check(); err != nil {
		return err
	}
	return b.rows.check()
}

// check checks the tree and the counts of rows.
func (r *rows) check() error {
	counts := make([]int32, len(r.counts))
	for place, slot := range r.order.Slots {
		if r.order.Place[slot] != int32(place) {
			return fmt.Errorf("rows: slot %d has place %d, want %d", slot, r.order.Place[slot], place)
		}
		reason := r.of(slot).reason()
		if r.of(slot) >= 0 || !r.counted {
			continue
		}
		if int(reason) >= len(counts) {
			return fmt.Errorf("rows: nothing counts the reason %d of slot %d", reason, slot)
		}
		counts[reason]++
	}
	for reason, n := range counts {
		if r.counted && r.counts[reason] != n {
			return fmt.Errorf("rows: %d nodes have the reason %d, but %d are counted", n, reason, r.counts[reason])
		}
	}
	if !r.indexed {
		return nil
	}
	return r.tree.Check()
}

// checkAnswers asks the plugins of a base again, which is up to date with its snapshot.
func checkAnswers(b *base) error {
	at := &b.at
	switch {
	case b.state == unbound:
		return fmt.Errorf("filters are not bound")
	case at.entry != b.tracker.End() || b.tracker.Snapshot != at.snapshot || at.nodeSet != at.snapshot.NodeSet():
		return fmt.Errorf("is not up to date: entry %d of %d", at.entry, b.tracker.End())
	}
	for _, slot := range b.rows.order.Slots {
		n := at.snapshot.AtSlot(int(slot))
		if err := checkRow(b, n, slot); err != nil {
			return fmt.Errorf("node %s: %w", n.Name(), err)
		}
	}
	return nil
}

// checkRow checks all that a base keeps of one node.
func checkRow(b *base, n *framework.NodeInfo, slot int32) error {
	p, r, list := &b.plugins, &b.rows, b.reasons.list
	now, first, firstOfNode := r.of(slot), reason{at: maxPlace}, maxPlace
	for i := range p.filters {
		f := &p.filters[i]
		status := f.Filter.Filter(b.pod, n)
		if status.IsSuccess() {
			continue
		}
		if first.at == maxPlace {
			first = reason{at: f.At, status: status}
		}
		if nodeOnly(f.Reads) {
			firstOfNode = f.At
			break // a later filter may rely on the earlier ones
		}
	}
	if kept := list[now.reason()]; kept.at != first.at || kept.status.String() != first.status.String() {
		return fmt.Errorf("the row has the rejection %q by filter %d, want %q by %d", kept.status, kept.at, first.status, first.at)
	}
	if !r.uniform && list[r.nodes[slot].reason()].at != firstOfNode {
		return fmt.Errorf("filter %d is kept as the first that reads no pods and rejects, want %d", list[r.nodes[slot].reason()].at, firstOfNode)
	}
	if p.timed {
		// The row of a rejected node may lack the deadlines of scorers bound since.
		due, until := b.due.of(slot), p.filtersHold(b.pod, n)
		if b.state == scored && now >= 0 {
			until = sooner(until, p.scoresHold(b.pod, n))
		}
		if late := due.IsZero() || due.After(until); !until.IsZero() && late || now >= 0 && b.state == scored && !due.Equal(until) {
			return fmt.Errorf("the deadline is %v, want %v", due, until)
		}
	}
	if b.state != scored || now < 0 {
		return nil
	}
	byNode, byPods := b.askScores(p.nodeScorers, n), b.askScores(p.podScorers, n)
	kept, known := int64(r.nodes[slot].score), r.nodes[slot].known()
	if r.uniform {
		kept, known = int64(r.uniformScore), true
	}
	if known && kept != byNode || int64(now) != byNode+byPods {
		return fmt.Errorf("the row has the score %d, %d of it by scorers that read no pods, want %d, %d", now, kept, byNode+byPods, byNode)
	}
	for i := range p.normalized {
		l := &p.normalized[i]
		if want := l.scorer.Scorer.Score(b.pod, n); l.raw[slot] != want {
			return fmt.Errorf("scorer %d has the raw score %d, want %d", l.scorer.At, l.raw[slot], want)
		}
	}
	return nil
}

// filtersHold is the time up to which the verdicts on a node hold, the zero time for ever.
func (p *basePlugins) filtersHold(pod *framework.PodInfo, n *framework.NodeInfo) (until time.Time) {
	for i := range p.filters {
		if f := &p.filters[i]; f.Reads&framework.ReadsTime != 0 {
			until = sooner(until, f.Filter.(incremental.Expirer).ValidUntil(pod, n))
		}
	}
	return until
}

// scoresHold is the same for the scores.
func (p *basePlugins) scoresHold(pod *framework.PodInfo, n *framework.NodeInfo) (until time.Time) {
	scorers := slices.Concat(p.nodeScorers, p.podScorers)
	for i := range p.normalized {
		scorers = append(scorers, p.normalized[i].scorer)
	}
	for _, s := range scorers {
		if s.Reads&framework.ReadsTime != 0 {
			until = sooner(until, s.Scorer.(incremental.Expirer).ValidUntil(pod, n))
		}
	}
	return until
}

// sooner is the earlier of two times; the zero time never comes.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// check checks that a class is not ahead of its base.
func (p *classPosition) check(c *class) error {
	b := c.base
	switch {
	case p.epoch > b.epoch || p.bound > b.bound || p.flips > b.rows.flips:
		return fmt.Errorf("has followed to epoch %d of %d, snapshot %d of %d, flip %d of %d", p.epoch, b.epoch, p.bound, b.bound, p.flips, b.rows.flips)
	case c.shares() && (p.epoch == b.epoch && (!b.rows.counted || c.grouping == nil && !b.rows.indexed) || !c.totals.tree.Shared()):
		return fmt.Errorf("shares a tree that is not the base's, or not indexed")
	case !c.shares() && c.totals.tree.Shared() && c.state != blank:
		return fmt.Errorf("has the base's tree without sharing it")
	}
	if err := b.log.Check(p.rows); err != nil {
		return err
	}
	return b.rows.flipLog.Check(p.log)
}

// checkClass checks the class of the last query, but for its totals.
func checkClass(c *class) error {
	t, d := &c.totals, c.groups.division
	switch {
	case c.state == blank || c.state == unusable:
		return fmt.Errorf("is in state %s after it was brought up to date", c.state)
	case c.at.epoch != c.base.epoch || c.at.bound != c.base.bound || c.shares() && c.at.flips != c.base.rows.flips:
		return fmt.Errorf("has not followed its base")
	case c.state == idle && !c.ask.quiet() && (c.gates.live() || c.columns.live()):
		return fmt.Errorf("is idle although a live plugin takes part")
	case d == nil || len(c.groups.shut) != d.count || t.tree.Groups() != d.count:
		return fmt.Errorf("is divided otherwise than its tree")
	case len(c.overrides.changed) > 0:
		return fmt.Errorf("the override of slot %d is not followed", c.overrides.changed[0])
	case c.base.guess.trying:
		return fmt.Errorf("groups are still guessed")
	}
	if err := c.base.guess.check(); err != nil {
		return err
	}
	if err := t.tree.Check(); err != nil {
		return err
	}
	if c.grouping != nil {
		if err := c.grouping.check(c.base); err != nil {
			return err
		}
	}
	return checkReasons(c)
}

// checkReasons asks the gates again.
func checkReasons(c *class) error {
	counts := map[[2]int]int{} // by reason and group
	d, list := c.groups.division, c.base.reasons.list
	for _, slot := range c.order().Slots {
		group := int(d.of[slot])
		first := list[c.base.rows.of(slot).reason()]
		for i := range c.gates.list {
			x := &c.gates.list[i]
			if x.role == absent || c.state == idle || x.filter.At >= first.at {
				continue
			}
			if status := c.ask.filter(x.filter.Filter, slot); !status.IsSuccess() {
				first = reason{at: x.filter.At, status: status}
			}
		}
		own := c.ownReason(slot)
		if reason, ok := c.overrides.of(slot); ok {
			if first = list[reason]; own != reason || !first.overrides {
				return fmt.Errorf("slot %d has the reason %d, want its override %d", slot, own, reason)
			}
		}
		if final := list[c.finalReason(own, group)]; final.at != first.at || final.status.String() != first.status.String() {
			return fmt.Errorf("slot %d is rejected by filter %d, %q, want %d, %q", slot, final.at, final.status, first.at, first.status)
		}
		if shut := c.groups.shut[group] != feasible; shut != c.totals.tree.Shut[group] {
			return fmt.Errorf("group %d is shut for %d, but in the tree it is shut: %v", group, c.groups.shut[group], c.totals.tree.Shut[group])
		}
		if own != feasible {
			counts[[2]int{int(own), group}]++
		}
	}
	for reason := 1; reason < len(list); reason++ {
		for group := range d.count {
			if got, want := c.counted(reason, group), counts[[2]int{reason, group}]; got != want {
				return fmt.Errorf("%d nodes of group %d are counted with the reason %d, want %d", got, group, reason, want)
			}
		}
	}
	return nil
}

// checkTotals adds up all totals again.
func checkTotals(c *class) error {
	t := &c.totals
	if len(t.pending) > 0 || t.todo != pendingTotals {
		return fmt.Errorf("%d totals are pending, todo %d", len(t.pending), t.todo)
	}
	offsets := make([]int64, len(t.tree.Offset))
	for i := range c.columns.list {
		col := &c.columns.list[i]
		if col.role == absent {
			continue
		}
		if err := col.scores.check(c, col); err != nil {
			return fmt.Errorf("column of scorer %d, %s: %w", col.scorer.At, col.scores, err)
		}
		switch s := col.scores.(type) {
		case *groupScores:
			col.checkOffsets(c, offsets)
		case *exceptScores:
			s.addOffsets(c, col, offsets)
		}
	}
	for g, want := range offsets {
		if c.shares() {
			want += c.columns.constant
		}
		if got := t.tree.Offset[g]; got != want {
			return fmt.Errorf("group %d has the offset %d, want %d", g, got, want)
		}
	}
	for place, slot := range c.order().Slots {
		want := int64(c.base.rows.of(slot))
		for i := range c.columns.list {
			if col := &c.columns.list[i]; col.role != absent && !c.shares() {
				want += col.score(slot)
			}
		}
		if c.grouping != nil {
			want += int64(c.grouping.headroom + c.grouping.raised[slot])
		}
		if leaf := t.tree.Leaves[place]; leaf >= 0 && c.isFeasible(slot) && int64(leaf) != want {
			return fmt.Errorf("slot %d has the total %d, want %d", slot, leaf, want)
		}
	}
	return nil
}

// checkOffsets adds the weighted scores of groups: of each group with a feasible node, one
// node is asked again, and the raw scores are normalized over these groups.
func (col *column) checkOffsets(c *class, offsets []int64) {
	raw := map[int]int64{}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for g, slots := range c.groups.division.slots {
		if !slices.ContainsFunc(slots, c.isFeasible) || c.ask.excludes(col.scorer.Except, slots[0]) {
			continue
		}
		raw[g] = c.ask.score(col.scorer.Scorer, slots[0])
		low, high = min(low, raw[g]), max(high, raw[g])
	}
	for g, x := range raw {
		if col.scorer.ByRange != nil {
			x = col.scorer.ByRange.NormalizeScore(x, low, high)
		}
		offsets[g] += x * col.scorer.Weight
	}
}

// checkView checks the best total and the sample of a view.
func checkView(v *View) error {
	want, n := best{total: tree.None}, 0
	if len(v.explicit) > 0 {
		for _, x := range v.explicit {
			want.add(x, 1)
		}
		n = len(v.explicit)
	} else {
		for _, p := range v.parts {
			for place := p.lo; place < p.hi; place++ {
				if x := v.class.totalAt(place); x >= 0 {
					want.add(x, 1)
					n++
				}
			}
		}
	}
	if n == 1 && v.class.grouping != nil {
		want = v.best // a single node is not scored, so exceptions are not looked for
	}
	if v.best != want || n != v.Feasible {
		return fmt.Errorf("%d nodes are feasible, the best has %+v, want %d, %+v", v.Feasible, v.best, n, want)
	}
	return nil
}

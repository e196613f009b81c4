package engine

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/tree"
)

// The invariants of the engine as checks. A check finds anew, in the simplest way, what
// the engine keeps, and returns the first thing that differs. Each plugin of the class
// at hand is asked about every node again.

// checkEngine checks all that the engine keeps, right after Find. What was dropped, or not
// brought up to date, is only checked as far as it claims to be right.
func checkEngine(e *Engine) error {
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
		if b.users != users[b] {
			return fmt.Errorf("engine: base %q counts %d classes, want %d", key, b.users, users[b])
		}
		if err := checkBase(b); err != nil {
			return fmt.Errorf("base %q: %w", key, err)
		}
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
	if err := e.trackers.Check(c.base.at.snapshot); err != nil {
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
		if r.of(slot) >= 0 || !r.indexed {
			continue
		}
		if int(reason) >= len(counts) {
			return fmt.Errorf("rows: nothing counts the reason %d of slot %d", reason, slot)
		}
		counts[reason]++
	}
	if !r.indexed {
		return nil
	}
	for reason, n := range counts {
		if r.counts[reason] != n {
			return fmt.Errorf("rows: %d nodes have the reason %d, but %d are counted", n, reason, r.counts[reason])
		}
	}
	return r.tree.Check()
}

// checkAnswers asks the plugins of a base again, which is up to date with its snapshot.
func checkAnswers(b *base) error {
	at := &b.at
	switch {
	case b.state == unbound:
		return fmt.Errorf("filters are not bound")
	case at.entry != at.tracker.End() || at.tracker.Snapshot != at.snapshot || at.nodeSet != at.snapshot.NodeSet():
		return fmt.Errorf("is not up to date: entry %d of %d", at.entry, at.tracker.End())
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
			first = reason{f.At, status}
		}
		if firstOfNode == maxPlace && nodeOnly(f.Reads) {
			firstOfNode = f.At
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
		until, due := time.Time{}, b.due.of(slot)
		if b.state == scored && now >= 0 {
			until, _ = b.validUntil(n)
		} else {
			until, _ = (&base{pod: b.pod, guard: b.guard, at: b.at, plugins: basePlugins{filters: p.filters}}).validUntil(n)
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

// check checks that a class is not ahead of its base.
func (p *classPosition) check(c *class) error {
	b := c.base
	switch {
	case p.epoch > b.epoch || p.flips > b.rows.flips:
		return fmt.Errorf("has followed to epoch %d of %d, flip %d of %d", p.epoch, b.epoch, p.flips, b.rows.flips)
	case c.shares() && (p.epoch == b.epoch && !b.rows.indexed || !c.totals.tree.Shared()):
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
	case c.at.epoch != c.base.epoch || c.shares() && c.at.flips != c.base.rows.flips:
		return fmt.Errorf("has not followed its base")
	case c.state == idle && !c.ask.idle() && (c.gates.live() || c.columns.live()):
		return fmt.Errorf("is idle although a live plugin takes part")
	case d == nil || len(c.groups.shut) != d.count || t.tree.Groups() != d.count:
		return fmt.Errorf("is divided otherwise than its tree")
	}
	if err := t.tree.Check(); err != nil {
		return err
	}
	return checkReasons(c)
}

// checkReasons asks the gates again.
func checkReasons(c *class) error {
	counts := map[[2]int]int{} // by reason and group
	d, list := c.groups.division, c.base.reasons.list
	for _, slot := range c.order().Slots {
		group := int(d.of[slot])
		first := list[c.base.rows.of(slot).reason()].at
		for i := range c.gates.list {
			if x := &c.gates.list[i]; x.role != absent && c.state != idle && !c.ask.filter(x.filter.Filter, slot).IsSuccess() {
				first = min(first, x.filter.At)
			}
		}
		own := c.own(slot)
		if final := c.final(own, group); list[final].at != first {
			return fmt.Errorf("slot %d is rejected by filter %d, want %d", slot, list[final].at, first)
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
		if s, ok := col.scores.(*groupScores); ok {
			s.addOffsets(c, col, offsets)
		}
	}
	if c.shares() {
		offsets[0] += c.columns.constant
	}
	for g, want := range offsets {
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
		if leaf := t.tree.Leaves[place]; leaf >= 0 && c.isFeasible(slot) && int64(leaf) != want {
			return fmt.Errorf("slot %d has the total %d, want %d", slot, leaf, want)
		}
	}
	return nil
}

// checkView checks the best total and the sample of a view.
func checkView(v *View) error {
	t, want, n := &v.class.totals.tree, best{total: tree.None}, 0
	if len(v.explicit) > 0 {
		for _, x := range v.explicit {
			want.add(x, 1)
		}
		n = len(v.explicit)
	} else {
		for _, p := range v.parts {
			for place := p.lo; place < p.hi; place++ {
				if x := t.Total(place); x >= 0 {
					want.add(x, 1)
					n++
				}
			}
		}
	}
	if v.best != want || n != v.Feasible {
		return fmt.Errorf("%d nodes are feasible, the best has %+v, want %d, %+v", v.Feasible, v.best, n, want)
	}
	return nil
}

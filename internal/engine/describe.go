package engine

import (
	"fmt"
	"strings"
)

// Describe prints what is kept of the class with a key, for people: a test that fails,
// or a debugger.
func Describe(e *Engine, key string) string {
	c := e.classes[key]
	if c == nil {
		if n := e.barred[key]; n > 0 {
			return fmt.Sprintf("no class: its plugins left their bounds, and it sits out %d decisions\n", n)
		}
		return "no class\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "class %d: %s\n", c.number, c.state)
	fmt.Fprintf(&b, "  base     %s\n", describeBase(c.base))
	if c.state == blank || c.groups.division == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "  nodes    %s\n", describeNodes(c))
	for i := range c.gates.list {
		if x := &c.gates.list[i]; x.role != absent {
			fmt.Fprintf(&b, "  gate     filter %d, asked %s\n", x.filter.At, map[bool]string{true: "by group", false: "by node"}[x.grouped])
		}
	}
	if c.groups.division.count > 1 {
		fmt.Fprintf(&b, "  groups   %s\n", describeGroups(c))
	}
	if c.state < totaled {
		return b.String()
	}
	for i := range c.columns.list {
		if col := &c.columns.list[i]; col.role != absent {
			fmt.Fprintf(&b, "  column   scorer %d %s\n", col.scorer.At, col.scores)
		}
	}
	fmt.Fprintf(&b, "  totals   %s\n", describeTotals(c))
	return b.String()
}

// describeBase says how many classes share the base and what binds it to the snapshot.
func describeBase(b *base) string {
	state := [...]string{"unbound", "filtered", "scored", "broken"}[b.state]
	text := fmt.Sprintf("%s, %d classes", state, b.users)
	if b.users == 1 {
		text = state + ", 1 class"
	}
	if n := b.due.heap.Len(); n > 0 {
		text += fmt.Sprintf(", %d deadlines, the next in %s", n, b.due.heap.Top().at.Sub(b.at.now))
	}
	return text
}

// describeNodes says how many nodes are feasible, and why the others are not.
func describeNodes(c *class) string {
	text := fmt.Sprintf("%d of %d feasible", c.totals.tree.Feasible(), len(c.order().Slots))
	reasons := c.base.reasons.list
	nodes := make([]int, len(reasons))
	for _, slot := range c.order().Slots {
		nodes[c.finalReason(c.ownReason(slot), int(c.groups.division.of[slot]))]++
	}
	for i, n := range nodes {
		if i != int(feasible) && n > 0 {
			text += fmt.Sprintf("; %d rejected by filter %d (%s)", n, reasons[i].at, reasons[i].status.Message())
		}
	}
	return text
}

// describeGroups says how large the groups are, which are shut, and their offsets.
func describeGroups(c *class) string {
	var list []string
	for g, slots := range c.groups.division.slots {
		text := fmt.Sprintf("%d nodes", len(slots))
		if shut := c.groups.shut[g]; shut != feasible {
			text += fmt.Sprintf(" shut by filter %d", c.base.reasons.list[shut].at)
		} else if offset := c.totals.tree.Offset[g]; offset != 0 {
			text += fmt.Sprintf(" offset %+d", offset)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// describeTotals says which tree the class asks, and what its root says.
func describeTotals(c *class) string {
	root := c.totals.tree.Root()
	text := fmt.Sprintf("best %d, at %d nodes", root.Best, root.Count)
	if root.Count == 1 {
		text = fmt.Sprintf("best %d, at 1 node", root.Best)
	}
	if c.shares() {
		return text + ", in the tree of the base"
	}
	return text + ", in a tree of its own"
}

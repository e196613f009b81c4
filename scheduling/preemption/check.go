package preemption

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// The invariants of what is kept from attempt to attempt, as checks. A scheduler that
// verifies runs them after each attempt: every node whose answer is kept is tried again.

// checkMemory returns the first thing that the memory of this attempt says wrongly, nil
// if nothing.
func (r *run) checkMemory() error {
	if err := r.memory.check(); err != nil {
		return err
	}
	c, s := r.memory.class, r.cycle.Snapshot
	if c.schema != s.Schema() || c.snapshot.Value() != s {
		return fmt.Errorf("class %q is about another snapshot", c.key)
	}
	for slot := range c.rows {
		node, known := s.AtSlot(slot), &c.rows[slot]
		switch {
		case node == nil:
			continue
		case known.fresh && known.generation != node.Generation():
			return fmt.Errorf("node %s: the answer is of generation %d, want %d", node.Name(), known.generation, node.Generation())
		case known.generation != node.Generation() || len(node.Nominated) > 0:
			continue
		}
		if err := known.check(); err != nil {
			return fmt.Errorf("node %s: %w", node.Name(), err)
		}
		candidate, status := r.try(node)
		if got, want := known.String(), (&answer{candidate: candidate, refused: refusedBy(status)}).String(); got != want {
			return fmt.Errorf("node %s: the answer is %s, want %s", node.Name(), got, want)
		}
	}
	return r.checkTally()
}

// checkTally counts the refusals of all nodes again, in an attempt that may use the tally.
func (r *run) checkTally() error {
	t, rows := &r.memory.class.tally, r.memory.class.rows
	if !t.on || !r.mayTally() {
		return nil
	}
	nodes := make([]int, len(t.refused))
	for slot, at := range t.of {
		if at > 0 {
			nodes[at-1]++
		}
		if slices.Contains(t.changed, slot) {
			continue
		}
		refuses := false
		if node := r.cycle.Snapshot.AtSlot(slot); node != nil {
			_, status := r.verdicts.Verdict(node)
			refuses = status.Code() == framework.Unschedulable
		}
		switch {
		case refuses != (at > 0):
			return fmt.Errorf("tally: slot %d refuses, %t, and is counted, %t", slot, refuses, at > 0)
		case refuses && slot < len(rows) && rows[slot].refused != nil && !rows[slot].refused.Same(t.refused[at-1].status):
			return fmt.Errorf("tally: slot %d is counted with %v, want %v", slot, t.refused[at-1].status, *rows[slot].refused)
		}
	}
	for i, want := range nodes {
		if got := t.refused[i].nodes; got != want {
			return fmt.Errorf("tally: %d nodes are counted with %v, want %d", got, t.refused[i].status, want)
		}
	}
	return nil
}

// Check implements [framework.Checker]: it compiles every budget again.
func (x *budgetIndex) Check(s *framework.Snapshot) error {
	if x.stale {
		return nil
	}
	want := budgetIndex{}
	want.build(framework.List[api.PodDisruptionBudget](s))
	keys := func(l budgets) []string {
		var keys []string
		for _, b := range l {
			key := b.object.Namespace + "/" + b.object.Name
			if _, changed := x.changed[key]; !changed {
				keys = append(keys, key+" "+fmt.Sprintf("%p", b.object))
			}
		}
		return keys
	}
	if got, want := keys(x.list), keys(want.list); !slices.Equal(got, want) {
		return fmt.Errorf("disruption budgets: %v are listed, want %v; changed are %v", got, want, x.changed)
	}
	return nil
}

// check checks what is counted.
func (m *memory) check() error {
	sum := 0
	for key, c := range m.classes {
		held := 0
		for i := range c.rows {
			held += c.rows[i].bytes()
		}
		if c.held != held || c.key != key {
			return fmt.Errorf("class %q holds %d bytes, want %d; its key is %q", key, c.held, held, c.key)
		}
		sum += c.bytes
	}
	if m.bytes != sum {
		return fmt.Errorf("%d bytes are counted, want %d", m.bytes, sum)
	}
	return nil
}

// check checks that an answer says one thing, and its values.
func (a *answer) check() error {
	if (a.candidate == nil) == (a.refused == nil) {
		return fmt.Errorf("there is a candidate, %t, and a refusal, %t", a.candidate != nil, a.refused != nil)
	}
	if a.candidate == nil {
		if a.guards != 0 || a.violates {
			return fmt.Errorf("a refusal depends on budgets %b, violates %t", a.guards, a.violates)
		}
		return nil
	}
	violations := 0
	for _, v := range a.candidate.Victims {
		if v.ViolatesBudget {
			violations++
		}
	}
	if a.candidate.Violations != violations || a.violates != (violations > 0) {
		return fmt.Errorf("%d victims violate a budget, but %d are counted, violates %t", violations, a.candidate.Violations, a.violates)
	}
	for i, criterion := range Criteria() {
		if want := criterion(a.candidate); a.merits[i] != want {
			return fmt.Errorf("merit %d is %d, want %d", i, a.merits[i], want)
		}
	}
	return nil
}

// refusedBy is the status of a node that is no candidate, nil for a candidate.
func refusedBy(status framework.Status) *framework.Status {
	if status.IsSuccess() {
		return nil
	}
	return &status
}

// String is the whole answer.
func (a *answer) String() string {
	if a.candidate == nil {
		return fmt.Sprint("refused: ", *a.refused)
	}
	text := "node " + a.candidate.Node + ":"
	for _, v := range a.candidate.Victims {
		text += " " + v.Pod.Pod.Key()
		if v.ViolatesBudget {
			text += "!"
		}
	}
	return text
}

package preemption

import (
	"unsafe"
	"weak"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A memory caches the results of dry runs on nodes, so a later attempt for a pod of
// the same class repeats them only for changed nodes. It belongs to one scheduler,
// which keeps it in [runner.DryRuns]: the filters of the dry runs must stay the same.
// The zero value is empty, and of prepares it. It holds about 64 MiB, or one class; the
// least recently used classes are dropped first. Victim pods are not counted: the
// memory keeps them from being collected, but not the snapshots.
type memory struct {
	classes map[string]*classAnswers
	class   *classAnswers // of the attempt that is being made
	clock   uint64        // counts attempts
	bytes   int           // of all classes
	slots   []int         // memory for a list
}

// classAnswers holds the results for one class of pods.
//
// Invariant: everything is about snapshots with the schema, which are forks of each
// other, and about the budgets of that version. snapshot is the one used last, and
// changes is how many of its changes are accounted for.
type classAnswers struct {
	key      string
	schema   *resource.Schema
	version  uint64 // of the PodDisruptionBudgets
	budgets  budgets
	snapshot weak.Pointer[framework.Snapshot]
	changes  uint64
	rows     []row // by slot
	tally    tally
	held     int    // bytes of the answers in rows, without the rows
	used     uint64 // the memory's clock
	bytes    int    // as counted in the memory
}

// row is the answer for a node.
//
// Invariant: generation is 0, or trying the node at that generation, without
// nominated pods, gives the answer. If fresh is set, and the snapshot's changes
// since do not include the node, the node has that generation.
type row struct {
	answer
	fresh      bool
	generation uint64
}

const (
	memoryMost  = 64 << 20 // bytes
	classesMost = 64
)

// of prepares for an attempt for a pod of the class.
func (m *memory) of(class string) *memory {
	c := m.classes[class]
	if c == nil {
		c = &classAnswers{key: class}
		if len(m.classes) >= classesMost {
			oldest := m.oldest()
			m.forget(oldest)
			c.rows = oldest.rows // its memory: a class that comes once costs little then
			clear(c.rows)
		}
		if m.classes == nil {
			m.classes = map[string]*classAnswers{}
		}
		m.classes[class] = c
	}
	m.clock++
	c.used = m.clock
	m.class = c
	return m
}

func (m *memory) oldest() *classAnswers {
	var oldest *classAnswers
	for _, c := range m.classes {
		if oldest == nil || c.used < oldest.used {
			oldest = c
		}
	}
	return oldest
}

// forget drops a class, if it is not nil.
func (m *memory) forget(c *classAnswers) {
	if c != nil {
		m.bytes -= c.bytes
		delete(m.classes, c.key)
	}
}

// begin accounts for changes since the class was last used: it marks the changed
// nodes, whose generations must be compared.
func (m *memory) begin(s *framework.Snapshot) {
	if m == nil {
		return
	}
	c := m.class
	c.follow(s)
	if more := s.SlotLimit() - len(c.rows); more > 0 {
		c.rows = append(c.rows, make([]row, more)...)
	}
	if changed, ok := s.Changes(c.changes); ok && c.snapshot == weak.Make(s) {
		for _, slot := range changed {
			c.rows[slot].fresh = false
		}
		if c.tally.on {
			c.tally.changed = append(c.tally.changed, changed...)
			c.tally.on = len(c.tally.changed) <= len(c.rows)
		}
	} else {
		for i := range c.rows {
			c.rows[i].fresh = false
		}
		c.tally.on = false
	}
	c.snapshot, c.changes = weak.Make(s), s.Version()
}

// follow adopts another origin, or other budgets, and drops answers that may have
// become wrong. Whenever a pod leaves or becomes ready, budgets protect the same
// pods but allow more or less. follow then drops only the answers that depend on a
// changed budget; otherwise it drops all.
func (c *classAnswers) follow(s *framework.Snapshot) {
	version := framework.ObjectsVersion[api.PodDisruptionBudget](s)
	if c.schema == s.Schema() && c.version == version {
		return
	}
	now := budgetsOf(s)
	changed, ok := now.changed(c.budgets)
	all := c.schema != s.Schema() || !ok
	c.schema, c.version, c.budgets = s.Schema(), version, now
	c.tally.on = c.tally.on && !all // no budget has an influence on a refusal
	for i := range c.rows {
		if known := &c.rows[i]; all || known.guards&changed != 0 {
			c.held -= known.bytes()
			*known = row{}
		}
	}
}

// end accounts for memory, and for the changes that the attempt made and reverted in
// the snapshot.
func (m *memory) end(s *framework.Snapshot) {
	if m == nil {
		return
	}
	c := m.class
	c.changes = s.Version()
	bytes := len(c.key) + cap(c.rows)*int(unsafe.Sizeof(row{})) + c.held + 4*cap(c.tally.of)
	m.bytes += bytes - c.bytes
	c.bytes = bytes
	for m.bytes > memoryMost && len(m.classes) > 1 {
		m.forget(m.oldest())
	}
}

// cachedAnswer returns the result of trying the node of the slot. If groups count and the
// node has pods of groups, the result depends on objects and pods elsewhere, so it is not
// kept.
func (r *run) cachedAnswer(slot int) *answer {
	known := &r.memory.class.rows[slot]
	if known.fresh {
		return &known.answer
	}
	node := r.cycle.Snapshot.AtSlot(slot)
	if known.fresh = known.generation == node.Generation(); known.fresh {
		return &known.answer
	}
	a := r.answer(node)
	if r.plugin.PodGroups && hasGroups(node) {
		r.elsewhere = true
		return a
	}
	if a.failed() || r.failed || len(node.Nominated) > 0 {
		return a
	}
	return r.memory.keep(node, a)
}

// keep stores the answer for a node.
func (m *memory) keep(node *framework.NodeInfo, a *answer) *answer {
	known := &m.class.rows[node.Slot()]
	m.class.held += a.bytes() - known.bytes()
	*known = row{*a, true, node.Generation()}
	return &known.answer
}

// memoryOf returns the memory that an attempt may use. It is nil if none matches the
// pod and the filters, or if user functions choose the victims.
func (p DefaultPreemption) memoryOf(c *framework.Cycle) *memory {
	if p.Eligible != nil || p.MoreImportant != nil {
		return nil
	}
	if _, narrows := Narrow.Get(c); narrows {
		return nil
	}
	if !isLocal(c) {
		return nil
	}
	runs := c.Runner().DryRuns
	m, ok := runs.Kept.(*memory)
	if !ok {
		m = new(memory)
		runs.Kept = m
	}
	return m.of(runs.Class)
}

// isLocal reports whether the filters of the cycle are known to read nothing but the pod,
// the node that they are asked about, and the pods there.
func isLocal(c *framework.Cycle) bool {
	runs := c.Runner().DryRuns
	return runs != nil && runs.Fits(c.Pod, c.Filters)
}

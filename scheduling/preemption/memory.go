package preemption

import "github.com/berth-sched/berth/framework"

// A Memory keeps what dry runs on nodes said, so that an attempt for a pod of the
// same class asks anew only about nodes that have changed. It belongs to one
// scheduler: the filters that were asked must be the same. The zero value is
// empty and ready to use.
type Memory struct {
	classes map[string]*recalled
	class   *recalled // of the attempt that is being made
}

// recalled is what is known for one class of pods.
type recalled struct {
	snapshot *framework.Snapshot
	budgets  uint64 // version of the PodDisruptionBudgets
	rows     []row  // by slot
}

// row is the answer of a node.
//
// Invariant: generation is 0, or trying the node at that generation gives the
// candidate or, without one, the status.
type row struct {
	generation uint64
	candidate  *Candidate
	status     framework.Status
}

// Recall, set in a cycle, lets [DefaultPreemption] use a Memory. Whoever sets it
// vouches that all filters of the cycle read nothing but the pod, the node and
// the node's pods.
var Recall = framework.NewKey[*Memory]("what dry runs of preemption said before")

// classLimit bounds how many classes are remembered.
const classLimit = 16

// For prepares for an attempt: class is equal for pods that all filters of the
// cycle, and preemption itself, treat alike.
func (m *Memory) For(class string, s *framework.Snapshot) *Memory {
	version := framework.ObjectsVersion[framework.PodDisruptionBudget](s)
	c := m.classes[class]
	if c == nil {
		if m.classes == nil || len(m.classes) >= classLimit {
			m.classes = map[string]*recalled{}
		}
		c = new(recalled)
		m.classes[class] = c
	}
	if c.snapshot != s || c.budgets != version {
		*c = recalled{snapshot: s, budgets: version, rows: c.rows[:0]}
	}
	for len(c.rows) < s.Slots() {
		c.rows = append(c.rows, row{})
	}
	m.class = c
	return m
}

// recall is try, with what is remembered.
func (r *run) recall(node *framework.NodeInfo) (*Candidate, framework.Status) {
	if r.memory == nil || len(node.Nominated) > 0 {
		return r.try(node)
	}
	known := &r.memory.class.rows[node.Slot()]
	if generation := node.Generation(); known.generation != generation {
		candidate, status := r.try(node)
		if status.Code() == framework.Error {
			return candidate, status
		}
		*known = row{generation, candidate, status}
	}
	return known.candidate, known.status
}

// memoryOf returns the memory that an attempt may use, nil if there is none, or
// where functions of the user take part in the choice.
func (p DefaultPreemption) memoryOf(c *framework.Cycle) *Memory {
	if p.Eligible != nil || p.MoreImportant != nil {
		return nil
	}
	if _, narrows := Narrow.Get(c); narrows {
		return nil
	}
	m, _ := Recall.Get(c)
	return m
}

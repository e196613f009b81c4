package framework

import (
	"cmp"
	"fmt"
	"slices"
)

// PodsBelow returns how many pods on nodes have a priority below the given one. If there
// are none, no preemption can make room for a pod of that priority.
//
// The first call is a change of the snapshot and costs O(pods). From then on the
// snapshot and its forks keep counts: a call costs O(p) for the p different priorities, and so does a pod
// with which one appears or disappears; any other that comes or goes costs O(log p).
func (s *Snapshot) PodsBelow(priority int32) int {
	s.must()
	if s.priorities == nil {
		s.startChange()
		s.priorities = s.countPriorities()
		s.endChange()
	}
	return s.priorities.below(priority)
}

// priorityCounts counts the pods on nodes by priority. Snapshots that were asked have them.
//
// Invariant: counts are sorted by priority, and none is 0.
type priorityCounts struct {
	counts []priorityCount
	last   int // the one found last: often pods of one priority come and go
}

type priorityCount struct {
	priority int32
	pods     int
}

// countPriorities counts all pods on nodes.
func (s *Snapshot) countPriorities() *priorityCounts {
	c := new(priorityCounts)
	for _, n := range s.All() {
		for _, p := range n.Pods {
			c.add(p.Priority, 1)
		}
	}
	return c
}

func (c *priorityCounts) below(priority int32) (n int) {
	for _, x := range c.counts {
		if x.priority >= priority {
			break
		}
		n += x.pods
	}
	return n
}

// add counts pods that come or, if by is negative, leave.
func (c *priorityCounts) add(priority int32, by int) {
	if c.last >= len(c.counts) || c.counts[c.last].priority != priority {
		i, ok := slices.BinarySearchFunc(c.counts, priority, func(x priorityCount, p int32) int { return cmp.Compare(x.priority, p) })
		if !ok {
			c.counts = slices.Insert(c.counts, i, priorityCount{priority: priority})
		}
		c.last = i
	}
	if c.counts[c.last].pods += by; c.counts[c.last].pods == 0 {
		c.counts = slices.Delete(c.counts, c.last, c.last+1)
	}
}

// clone returns a copy, nil of nil.
func (c *priorityCounts) clone() *priorityCounts {
	if c == nil {
		return nil
	}
	return &priorityCounts{slices.Clone(c.counts), c.last}
}

// checkPriorities compares the counts with new ones.
func (s *Snapshot) checkPriorities() error {
	if s.priorities == nil {
		return nil
	}
	if want := s.countPriorities(); !slices.Equal(s.priorities.counts, want.counts) {
		return fmt.Errorf("pods by priority: %v are counted, want %v", s.priorities.counts, want.counts)
	}
	return nil
}

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
// snapshot and its forks keep counts: a call, and each pod that comes or goes, costs
// O(log p) for the p different priorities, and O(p) when one appears or disappears.
func (s *Snapshot) PodsBelow(priority int32) int {
	s.must()
	return priorityCountsKey.Of(s).below(priority)
}

// priorityCounts counts the pods on nodes by priority. It is an extension of the
// snapshots that were asked.
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

var priorityCountsKey = NewExtensionKey(func(s *Snapshot) *priorityCounts {
	c := new(priorityCounts)
	for _, n := range s.All() {
		for _, p := range n.Pods {
			c.PodAdded(s, n, p)
		}
	}
	return c
})

func (c *priorityCounts) find(priority int32) (at int, ok bool) {
	if c.last < len(c.counts) && c.counts[c.last].priority == priority {
		return c.last, true
	}
	c.last, ok = slices.BinarySearchFunc(c.counts, priority, func(x priorityCount, p int32) int { return cmp.Compare(x.priority, p) })
	return c.last, ok
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

// Fork implements [Extension].
func (c *priorityCounts) Fork(*Snapshot) Extension { return &priorityCounts{slices.Clone(c.counts), c.last} }

// PodAdded implements [PodWatcher].
func (c *priorityCounts) PodAdded(_ *Snapshot, _ *NodeInfo, p *PodInfo) {
	i, ok := c.find(p.Priority)
	if !ok {
		c.counts = slices.Insert(c.counts, i, priorityCount{priority: p.Priority})
	}
	c.counts[i].pods++
}

// PodRemoved implements [PodWatcher].
func (c *priorityCounts) PodRemoved(_ *Snapshot, _ *NodeInfo, p *PodInfo) {
	i, _ := c.find(p.Priority)
	if c.counts[i].pods--; c.counts[i].pods == 0 {
		c.counts = slices.Delete(c.counts, i, i+1)
	}
}

// Check implements [Checker]: it counts again.
func (c *priorityCounts) Check(s *Snapshot) error {
	want := map[int32]int{}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			want[p.Priority]++
		}
	}
	for i, x := range c.counts {
		if x.pods == 0 || x.pods != want[x.priority] || i > 0 && c.counts[i-1].priority >= x.priority {
			return fmt.Errorf("pods by priority: %v are counted, want %v", c.counts, want)
		}
	}
	if len(c.counts) != len(want) {
		return fmt.Errorf("pods by priority: %v are counted, want %v", c.counts, want)
	}
	return nil
}

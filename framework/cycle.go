package framework

import (
	"time"

	"github.com/berth-sched/berth/internal/runner"
)

// A Cycle is one attempt to place one pod. The runner makes it and hands it to the
// plugins, which share values in it by typed keys ([Key]).
//
// A cycle is used by one goroutine at a time and ends with the decision, so a plugin
// must not keep it. The binding points (Permit, PreBind, Bind, PostBind) see a
// detached cycle: it has the values, but its Snapshot is nil.
type Cycle struct {
	// Pod is the pod to place.
	Pod *PodInfo
	// Snapshot is the cluster as this decision sees it; nil while binding.
	Snapshot *Snapshot
	// Number counts the decisions of one scheduler, from 0.
	Number uint64
	// Seed is the random word of this decision: a function of the scheduler's
	// seed and of Number. It is the only source of randomness a plugin may use.
	Seed uint64
	// Filters asks all filters of the cycle about a node as it is now, with the pods
	// that are nominated to it. It is set while PostFilter plugins run. Such a plugin
	// may take pods off a node of the snapshot, inside a transaction, and ask again;
	// it must tell a Fork of Filters of such changes (AddPod, RemovePod).
	Filters FilterUpdater

	values  []cycleValue
	scratch []any
	runner  runner.Cycle
}

// Now returns the snapshot's time: the only clock a plugin may read.
func (c *Cycle) Now() time.Time {
	if c.Snapshot == nil {
		return time.Time{}
	}
	return c.Snapshot.Now()
}

// Reset makes the cycle ready for another pod, keeping the memory that
// [Scratch] hands out. It is for runners.
func (c *Cycle) Reset(pod *PodInfo, s *Snapshot, number, seed uint64) {
	c.Pod, c.Snapshot, c.Number, c.Seed = pod, s, number, seed
	c.Filters = nil
	if len(c.values) > maxKept {
		c.values = nil
	}
	for i := range c.values {
		c.values[i].clear()
	}
	c.runner.Reset()
}

// Detach returns a copy for the binding points: the same pod and values, no
// snapshot, and nothing shared with c that a later decision would change.
func (c *Cycle) Detach() *Cycle {
	d := &Cycle{Pod: c.Pod, Number: c.Number, Seed: c.Seed}
	for _, v := range c.values {
		if v.isSet {
			d.values = append(d.values, cycleValue{v.key, v.held.clone(), true})
		}
	}
	return d
}

// Runner returns the part of the cycle that only this module's runners use.
func (c *Cycle) Runner() *runner.Cycle { return &c.runner }

// Scratch returns memory for a plugin's state in this cycle: a *T that the plugin gets
// again in the next cycle, with whatever it left there, so steady work allocates
// nothing. A plugin may call it once in PreFilter and once in PreScore, and must set
// every field that it reads.
func Scratch[T any](c *Cycle) *T {
	at := c.runner.At
	for len(c.scratch) <= at {
		c.scratch = append(c.scratch, nil)
	}
	if t, ok := c.scratch[at].(*T); ok {
		return t
	}
	t := new(T)
	c.scratch[at] = t
	return t
}

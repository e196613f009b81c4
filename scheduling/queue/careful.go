package queue

import (
	"fmt"

	"github.com/berth-sched/berth/framework/queueing"
)

// careful wraps a QueueSort plugin and recovers its panics; pods that it fails to
// compare count as equal.
type careful struct {
	queueing.QueueSortPlugin
	problem func(error) // called with the first panic; nil afterwards
}

// Less implements [queueing.QueueSortPlugin].
func (c *careful) Less(a, b *queueing.QueuedPod) (less bool) {
	defer func() {
		if v := recover(); v != nil {
			less = false
			if c.problem != nil {
				c.problem(fmt.Errorf("QueueSort plugin %s: pods %s and %s: panic: %v", c.Name(), a.Pod.Pod.Key(), b.Pod.Pod.Key(), v))
				c.problem = nil
			}
		}
	}()
	return c.QueueSortPlugin.Less(a, b)
}

package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// crowd rejects nodes while the whole cluster holds too many pods: a sum over
// one large domain.
type crowd struct {
	s     *framework.Snapshot
	limit int
	pods  int
}

func newCrowd(s *framework.Snapshot, limit int) *crowd {
	c := &crowd{s: s, limit: limit}
	for _, n := range s.All() {
		c.pods += len(n.Pods)
	}
	return c
}

func (c *crowd) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	if c.pods >= c.limit {
		return framework.UnschedulableStatus("the port is closed")
	}
	return framework.Status{}
}

// Version is the sum; once it crosses the limit, every answer changes.
func (c *crowd) Version() uint64 { return uint64(c.pods) }

func (c *crowd) Changed(since uint64, dirty func(slot int)) bool {
	if (int(since) >= c.limit) != (c.pods >= c.limit) {
		for _, slot := range c.s.Slots() {
			dirty(slot)
		}
	}
	return true
}

// A plugin that sums over many nodes says which answers a change of the sum makes
// stale. Here the sum is of one domain, the whole cluster, and an answer changes only
// when the sum crosses the limit: every other change costs nothing.
func ExampleDomainTracker() {
	s, p := twoNodes()
	before := newCrowd(s, 1).Version()
	if err := s.AddPod(p, "n1"); err != nil {
		fmt.Println(err)
	}
	var tracker incremental.DomainTracker = newCrowd(s, 1)
	known := tracker.Changed(before, func(slot int) { fmt.Println("stale:", s.AtSlot(slot).Name()) })
	fmt.Println(known)
	// Output:
	// stale: n1
	// stale: n2
	// true
}

package devices

import (
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
)

// A search that finds nothing may take millions of steps. Its outcome is kept, so that the
// same demand is not looked for again on a node before something has changed there: not on
// the other path, not for the next attempt, and not for a pod of the same class.

const (
	// costlySteps is the least number of steps of a search whose outcome is kept.
	costlySteps = 10_000
	// maxCostly bounds how many outcomes are kept. Beyond it, all are forgotten.
	maxCostly = 4096
)

// costly keeps the outcomes. Several goroutines may use it at once.
type costly struct {
	some atomic.Bool // there is an entry; most clusters never have one
	mu   sync.Mutex
	kept map[costlyKey]costlyEntry
}

type costlyKey struct {
	demand [32]byte // what the pod asks for
	node   string
}

type costlyEntry struct {
	at      costlyMoment
	outcome outcome
	steps   int // what a search that was given up was allowed
}

// A costlyMoment identifies all that a search reads besides the demand.
type costlyMoment struct {
	node    *api.Node
	catalog *catalogID
	classes uint64
	changes uint64 // the last of the use of a pool of the node
	options Options
	steps   int // the bound of the search
}

func (c *costly) find(key costlyKey, at costlyMoment) (costlyEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[key]
	return e, ok && e.at == at
}

func (c *costly) keep(key costlyKey, e costlyEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxCostly {
		c.kept = map[costlyKey]costlyEntry{}
	}
	c.kept[key] = e
	c.some.Store(true)
}

// runOn runs the search for a node, unless it is known to be in vain.
func (f *Finder) runOn(node *framework.NodeInfo, s *search) outcome {
	known := &f.state.costly
	var at costlyMoment
	if known.some.Load() {
		at = f.momentOf(node, s)
		if e, ok := known.find(costlyKey{f.demandSum(), node.Name()}, at); ok {
			if e.outcome == fatal {
				s.err = &StepsError{Steps: e.steps}
			}
			return e.outcome
		}
	}
	o := s.run()
	f.state.spent.Add(int64(s.steps))
	_, gaveUp := s.err.(*StepsError)
	if s.steps < costlySteps || o != failed && !gaveUp {
		return o
	}
	known.keep(costlyKey{f.demandSum(), node.Name()}, costlyEntry{f.momentOf(node, s), o, s.limit})
	return o
}

func (f *Finder) momentOf(node *framework.NodeInfo, s *search) costlyMoment {
	at := costlyMoment{node.Node, f.catalog.id, framework.ObjectsVersion[api.DeviceClass](f.snapshot), 0, f.options, f.steps}
	for _, u := range s.uses {
		if u != nil {
			at.changes = max(at.changes, u.changed)
		}
	}
	return at
}

// demandSum is the checksum of what the pod asks for. It is the same on all nodes.
func (f *Finder) demandSum() [32]byte {
	if sum := f.sum.Load(); sum != nil {
		return *sum
	}
	sum := digest.Sum(f.state.appendKey(nil, f.snapshot, f.pod))
	f.sum.Store(&sum)
	return sum
}

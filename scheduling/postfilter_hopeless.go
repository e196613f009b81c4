package scheduling

import (
	"context"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// failure is the last decision, if it found no node.
type failure struct {
	snap    *framework.Snapshot
	pod     *framework.PodInfo
	version uint64
	number  uint64
	fit     *FitError
}

// noteFailure keeps what a decision about the pod came to.
func (s *Scheduler) noteFailure(snap *framework.Snapshot, pod *framework.PodInfo, d *Decision, err error) {
	s.failure = failure{}
	if fit, ok := err.(*FitError); ok && s.reference.within == nil {
		s.failure = failure{snap, pod, snap.Version(), d.Number, fit}
	}
}

// hopeless answers for DefaultPreemption, if no other PostFilter plugin has anything to do,
// where it refuses without a look at any node: most attempts fail so while pods of the
// lowest priority wait. It needs the last decision's counts of reasons, so nothing may
// have happened since. It costs O(reasons), or nothing if an equal pod was refused before.
func (s *Scheduler) hopeless(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d Decision, p *proposal) bool {
	f := &s.failure
	switch {
	case f.fit == nil || f.snap != snap || f.pod != pod || f.number != d.Number || f.version != snap.Version():
		return false
	case pod.IsNominated() || f.fit.PreFilter != "" || len(s.plugins.extenders) > 0 || ctx.Err() != nil:
		return false
	case s.reference.cycle.Runner().SkipPostFilter:
		return false
	}
	only, ok := s.plugins.onlyPreempts(&s.reference.cycle)
	if !ok {
		return false
	}
	unschedulable := 0
	for _, r := range f.fit.Rejections {
		if r.Status.Code() == framework.Unschedulable {
			unschedulable += r.Nodes
		}
	}
	key, mayKeep := s.roomKey(snap, pod, &only)
	if mayKeep {
		for _, key.unschedulable = range [...]int{anyNumber, unschedulable} {
			if kept, ok := s.refusedRoom.find(snap, key); ok {
				*p = kept
				return true
			}
		}
	}
	result, status, ok := only.Refuse(snap, pod, unschedulable)
	if ok {
		*p = proposal{result: result, plugin: s.plugins.postFilter[0].name, status: status, incremental: true}
		if mayKeep {
			s.refusedRoom.keep(snap, key, *p)
		}
	}
	return ok
}

// onlyPreempts returns the profile's DefaultPreemption if no other PostFilter plugin has
// anything to do for the cycle's pod: there is none but DynamicResources, and the pod needs
// no devices. A plugin that embeds DefaultPreemption may do more than that.
func (t *plugins) onlyPreempts(c *framework.Cycle) (only preemption.DefaultPreemption, ok bool) {
	for i := range t.postFilter {
		switch p := t.postFilter[i].plugin.(type) {
		case filter.DynamicResources:
			if !p.Idle(c) {
				return only, false
			}
			continue
		case preemption.DefaultPreemption:
			only = p
		case *preemption.DefaultPreemption:
			if p == nil {
				return only, false
			}
			only = *p
		default:
			return only, false
		}
		if ok {
			return only, false // there are two
		}
		ok = true
	}
	return only, ok
}

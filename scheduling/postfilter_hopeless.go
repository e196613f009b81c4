package scheduling

import (
	"context"

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
	if fit, ok := err.(*FitError); ok {
		s.failure = failure{snap, pod, snap.Version(), d.Number, fit}
	} else if s.failure.fit != nil { // most decisions find it so
		s.failure = failure{}
	}
}

// hopeless answers for DefaultPreemption, if the profile has no other PostFilter plugin,
// where it refuses without a look at any node: most attempts fail so while pods of the
// lowest priority wait. It needs the last decision's counts of reasons, so nothing may
// have happened since. It costs O(reasons).
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
	only, ok := s.plugins.onlyPreempts()
	if !ok {
		return false
	}
	unschedulable := 0
	for _, r := range f.fit.Rejections {
		if r.Status.Code() == framework.Unschedulable {
			unschedulable += r.Nodes
		}
	}
	result, status, ok := only.Refuse(snap, pod, unschedulable)
	if ok {
		*p = proposal{result: result, plugin: s.plugins.postFilter[0].name, status: status, incremental: true}
	}
	return ok
}

// onlyPreempts returns the profile's PostFilter plugin if it has no other than
// DefaultPreemption itself: a plugin that embeds it may do more.
func (t *plugins) onlyPreempts() (preemption.DefaultPreemption, bool) {
	if len(t.postFilter) != 1 {
		return preemption.DefaultPreemption{}, false
	}
	switch p := t.postFilter[0].plugin.(type) {
	case preemption.DefaultPreemption:
		return p, true
	case *preemption.DefaultPreemption:
		if p != nil {
			return *p, true
		}
	}
	return preemption.DefaultPreemption{}, false
}

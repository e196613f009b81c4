package scheduling

import (
	"context"
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// allPostFiltersSkipped is the reason of a cycle that skips the PostFilter plugins.
const allPostFiltersSkipped framework.Text = "All PostFilter plugins are skipped"

// HasPostFilter reports whether the profile has PostFilter plugins.
func (s *Scheduler) HasPostFilter() bool { return len(s.plugins.postFilter) > 0 }

// PostFilter asks the PostFilter plugins for a way to make room after Schedule has
// returned d and a [*FitError]. The snapshot must not have changed since. Plugins
// may ask about every node, so the nodes' verdicts are found again: from kept
// answers if Schedule used them, otherwise on the reference path. Extenders are not
// asked again about the last decision.
//
// The first Success or UnschedulableAndUnresolvable ends the round. An Error, also of a
// plugin that is asked for verdicts again, comes back as a [*PluginError]. After a
// rejection the next plugin tries. If all reject,
// the status joins all reasons, plugin names the first of them, and result is the
// last proposal with a nomination. A snapshot or pod that Schedule rejects is an
// [*api.InvalidError] here too.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPostFilterPlugins.
func (s *Scheduler) PostFilter(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d Decision) (result framework.PostFiltered, plugin string, status framework.Status, err error) {
	pod, err = s.accept(snap, pod)
	if err != nil {
		return framework.PostFiltered{}, "", framework.Status{}, err
	}
	p := s.makeRoom(ctx, snap, pod, d, !s.profile.Cache.Off)
	if s.incremental != nil && s.profile.Cache.Verify {
		if fault := s.incremental.fault(snap, pod, &d); fault != nil {
			return framework.PostFiltered{}, "", framework.Status{}, fault
		}
	}
	if p.incremental && s.incremental != nil && s.profile.Cache.Verify {
		if difference := s.incremental.verifyPostFilter(ctx, snap, pod, d, p); difference != nil {
			return framework.PostFiltered{}, "", framework.Status{}, difference
		}
	}
	return p.result, p.plugin, p.status, p.err
}

// makeRoom asks the PostFilter plugins about the decision. If incremental is set, it uses
// kept answers about nodes and from earlier attempts.
func (s *Scheduler) makeRoom(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d Decision, incremental bool) (p proposal) {
	if incremental && s.hopeless(ctx, snap, pod, d, &p) {
		return p
	}
	r := &s.postFilterPath
	r.plugins, r.workers, r.extended = &s.plugins, 1, extended{ctx: ctx, replay: &s.reference.extended.answer}
	if incremental && s.mayUseIncremental(snap) {
		p.answers = s.incremental.verdicts(r, snap, pod, d)
		p.incremental = p.answers != nil
	}
	if !p.incremental {
		_, err := s.decide(r, snap, pod, d.Number, d.start)
		if _, fitsNowhere := err.(*FitError); !fitsNowhere {
			p.err = err // nil: there is room already
			return p
		}
		p.answers = &verdicts{path: r}
	}
	if r.cycle.Runner().SkipPostFilter {
		p.status = framework.UnschedulableStatus(allPostFiltersSkipped)
		return p
	}
	r.cycle.Filters = &filterSet{r, snap, r.bound.filters}
	if incremental {
		if class, ok := r.localClass(); ok {
			s.dryRuns.Begin(class, pod, r.cycle.Filters)
			r.cycle.Runner().DryRuns = &s.dryRuns
			p.incremental, p.local = true, true
		}
	}
	if narrow := s.plugins.narrow(&r.cycle); narrow != nil {
		preemption.Narrow.Set(&r.cycle, narrow)
	}
	s.plugins.postFilters(ctx, r, &p)
	s.keepRefusal(snap, pod, &p)
	return p
}

// keepRefusal keeps what DefaultPreemption answered if it depends on the nodes, their pods
// and the pod's class alone, and found no candidate.
func (s *Scheduler) keepRefusal(snap *framework.Snapshot, pod *framework.PodInfo, p *proposal) {
	if !p.local || pod.IsNominated() || len(s.plugins.extenders) > 0 || p.status.Code() != framework.Unschedulable || len(p.result.Claims) > 0 {
		return
	}
	only, ok := s.plugins.onlyPreempts(&s.postFilterPath.cycle)
	if !ok {
		return
	}
	if key, ok := s.roomKey(snap, pod, &only); ok {
		s.refusedRoom.keep(snap, key, *p)
	}
}

// proposal is the answer of the PostFilter plugins.
type proposal struct {
	result framework.PostFiltered
	plugin string
	status framework.Status
	err    error

	answers     framework.Verdicts // about the nodes; nil if no plugin was to be asked
	incremental bool               // kept answers were used
	local       bool               // filters read nothing but the node and its pods
}

// postFilters asks the PostFilter plugins.
func (t *plugins) postFilters(ctx context.Context, r *referencePath, p *proposal) {
	var reasons []string
	var claims []framework.ClaimRelease
	defer func() { p.result.Claims = claims }()
	for _, plugin := range t.postFilter {
		proposed, status := postFilter(ctx, plugin, r, p.answers)
		claims = append(claims, proposed.Claims...)
		switch {
		case status.IsSuccess(), status.Code() == framework.UnschedulableAndUnresolvable:
			p.result, p.plugin, p.status = proposed, plugin.name, status
			return
		case !status.IsRejected():
			p.result, p.plugin, p.status = framework.PostFiltered{}, plugin.name, status
			p.err = refusal("PostFilter", plugin.name, status)
			return
		}
		if proposed.Override || proposed.Nominated != "" {
			p.result = proposed
		}
		reasons = append(reasons, status.Reasons()...)
		if p.plugin == "" {
			p.plugin = plugin.name
		}
	}
	p.status = framework.NewStatus(framework.Unschedulable, framework.Texts(reasons...))
}

// localClass returns a key that is equal for pods that all filters of this cycle,
// and preemption, treat alike. It returns false if a filter reads more than the node and its
// pods, or panics over its part of the key; if PreFilter rejected the pod or named nodes; and
// if a PreFilter plugin without a filter for the pod reads the whole cluster, so that it may
// do so for another pod.
func (r *referencePath) localClass() (class string, ok bool) {
	defer func() {
		if recover() != nil {
			class, ok = "", false
		}
	}()
	if !r.bound.rejected.IsSuccess() || r.bound.restrict {
		return "", false
	}
	fields := framework.FieldPriority
	for i := range r.plugins.preFilters {
		if p := &r.plugins.preFilters[i]; p.filter < 0 || r.bound.perFilter[p.filter] == nil {
			if p.scope.of(r.cycle.Pod).Reads&framework.ReadsCluster != 0 {
				return "", false // what it read is no part of the key
			}
		}
	}
	var bound, own []byte
	for _, b := range r.bound.filters {
		s := r.plugins.filters[b.At].scope.of(r.cycle.Pod)
		if s.Reads&^(framework.ReadsNode|framework.ReadsPods) != 0 {
			return "", false
		}
		fields |= s.Pod
		bound = binary.AppendUvarint(bound, uint64(b.At))
		if k := r.plugins.filters[b.At].keyer; k != nil {
			before := len(own)
			own = k.AppendClassKey(own, r.cycle.Snapshot, r.cycle.Pod)
			own = binary.BigEndian.AppendUint32(own, uint32(len(own)-before))
		}
	}
	return string(bound) + "/" + r.cycle.Pod.ClassKey(fields) + string(own), true
}

func postFilter(ctx context.Context, p named[framework.PostFilterPlugin], r *referencePath, answers framework.Verdicts) (f framework.PostFiltered, s framework.Status) {
	snap := r.cycle.Snapshot
	mark := snap.Begin()
	defer snap.Rollback(mark) // also undoes what a panicking plugin left open
	defer catchStatus(&s)
	return p.plugin.PostFilter(ctx, &r.cycle, answers)
}

package scheduling

import (
	"context"
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// SkipPostFilter, set to true in a cycle, keeps the PostFilter plugins from
// running.
var SkipPostFilter = framework.NewKey[bool]("skip all PostFilter plugins")

// AllPostFiltersSkipped is the reason of a cycle in which [SkipPostFilter] is
// set.
const AllPostFiltersSkipped framework.Text = "All PostFilter plugins are skipped"

// HasPostFilter reports whether the profile has PostFilter plugins.
func (s *Scheduler) HasPostFilter() bool { return len(s.plugins.postFilter) > 0 }

// PostFilter lets the PostFilter plugins look for a way to make room after
// Schedule has returned d and a [*FitError]; the snapshot must not have changed
// since. It takes the plain road again, because plugins may ask about every
// node; extenders are not asked twice about the decision made last.
//
// The first Success or UnschedulableAndUnresolvable ends it. An Error comes
// back as a [*PluginError]. Rejections let the next plugin try: the status then
// has the reasons of all, plugin is the first of them, and what the last one
// with a nomination proposed is kept. A snapshot or pod that Schedule refuses is
// an [*framework.InvalidError] here, too.
//
// Source: kube-scheduler 1.37, framework/runtime, RunPostFilterPlugins.
func (s *Scheduler) PostFilter(ctx context.Context, snap *framework.Snapshot, pod *framework.PodInfo, d Decision) (result framework.PostFiltered, plugin string, status framework.Status, err error) {
	if err := fit(snap, pod); err != nil {
		return framework.PostFiltered{}, "", framework.Status{}, err
	}
	r := &s.again
	r.plugins, r.workers, r.extended = &s.plugins, 1, extended{ctx: ctx, replay: &s.road.extended.answer}
	if _, err := s.decide(r, snap, pod, d.Number, d.start); err == nil {
		// Someone made room already.
		return result, "", framework.Status{}, nil
	}
	if skip, _ := SkipPostFilter.Get(&r.cycle); skip {
		return result, "", framework.Reject(AllPostFiltersSkipped), nil
	}
	r.cycle.Filters = &filterSet{r, snap, r.bound.filters}
	class, remembers := r.localClass()
	if remembers = remembers && !s.profile.Fast.Off; remembers {
		preemption.Recall.Set(&r.cycle, s.memory.For(class, snap))
	}
	if narrow := s.plugins.narrow(&r.cycle); narrow != nil {
		preemption.Narrow.Set(&r.cycle, narrow)
	}
	p := s.plugins.postFilters(ctx, r)
	if remembers && s.fast != nil && s.profile.Fast.Verify {
		if difference := s.fast.verifyPostFilter(ctx, r, d, p); difference != nil {
			return framework.PostFiltered{}, "", framework.Status{}, difference
		}
	}
	return p.result, p.plugin, p.status, p.err
}

// proposal is what the PostFilter plugins said.
type proposal struct {
	result framework.PostFiltered
	plugin string
	status framework.Status
	err    error
}

// postFilters asks the PostFilter plugins.
func (t *plugins) postFilters(ctx context.Context, r *road) (p proposal) {
	var reasons []string
	for _, plugin := range t.postFilter {
		proposed, status := postFilter(ctx, plugin, r)
		switch {
		case status.IsSuccess(), status.Code() == framework.UnschedulableAndUnresolvable:
			return proposal{proposed, plugin.name, status, nil}
		case !status.IsRejected():
			return proposal{framework.PostFiltered{}, plugin.name, status, refusal("PostFilter", plugin.name, status)}
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
	return p
}

// localClass returns a key that is equal for pods which all filters of this cycle
// treat alike, and preemption too; false if a filter reads more than the node and
// its pods.
func (r *road) localClass() (string, bool) {
	fields := framework.FieldPriority
	var bound []byte
	for _, b := range r.bound.filters {
		s := r.plugins.filters[b.at].scope(r.cycle.Pod)
		if s.Reads&^(framework.ReadsNode|framework.ReadsPods) != 0 {
			return "", false
		}
		fields |= s.Pod
		bound = binary.AppendUvarint(bound, uint64(b.at))
	}
	return string(bound) + "/" + r.cycle.Pod.ClassKey(fields), true
}

func postFilter(ctx context.Context, p named[framework.PostFilterPlugin], r *road) (f framework.PostFiltered, s framework.Status) {
	snap := r.cycle.Snapshot
	mark := snap.Begin()
	defer snap.Rollback(mark) // also what a plugin left open when it panicked
	defer catchStatus(&s)
	return p.plugin.PostFilter(ctx, &r.cycle, &verdicts{road: r})
}

// verdicts answers from a search that has ended.
type verdicts struct {
	road   *road
	places []int // in the snapshot's order, by slot; -1 for none
}

// Verdict implements [framework.Verdicts].
func (v *verdicts) Verdict(node *framework.NodeInfo) (plugin string, s framework.Status) {
	r := v.road
	if !r.bound.rejected.IsSuccess() {
		return r.bound.rejectedBy, r.bound.rejected
	}
	if v.places == nil {
		v.index(r.cycle.Snapshot)
	}
	if slot := node.Slot(); slot < len(v.places) && v.places[slot] >= 0 {
		switch w := r.verdicts[v.places[slot]]; {
		case w.filter >= 0:
			return r.plugins.filterName(w.filter), w.status
		case w.filter == passed:
			return "", framework.Status{}
		}
	}
	return "", r.bound.absent
}

func (v *verdicts) index(s *framework.Snapshot) {
	v.places = make([]int, s.Slots())
	for i := range v.places {
		v.places[i] = -1
	}
	for place, slot := range s.Order() {
		v.places[slot] = place
	}
}

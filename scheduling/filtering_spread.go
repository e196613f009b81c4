package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/replica"
)

// A SpreadFiltering is a [Filtering] in two parts: the filters that spread replicas over
// domains, and the others.
type SpreadFiltering struct {
	// Rest holds the other filters, for which [Filtering.NodeOnly] is true.
	Rest *Filtering
	// Spreads are those that spread replicas, in the order of the profile. There may be none.
	Spreads []SpreadFilter
}

// A SpreadFilter is a filter that spreads replicas, and how.
type SpreadFilter struct {
	Plugin string
	replica.Spread
	at int // of the filter in the profile
}

// Spread takes the Filtering apart, if every filter that looks beyond the node can say how
// it spreads replicas ([replica.Spreader]). Otherwise ok is false.
func (f *Filtering) Spread() (parts SpreadFiltering, ok bool, err error) {
	if err := f.follow(); err != nil {
		return parts, false, err
	}
	r := f.path
	t, pod := r.plugins, r.cycle.Pod
	if r.cycle.Snapshot.Nominations() > 0 || !r.bound.rejected.IsSuccess() {
		return parts, false, nil
	}
	for _, b := range r.bound.filters {
		if !t.filters[b.At].scope.looksBeyond(pod) {
			continue
		}
		spreader, can := b.Filter.(replica.Spreader)
		if !can {
			return parts, false, nil
		}
		spread, can, err := replicaSpread(spreader, pod)
		if err != nil {
			return parts, false, &PluginError{Point: "ReplicaSpread", Plugin: t.filters[b.At].name, Err: err}
		}
		if !can {
			return parts, false, nil
		}
		parts.Spreads = append(parts.Spreads, SpreadFilter{t.filters[b.At].name, spread, b.At})
	}
	if parts.Rest, err = f.without(parts.Spreads); err != nil {
		return parts, false, err
	}
	return parts, parts.Rest.NodeOnly(), nil
}

// replicaSpread asks a filter how it spreads replicas. A panic is an error.
func replicaSpread(s replica.Spreader, pod *framework.PodInfo) (spread replica.Spread, ok bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	spread, ok = s.ReplicaSpread(pod)
	return spread, ok, nil
}

// ReadingNodes names the filters that read other nodes, or that these exist, for more than to spread
// replicas over them, and the plugin that has rejected the pod in PreFilter if it does. A node that one of
// them rejects may pass once there are others. It goes by the scopes of the plugins.
func (f *Filtering) ReadingNodes() (names []string) {
	t, pod := f.path.plugins, f.path.cycle.Pod
	reads := func(s scope) bool { return s.looksBeyond(pod) || s.of(pod).Reads&framework.ReadsNodeSet != 0 }
	for _, p := range t.preFilters {
		if p.name == f.path.bound.rejectedBy && reads(p.scope) {
			names = append(names, p.name)
		}
	}
	for _, b := range f.path.bound.filters {
		if _, spreads := b.Filter.(replica.Spreader); !spreads && reads(t.filters[b.At].scope) {
			names = append(names, t.filters[b.At].name)
		}
	}
	return names
}

// without is the Filtering without these filters and what prepares them.
func (f *Filtering) without(spreads []SpreadFilter) (*Filtering, error) {
	t, c := f.path.plugins, &f.path.cycle
	goes := func(i int) bool { return slices.ContainsFunc(spreads, func(s SpreadFilter) bool { return s.at == i }) }
	rest := &Filtering{scheduler: f.scheduler, path: &referencePath{plugins: t, workers: 1}, some: &choice{
		at:  slices.DeleteFunc(slices.Clone(f.some.at), goes),
		pre: slices.DeleteFunc(slices.Clone(f.some.pre), func(i int) bool { return goes(t.preFilters[i].filter) }),
	}}
	rest.path.cycle.Reset(c.Pod, c.Snapshot, c.Number, c.Seed)
	return rest, rest.Rebind()
}

// Verdict is what a decision says of a node if Rest says this of it, and the rules of each
// of Spreads count so many pods. The first rejection in the order of the profile decides.
func (p *SpreadFiltering) Verdict(node *framework.NodeInfo, rest NodeVerdict, counts [][]replica.Count) NodeVerdict {
	filters := p.Rest.path.plugins.filters
	at := len(filters)
	if !rest.Status.IsSuccess() {
		at = slices.IndexFunc(filters, func(f filterPlugin) bool { return f.name == rest.Plugin }) // -1: before all
	}
	for i := range p.Spreads {
		s := &p.Spreads[i]
		if s.at > at {
			break
		}
		if status := s.Filter(node, counts[i]); !status.IsSuccess() {
			return NodeVerdict{s.Plugin, status}
		}
	}
	return rest
}

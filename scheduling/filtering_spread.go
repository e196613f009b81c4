package scheduling

import (
	"slices"

	"github.com/berth-sched/berth/framework/replica"
)

// A SpreadFiltering is a [Filtering] in two parts: one filter that spreads replicas over
// domains, and the others.
type SpreadFiltering struct {
	// Rest holds the other filters, for which [Filtering.NodeOnly] is true.
	Rest *Filtering
	// Spread is the rule of the one filter, and Plugin its name.
	Spread replica.Spread
	Plugin string
	at     int // of the filter in the profile
}

// Spread takes the Filtering apart, if one filter looks beyond the node and can say how it
// spreads replicas ([replica.Spreader]). Otherwise ok is false.
func (f *Filtering) Spread() (parts SpreadFiltering, ok bool, err error) {
	r := f.path
	t, pod := r.plugins, r.cycle.Pod
	i := slices.IndexFunc(r.bound.filters, func(b boundFilter) bool { return t.filters[b.At].scope(pod).Reads&beyondNode != 0 })
	if i < 0 || r.cycle.Snapshot.Nominations() > 0 || !r.bound.rejected.IsSuccess() {
		return parts, false, nil
	}
	spreader, ok := r.bound.filters[i].Filter.(replica.Spreader)
	if !ok {
		return parts, false, nil
	}
	parts.at = r.bound.filters[i].At
	parts.Plugin = t.filters[parts.at].name
	if parts.Spread, ok = spreader.ReplicaSpread(pod); !ok {
		return parts, false, nil
	}
	if parts.Rest, err = f.without(parts.at); err != nil {
		return parts, false, err
	}
	return parts, parts.Rest.NodeOnly(), nil
}

// without is the Filtering without one filter and what prepares it.
func (f *Filtering) without(at int) (*Filtering, error) {
	t, c := f.path.plugins, &f.path.cycle
	rest := &Filtering{scheduler: f.scheduler, path: &referencePath{plugins: t, workers: 1}, some: &choice{
		at:  slices.DeleteFunc(slices.Clone(f.some.at), func(i int) bool { return i == at }),
		pre: slices.DeleteFunc(slices.Clone(f.some.pre), func(i int) bool { return t.preFilters[i].filter == at }),
	}}
	rest.path.cycle.Reset(c.Pod, c.Snapshot, c.Number, c.Seed)
	return rest, t.bindFilters(&rest.path.cycle, &rest.path.bound, rest.some)
}

// Before reports whether the rejection by one of the other filters comes before that by
// Plugin, so that a decision names it.
func (p *SpreadFiltering) Before(v NodeVerdict) bool {
	filters := p.Rest.path.plugins.filters
	return v.Plugin == "" || slices.IndexFunc(filters, func(f filterPlugin) bool { return f.name == v.Plugin }) < p.at
}

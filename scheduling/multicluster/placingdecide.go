package multicluster

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// The decisions of a placing.

// decide decides for the workload, given where its replicas are now.
func (p *placing) decide(replicas int64) (Decision, *Explanation, error) {
	clusters, err := p.describe()
	if err != nil {
		return Decision{}, nil, err
	}
	w := p.workload
	w.Replicas, w.Clusters = replicas, p.now()
	s := p.federation.scheduler
	s.Estimators = append(slices.Clone(p.remembering), p.room)
	x := &Explanation{Workload: w.Name, Replicas: w.Replicas}
	d, err := p.decideWith(s, clusters, &w, x)
	x.Targets, x.Affinity = d.Targets, d.Affinity
	return d, x, err
}

// decideWith decides, and leaves out affinities that lead nowhere from now on: room only shrinks, so
// what fails for another reason fails in each round. The error, if there is one, is that
// of an affinity that lacks room, if there is such an affinity: of that which can take most.
func (p *placing) decideWith(s Scheduler, clusters []*api.Cluster, w *Workload, x *Explanation) (Decision, error) {
	common := &shared{budget: p.work, assumed: p.assumed, keepsSets: true, skipsFull: len(w.Components) > 0 && !p.takesFull}
	d, err := s.decideWith(clusters, w, x, common)
	p.work, p.assumed = common.budget, common.assumed
	terms := w.Placement.ClusterAffinities
	switch {
	case isTooMuchWork(err):
		return d, err
	case err != nil && len(common.shortages) > 0:
		err = slices.MaxFunc(common.shortages, func(a, b error) int { return cmp.Compare(p.fitting(a), p.fitting(b)) })
	}
	if len(common.hopeless) == 0 || len(common.hopeless) == len(terms) {
		return d, err
	}
	open := make([]ClusterAffinityTerm, 0, len(terms))
	hopeless := common.hopeless
	for i := range terms {
		if len(hopeless) > 0 && hopeless[0] == i {
			hopeless = hopeless[1:]
			continue
		}
		open = append(open, terms[i])
	}
	p.workload.Placement.ClusterAffinities, w.Placement.ClusterAffinities = open, open
	if err == nil {
		return d, nil
	}
	return p.decideWith(s, clusters, w, x)
}

// decideFor decides for n replicas. If n is not positive, no cluster gets any.
func (p *placing) decideFor(n int64, x *Explanation) (Decision, *Explanation, error) {
	if n <= 0 {
		return Decision{}, x, nil
	}
	return p.decide(n)
}

// fitting is how many replicas there is room for, by the error of a decision that lacked room.
func (p *placing) fitting(err error) int64 {
	var short *ShortageError
	if errors.As(err, &short) {
		return p.workload.Replicas - short.Wanted + short.Available
	}
	var spread *SpreadError
	_ = errors.As(err, &spread)
	return spread.Available
}

// decideWhatFits decides for all replicas. If no clusters can take them all, it
// decides for as many as they can take. If that is impossible too, the explanation
// is nil.
func (p *placing) decideWhatFits() (Decision, *Explanation, error) {
	p.workload.Fresh = p.workload.Fresh && len(p.out.Pods) == 0
	d, x, err := p.decide(p.workload.Replicas)
	p.failed = err
	if isShortage(err) {
		d, x, err = p.decideFor(p.fitting(err), x)
	}
	if err == nil {
		return d, x, nil
	}
	var plugin *PluginError
	if errors.As(err, &plugin) || isTooMuchWork(err) {
		return Decision{}, nil, err
	}
	return Decision{}, nil, nil // nothing more fits
}

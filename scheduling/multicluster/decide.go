package multicluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// decideOnce decides for a placement with at most one affinity. It records its
// findings in x, unless x is nil.
func (s Scheduler) decideOnce(clusters []*api.Cluster, w *Workload, x *Explanation, common *shared) (Decision, error) {
	if x != nil {
		x.Clusters, x.Selection, x.Division = make([]ClusterExplanation, len(clusters)), nil, nil
	}
	strategy, err := w.Placement.Strategy()
	if err != nil {
		return Decision{}, ofWorkload(w, err)
	}
	members, err := s.feasible(clusters, w, x)
	if err != nil {
		return Decision{}, err
	}
	if common.estimates == nil {
		common.estimates = make([]*estimate, len(clusters))
	}
	available, has := make(map[string]int64, len(members)), byCluster(w.Clusters)
	var failed []error
	for i := range members {
		m := &members[i]
		e, share := common.estimates[m.at], common.assumed.share(len(members)-i)
		if e == nil {
			if err := s.checkEstimates(m.cluster, w, &common.budget); err != nil {
				return Decision{}, ofWorkload(w, err)
			}
			taken := share
			e = s.metered(&taken).available(m.cluster, w)
			common.assumed.take(min(taken.taken, taken.most))
			common.estimates[m.at] = e
		}
		if e.failed != nil {
			failed = append(failed, e.failed)
		}
		if x != nil && w.wanted() > 0 {
			s.metered(&share).describe(e, m.cluster, w, &x.Clusters[m.at])
		}
		available[m.cluster.Name] = e.available
		m.available = resource.SatAdd(e.available, has[m.cluster.Name])
		if common.keepsSets && len(w.Components) > 0 && w.holds(m.cluster.Name) {
			m.available = resource.SatAdd(e.available, 1) // the set that it has
		}
	}
	targets, err := s.distribute(w, members, available, strategy, x, common)
	if err != nil {
		if len(failed) > 0 {
			err = errors.Join(append([]error{err}, failed...)...)
		}
		return Decision{}, err
	}
	return Decision{Targets: targets, EstimateErrors: failed}, nil
}

// distribute selects among the members and divides among the selected ones.
func (s Scheduler) distribute(w *Workload, members []member, available map[string]int64, strategy Strategy, x *Explanation, common *shared) ([]Target, error) {
	sortMembers(members)
	chosen, selection, err := s.choose(w, members, strategy, common)
	if x != nil {
		x.Selection = &selection
	}
	if err != nil {
		return nil, err
	}
	division, err := s.divide(w, chosen, available, strategy)
	if err != nil {
		return nil, ofWorkload(w, err)
	}
	if x != nil {
		x.Division = &division
	}
	return division.Targets, nil
}

// choose selects among the members, which are in the usual order. If it leaves out full ones and the
// others lead to no choice, that is a lack of room.
func (s Scheduler) choose(w *Workload, members []member, strategy Strategy, common *shared) ([]member, Selection, error) {
	open := members
	if common.skipsFull && spreadCounts(&w.Placement, strategy) {
		open = withRoom(members)
	}
	chosen, selection, err := selectClusters(w, open, strategy, s.Spread, &common.effort)
	if len(open) < len(members) && (err != nil || len(chosen) == 0) {
		return nil, selection, shortOf(nil, w.wanted())
	}
	return chosen, selection, err
}

func withRoom(members []member) []member {
	return slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.available <= 0 })
}

// feasible filters and scores the clusters.
func (s Scheduler) feasible(clusters []*api.Cluster, w *Workload, x *Explanation) ([]member, error) {
	var members []member
	fit := &FitError{Clusters: len(clusters), Reasons: map[string]int{}}
	for i, c := range clusters {
		if x != nil {
			x.Clusters[i].Cluster = c.Name
		}
		plugin, status, err := s.filter(w, c)
		if err != nil {
			return nil, err
		}
		if !status.IsSuccess() {
			for _, reason := range status.Reasons() {
				fit.Reasons[reason]++
			}
			if x != nil {
				x.Clusters[i].Plugin, x.Clusters[i].Reasons = plugin, status.Reasons()
			}
			continue
		}
		m := member{cluster: c, at: i, tier: w.tierOf(c, s.Zones)}
		for _, p := range s.Scorers {
			n, err := scoreOf(p, w, c)
			if err != nil {
				return nil, err
			}
			m.score += n
			if x != nil {
				x.Clusters[i].Scores = append(x.Clusters[i].Scores, PluginScore{nameOf(p), n})
			}
		}
		if x != nil {
			x.Clusters[i].Feasible, x.Clusters[i].Score, x.Clusters[i].Tier = true, m.score, m.tier
		}
		members = append(members, m)
	}
	if len(members) == 0 {
		return nil, fit
	}
	return members, nil
}

// filter returns the first rejection and the name of the rejecting filter.
func (s Scheduler) filter(w *Workload, c *api.Cluster) (plugin string, status framework.Status, err error) {
	for _, p := range s.Filters {
		status, err := filterOf(p, w, c)
		if err != nil || !status.IsSuccess() {
			return nameOf(p), status, err
		}
	}
	return "", framework.Status{}, nil
}

func filterOf(p Filter, w *Workload, c *api.Cluster) (status framework.Status, err error) {
	defer recovered(p, c, &err)
	status = p.Filter(w, c)
	if !status.IsSuccess() && !status.IsRejected() {
		return status, &PluginError{Plugin: nameOf(p), Cluster: c.Name, Err: fmt.Errorf("answered %s", status)}
	}
	return status, nil
}

func scoreOf(p Scorer, w *Workload, c *api.Cluster) (score int64, err error) {
	defer recovered(p, c, &err)
	score = p.Score(w, c)
	if score < framework.MinNodeScore || score > framework.MaxNodeScore {
		return 0, &PluginError{Plugin: nameOf(p), Cluster: c.Name, Err: fmt.Errorf("score %d is not within 0 to 100", score)}
	}
	return score, nil
}

// nameOf returns the name of a plugin, or its type's name if method Name panics.
func nameOf(p interface{ Name() string }) (name string) {
	defer func() {
		if recover() != nil {
			name = fmt.Sprintf("%T", p)
		}
	}()
	return p.Name()
}

// recovered turns a panic of a plugin into an error.
func recovered(p interface{ Name() string }, c *api.Cluster, err *error) {
	if r := recover(); r != nil {
		*err = &PluginError{Plugin: nameOf(p), Cluster: c.Name, Err: fmt.Errorf("panic: %v", r)}
	}
}

// An estimate is what the estimators say of a cluster. It is the same for all affinities of a
// decision.
type estimate struct {
	available int64
	failed    error
	by        string                   // the estimator that gave the number
	reports   []capacity.ClusterReport // of estimators, once an explanation has asked
	reported  bool
}

// available returns how many replicas, or sets of components, a cluster can take, and the errors
// of estimators. If no estimator has an opinion, or none sets a limit, the cluster can take all of
// them. If the only outcome is errors, it can take none.
//
// Source: Karmada 1.13, calAvailableReplicas.
func (s Scheduler) available(c *api.Cluster, w *Workload) *estimate {
	wanted := w.wanted()
	if wanted == 0 {
		return &estimate{available: capacity.MaxReplicas}
	}
	combined := s.ask(c, w)
	e := &estimate{available: combined.Replicas, failed: combined.Err, by: combined.By}
	switch {
	case combined.NoOpinion && combined.Err != nil:
		e.available = 0
	case combined.NoOpinion, e.available == capacity.MaxReplicas:
		e.available = wanted
	}
	return e
}

// describe writes down what the estimators say of a cluster, and why.
func (s Scheduler) describe(e *estimate, c *api.Cluster, w *Workload, x *ClusterExplanation) {
	if !e.reported {
		e.reported = true
		for _, p := range s.Estimators {
			if explainer, ok := p.(capacity.ClusterExplainer); ok && len(w.Components) == 0 {
				if r, err := explain(explainer, c, w.Replica); err == nil {
					e.reports = append(e.reports, r)
				}
			}
		}
	}
	x.Available, x.AvailableBy, x.Estimates = e.available, e.by, e.reports
	if e.failed != nil {
		x.EstimateError = e.failed.Error()
	}
}

// explain asks an estimator for its report and recovers its panics.
func explain(p capacity.ClusterExplainer, c *api.Cluster, r *capacity.Replica) (report capacity.ClusterReport, err error) {
	defer recovered(p, c, &err)
	return p.Explain(c, r)
}

func (s Scheduler) ask(c *api.Cluster, w *Workload) capacity.Combined {
	asked := make([]capacity.ClusterEstimator, len(s.Estimators))
	for i, p := range s.Estimators {
		asked[i] = guarded{p, w.Components}
	}
	return capacity.Combine(asked, c, w.Replica)
}

// guarded wraps an estimator: it turns panics into errors, and estimates sets if
// there are components.
type guarded struct {
	capacity.ClusterEstimator
	components []capacity.Component
}

func (g guarded) Name() string { return nameOf(g.ClusterEstimator) }

func (g guarded) Estimate(c *api.Cluster, r *capacity.Replica) (e capacity.Estimate, err error) {
	defer recovered(g, c, &err)
	if len(g.components) == 0 {
		return g.ClusterEstimator.Estimate(c, r)
	}
	if sets, ok := g.ClusterEstimator.(capacity.SetEstimator); ok {
		return sets.EstimateSets(c, g.components)
	}
	return capacity.Estimate{NoOpinion: true}, nil
}

// divide divides the replicas among the chosen clusters. available says how many
// more replicas each can take.
func (s Scheduler) divide(w *Workload, chosen []member, available map[string]int64, strategy Strategy) (Division, error) {
	d := Demand{
		Replicas: w.Replicas, Strategy: strategy, Method: s.Method, Ties: NameOrderOf(w.UID), Previous: w.Clusters, Fresh: w.Fresh,
	}
	d.Overflow = len(overflowOf(&w.Placement)) > 0
	if len(w.Components) > 0 {
		d.Replicas = 0
	}
	candidates := make([]Candidate, len(chosen))
	for i, m := range chosen {
		candidates[i] = Candidate{Name: m.cluster.Name, Available: max(0, available[m.cluster.Name]), Tier: m.tier, Rank: i}
		if strategy == StaticWeight {
			candidates[i].Weight = w.staticWeight(m.cluster, s.Zones)
		}
	}
	return Divide(d, candidates)
}

// staticWeight returns the placement's weight for a cluster: the greatest one that
// applies, or 1 if the placement has no weights at all.
func (w *Workload) staticWeight(c *api.Cluster, zones ZoneRule) int64 {
	p := &w.Placement
	if p.ReplicaScheduling == nil || p.ReplicaScheduling.WeightPreference == nil {
		return 1
	}
	var weight int64
	for i := range p.ReplicaScheduling.WeightPreference.StaticWeightList {
		if rule := &p.ReplicaScheduling.WeightPreference.StaticWeightList[i]; w.selects(&rule.TargetCluster, c, zones) {
			weight = max(weight, rule.Weight)
		}
	}
	return weight
}

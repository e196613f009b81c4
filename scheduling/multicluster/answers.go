package multicluster

import (
	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A stamp identifies the content of a snapshot among all states that it has had.
type stamp struct{ version, objects uint64 }

func stampOf(s *framework.Snapshot) stamp {
	if s == nil {
		return stamp{}
	}
	return stamp{s.Version(), s.Objects()}
}

// A described is a cluster with the status of its snapshot at a stamp.
type described struct {
	at      stamp
	cluster *api.Cluster
}

// describe returns the clusters with their status. It computes the status anew only if
// the snapshot has changed.
func (p *placing) describe() ([]*api.Cluster, error) {
	clusters := make([]*api.Cluster, len(p.federation.members))
	for i, m := range p.federation.members {
		d := &p.described[i]
		if now := stampOf(m.Snapshot); d.cluster == nil || d.at != now {
			cluster, err := capacity.Summarize(m.Cluster, m.Snapshot, nil)
			if err != nil {
				return nil, err
			}
			*d = described{now, cluster}
		}
		clusters[i] = d.cluster
	}
	return clusters, nil
}

// answers wraps an estimator of this module. About one workload, it asks again only if the
// cluster or its snapshot has changed.
type answers struct {
	estimator
	snapshots map[string]*framework.Snapshot // that the estimator reads besides the cluster
	known     map[string]*answer             // by cluster
}

// An estimator is what estimators of this module can do.
type estimator interface {
	capacity.ClusterExplainer
	capacity.SetEstimator
}

// An answer is what the estimator said about a cluster: nil where it was not asked.
type answer struct {
	cluster        *api.Cluster
	at             stamp
	estimate, sets *capacity.Estimate
	report         *capacity.ClusterReport
}

// remembering wraps the estimators of this module. Others may read what nobody sees change,
// so they are asked each time.
func remembering(estimators []capacity.ClusterEstimator) []capacity.ClusterEstimator {
	list := make([]capacity.ClusterEstimator, len(estimators))
	for i, e := range estimators {
		list[i] = e
		a := answers{known: map[string]*answer{}}
		switch e := e.(type) {
		case capacity.General:
			a.estimator = e
		case *capacity.General:
			a.estimator = e
		case Nodes:
			a.estimator, a.snapshots = e, e.Snapshots
		case *Nodes:
			if e != nil {
				a.estimator, a.snapshots = e, e.Snapshots
			}
		}
		if !isNil(a.estimator) {
			list[i] = a
		}
	}
	return list
}

// about returns what is known about a cluster as it is now.
func (a answers) about(c *api.Cluster) *answer {
	if c == nil {
		return new(answer)
	}
	now := stampOf(a.snapshots[c.Name])
	x := a.known[c.Name]
	if x == nil || x.cluster != c || x.at != now {
		x = &answer{cluster: c, at: now}
		a.known[c.Name] = x
	}
	return x
}

func (a answers) Estimate(c *api.Cluster, r *capacity.Replica) (capacity.Estimate, error) {
	return once(&a.about(c).estimate, func() (capacity.Estimate, error) { return a.estimator.Estimate(c, r) })
}

func (a answers) EstimateSets(c *api.Cluster, components []capacity.Component) (capacity.Estimate, error) {
	return once(&a.about(c).sets, func() (capacity.Estimate, error) { return a.estimator.EstimateSets(c, components) })
}

func (a answers) Explain(c *api.Cluster, r *capacity.Replica) (capacity.ClusterReport, error) {
	return once(&a.about(c).report, func() (capacity.ClusterReport, error) { return a.estimator.Explain(c, r) })
}

// once asks unless there is an answer. It does not keep errors.
func once[T any](known **T, ask func() (T, error)) (T, error) {
	if *known != nil {
		return **known, nil
	}
	x, err := ask()
	if err == nil {
		*known = &x
	}
	return x, err
}

package multicluster_test

import (
	"testing"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// bad is a filter, scorer and estimator. One of its methods panics from its n-th call on.
type bad struct {
	at   string
	left *int
}

func (b bad) hit(at string) {
	if b.at == at {
		if *b.left--; *b.left < 0 {
			panic("oh")
		}
	}
}

func (b bad) Name() string { b.hit("Name"); return "bad" }

func (b bad) Filter(w *multicluster.Workload, c *api.Cluster) framework.Status {
	b.hit("Filter")
	return framework.Status{}
}

func (b bad) Score(w *multicluster.Workload, c *api.Cluster) int64 { b.hit("Score"); return 1 }

func (b bad) Estimate(c *api.Cluster, r *capacity.Replica) (capacity.Estimate, error) {
	b.hit("Estimate")
	return capacity.Estimate{Replicas: 2}, nil
}

func (b bad) Explain(c *api.Cluster, r *capacity.Replica) (capacity.ClusterReport, error) {
	b.hit("Explain")
	return capacity.ClusterReport{}, nil
}

// nodeBad panics at node level.
type nodeBad struct{ bad }

func (b nodeBad) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	b.hit("NodeFilter")
	return framework.Status{}
}

func (b nodeBad) Score(*framework.PodInfo, *framework.NodeInfo) int64 { b.hit("NodeScore"); return 0 }

func (b nodeBad) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	b.hit("Reserve")
	return framework.Status{}
}

func (b nodeBad) Unreserve(*framework.Cycle, *framework.NodeInfo) { b.hit("Unreserve") }

// TestFederationPanics: a plugin that panics is an error, and no pod nor an open
// transaction is left in a member.
func TestFederationPanics(t *testing.T) {
	for _, at := range []string{"Name", "Filter", "Score", "Estimate", "Explain", "NodeFilter", "NodeScore", "Reserve", "Unreserve"} {
		for _, when := range []int{0, 1, 3, 6} {
			left := 1 << 30
			b := bad{at, &left}
			ms := []multicluster.Member{withNodes(t, "a", api.MakeNode("", "4", "16Gi"), api.MakeNode("", "2", "16Gi")), withNodes(t, "b", api.MakeNode("", "6", "16Gi"))}
			p := profile()
			n := nodeBad{b}
			p.Filter = append(p.Filter, n)
			p.Score = append(p.Score, scheduling.Weighted{Plugin: n, Weight: 1})
			p.Reserve = append(p.Reserve, n)
			f, err := multicluster.NewFederation(multicluster.Scheduler{Filters: []multicluster.Filter{b}, Scorers: []multicluster.Scorer{b}, Estimators: []capacity.ClusterEstimator{b}}, p, ms)
			if err != nil {
				t.Fatal(err)
			}
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("%s %d: panic: %v", at, when, v)
					}
				}()
				left = when
				_, err := f.Place(&multicluster.Workload{
					Name: "default/web", Replicas: 8, Replica: capacity.ReplicaOf(api.MakePod("").Requests("1", "1Gi").Obj()),
					Placement: multicluster.Placement{ReplicaScheduling: dynamic()},
				})
				left = 1 << 30
				pods := podsIn(ms[0]) + podsIn(ms[1])
				if err != nil && pods != 0 {
					t.Errorf("%s %d: %d pods are left", at, when, pods)
				}
			}()
			for _, m := range ms {
				if err := m.Snapshot.AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil {
					t.Errorf("%s %d: the snapshot afterwards: %v", at, when, err)
				}
			}
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("%s %d: explanation: panic: %v", at, when, v)
					}
				}()
				left = when
				s := multicluster.Scheduler{Filters: []multicluster.Filter{b}, Scorers: []multicluster.Scorer{b}, Estimators: []capacity.ClusterEstimator{b}}
				cs := []*api.Cluster{clusterOf("a"), clusterOf("b")}
				w := &multicluster.Workload{Name: "default/web", Replicas: 8, Replica: &capacity.Replica{}, Placement: multicluster.Placement{ReplicaScheduling: dynamic()}}
				_, _ = s.Schedule(cs, w)
				_ = s.Explain(cs, w)
			}()
		}
	}
}

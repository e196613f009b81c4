package multicluster_test

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// You can call each filter alone.
func ExampleFilter() {
	w := &multicluster.Workload{
		APIVersion: "apps/v1", Kind: "Deployment", Evicting: []string{"m"},
		Placement: multicluster.Placement{
			ClusterAffinity:   &multicluster.ClusterAffinity{ExcludeClusters: []string{"m"}},
			SpreadConstraints: []multicluster.SpreadConstraint{{SpreadByField: multicluster.SpreadByRegion, MinGroups: 1}},
		},
	}
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	c.Spec.Taints = []api.Taint{{Key: "repair", Effect: api.TaintEffectNoSchedule}}
	for _, f := range []multicluster.Filter{
		multicluster.APIEnablement{}, multicluster.TaintToleration{}, multicluster.Affinity{}, multicluster.SpreadProperties{}, multicluster.Eviction{},
	} {
		fmt.Println(f.Name()+":", f.Filter(w, c).Reasons()[0])
	}
	// Output:
	// APIEnablement: cluster(s) did not have the API resource
	// TaintToleration: cluster(s) had untolerated taint {repair:NoSchedule}
	// ClusterAffinity: cluster(s) did not match the placement cluster affinity constraint
	// SpreadConstraint: cluster(s) did not have region property
	// ClusterEviction: cluster(s) is in the process of eviction
}

func ExampleFitError() {
	_, err := multicluster.Scheduler{}.Schedule(exampleClusters(), &multicluster.Workload{Evicting: []string{"m1", "m2", "m3"}})
	var unfit *multicluster.FitError
	fmt.Println(errors.As(err, &unfit), err)
	// Output: true 0/3 clusters are available: 3 cluster(s) is in the process of eviction.
}

// cheap prefers clusters that their label marks as cheap.
type cheap struct{}

func (cheap) Name() string { return "Cheap" }

func (cheap) Score(_ *multicluster.Workload, c *api.Cluster) int64 {
	if c.Labels["price"] == "low" {
		return 60
	}
	return 0
}

// Your own scorer, beside Karmada's.
func ExampleScorer() {
	clusters := exampleClusters()
	for _, c := range clusters {
		if c.Name == "m1" {
			c.Labels = map[string]string{"price": "low"}
		}
	}
	w := exampleWorkload()
	w.Replicas = 4
	s := multicluster.Scheduler{Scorers: []multicluster.Scorer{multicluster.Locality{}, cheap{}}}
	x := s.Explain(clusters, w)
	for _, c := range x.Clusters {
		fmt.Println(c.Cluster, c.Score, c.Scores)
	}
	fmt.Println(x.Selection.Clusters, x.Targets)
	// Output:
	// m1 60 [{ClusterLocality 0} {Cheap 60}]
	// m2 0 [{ClusterLocality 0} {Cheap 0}]
	// m3 0 [{ClusterLocality 0} {Cheap 0}]
	// [m1 m3] [{m1 1} {m3 3}]
}

// wild scores outside of 0 to 100.
type wild struct{ cheap }

func (wild) Score(*multicluster.Workload, *api.Cluster) int64 { return 1000 }

func ExamplePluginError() {
	_, err := multicluster.Scheduler{Scorers: []multicluster.Scorer{wild{}}}.Schedule(exampleClusters(), exampleWorkload())
	var broken *multicluster.PluginError
	fmt.Println(errors.As(err, &broken), broken.Plugin, broken.Cluster, broken.Err)
	// Output: true Cheap m1 score 1000 is not within 0 to 100
}

package capacity_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A report shows the contribution of each grade.
func ExampleClusterReport() {
	var e capacity.ClusterExplainer = capacity.General{}
	r, err := e.Explain(exampleCluster(), &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("1500m")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Replicas, "by", r.From, r.From == capacity.FromModels)
	for _, g := range []capacity.GradeReport{r.Grades[1], r.Grades[2], r.Grades[3]} {
		fmt.Println("grade", g.Grade, "has", g.Nodes, "nodes x", g.PerNode, "limited by", g.Limit)
	}
	// Output:
	// 13 by models true
	// grade 1 has 0 nodes x 0 limited by cpu
	// grade 2 has 1 nodes x 1 limited by cpu
	// grade 3 has 6 nodes x 2 limited by cpu
}

func ExampleResourceReport() {
	r, err := capacity.General{IgnoreModels: true}.Explain(exampleCluster(), &capacity.Replica{Request: resource.List{
		resource.CPU: resource.MustParse("3"), "nvidia.com/gpu": resource.MustParse("1"),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range []capacity.ResourceReport(r.Resources) {
		fmt.Println(x.Name, x.Free, "/", x.Request, "=", x.Replicas, "missing:", x.Missing)
	}
	fmt.Println(r.From == capacity.FromSummary, capacity.EstimateBasis("summary") == r.From)
	// Output:
	// cpu 28 / 3 = 9 missing: false
	// nvidia.com/gpu 0 / 1 = 0 missing: true
	// true true
}

// exampleNodes returns two nodes of six CPUs.
func exampleNodes() *framework.Snapshot {
	s := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "6", "48Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	return s
}

func ExampleNodeReport() {
	s := exampleNodes()
	pod, err := s.NewPodInfo(api.MakePod("web").Requests("4", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range s.All() {
		r := capacity.NodeReport{Node: n.Name()}
		r.Replicas, r.Limit = capacity.OnNode(pod, n)
		fmt.Println(r.Node, r.Replicas, r.Limit)
	}
	// Output:
	// n1 1 cpu
	// n2 1 cpu
}

// Three workers of two CPUs are a set; there are two nodes of six CPUs.
func ExampleSetsOnNodes() {
	s := exampleNodes()
	worker, err := s.NewPodInfo(api.MakePod("worker").Requests("2", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	set := []capacity.NodeComponent{{Replicas: 3, Pod: worker}}
	fmt.Println("alone:", capacity.SetsOnNodes(s, set, nil, capacity.MaxReplicas))
	fmt.Println("beside another set:", capacity.SetsOnNodes(s, set, [][]capacity.NodeComponent{set}, capacity.MaxReplicas))
	fmt.Println("one copy beside a set:", capacity.ReplicasOnNodes(s, worker, [][]capacity.NodeComponent{set}))
	// Output:
	// alone: 2
	// beside another set: 1
	// one copy beside a set: [0 3]
}

// A SetEstimator, here General, estimates sets of components.
func ExampleSetEstimator() {
	var e capacity.SetEstimator = capacity.General{}
	sets, err := e.EstimateSets(exampleCluster(), []capacity.Component{
		capacity.ComponentOf("worker", 2, api.MakePod("").Requests("2", "1Gi").Obj()),
	})
	fmt.Println(sets.Replicas, err)
	// Output: 6 <nil>
}

// The second decision does not give away what the first gave to a cluster, although
// the cluster does not count it yet.
func ExampleInFlight() {
	var flying capacity.InFlight
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	flying.Assume("default/job", "member1", capacity.Assumed{Namespace: "default", Components: []capacity.Component{
		{Replicas: 3, Request: resource.List{resource.CPU: resource.MustParse("4")}},
	}}, noon.Add(capacity.DefaultAssumptionTTL))
	for _, minutes := range []int{1, 6} {
		now := noon.Add(time.Duration(minutes) * time.Minute)
		e, err := capacity.General{Assumed: flying.At(now)}.Estimate(exampleCluster(), &capacity.Replica{
			Request: resource.List{resource.CPU: resource.MustParse("2")},
		})
		fmt.Println("after", minutes, "minutes:", e.Replicas, err)
	}
	fmt.Println(flying.Expire(noon.Add(time.Hour)), "expired")
	// Output:
	// after 1 minutes: 7 <nil>
	// after 6 minutes: 13 <nil>
	// 1 expired
}

func ExampleQuota() {
	q := capacity.Quota{Quotas: map[string][]*api.ResourceQuota{"member1": {{
		ObjectMeta: api.ObjectMeta{Name: "team", Namespace: "shop"},
		Status: api.ResourceQuotaStatus{
			Hard: resource.List{"requests.cpu": resource.MustParse("20")}, Used: resource.List{"requests.cpu": resource.MustParse("5500m")},
		},
	}}}}
	r, err := q.Explain(exampleCluster(), capacity.ReplicaOf(api.MakePod("web").Namespace("shop").Requests("2", "1Gi").Obj()))
	fmt.Println(r.Replicas, r.Quota, r.Limit, err)
	e, err := q.Estimate(exampleCluster(), capacity.ReplicaOf(api.MakePod("web").Namespace("else").Requests("2", "1Gi").Obj()))
	fmt.Println(e.NoOpinion, err)
	// Output:
	// 7 shop/team cpu <nil>
	// true <nil>
}

// If an estimator fails for a cluster, the others still answer.
func ExampleCombined() {
	broken := exampleCluster()
	broken.Spec.ResourceModels[1].Ranges = nil
	var c capacity.Combined = capacity.Combine([]capacity.ClusterEstimator{
		capacity.General{}, capacity.General{IgnoreModels: true},
	}, broken, &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("3")}})
	var failed *capacity.EstimatorError
	fmt.Println(c.Estimate == capacity.Estimate{Replicas: 9}, c.By, errors.As(c.Err, &failed), failed.Estimator, failed.Cluster)
	fmt.Println(c.Err)
	// Output:
	// true general-estimator true general-estimator member1
	// estimator general-estimator: cluster member1: spec.resourceModels[1].ranges: "0 resources": a model must name at least one resource
}

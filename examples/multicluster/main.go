// Multicluster shows scheduling at two levels, as Karmada does it and beyond.
//
//	go run ./examples/multicluster
//
// First it shows the three clusters of Karmada's documentation for version 1.5, and
// how many replicas each of them takes: by the sums of its resources, and by its
// resource models under the rules of three versions. Then it divides replicas over
// generated clusters by such an estimate and places them on nodes. It divides again
// the replicas that found no room. The table shows how far the estimate was off.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"text/tabwriter"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the generated clusters")
	flag.Parse()
	if err := run(os.Stdout, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "multicluster:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, seed uint64) error {
	return errors.Join(documented(w), generated(w, seed))
}

func list(cpu, memory string) resource.List {
	return resource.List{resource.CPU: resource.MustParse(cpu), resource.Memory: resource.MustParse(memory)}
}

// summed returns a cluster of 4 CPUs and 110 pods, with some of each in use.
func summed(cpu, pods string) *api.Cluster {
	s := &api.ResourceSummary{Allocatable: list("4", "16265856Ki"), Allocated: list(cpu, "290Mi")}
	s.Allocatable[resource.Pods], s.Allocated[resource.Pods] = resource.MustParse("110"), resource.MustParse(pods)
	return &api.Cluster{Status: api.ClusterStatus{ResourceSummary: s}}
}

// graded returns a cluster with ample sums and nodes of the default grades.
func graded(nodes map[uint]int) *api.Cluster {
	c := &api.Cluster{}
	s := &api.ResourceSummary{Allocatable: list("1000", "4Ti")}
	s.Allocatable[resource.Pods] = resource.MustParse("1000")
	c.Spec.ResourceModels = capacity.DefaultModels()
	for _, m := range c.Spec.ResourceModels {
		s.AllocatableModelings = append(s.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade, Count: nodes[m.Grade]})
	}
	c.Status.ResourceSummary = s
	return c
}

// documented prints the tables of Karmada's documentation, by the rules of three versions.
func documented(w io.Writer) error {
	summaries := []*api.Cluster{summed("950m", "11"), summed("2", "11"), summed("2", "110")}
	models := []*api.Cluster{graded(map[uint]int{2: 1, 3: 6}), graded(map[uint]int{2: 4, 3: 4}), graded(map[uint]int{6: 1})}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "a replica requests\trule\tmember1\tmember2\tmember3\t")
	for _, rule := range []capacity.Rules{capacity.Karmada111, capacity.Karmada113, capacity.Karmada118} {
		for _, row := range []struct {
			what     string
			clusters []*api.Cluster
			request  resource.List
		}{
			{"500m CPU, by the sums", summaries, resource.List{resource.CPU: resource.MustParse("500m")}},
			{"3 CPUs and 20Gi, by models", models, list("3", "20Gi")},
			{"3 CPUs and 60Gi, by models", models, list("3", "60Gi")},
		} {
			fmt.Fprintf(t, "%s\t%v\t", row.what, rule)
			for _, c := range row.clusters {
				e, err := capacity.General{Rules: rule}.Estimate(c, &capacity.Replica{Request: row.request})
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%d\t", e.Replicas)
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}

// generate returns clusters of partly used nodes: 2 to 4 CPUs are free on each,
// which is one grade.
func generate(seed uint64) ([]multicluster.Member, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	var members []multicluster.Member
	for i := range 6 {
		m := multicluster.Member{Cluster: &api.Cluster{}, Snapshot: framework.NewSnapshot(framework.ZoneInterleaved)}
		m.Cluster.Name = fmt.Sprintf("cluster%d", i+1)
		m.Cluster.Spec.ResourceModels = capacity.DefaultModels()
		for k := range 10 + r.IntN(30) {
			node := fmt.Sprintf("node%02d", k)
			used := api.MakePod("used-"+node).Requests(fmt.Sprintf("%dm", r.IntN(2000)), "1Gi")
			p, err := m.Snapshot.NewPodInfo(used.Obj())
			if err != nil {
				return nil, err
			}
			if err := errors.Join(m.Snapshot.AddNode(api.MakeNode(node, "4", "32Gi").Obj()), m.Snapshot.AddPod(p, node)); err != nil {
				return nil, err
			}
		}
		members = append(members, m)
	}
	return members, nil
}

// generated divides replicas by the resource models and places them on nodes. It
// prints how many replicas each cluster was expected to take and how many it took.
func generated(w io.Writer, seed uint64) error {
	members, err := generate(seed)
	if err != nil {
		return err
	}
	byModels := multicluster.Scheduler{Estimators: []capacity.ClusterEstimator{capacity.General{Rules: capacity.Karmada111}}}
	f, err := multicluster.NewFederation(byModels, scheduling.Kubernetes137(), members)
	if err != nil {
		return err
	}
	const replicas = 80
	p, err := f.Place(&multicluster.Workload{
		Name: "default/web", Replicas: replicas, Replica: capacity.ReplicaOf(api.MakePod("web").Requests("3", "10Gi").Obj()),
		Placement: multicluster.Placement{ReplicaScheduling: &multicluster.ReplicaScheduling{ReplicaDivisionPreference: multicluster.PreferAggregated}},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d replicas of 3 CPUs and 10Gi, by models and rule Karmada111: %d unplaced\n", replicas, p.Unplaced)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "round\tcluster\testimated\tgiven\tplaced\t")
	for i, r := range p.Rounds {
		for _, s := range r.Shares {
			fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%d\t\n", i+1, s.Cluster, s.Estimated, s.Given, s.Placed)
		}
	}
	return t.Flush()
}

// Command bench measures berth beside Karmada: how many replicas fit, and how
// they are divided. Every line is checked for equal results before it is
// printed.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/util"
	"github.com/karmada-io/karmada/pkg/util/helper"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/parity/karmada"
	"github.com/berth-sched/berth/scheduling/multicluster"

	berthresource "github.com/berth-sched/berth/resource"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	fmt.Printf("%-44s %14s %14s %12s\n", "", "Karmada", "berth", "faster")
	capacity("replicas on 100 nodes, one by one (1.18)", 100)
	capacity("replicas on 500 nodes, one by one (1.18)", 500)
	models()
	for _, n := range []int{10_000, 1_000_000} {
		webster(n)
	}
	floor(1_000_000)
}

// once returns how long one call takes, measured on a single one if that is
// long.
func once(f func()) time.Duration {
	start := time.Now()
	f()
	if d := time.Since(start); d > 100*time.Millisecond {
		return d
	}
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			f()
		}
	})
	return time.Duration(r.NsPerOp())
}

func line(name string, theirs, ours time.Duration) {
	fmt.Printf("%-44s %14v %14v %11.0fx\n", name, theirs, ours, float64(theirs)/float64(max(ours, 1)))
}

func must[T comparable](what string, theirs, ours T) {
	if theirs != ours {
		fmt.Fprintf(os.Stderr, "%s: Karmada %v, berth %v\n", what, theirs, ours)
		os.Exit(1)
	}
}

// described returns a cluster of n nodes of one grade, for both.
func described(n int) (*clusterv1.Cluster, *framework.Cluster) {
	ours := &framework.Cluster{ObjectMeta: framework.ObjectMeta{Name: "m"}}
	ours.Spec.ResourceModels = estimator.DefaultModels()
	s := &framework.ResourceSummary{Allocatable: berthresource.List{
		berthresource.Pods: berthresource.MustParse("1000000"), berthresource.CPU: berthresource.MustParse("1000000"),
		berthresource.Memory: berthresource.MustParse("100Pi"),
	}}
	for i, m := range ours.Spec.ResourceModels {
		s.AllocatableModelings = append(s.AllocatableModelings, framework.AllocatableModeling{Grade: m.Grade})
		if i == 6 {
			s.AllocatableModelings[i].Count = n
		}
	}
	ours.Status.ResourceSummary = s
	return karmada.Convert[*clusterv1.Cluster](ours), ours
}

// capacity compares placing with computing: 32 CPUs and 256 GiB are free on
// each node, and a replica takes 500m and 1 GiB.
func capacity(name string, n int) {
	_, ours := described(n)
	request := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	replica := &estimator.Replica{Request: karmada.Convert[berthresource.List](request)}
	placed := 0
	theirs := once(func() {
		nodes := make([]*util.Resource, n)
		for i := range nodes {
			nodes[i] = util.NewResource(corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
			})
		}
		placed = karmada.PlaceOneByOne(nodes, request, 1<<31-1)
	})
	var e estimator.Estimate
	mine := once(func() { e, _ = estimator.General{}.Estimate(ours, replica) })
	must(name, int64(placed), e.Replicas)
	line(fmt.Sprintf("%s: %d", name, placed), theirs, mine)
}

// models compares the estimators of 1.13.
func models() {
	c, ours := described(500)
	request := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceMemory: resource.MustParse("20Gi")}
	replica := &estimator.Replica{Request: karmada.Convert[berthresource.List](request)}
	requirements := &workv1.ReplicaRequirements{ResourceRequest: request}
	g := client.NewGeneralEstimator()
	var want []workv1.TargetCluster
	theirs := once(func() {
		want, _ = g.MaxAvailableReplicas(context.Background(), []*clusterv1.Cluster{c}, requirements)
	})
	var e estimator.Estimate
	mine := once(func() { e, _ = estimator.General{Rule: estimator.MinCovers}.Estimate(ours, replica) })
	must("models", int64(want[0].Replicas), e.Replicas)
	line("estimate by models (1.13)", theirs, mine)
}

func fifty() (map[string]int64, []multicluster.Weight) {
	r := rand.New(rand.NewPCG(1, 2))
	byName := map[string]int64{}
	var list []multicluster.Weight
	for i := range 50 {
		w := multicluster.Weight{Name: fmt.Sprintf("m%02d", i), Weight: r.Int64N(40_000) + 1}
		byName[w.Name] = w.Weight
		list = append(list, w)
	}
	return byName, list
}

func webster(n int) {
	byName, list := fifty()
	var want map[string]int64
	theirs := once(func() { want = karmada.DivideOneByOne(n, byName) })
	var targets []multicluster.Target
	mine := once(func() { targets, _ = multicluster.Webster.Divide(int64(n), list, nil, multicluster.Ascending) })
	got := map[string]int64{}
	for _, t := range targets {
		got[t.Name] = t.Replicas
	}
	must("webster", true, maps.Equal(want, got))
	line(fmt.Sprintf("%d over 50 clusters, one by one (1.16)", n), theirs, mine)
}

func floor(n int) {
	_, list := fifty()
	var weights helper.ClusterWeightInfoList
	for _, w := range list {
		weights = append(weights, helper.ClusterWeightInfo{ClusterName: w.Name, Weight: w.Weight})
	}
	var d *helper.Dispenser
	theirs := once(func() {
		d = helper.NewDispenser(int32(n), nil)
		d.TakeByWeight(slices.Clone(weights))
	})
	var targets []multicluster.Target
	mine := once(func() { targets, _ = multicluster.Floor.Divide(int64(n), list, nil, multicluster.Ascending) })
	sum := int64(0)
	for _, t := range d.Result {
		i := slices.IndexFunc(targets, func(o multicluster.Target) bool { return o.Name == t.Name })
		must("floor of "+t.Name, int64(t.Replicas), targets[i].Replicas)
		sum += targets[i].Replicas
	}
	must("floor", int64(n), sum)
	line(fmt.Sprintf("%d over 50 clusters, by floors (1.13)", n), theirs, mine)
}

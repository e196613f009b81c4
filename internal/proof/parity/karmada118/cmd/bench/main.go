// Command bench measures berth beside Karmada 1.18: placing replicas first fit, and
// dividing them by Webster's method. It prints a line only if both results are
// equal.
//
//	go run ./cmd/bench -nodes 500 -pods 1000000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/util/helper"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada118"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

func main() {
	nodes := flag.Int("nodes", 500, "nodes of a cluster of which the capacity is estimated; each takes 64 replicas")
	pods := flag.Int("pods", 1_000_000, "replicas that are divided over 50 clusters")
	flag.Parse()
	live.Quiet()
	if err := firstFit(*nodes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := divide(*pods); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// timed returns how long one call takes. If a call is long, it measures only one.
func timed(f func()) time.Duration {
	start := time.Now()
	f()
	if d := time.Since(start); d > 100*time.Millisecond {
		return d
	}
	return time.Duration(testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			f()
		}
	}).NsPerOp())
}

func line(what string, theirs, ours time.Duration) {
	fmt.Printf("%-40s Karmada 1.18 %14v, berth %10v: %11.1f times faster\n", what, theirs, ours, float64(theirs)/float64(max(ours, 1)))
}

// firstFit estimates for nodes with 32 CPUs and 256Gi free and replicas of 500m
// and 1Gi.
func firstFit(nodes int) error {
	c := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	c.Spec.ResourceModels = capacity.DefaultModels()
	c.Status.ResourceSummary = &api.ResourceSummary{
		Allocatable: resource.List{
			resource.Pods: resource.MustParse("1000000"), resource.CPU: resource.MustParse("1000000"), resource.Memory: resource.MustParse("100Pi"),
		},
		AllocatableModelings: []api.AllocatableModeling{{Grade: 6, Count: nodes}},
	}
	replica := &capacity.Replica{Request: resource.List{resource.CPU: resource.MustParse("500m"), resource.Memory: resource.MustParse("1Gi")}}
	theirs := live.Convert[*clusterv1.Cluster](c)
	request := client.ReplicaEstimationRequest{
		Clusters: []*clusterv1.Cluster{theirs}, ReplicaRequirements: live.Convert[*workv1.ReplicaRequirements](map[string]any{"resourceRequest": replica.Request}),
	}
	var want []workv1.TargetCluster
	var err error
	slow := timed(func() { want, err = client.NewGeneralEstimator().MaxAvailableReplicas(context.Background(), request) })
	if err != nil {
		return err
	}
	var got capacity.Estimate
	fast := timed(func() { got, err = capacity.General{}.Estimate(c, replica) })
	if err != nil || int64(want[0].Replicas) != got.Replicas {
		return fmt.Errorf("first fit on %d nodes: Karmada %d, berth %d, %v", nodes, want[0].Replicas, got.Replicas, err)
	}
	line(fmt.Sprintf("first fit, %d nodes, %d replicas", nodes, got.Replicas), slow, fast)
	return nil
}

func divide(n int) error {
	var theirs helper.ClusterWeightInfoList
	var ours []multicluster.Weight
	for i := range int64(50) {
		name, weight := fmt.Sprintf("m%02d", i), 1+(i*i*7919+i*104729)%40_000
		theirs = append(theirs, helper.ClusterWeightInfo{ClusterName: name, Weight: weight})
		ours = append(ours, multicluster.Weight{Name: name, Weight: weight})
	}
	var want, got []multicluster.Target
	var err error
	slow := timed(func() { want = karmada118.Share(int32(n), theirs, "") })
	fast := timed(func() { got, err = multicluster.Webster.Divide(int64(n), ours, nil, multicluster.Ascending) })
	if err != nil || !slices.Equal(want, got) {
		return fmt.Errorf("%d over 50 clusters: Karmada %v, berth %v, %v", n, want, got, err)
	}
	line(fmt.Sprintf("%d over 50 clusters", n), slow, fast)
	return nil
}

// Package speed measures berth beside Karmada: estimating how many replicas fit, and
// dividing them. Results must be equal; a difference is an error.
package speed

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/estimator/client"
	"github.com/karmada-io/karmada/pkg/util"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/scheduling/multicluster"

	berthresource "github.com/berth-sched/berth/resource"
)

// A Bench is a run that prints a line for each measurement.
type Bench struct {
	Nodes, Replicas int // the large sizes
	w               io.Writer
}

// New reads the arguments of a command and prints the head of the table.
func New(args []string, w io.Writer) (*Bench, error) {
	b := &Bench{w: w}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&b.Nodes, "nodes", 500, "nodes of a cluster of which the capacity is estimated; each takes 64 replicas")
	flags.IntVar(&b.Replicas, "pods", 1_000_000, "replicas that are divided over 50 clusters")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	live.Quiet()
	fmt.Fprintf(w, "%-38s %-22s %14s %14s %12s\n", "", "original", "its time", "berth", "faster")
	return b, nil
}

// once returns how long one call takes. If a call is long, it measures only one.
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

func (b *Bench) line(what, original string, theirs, ours time.Duration) {
	fmt.Fprintf(b.w, "%-38s %-22s %14v %14v %11.1fx\n", what, original, theirs, ours, float64(theirs)/float64(max(ours, 1)))
}

// described returns a cluster of n nodes of one grade, for both.
func described(n int) (*clusterv1.Cluster, *api.Cluster) {
	ours := &api.Cluster{ObjectMeta: api.ObjectMeta{Name: "m"}}
	ours.Spec.ResourceModels = capacity.DefaultModels()
	s := &api.ResourceSummary{Allocatable: berthresource.List{
		berthresource.Pods: berthresource.MustParse("1000000"), berthresource.CPU: berthresource.MustParse("1000000"),
		berthresource.Memory: berthresource.MustParse("100Pi"),
	}}
	for i, m := range ours.Spec.ResourceModels {
		s.AllocatableModelings = append(s.AllocatableModelings, api.AllocatableModeling{Grade: m.Grade})
		if i == 6 {
			s.AllocatableModelings[i].Count = n
		}
	}
	ours.Status.ResourceSummary = s
	return live.Convert[*clusterv1.Cluster](ours), ours
}

// FirstFit compares placing one by one with computing. 32 CPUs and 256 GiB are free
// on each node, and a replica takes 500m and 1 GiB.
func (b *Bench) FirstFit() error {
	_, ours := described(b.Nodes)
	request := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	replica := &capacity.Replica{Request: live.Convert[berthresource.List](request)}
	placed := 0
	theirs := once(func() {
		nodes := make([]*util.Resource, b.Nodes)
		for i := range nodes {
			nodes[i] = util.NewResource(corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("110"),
			})
		}
		placed = karmada.PlaceOneByOne(nodes, request, 1<<31-1)
	})
	var e capacity.Estimate
	mine := once(func() { e, _ = capacity.General{}.Estimate(ours, replica) })
	if int64(placed) != e.Replicas {
		return fmt.Errorf("first fit on %d nodes: Karmada %d, berth %d", b.Nodes, placed, e.Replicas)
	}
	b.line(fmt.Sprintf("first fit, %d nodes, %d replicas", b.Nodes, placed), "1.18, transcribed", theirs, mine)
	return nil
}

// MinCovers compares the general estimators by the rules of Karmada113.
func (b *Bench) MinCovers(version string) error {
	c, ours := described(b.Nodes)
	request := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceMemory: resource.MustParse("20Gi")}
	replica := &capacity.Replica{Request: live.Convert[berthresource.List](request)}
	requirements := &workv1.ReplicaRequirements{ResourceRequest: request}
	g := client.NewGeneralEstimator()
	var want []workv1.TargetCluster
	theirs := once(func() {
		want, _ = g.MaxAvailableReplicas(context.Background(), []*clusterv1.Cluster{c}, requirements)
	})
	var e capacity.Estimate
	mine := once(func() { e, _ = capacity.General{Rules: capacity.Karmada113}.Estimate(ours, replica) })
	if int64(want[0].Replicas) != e.Replicas {
		return fmt.Errorf("models: Karmada %d, berth %d", want[0].Replicas, e.Replicas)
	}
	b.line("estimate by models", version, theirs, mine)
	return nil
}

// Fifty returns the weights of fifty clusters.
func Fifty() []multicluster.Weight {
	r := rand.New(rand.NewPCG(1, 2))
	var list []multicluster.Weight
	for i := range 50 {
		list = append(list, multicluster.Weight{Name: fmt.Sprintf("m%02d", i), Weight: r.Int64N(40_000) + 1})
	}
	return list
}

// Divide compares a division of n replicas over fifty clusters with a method.
func (b *Bench) Divide(n int, method multicluster.Method, version string, divide func() map[string]int64) error {
	list := Fifty()
	var want map[string]int64
	theirs := once(func() { want = divide() })
	var targets []multicluster.Target
	mine := once(func() { targets, _ = method.Divide(int64(n), list, nil, multicluster.Ascending) })
	got, sum := map[string]int64{}, int64(0)
	for _, t := range targets {
		got[t.Name] = t.Replicas
		sum += t.Replicas
	}
	if !maps.Equal(want, got) || sum != int64(n) {
		return fmt.Errorf("%v of %d: Karmada %v, berth %v", method, n, want, got)
	}
	b.line(fmt.Sprintf("%d over 50 clusters, %v", n, method), version, theirs, mine)
	return nil
}

// Note explains the transcriptions.
func (b *Bench) Note() {
	fmt.Fprintln(b.w, `
"transcribed": that version is imported by another module beside this one, which
measures it: karmada116 or karmada118. Its loop is written down in
internal/proof/parity/karmada113/onebyone.go as it works, over the types of the version
that is imported here. All other lines measure Karmada's own code.`)
}

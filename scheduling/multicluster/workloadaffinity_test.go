//go:build full

package multicluster_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/multicluster"
)

// TestMatesOfADecision compares the verdicts of decisions, which read the other workloads once,
// with those of the filters on their own.
func TestMatesOfADecision(t *testing.T) {
	rejected, failed, passed := 0, 0, 0
	for seed := range uint64(6000) {
		r := rand.New(rand.NewPCG(seed, 1))
		workload := func() *multicluster.Workload {
			w := &multicluster.Workload{Name: fmt.Sprintf("n%d/w%d", r.IntN(5)/4, r.IntN(3)), Kind: []string{"Job", "job", "Pod"}[r.IntN(3)]}
			w.Labels = map[string]string{"app": fmt.Sprint(r.IntN(5) / 4)}
			term := &multicluster.WorkloadAffinityTerm{GroupByLabelKey: []string{"app", "app", "app", "none"}[r.IntN(4)]}
			w.Placement.WorkloadAffinity = &multicluster.WorkloadAffinity{}
			if r.IntN(4) > 0 {
				w.Placement.WorkloadAffinity.Affinity = term
			}
			if r.IntN(4) > 0 {
				w.Placement.WorkloadAffinity.AntiAffinity = term
			}
			for range r.IntN(5) { // a cluster may be there twice
				w.Clusters = append(w.Clusters, multicluster.Target{Name: fmt.Sprint("c", r.IntN(3))})
			}
			return w
		}
		var others []*multicluster.Workload
		for range r.IntN(8) {
			others = append(others, workload())
			if r.IntN(40) == 0 {
				others = append(others, nil)
			}
		}
		w := workload()
		w.Clusters = w.Clusters[:min(1, len(w.Clusters))]
		clusters := []*api.Cluster{clusterOf("c0"), clusterOf("c1"), clusterOf("c2"), clusterOf("c3")}
		for _, f := range []multicluster.Filter{multicluster.AffinityToWorkloads{Others: others}, multicluster.AntiAffinityToWorkloads{Others: others}} {
			want := map[string]framework.Status{}
			for _, c := range clusters {
				want[c.Name] = f.Filter(w, c)
			}
			x := (multicluster.Scheduler{Filters: []multicluster.Filter{f}}).Explain(clusters, w)
			for _, c := range x.Clusters {
				status := want[c.Cluster]
				switch {
				case status.IsRejected():
					rejected++
					if c.Feasible || fmt.Sprint(c.Reasons) != fmt.Sprint(status.Reasons()) {
						t.Fatalf("seed %d: %s of %s: feasible %t, %v, want %v", seed, f.Name(), c.Cluster, c.Feasible, c.Reasons, status)
					}
				case !status.IsSuccess(): // the decision ends here
					failed++
					if !strings.Contains(x.Error, "cluster "+c.Cluster+": answered "+status.String()) {
						t.Fatalf("seed %d: %s of %s: error %q, want %v", seed, f.Name(), c.Cluster, x.Error, status)
					}
				case !c.Feasible:
					t.Fatalf("seed %d: %s rejects %s for %v", seed, f.Name(), c.Cluster, c.Reasons)
				default:
					passed++
					continue
				}
				if !status.IsRejected() {
					break
				}
			}
		}
	}
	if rejected < 1000 || failed < 100 || passed < 1000 {
		t.Fatalf("%d verdicts reject, %d fail and %d pass; want more of each", rejected, failed, passed)
	}
}

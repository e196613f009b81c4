package scheduling_test

import (
	"context"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
)

// TestEvaluateAgreesWithExplain asks about all nodes in both ways, on random
// clusters.
func TestEvaluateAgreesWithExplain(t *testing.T) {
	for seed := range uint64(16) {
		snap, pending, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		p := scheduling.Kubernetes137()
		p.Extenders = []scheduling.Extender{{Name: "never asked", Filter: func(context.Context, *framework.PodInfo, []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
			t.Error("the extender was asked")
			return scheduling.ExtenderVerdict{}, nil
		}}}
		sched, plain := build(t, p), build(t, scheduling.Kubernetes137())
		var nodes []*framework.NodeInfo
		for _, n := range snap.All() {
			nodes = append(nodes, n)
		}
		for _, pod := range pending {
			e := plain.Explain(snap, pod)
			verdicts, err := sched.FilterNodes(snap, pod, nodes)
			if err != nil {
				if e.Error == "" {
					t.Fatalf("cluster %d, pod %s: %v", seed, pod.Pod.Key(), err)
				}
				continue
			}
			var feasible []*framework.NodeInfo
			var totals []int64
			for i, v := range verdicts {
				n := e.Nodes[i]
				if v.Status.IsSuccess() != (n.Verdict == scheduling.VerdictFeasible) || !v.Status.IsSuccess() && !slices.Equal(v.Status.Reasons(), n.Reasons) {
					if pod.Pod.Status.NominatedNodeName == "" {
						t.Fatalf("cluster %d, pod %s, node %s: %v, want %s %v", seed, pod.Pod.Key(), n.Node, v, n.Verdict, n.Reasons)
					}
				}
				if v.Status.IsSuccess() {
					feasible, totals = append(feasible, nodes[i]), append(totals, n.Total)
				}
			}
			if len(feasible) < 2 || e.Unscored || e.Chosen == "" {
				continue
			}
			got, err := sched.ScoreNodes(snap, pod, feasible)
			if err != nil || !slices.Equal(got, totals) {
				t.Fatalf("cluster %d, pod %s: totals %v, %v, want %v", seed, pod.Pod.Key(), got, err, totals)
			}
			if slices.Max(got) > sched.MaxScore() {
				t.Errorf("total %d above MaxScore %d", slices.Max(got), sched.MaxScore())
			}
		}
	}
}

func TestEvaluateSomeNodes(t *testing.T) {
	s := abc(t)
	sched := build(t, scheduling.Kubernetes137())
	if got := sched.MaxScore(); got != 1500 {
		t.Errorf("MaxScore = %d, want 1500: weights 3, 2, 1, 1, 2, 2, 2, 1, 1", got)
	}
	pod := api.MakePod("p").Obj()
	pod.Spec.NodeName = "b"
	info := podInfo(t, s, pod)
	verdicts, err := sched.FilterNodes(s, info, []*framework.NodeInfo{s.Node("b"), s.Node("a")})
	if err != nil || len(verdicts) != 2 || !verdicts[0].Status.IsSuccess() || verdicts[1].Status.Code() != framework.UnschedulableAndUnresolvable {
		t.Errorf("verdicts on b and a: %v, %v, want b alone", verdicts, err)
	}
	if _, err := sched.FilterNodes(nil, info, nil); err == nil {
		t.Error("a snapshot that is nil is taken")
	}
	if _, err := sched.ScoreNodes(s, nil, nil); err == nil {
		t.Error("a pod that is nil is taken")
	}
}

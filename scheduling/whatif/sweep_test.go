package whatif_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

func ExamplePlanner_Sweep() {
	s := cluster(
		[]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "4", "16Gi")},
		api.MakePod("db").Requests("4", "2Gi").Node("a").Obj(),
	)
	web := pod(s, api.MakePod("web").Requests("1", "1Gi").Obj())
	sweep, err := planner(s).Sweep([]*framework.PodInfo{web}, []whatif.Weights{
		{"NodeResourcesBalancedAllocation": 9},
		{"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 9},
	})
	if err != nil {
		panic(err)
	}
	if err := sweep.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var last whatif.SweepOutcome = sweep.Outcomes[1]
	os.Stdout.WriteString(sweep.Base[0] + " " + last.Nodes[0] + "\n")
	// Output:
	// 1 pods under 2 weightings
	// WEIGHTS                                               PODS THAT GO ELSEWHERE
	// NodeResourcesBalancedAllocation=9                     1
	// NodeResourcesBalancedAllocation=9 NodeResourcesFit=0  1
	// b a
}

// TestSweep compares with schedulers of these weights.
func TestSweep(t *testing.T) {
	differ := 0
	for seed := range uint64(60) {
		s, pending := random(t, seed)
		profile := scheduling.Kubernetes137()
		r := rand.New(rand.NewPCG(seed, 3))
		profile.TieRule = []scheduling.TieRule{scheduling.Heap, scheduling.Random, scheduling.First}[seed%3]
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		var weightings []whatif.Weights
		for range 5 {
			w := whatif.Weights{}
			for _, x := range profile.Score {
				if r.IntN(2) == 0 {
					w[x.Plugin.Name()] = int64(r.IntN(20))
				}
			}
			w["ImageLocality"] = 1
			weightings = append(weightings, w)
		}
		before := content(s)
		got, err := p.Sweep(pending, weightings)
		if content(s) != before {
			t.Errorf("seed %d: the snapshot changed", seed)
		}
		for i, w := range weightings {
			other := profile
			other.Score = nil
			for _, x := range profile.Score {
				if v, ok := w[x.Plugin.Name()]; ok {
					if v == 0 {
						continue
					}
					x.Weight = v
				}
				other.Score = append(other.Score, x)
			}
			sched, e := scheduling.New(other)
			if e != nil {
				t.Fatal(e)
			}
			count := 0
			for k, pod := range pending {
				if pod.HasGates() {
					if err == nil && got.Outcomes[i].Nodes[k] != "" {
						t.Errorf("seed %d: %s waits for its gates, but goes to %q", seed, pod.Pod.Key(), got.Outcomes[i].Nodes[k])
					}
					continue
				}
				d, e := sched.Schedule(s, pod)
				var fit *scheduling.FitError
				if e != nil && !errors.As(e, &fit) {
					if err == nil {
						t.Errorf("seed %d: Sweep has no error, want %v", seed, e)
					}
					continue
				}
				if err != nil {
					continue
				}
				if got.Outcomes[i].Nodes[k] != d.Node {
					t.Errorf("seed %d: weights %v: %s goes to %q, want %q", seed, w, pod.Pod.Key(), got.Outcomes[i].Nodes[k], d.Node)
				}
				if d.Node != got.Base[k] {
					count++
				}
			}
			if err == nil && count != got.Outcomes[i].Differ {
				t.Errorf("seed %d: Differ = %d, want %d", seed, got.Outcomes[i].Differ, count)
			}
			differ += count
		}
	}
	if differ < 20 {
		t.Errorf("%d choices differ; the test shows too little", differ)
	}
	s, pending := random(t, 1)
	zeros := whatif.Weights{}
	for _, x := range scheduling.Kubernetes137().Score {
		zeros[x.Plugin.Name()] = 0
	}
	for _, w := range []whatif.Weights{{"X": 1}, {"ImageLocality": -1}, zeros, {"ImageLocality": 1 << 50}} {
		if _, err := planner(s).Sweep(pending, []whatif.Weights{w}); err == nil {
			t.Errorf("weights %v are no error", w)
		}
	}
}

package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func ExampleScoreTable() {
	s := twoNodes()
	if err := s.AddPod(pending(s, "running", "1", "1Gi"), "large"); err != nil {
		panic(err)
	}
	sched := scheduler(byResources())
	table, err := sched.ScoreTable(s, pending(s, "web", "1", "1Gi"))
	if err != nil {
		panic(err)
	}
	fmt.Println(table.Plugins(), table.Scores("small"), table.Scores("large"))
	for _, weights := range [][]int64{sched.Weights(), {0, 1}} {
		d, err := table.Choose(weights)
		if err != nil {
			panic(err)
		}
		fmt.Println(weights, d.Node, d.Score)
	}
	// Output:
	// [NodeResourcesFit NodeResourcesBalancedAllocation] [62 68] [84 72]
	// [2 1] large 240
	// [0 1] large 72
}

// TestScoreTable checks, on random clusters and for every tie rule, that a choice under
// other weights is the decision of a scheduler with these weights.
func TestScoreTable(t *testing.T) {
	differ, tied := 0, 0
	for seed := range uint64(60) {
		s, waiting, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		profile := scheduling.Kubernetes137()
		profile.Seed = seed
		profile.TieRule = scheduling.TieRule(seed % 6)
		if profile.TieRule == scheduling.Custom {
			profile.TieBreak = func(_ *framework.Cycle, tied []*framework.NodeInfo) int { return len(tied) / 2 }
		}
		if seed%5 == 0 {
			profile.Score = profile.Score[:2] // more ties
		}
		base := scheduler(profile)
		weightings := [][]int64{base.Weights()}
		for range 4 {
			w := make([]int64, len(profile.Score))
			for i := range w {
				w[i] = int64(r.IntN(6))
			}
			w[r.IntN(len(w))] = 3
			weightings = append(weightings, w)
		}
		var others []*scheduling.Scheduler
		for _, w := range weightings {
			p := profile
			p.Score = nil
			for i, x := range profile.Score {
				if w[i] > 0 {
					x.Weight = w[i]
					p.Score = append(p.Score, x)
				}
			}
			others = append(others, scheduler(p))
		}
		for _, pod := range waiting {
			table, err := base.ScoreTable(s, pod)
			for i, w := range weightings {
				want, wantErr := others[i].Schedule(s, pod)
				if err != nil {
					if wantErr == nil {
						t.Fatalf("seed %d: ScoreTable: %v, but weights %v give %s", seed, err, w, want.Node)
					}
					continue
				}
				got, gotErr := table.Choose(w)
				if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
					t.Fatalf("seed %d: weights %v: error %v, want %v", seed, w, gotErr, wantErr)
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(scheduling.Decision{})); diff != "" {
					t.Fatalf("seed %d, %s, rule %v, weights %v (-want +got):\n%s", seed, pod.Pod.Key(), profile.TieRule, w, diff)
				}
				if i > 0 && gotErr == nil && got.Node != "" && !slices.Equal(w, weightings[0]) {
					differ++
				}
				if got.TiedNodes > 1 {
					tied++
				}
			}
		}
	}
	if differ < 200 || tied < 60 {
		t.Errorf("%d decisions under other weights, %d of them tied; the test shows too little", differ, tied)
	}
}

func TestScoreTableRefuses(t *testing.T) {
	s := twoNodes()
	sched := scheduler(byResources())
	table, err := sched.ScoreTable(s, pending(s, "web", "1", "1Gi"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range [][]int64{nil, {1}, {1, -1}, {1, 1 << 50}} {
		if _, err := table.Choose(w); err == nil {
			t.Errorf("weights %v are no error", w)
		}
	}
	if _, err := sched.ScoreTable(s, nil); err == nil {
		t.Error("a nil pod is no error")
	}
	p := byResources()
	p.Extenders = []scheduling.Extender{{Name: "x"}}
	if _, err := scheduler(p).ScoreTable(s, pending(s, "web", "1", "1Gi")); err == nil {
		t.Error("a profile with extenders is no error")
	}
}

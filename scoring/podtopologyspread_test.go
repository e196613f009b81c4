package scoring_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

func normalizedSpread(raw []int64) []int64 {
	var out []int64
	for _, r := range raw {
		out = append(out, scoring.SpreadNormalizeScore(r, slices.Min(raw), slices.Max(raw)))
	}
	return out
}

func TestSpreadNormalizeScore(t *testing.T) {
	tests := []struct {
		name      string
		raw, want []int64
	}{
		{"thirds", []int64{0, 1, 2, 3}, []int64{100, 66, 33, 0}},
		{"above 0", []int64{3, 8, 4}, []int64{100, 37, 87}},
		{"zeros", []int64{0, 0}, []int64{100, 100}},
		{"left out by its score", []int64{-1, 0}, []int64{0, 100}},
		{"left out, and counts for the smallest", []int64{-1, 100, 200}, []int64{0, 49, 0}},
		{"all left out", []int64{-1, -1}, []int64{0, 0}},
		{"below, nothing above 0", []int64{-3, -1, -2, 0}, []int64{100, 0, 100, 100}},
		{"below 0 would lead below 0", []int64{-2, 4, 0}, []int64{100, 0, 50}},
		{"huge", []int64{math.MinInt64, math.MaxInt64, 0}, []int64{100, 0, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, normalizedSpread(test.raw)); diff != "" {
				t.Errorf("normalized %v (-want +got):\n%s", test.raw, diff)
			}
		})
	}
	if got := scoring.SpreadNormalizeScore(9, 3, 8); got != 37 {
		t.Errorf("SpreadNormalizeScore(9, 3, 8) = %d, want 37, as for the nearer end", got)
	}
}

// TestSpreadNormalizeScoreAgainstFormula computes with numbers of any size.
func TestSpreadNormalizeScoreAgainstFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-3, 9), rapid.Int64Range(-2, 900), rapid.Int64()), 1, 6).Draw(t, "raw")
		var want []int64
		for _, r := range raw {
			want = append(want, spreadFormula(r, slices.Min(raw), max(0, slices.Max(raw))))
		}
		if diff := cmp.Diff(want, normalizedSpread(raw)); diff != "" {
			t.Errorf("normalized %v (-want +got):\n%s", raw, diff)
		}
	})
}

// spreadFormula starts from a largest of 0, as the original does.
func spreadFormula(raw, smallest, largest int64) int64 {
	switch {
	case raw == -1:
		return 0
	case largest == 0:
		return 100
	}
	x := new(big.Int).Add(big.NewInt(largest), big.NewInt(smallest))
	x.Sub(x, big.NewInt(raw)).Mul(x, big.NewInt(100)).Quo(x, big.NewInt(largest))
	if x.Sign() < 0 {
		return 0
	}
	return x.Int64()
}

// TestPodTopologySpreadMaxSkewZero: a node without pods gets the raw score -1, which
// is the smallest.
func TestPodTopologySpreadMaxSkewZero(t *testing.T) {
	web := api.MakePod("web").Labels("app", "web")
	s := snapshotOf(t, []*api.Node{
		api.MakeNode("empty", "4", "8Gi").Obj(), api.MakeNode("used", "4", "8Gi").Obj(),
	}, web.Name("old").Node("used").Obj())
	pod := web.Spread(0, api.LabelHostname, api.ScheduleAnyway, "app=web").Obj()
	raw, status := scoresOf(t, s, scoring.PodTopologySpread{}, pod)
	if !status.IsSuccess() {
		t.Fatalf("PreScore = %v, want Success", status)
	}
	if diff := cmp.Diff([]int64{-1, 0}, raw); diff != "" { // 0-1, and round(ln(4)-1)
		t.Errorf("raw scores (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{0, 100}, normalizedSpread(raw)); diff != "" {
		t.Errorf("normalized scores (-want +got):\n%s", diff)
	}
}

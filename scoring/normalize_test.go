package scoring_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func normalized(scores []int64, reverse bool) []int64 {
	var out []int64
	for _, s := range scores {
		out = append(out, scoring.DefaultNormalizeScore(s, slices.Max(scores), reverse))
	}
	return out
}

func TestDefaultNormalizeScore(t *testing.T) {
	tests := []struct {
		name    string
		scores  []int64
		reverse bool
		want    []int64
	}{
		{"equal", []int64{1, 1, 1, 1}, false, []int64{100, 100, 100, 100}},
		{"one far above", []int64{1000, 1, 1, 1}, false, []int64{100, 0, 0, 0}},
		{"zeros", []int64{0, 0}, false, []int64{0, 0}},
		{"thirds", []int64{0, 1, 2, 3}, false, []int64{0, 33, 66, 100}},
		{"reversed", []int64{0, 1, 1, 1}, true, []int64{100, 0, 0, 0}},
		{"reversed zeros", []int64{0, 0}, true, []int64{100, 100}},
		{"reversed thirds", []int64{0, 1, 2, 3}, true, []int64{100, 67, 34, 0}},
		{"negative", []int64{-5, 10, -1}, false, []int64{0, 100, 0}},
		{"all negative", []int64{-5, -1}, false, []int64{0, 0}},
		{"all negative, reversed", []int64{-5, -1}, true, []int64{100, 100}},
		{"huge", []int64{math.MaxInt64, math.MaxInt64 / 2, math.MinInt64}, false, []int64{100, 49, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, normalized(test.scores, test.reverse)); diff != "" {
				t.Errorf("normalized %v (-want +got):\n%s", test.scores, diff)
			}
		})
	}
	if got := scoring.DefaultNormalizeScore(7, 5, false); got != 100 {
		t.Errorf("DefaultNormalizeScore(7, 5, false) = %d, want 100", got)
	}
}

func TestDefaultNormalizeScoreAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(0, math.MaxInt64)), 1, 6).Draw(t, "scores")
		reverse := rapid.Bool().Draw(t, "reverse")
		if diff := cmp.Diff(oracle.Normalize(scores, reverse), normalized(scores, reverse)); diff != "" {
			t.Errorf("normalized %v, reverse %v (-want +got):\n%s", scores, reverse, diff)
		}
		raw, largest := rapid.Int64().Draw(t, "raw"), rapid.Int64().Draw(t, "largest")
		if got := scoring.DefaultNormalizeScore(raw, largest, reverse); got < 0 || got > 100 {
			t.Errorf("DefaultNormalizeScore(%d, %d, %v) = %d, want 0 to 100", raw, largest, reverse, got)
		}
	})
}

package scoring_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

var straight = scoring.Shape{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 100}}

func TestAllocatedScores(t *testing.T) {
	const largest = math.MaxInt64
	tests := []struct {
		requested, allocatable int64
		least, most, ratio     int64
	}{
		{0, 4000, 100, 0, 0},
		{3000, 4000, 25, 75, 75},
		{6000, 10000, 40, 60, 60},
		{4001, 4000, 0, 100, 100},
		{1, 3, 66, 33, 33},
		{2, 3, 33, 66, 66},
		{999, 1000, 0, 99, 99},
		{4000, 4000, 0, 100, 100},
		{0, 0, 0, 0, 100}, // a missing resource is used up
		{1, 0, 0, 0, 100},
		{-1, 4000, 100, 0, 0},
		{1, -1, 0, 0, 100},
		{largest, largest, 0, 100, 100},
		{0, largest, 100, 0, 0},
		{largest / 2, largest, 50, 49, 49},
		{math.MinInt64, largest, 100, 0, 0},
		{largest, math.MinInt64, 0, 0, 100},
		{1<<53 - 1, 1 << 53, 0, 99, 99}, // a quotient that rounds to 100
		{1<<53/100 - 1, 1 << 53 / 100, 0, 99, 99},
	}
	for _, test := range tests {
		if got := scoring.LeastAllocatedScore(test.requested, test.allocatable); got != test.least {
			t.Errorf("LeastAllocatedScore(%d, %d) = %d, want %d", test.requested, test.allocatable, got, test.least)
		}
		if got := scoring.MostAllocatedScore(test.requested, test.allocatable); got != test.most {
			t.Errorf("MostAllocatedScore(%d, %d) = %d, want %d", test.requested, test.allocatable, got, test.most)
		}
		if got := scoring.RequestedToCapacityRatioScore(straight, test.requested, test.allocatable); got != test.ratio {
			t.Errorf("RequestedToCapacityRatioScore(straight, %d, %d) = %d, want %d", test.requested, test.allocatable, got, test.ratio)
		}
	}
}

// drawAmount draws amounts of every magnitude, with a preference for the neighbours
// of powers of two.
var drawAmount = rapid.Custom(func(t *rapid.T) int64 {
	if rapid.Bool().Draw(t, "near a power of two") {
		return int64(1)<<rapid.IntRange(0, 62).Draw(t, "power") + rapid.Int64Range(-2, 2).Draw(t, "off")
	}
	return rapid.Int64().Draw(t, "amount")
})

func TestAllocatedScoresAgainstOracle(t *testing.T) {
	points := []oracle.Point{{X: 0, Y: 0}, {X: 100, Y: 100}}
	rapid.Check(t, func(t *rapid.T) {
		requested, allocatable := drawAmount.Draw(t, "requested"), drawAmount.Draw(t, "allocatable")
		if allocatable > 0 && rapid.Bool().Draw(t, "fits") {
			requested = rapid.Int64Range(0, allocatable).Draw(t, "requested of it")
		}
		least := scoring.LeastAllocatedScore(requested, allocatable)
		if want := oracle.LeastAllocated(requested, allocatable); least != want {
			t.Errorf("LeastAllocatedScore(%d, %d) = %d, want %d", requested, allocatable, least, want)
		}
		most := scoring.MostAllocatedScore(requested, allocatable)
		if want := oracle.MostAllocated(requested, allocatable); most != want {
			t.Errorf("MostAllocatedScore(%d, %d) = %d, want %d", requested, allocatable, most, want)
		}
		ratio := scoring.RequestedToCapacityRatioScore(straight, requested, allocatable)
		if want := oracle.CapacityRatio(points, requested, allocatable); ratio != want {
			t.Errorf("RequestedToCapacityRatioScore(straight, %d, %d) = %d, want %d", requested, allocatable, ratio, want)
		}
		if sum := least + most; 0 <= requested && requested <= allocatable && allocatable > 0 && sum != 99 && sum != 100 {
			t.Errorf("LeastAllocatedScore(%d, %d) + MostAllocatedScore = %d + %d, want 99 or 100", requested, allocatable, least, most)
		}
	})
}

// TestAllocatedScoresAreMonotone requests a little more of the same resource.
func TestAllocatedScoresAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allocatable := drawAmount.Draw(t, "allocatable")
		a, b := drawAmount.Draw(t, "a"), drawAmount.Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if x, y := scoring.LeastAllocatedScore(a, allocatable), scoring.LeastAllocatedScore(b, allocatable); x < y {
			t.Errorf("LeastAllocatedScore(%d, %d) = %d, but %d for %d", a, allocatable, x, y, b)
		}
		if x, y := scoring.MostAllocatedScore(a, allocatable), scoring.MostAllocatedScore(b, allocatable); x > y {
			t.Errorf("MostAllocatedScore(%d, %d) = %d, but %d for %d", a, allocatable, x, y, b)
		}
	})
}

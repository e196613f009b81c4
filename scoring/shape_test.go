package scoring_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func TestShapeAt(t *testing.T) {
	tests := []struct {
		name  string
		shape scoring.Shape
		want  map[int64]int64
	}{
		{"none", nil, map[int64]int64{-1: 0, 0: 0, 100: 0}},
		{"one point", scoring.Shape{{50, 7}}, map[int64]int64{0: 7, 50: 7, 100: 7}},
		{"rising", scoring.Shape{{10, 1}, {90, 9}}, map[int64]int64{-10: 1, 0: 1, 10: 1, 15: 1, 19: 1, 20: 2, 89: 8, 90: 9, 110: 9}},
		{"up and down", scoring.Shape{{0, 2}, {40, 10}, {100, 0}}, map[int64]int64{20: 6, 30: 8, 70: 5}},
		{"falling, truncated toward zero", scoring.Shape{{0, 100}, {50, 20}, {100, 0}}, map[int64]int64{1: 99, 10: 84, 25: 60, 49: 22, 51: 20, 75: 10, 99: 1}},
		{"from end to end", scoring.Shape{{math.MinInt64, math.MinInt64}, {math.MaxInt64, math.MaxInt64}}, map[int64]int64{math.MinInt64: math.MinInt64, -7: -7, 0: 0, math.MaxInt64: math.MaxInt64}},
		{"from end to end, falling", scoring.Shape{{math.MinInt64, math.MaxInt64}, {math.MaxInt64, math.MinInt64}}, map[int64]int64{math.MinInt64: math.MaxInt64, 5: -6, math.MaxInt64: math.MinInt64}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for x, want := range test.want {
				if got := test.shape.At(x); got != want {
					t.Errorf("At(%d) = %d, want %d", x, got, want)
				}
			}
		})
	}
}

func TestShapeAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfNDistinct(drawAmount, 1, 5, rapid.ID).Draw(t, "utilizations")
		slices.Sort(xs)
		var shape scoring.Shape
		var points []oracle.Point
		for _, x := range xs {
			y := drawAmount.Draw(t, "score")
			shape, points = append(shape, scoring.ShapePoint{Utilization: x, Score: y}), append(points, oracle.Point{X: x, Y: y})
		}
		x := rapid.OneOf(drawAmount, rapid.SampledFrom(xs)).Draw(t, "x")
		if got, want := shape.At(x), oracle.Line(points, x); got != want {
			t.Errorf("%v.At(%d) = %d, want %d", shape, x, got, want)
		}
	})
}

package scoring_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func TestImageLocalityScore(t *testing.T) {
	const mebi = 1 << 20
	tests := []struct {
		size   int64
		images int
		want   int64
	}{
		{23 * mebi, 1, 0},
		{33 * mebi, 1, 1},
		{140 * mebi, 2, 5},
		{250 * mebi, 1, 23},
		{1000 * mebi, 1, 100},
		{2000 * mebi, 2, 100},
		{4000 * mebi, 3, 100},
		{0, 1, 0},
		{-1, 1, 0},
		{1 << 40, 0, 0},
		{1 << 40, -1, 0},
		{math.MaxInt64, math.MaxInt64, 100},
		{math.MinInt64, math.MaxInt64, 0},
	}
	for _, test := range tests {
		if got := scoring.ImageLocalityScore(test.size, test.images); got != test.want {
			t.Errorf("ImageLocalityScore(%d, %d) = %d, want %d", test.size, test.images, got, test.want)
		}
	}
}

func TestScaledImageSize(t *testing.T) {
	tests := []struct {
		size       int64
		nodes, all int
		want       int64
	}{
		{300, 1, 3, 100},
		{100, 1, 3, 33},
		{100, 3, 3, 100},
		{7, 1, 10, 0},
		{0, 1, 1, 0},
		{-5, 1, 1, 0},
		{5, 0, 1, 0},
		{5, 1, 0, 0},
		{math.MaxInt64, 1, 1, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, 1, math.MaxInt64},
	}
	for _, test := range tests {
		if got := scoring.ScaledImageSize(test.size, test.nodes, test.all); got != test.want {
			t.Errorf("ScaledImageSize(%d, %d, %d) = %d, want %d", test.size, test.nodes, test.all, got, test.want)
		}
	}
}

func TestImagesAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1<<32)).Draw(t, "size")
		images := rapid.OneOf(rapid.Int(), rapid.IntRange(0, 5)).Draw(t, "images")
		if images < 1<<33 { // for more images a product of sizes saturates
			if got, want := scoring.ImageLocalityScore(size, images), oracle.ImageLocality(size, images); got != want {
				t.Errorf("ImageLocalityScore(%d, %d) = %d, want %d", size, images, got, want)
			}
		} else if got := scoring.ImageLocalityScore(size, images); got < 0 || got > 100 {
			t.Errorf("ImageLocalityScore(%d, %d) = %d, want 0 to 100", size, images, got)
		}
		all := rapid.IntRange(1, 100).Draw(t, "all")
		nodes := rapid.IntRange(1, all).Draw(t, "nodes")
		if size > 0 {
			if got, want := scoring.ScaledImageSize(size, nodes, all), oracle.ScaledImage(size, nodes, all); got != want {
				t.Errorf("ScaledImageSize(%d, %d, %d) = %d, want %d", size, nodes, all, got, want)
			}
		}
	})
}

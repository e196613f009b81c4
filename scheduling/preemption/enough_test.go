//go:build full

package preemption

import (
	"math"
	"testing"
)

// The number of candidates that end the search: a percentage of n, at least the
// absolute number, at most n. As in kube-scheduler it may be 0.
func TestEnough(t *testing.T) {
	i32 := func(x int32) *int32 { return &x }
	tests := []struct {
		name                 string
		percentage, absolute *int32
		n, want              int
	}{
		{"defaults, small", nil, nil, 7, 7},
		{"defaults, the absolute number", nil, nil, 999, 100},
		{"defaults, the percentage", nil, nil, 5000, 500},
		{"rounded down", i32(10), i32(1), 109, 10},
		{"all", i32(100), i32(1), 1234, 1234},
		{"none by percentage", i32(0), i32(3), 1000, 3},
		{"none by number", i32(1), i32(0), 1000, 10},
		{"neither", i32(0), i32(0), 1000, 0},
		{"rounded to none", i32(1), i32(0), 99, 0},
		{"negative", i32(-5), i32(-7), 10, 0},
		{"beyond 100 percent", i32(300), i32(1), 10, 10},
		{"the largest numbers", i32(math.MaxInt32), i32(math.MaxInt32), math.MaxInt32, math.MaxInt32},
		{"one node", nil, nil, 1, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := run{plugin: DefaultPreemption{MinCandidateNodesPercentage: test.percentage, MinCandidateNodesAbsolute: test.absolute}}
			if got := r.enough(test.n); got != test.want {
				t.Errorf("enough(%d) = %d, want %d", test.n, got, test.want)
			}
		})
	}
}

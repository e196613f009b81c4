package scoring_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/scoring"
)

func TestBalancedAllocationScore(t *testing.T) {
	const largest = math.MaxInt64
	tests := []struct {
		allocatable, used, pod []int64
		with, without, score   int64
	}{
		{[]int64{4000, 10000}, []int64{0, 0}, []int64{3000, 5000}, 87, 100, 68},
		{[]int64{6000, 10000}, []int64{0, 0}, []int64{3000, 5000}, 100, 100, 75},
		{[]int64{10000, 20000}, []int64{6000, 5000}, []int64{0, 5000}, 95, 82, 81},
		{[]int64{4000, 8000}, []int64{3000, 2000}, []int64{0, 4000}, 100, 75, 87},
		{[]int64{4000, 8000}, []int64{2000, 4000}, []int64{2000, 0}, 75, 100, 62},
		{[]int64{1000, 1000}, []int64{0, 0}, []int64{1000, 0}, 50, 100, 50},
		{[]int64{4000, 8000, 8}, []int64{0, 0, 0}, []int64{2000, 4000, 8}, 76, 100, 63},
		{[]int64{4000, 0}, []int64{0, 9}, []int64{4000, 9}, 100, 100, 75},       // one resource is always balanced
		{[]int64{4000, 4000}, []int64{9000, 0}, []int64{0, 4000}, 100, 50, 100}, // more than all counts as all
		{[]int64{largest, largest}, []int64{largest, 0}, []int64{largest, 0}, 50, 50, 75},
		{[]int64{4000, 4000}, []int64{-5, 0}, []int64{-5, 0}, 100, 100, 75},
		{nil, nil, nil, 100, 100, 75},
		{[]int64{4000, 4000}, nil, []int64{4000}, 50, 100, 50},
	}
	for _, test := range tests {
		var sum []int64
		for i := range test.used {
			sum = append(sum, test.used[i])
			if i < len(test.pod) && test.pod[i] > 0 {
				sum[i] = max(sum[i], sum[i]+test.pod[i])
			}
		}
		if test.used == nil {
			sum = test.pod
		}
		if got := scoring.BalanceScore(sum, test.allocatable); got != test.with {
			t.Errorf("BalanceScore(%v, %v) = %d, want %d", sum, test.allocatable, got, test.with)
		}
		if got := scoring.BalanceScore(test.used, test.allocatable); got != test.without {
			t.Errorf("BalanceScore(%v, %v) = %d, want %d", test.used, test.allocatable, got, test.without)
		}
		if got := scoring.BalancedAllocationScore(test.used, test.pod, test.allocatable); got != test.score {
			t.Errorf("BalancedAllocationScore(%v, %v, %v) = %d, want %d", test.used, test.pod, test.allocatable, got, test.score)
		}
	}
}

func TestBalancedAllocationScoreV118(t *testing.T) {
	tests := []struct{ cpu, cpus, memory, memories, want int64 }{
		{3000, 4000, 5000, 10000, 75},
		{3000, 6000, 5000, 10000, 100},
		{0, 4000, 0, 4000, 100},
		{4000, 4000, 1, 4000, 0}, // used up
		{1, 4000, 5000, 4000, 0},
		{1, 0, 1, 4000, 0}, // missing
		{0, 4000, 0, -1, 0},
		{-1, 4000, 1000, 4000, 75},
	}
	for _, test := range tests {
		if got := scoring.BalancedAllocationScoreKubernetes118(test.cpu, test.cpus, test.memory, test.memories); got != test.want {
			t.Errorf("BalancedAllocationScoreV118(%d, %d, %d, %d) = %d, want %d", test.cpu, test.cpus, test.memory, test.memories, got, test.want)
		}
	}
}

func TestBalancedAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 10).Draw(t, "resources")
		amount := rapid.OneOf(drawAmount, rapid.Int64Range(0, 8))
		allocatable := rapid.SliceOfN(amount, n, n).Draw(t, "allocatable")
		used := rapid.SliceOfN(amount, n, n).Draw(t, "used")
		pod := rapid.SliceOfN(amount, n, n).Draw(t, "pod")
		balance := scoring.BalanceScore(used, allocatable)
		if want := oracle.Balance(used, allocatable); balance != want {
			t.Errorf("BalanceScore(%v, %v) = %d, want %d", used, allocatable, balance, want)
		}
		score := scoring.BalancedAllocationScore(used, pod, allocatable)
		if want := oracle.BalancedAllocation(used, pod, allocatable); score != want {
			t.Errorf("BalancedAllocationScore(%v, %v, %v) = %d, want %d", used, pod, allocatable, score, want)
		}
		if balance < 50 || balance > 100 || score < 50 || score > 100 {
			t.Errorf("BalanceScore(%v, %v) = %d and BalancedAllocationScore(..., %v) = %d, want both from 50 to 100", used, allocatable, balance, pod, score)
		}
		if n >= 2 {
			old := scoring.BalancedAllocationScoreKubernetes118(used[0], allocatable[0], used[1], allocatable[1])
			if want := oracle.BalancedAllocationV118(used[0], allocatable[0], used[1], allocatable[1]); old != want || old < 0 || old > 100 {
				t.Errorf("BalancedAllocationScoreV118(%v, %v) = %d, want %d", used[:2], allocatable[:2], old, want)
			}
		}
	})
}

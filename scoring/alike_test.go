//go:build full

package scoring_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// batchOf binds the plugin to the pod.
func batchOf(t *testing.T, plugin framework.PreScorePlugin, s *framework.Snapshot, pod *framework.PodInfo) incremental.BatchScorer {
	t.Helper()
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	scorer, status := plugin.PreScore(&c, nil)
	batch, ok := scorer.(incremental.BatchScorer)
	if !status.IsSuccess() || !ok {
		t.Fatalf("PreScore = %T, %v; want a batch scorer", scorer, status)
	}
	return batch
}

// amountOf returns an amount out of whole at which a score is likely to change: near
// a hundredth of it, nothing, all, or any amount.
func amountOf(r *rand.Rand, whole int64) int64 {
	near := int64(r.IntN(3)) - 1
	switch r.IntN(6) {
	case 0:
		return max(0, whole+near)
	case 1:
		return max(0, near)
	case 2:
		return r.Int64N(whole)
	case 3:
		return whole / 4
	}
	hundredths := new(big.Int).Mul(big.NewInt(whole), big.NewInt(int64(r.IntN(101))))
	return max(0, hundredths.Div(hundredths, big.NewInt(100)).Int64()+near)
}

// meanFree is the mean of the percentages that stay free, each truncated, computed
// with numbers of any length.
func meanFree(n *framework.NodeInfo, pod [2]int64) int64 {
	var sum, weights int64
	for i, x := range pod {
		whole := big.NewInt(n.Allocatable.At(i))
		if whole.Sign() == 0 {
			continue
		}
		weights++
		free := new(big.Int).Sub(whole, new(big.Int).Add(big.NewInt(n.NonZeroRequested[i]), big.NewInt(x)))
		if free.Sign() > 0 {
			sum += free.Div(free.Mul(free, big.NewInt(100)), whole).Int64()
		}
	}
	return sum / max(1, weights)
}

// TestManyNodes compares batch scores with the formulas. Runs of alike nodes follow
// one another; some are full, empty or too large for the multiplication, and most
// amounts are next to a change of the score.
func TestManyNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 42))
	wholes := []int64{1, 3, 100, 4000, 7001, 32 << 30, 1<<42 - 1, 1 << 42, 1<<42 + 1, 1<<49 + 1, math.MaxInt64, 0}
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for round := range 3000 {
		shapes := [2]resource.Vector{}
		for i := range shapes {
			shapes[i] = resource.Vector{wholes[r.IntN(len(wholes))], wholes[r.IntN(len(wholes))]}
			if r.IntN(2) == 0 {
				shapes[i] = resource.Vector{100 * (1 + r.Int64N(1000)), 100 * (1 + r.Int64N(1000))}
			}
		}
		request := [2]int64{1 + r.Int64N(100), 1 + r.Int64N(1<<20)}
		if whole := shapes[0]; r.IntN(2) == 0 && whole[0] > 0 && whole[1] > 0 {
			request = [2]int64{max(1, amountOf(r, whole[0])/1000*1000), max(1, amountOf(r, whole[1]))}
		}
		pod, err := s.NewPodInfo(api.MakePod("p").Requests(fmt.Sprintf("%dm", request[0]), fmt.Sprint(request[1])).Obj())
		if err != nil {
			t.Fatal(err)
		}
		nodes := make([]*framework.NodeInfo, r.IntN(20))
		if round%20 == 0 {
			nodes = make([]*framework.NodeInfo, 300)
		}
		shape := shapes[0]
		for i := range nodes {
			if r.IntN(5) == 0 {
				shape = shapes[r.IntN(2)]
			}
			n := &framework.NodeInfo{Allocatable: shape, Requested: make(resource.Vector, 2)}
			for i, whole := range shape {
				// The amount with or without the pod.
				n.Requested[i] = max(0, amountOf(r, max(1, whole))-r.Int64N(2)*request[i])
				n.NonZeroRequested[i] = max(0, amountOf(r, max(1, whole))-r.Int64N(2)*request[i])
			}
			if r.IntN(30) == 0 {
				n.Requested, n.NonZeroRequested = nil, [2]int64{}
			}
			nodes[i] = n
		}
		scorer := batchOf(t, scoring.NodeResourcesBalancedAllocation{}, s, pod)
		least, balanced, got := make([]int64, len(nodes)), make([]int64, len(nodes)), make([]int64, len(nodes))
		for i, n := range nodes {
			least[i] = meanFree(n, request)
			balanced[i] = scoring.BalancedAllocationScore(n.Requested, request[:], n.Allocatable)
			if r.IntN(30) == 0 && len(n.Requested) > 0 {
				n.Requested[r.IntN(2)] = -1 // no snapshot contains this, but both answers must agree
				balanced[i] = scorer.Score(pod, n)
			}
		}
		batchOf(t, scoring.NodeResourcesFit{}, s, pod).ScoreNodes(pod, nodes, got)
		if diff := cmp.Diff(least, got); diff != "" {
			t.Fatalf("round %d: LeastAllocated of nodes of %v for %v (-want +got)\n%s", round, shapes, request, diff)
		}
		scorer.ScoreNodes(pod, nodes, got)
		if diff := cmp.Diff(balanced, got); diff != "" {
			t.Fatalf("round %d: BalancedAllocation of nodes of %v for %v (-want +got)\n%s", round, shapes, request, diff)
		}
	}
}

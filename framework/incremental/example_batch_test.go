package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// roomy rejects nodes that have a pod already.
type roomy struct{}

func (roomy) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if len(n.Pods) > 0 {
		return framework.UnschedulableStatus("node(s) had a pod")
	}
	return framework.Status{}
}

func (roomy) FilterNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	for i, n := range nodes {
		if len(n.Pods) > 0 {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

func ExampleBatchFilter() {
	s, p := twoNodes()
	var filter incremental.BatchFilter = roomy{}
	fmt.Println(len(filter.FilterNodes(p, []*framework.NodeInfo{s.At(0), s.At(1)}, nil)))
	if err := s.AddPodAt(p, s.At(1)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(filter.FilterNodes(p, []*framework.NodeInfo{s.At(0), s.At(1)}, nil))
	// Output:
	// 0
	// [1]
}

// evenScorer prefers nodes with fewer pods than the average.
type evenScorer struct{ average int64 }

func (e evenScorer) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return e.average - int64(len(node.Pods))
}

// ScoreNodes gives the same answers in one call.
func (e evenScorer) ScoreNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	for i, n := range nodes {
		scores[i] = e.average - int64(len(n.Pods))
	}
}

func ExampleBatchScorer() {
	s, p := twoNodes()
	var scorer incremental.BatchScorer = evenScorer{average: 1}
	scores := make([]int64, 2)
	scorer.ScoreNodes(p, []*framework.NodeInfo{s.At(0), s.At(1)}, scores)
	fmt.Println(scores)
	// Output: [1 1]
}

package incremental_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// spacious prefers nodes with few pods. What it finds out is not worth a key, but stands for
// something that is.
type spacious struct{}

func (spacious) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return max(0, 100-int64(len(n.Pods)))
}

func (spacious) AppendNodeKey(b []byte, _ *framework.PodInfo, n *framework.NodeInfo) []byte {
	return append(b, byte(min(100, len(n.Pods)))) // more pods score 0, too
}

// Nodes of equal keys are scored once.
func ExampleNodeKeyer() {
	s, p := twoNodes()
	var scorer incremental.NodeKeyer = spacious{}
	key := func(i int) []byte { return scorer.AppendNodeKey(nil, p, s.At(i)) }
	fmt.Println(key(0), key(1))
	if err := s.AddPodAt(p, s.At(1)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(key(0), key(1))
	// Output:
	// [0] [0]
	// [0] [1]
}

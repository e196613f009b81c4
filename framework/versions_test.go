package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Snapshots of different origins share no generation, so that answers kept about one are not
// taken for answers about the other.
func TestGenerationsOfTwoOrigins(t *testing.T) {
	seen := map[uint64]int{}
	for k := range 3 {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		n := s.Node("n")
		for what, g := range map[string]uint64{"NodeSet": s.NodeSet(), "Generation": n.Generation(), "NewVersion": s.NewVersion()} {
			if of, ok := seen[g]; ok && of != k || g == 0 {
				t.Errorf("snapshot %d: %s %d, which is 0 or one of snapshot %d", k, what, g, of)
			}
			seen[g] = k
		}
	}
}

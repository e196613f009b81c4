//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// BenchmarkTieRules places pods of each workload by each tie rule, on a cluster where the
// tied nodes are spread over all of it. The rule First is what the others compare with.
func BenchmarkTieRules(b *testing.B) {
	for _, kind := range workload.Kinds() {
		for _, rule := range []scheduling.TieRule{scheduling.First, scheduling.Random, scheduling.ByName, scheduling.Heap} {
			b.Run(fmt.Sprintf("workload=%s/nodes=5000/rule=%s", kind, rule), func(b *testing.B) {
				s := cluster(b, 5000)
				p := scheduling.Kubernetes137()
				p.TieRule, p.Percentage = rule, scheduling.AllNodes
				place(b, build(b, p), s, pods(b, s, kind, 1000))
			})
		}
	}
}

// BenchmarkTieRulesOfSamples is the same for searches that end after a part of the nodes.
// Each begins where the one before it ended.
func BenchmarkTieRulesOfSamples(b *testing.B) {
	for _, rule := range []scheduling.TieRule{scheduling.First, scheduling.Random, scheduling.Heap} {
		b.Run(fmt.Sprintf("nodes=5000/rule=%s", rule), func(b *testing.B) {
			s := cluster(b, 5000)
			p := scheduling.Kubernetes137()
			p.TieRule, p.Percentage = rule, scheduling.Adaptive
			place(b, build(b, p), s, pods(b, s, workload.Basic, 1000))
		})
	}
}

package preemption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
)

// refusals count why nodes that were tried are no candidates.
type refusals struct {
	nodes   int
	reasons map[string]int
}

func (r *refusals) add(status framework.Status) {
	if r.reasons == nil {
		r.reasons = map[string]int{}
	}
	r.nodes++
	for _, text := range status.Reasons() {
		r.reasons[text]++
	}
}

// text is upstream's message for n nodes in all; those that were not tried
// could not have been helped.
func (r *refusals) text(n int) string {
	reasons := map[string]int{}
	for text, count := range r.reasons {
		reasons[text] = count
	}
	if n > r.nodes {
		reasons["Preemption is not helpful for scheduling"] += n - r.nodes
	}
	lines := make([]string, 0, len(reasons))
	for text, count := range reasons {
		lines = append(lines, fmt.Sprintf("%d %s", count, text))
	}
	slices.Sort(lines)
	return fmt.Sprintf("0/%d nodes are available: %s.", n, strings.Join(lines, ", "))
}

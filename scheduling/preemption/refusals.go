package preemption

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
)

// refusals count the reasons why tried nodes are no candidates. Most nodes are
// refused for one of few reasons.
type refusals []refusal

type refusal struct {
	status framework.Status
	nodes  int
}

// add counts a node under an equal one of the last few refusals, or as a new one.
func (r *refusals) add(status framework.Status) {
	const few = 8
	list := *r
	for i := len(list) - 1; i >= max(0, len(list)-few); i-- {
		if list[i].status.Same(status) {
			list[i].nodes++
			return
		}
	}
	*r = append(list, refusal{status, 1})
}

// text is upstream's message for n nodes in all; for nodes that were not tried,
// removing pods would not have helped.
func (r refusals) text(n int) string {
	reasons, nodes := map[string]int{}, 0
	for _, refused := range r {
		nodes += refused.nodes
		for _, text := range refused.status.Reasons() {
			reasons[text] += refused.nodes
		}
	}
	if n > nodes {
		reasons["Preemption is not helpful for scheduling"] += n - nodes
	}
	lines := make([]string, 0, len(reasons))
	for text, count := range reasons {
		lines = append(lines, fmt.Sprintf("%d %s", count, text))
	}
	slices.Sort(lines)
	return fmt.Sprintf("0/%d nodes are available: %s.", n, strings.Join(lines, ", "))
}

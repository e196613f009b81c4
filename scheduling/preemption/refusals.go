package preemption

import (
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
)

// refusals count the reasons why tried nodes are no candidates. Most nodes are
// refused for one of few reasons.
type refusals []refusal

type refusal struct {
	status framework.Status
	nodes  int
}

// add counts a node under an equal one of the last few refusals, or as a new one. It
// returns the place of the refusal.
func (r *refusals) add(status framework.Status) int {
	const few = 8
	list := *r
	for i := len(list) - 1; i >= max(0, len(list)-few); i-- {
		if list[i].status.Same(status) {
			list[i].nodes++
			return i
		}
	}
	*r = append(list, refusal{status, 1})
	return len(list)
}

// text is upstream's message, with the prefix, for n nodes in all; for nodes that were
// not tried, removing pods would not have helped.
func (r refusals) text(n int) framework.Text {
	var list []reason
	tried := 0
	for _, refused := range r {
		if refused.nodes == 0 {
			continue // a tally keeps it
		}
		tried += refused.nodes
		for _, text := range refused.status.Reasons() {
			i := slices.IndexFunc(list, func(x reason) bool { return x.text == framework.Text(text) })
			if i < 0 {
				i = len(list)
				list = append(list, reason{text: framework.Text(text)})
			}
			list[i].nodes += refused.nodes
		}
	}
	return noRoom(n, tried, list)
}

// A reason is why a number of nodes are no candidates.
type reason struct {
	text  framework.Text
	nodes int
}

const notTried framework.Text = "Preemption is not helpful for scheduling"

// noRoom is upstream's message, with the prefix, for n nodes. The list has the reasons of
// those that were tried.
func noRoom(n, tried int, list []reason) framework.Text {
	lines := make([]string, 0, 4)
	untried := max(0, n-tried)
	for _, r := range list {
		if r.text == notTried {
			r.nodes += untried
			untried = 0
		}
		lines = append(lines, strconv.Itoa(r.nodes)+" "+string(r.text))
	}
	if untried > 0 {
		lines = append(lines, strconv.Itoa(untried)+" "+string(notTried))
	}
	slices.Sort(lines)
	b := append(make([]byte, 0, 128), prefix...)
	b = strconv.AppendInt(append(b, "0/"...), int64(n), 10)
	b = append(b, " nodes are available: "...)
	for i, line := range lines {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, line...)
	}
	return framework.Text(append(b, '.'))
}

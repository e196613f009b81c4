package scheduling

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/pick"
)

// best collects the places of the highest total.
func (r *referencePath) best() (largest int64) {
	largest = math.MinInt64
	tied := r.tied[:0]
	for i, t := range r.totals {
		if t < largest {
			continue
		}
		if t > largest {
			largest, tied = t, tied[:0]
		}
		tied = append(tied, i)
	}
	r.tied = tied
	return largest
}

// choose breaks the tie and returns a place among the feasible nodes.
func (r *referencePath) choose(rule TieRule, own TieBreak, seed uint64) (place int, err error) {
	switch rule {
	case Reservoir:
		return pick.Reservoir(r.totals, seed), nil
	case Heap:
		if place, ok := r.chooseAnswered(seed); ok {
			return place, nil
		}
		return pick.Heap(r.tied), nil
	case First:
		return r.tied[0], nil
	case ByName:
		return slices.MinFunc(r.tied, func(a, b int) int {
			return strings.Compare(r.feasible[a].Node.Name, r.feasible[b].Node.Name)
		}), nil
	case Custom:
		nodes := make([]*framework.NodeInfo, len(r.tied))
		for i, k := range r.tied {
			nodes[i] = r.feasible[k]
		}
		i, err := callTieBreak(own, &r.cycle, nodes)
		if err != nil {
			return 0, err
		}
		return r.tied[i], nil
	case Random:
		return r.tied[pick.Draw(seed, len(r.tied))], nil
	}
	return 0, errNoCase(rule)
}

func callTieBreak(own TieBreak, c *framework.Cycle, nodes []*framework.NodeInfo) (i int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PluginError{Point: "TieBreak", Plugin: "Custom", Err: recovered(p)}
		}
	}()
	if i = own(c, nodes); i < 0 || i >= len(nodes) {
		return 0, &PluginError{Point: "TieBreak", Plugin: "Custom", Err: fmt.Errorf("returned index %d of %d tied nodes", i, len(nodes))}
	}
	return i, nil
}

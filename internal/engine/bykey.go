package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// alike is memory to score one node of each key for all that have it.
type alike struct {
	groups map[string]int64      // by key of their nodes
	first  []*framework.NodeInfo // of each group
	scores []int64               // by group
	key    []byte
}

// score writes the scores of nodes. It asks the scorer about one of each key.
func (a *alike) score(s *Scorer, pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if a.groups == nil {
		a.groups = map[string]int64{}
	}
	clear(a.groups)
	a.first = a.first[:0]
	for i, n := range nodes {
		a.key = s.Keys.AppendNodeKey(a.key[:0], pod, n)
		group, ok := a.groups[string(a.key)]
		if !ok {
			group = int64(len(a.first))
			a.groups[string(a.key)], a.first = group, append(a.first, n)
		}
		scores[i] = group
	}
	a.scores = slotlist.AtLeast(a.scores, len(a.first))
	s.scoreEach(pod, a.first, a.scores[:len(a.first)])
	for i, group := range scores {
		scores[i] = a.scores[group]
	}
}

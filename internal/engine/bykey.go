package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// byKey is memory to score one node of each key for all that have it.
type byKey struct {
	groups map[string]int64      // by key of their nodes
	first  []*framework.NodeInfo // of each group
	scores []int64               // by group
	key    []byte
}

// score writes the scores of nodes. It asks the scorer about one of each key.
func (k *byKey) score(s *Scorer, pod *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
	if k.groups == nil {
		k.groups = map[string]int64{}
	}
	clear(k.groups)
	k.first = k.first[:0]
	for i, n := range nodes {
		k.key = s.Keys.AppendNodeKey(k.key[:0], pod, n)
		group, ok := k.groups[string(k.key)]
		if !ok {
			group = int64(len(k.first))
			k.groups[string(k.key)], k.first = group, append(k.first, n)
		}
		scores[i] = group
	}
	k.scores = slotlist.AtLeast(k.scores, len(k.first))
	s.scoreEach(pod, k.first, k.scores[:len(k.first)])
	for i, group := range scores {
		scores[i] = k.scores[group]
	}
}

package topo

import (
	"strings"
	"sync"

	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/digest"
)

// commons are what was found out about the nodes in one fork and holds for all others that have the same:
// it costs a look at all of them. Several goroutines may use it at once.
type commons struct {
	using     sync.Mutex
	weighings map[weighing][]int // lists passed to Sized
	divisions map[dividing]incremental.Groups
}

// A weighing says which nodes are feasible, which domains they are in, and for which rules that
// matters.
type weighing struct {
	feasible uint64 // version of the set
	nodes    uint64 // Tables.nodesVersion
	rules    [32]byte
	strict   bool
}

// A dividing says by what the nodes are divided.
type dividing struct {
	nodes        uint64 // Tables.nodesVersion
	keys, labels string // as in division, by name
}

// weighingsMost and divisionsMost are the maximum numbers. All are forgotten when there are more.
const (
	weighingsMost = 1 << 10
	divisionsMost = 64
)

func (s *Spread) weighing(feasible uint64) weighing {
	return weighing{feasible, s.tables.nodesVersion, digest.Sum([]byte(s.rules.text)), s.strict}
}

// sizes returns the sizes for a set of feasible nodes; false if they are not known.
func (x *commons) sizes(s *Spread, feasible uint64) (sizes []int, ok bool) {
	key := s.weighing(feasible)
	x.using.Lock()
	defer x.using.Unlock()
	sizes, ok = x.weighings[key]
	return sizes, ok
}

// noteSizes notes the sizes that were asked for last. They do not change.
func (x *commons) noteSizes(s *Spread) {
	key, sizes := s.weighing(s.weighed.version), s.sizes[s.weighed.sizes]
	x.using.Lock()
	defer x.using.Unlock()
	if x.weighings == nil || len(x.weighings) >= weighingsMost {
		x.weighings = map[weighing][]int{}
	}
	x.weighings[key] = sizes
}

// divide returns the groups of the nodes of some tables. It makes them if they are not known.
func (x *commons) divide(t *Tables, keys, labels []int32) incremental.Groups {
	by := dividing{t.nodesVersion, t.names(keys), t.names(labels)}
	x.using.Lock()
	defer x.using.Unlock()
	if g, ok := x.divisions[by]; ok {
		return g
	}
	g := t.newGroups(keys, labels)
	if x.divisions == nil || len(x.divisions) >= divisionsMost {
		x.divisions = map[dividing]incremental.Groups{}
	}
	x.divisions[by] = g
	return g
}

// share is called before the first fork: it notes what is known, and that others are to be told. Who never forks has
// no use for a note in each decision.
func (t *Tables) share() {
	t.forks = true
	for _, s := range t.spreads {
		if w := s.weighed; w.version != 0 && w.nodes == t.nodesVersion {
			t.commons.noteSizes(s)
		}
	}
}

// names joins the names of topology keys.
func (t *Tables) names(keys []int32) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = t.keys[k].name()
	}
	return strings.Join(names, "\n") // which no label has
}

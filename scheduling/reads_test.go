//go:build full

package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A reader is a plugin that answers by the label "rank" of a node or, if it reads pods,
// by how many there are, too.
type reader struct {
	name string
	pods bool
}

func (r reader) Name() string { return r.name }

func (r reader) Scope(*framework.PodInfo) framework.Scope {
	if r.pods {
		return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
	}
	return framework.Scope{Reads: framework.ReadsNode}
}

func (r reader) rank(n *framework.NodeInfo) int64 {
	rank := int64(n.Node.Labels["rank"][0] - '0')
	if r.pods {
		rank = (rank + 3*int64(len(n.Pods))) % 10
	}
	return rank
}

type rankFilter struct{ reader }

func (r rankFilter) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if r.rank(n) > 6 {
		return framework.UnschedulableStatus("node(s) ranked too high")
	}
	return framework.Status{}
}

type rankScorer struct{ reader }

// Score gives nodes that the filters may pass at first equal scores, unless it reads pods.
func (r rankScorer) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	if !r.pods {
		return r.rank(n) / 7
	}
	return r.rank(n)
}

type rankNormalizer struct{ rankScorer }

func (rankNormalizer) NormalizeScore(raw, _, largest int64) int64 { return 100 * raw / max(1, largest) }

// TestReads makes decisions on both paths with each set of plugins, by what they read: what
// is kept of a node while its pods change depends on it.
func TestReads(t *testing.T) {
	filters := []framework.Plugin{rankFilter{reader{"node filter", false}}, rankFilter{reader{"pod filter", true}}}
	scorers := []framework.Plugin{
		rankScorer{reader{"node scorer", false}},
		rankScorer{reader{"pod scorer", true}},
		rankNormalizer{rankScorer{reader{"node normalizer", false}}},
		rankNormalizer{rankScorer{reader{"pod normalizer", true}}},
	}
	for set := range 1 << (len(filters) + len(scorers)) {
		p := scheduling.Profile{TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: true}}
		for i, f := range filters {
			if set>>i&1 != 0 {
				p.Filter = append(p.Filter, f)
			}
		}
		for i, s := range scorers {
			if set>>(len(filters)+i)&1 != 0 {
				p.Score = append(p.Score, scheduling.Weighted{Plugin: s, Weight: int64(1 + i)})
			}
		}
		sched := build(t, p)
		s := framework.NewSnapshot(framework.Arrival)
		for i := range 12 {
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Labels("rank", fmt.Sprint(i*7%10)).Obj()); err != nil {
				t.Fatal(err)
			}
		}
		r := rand.New(rand.NewPCG(uint64(set), 1))
		var placed []*framework.PodInfo
		var nodes []string
		for i := range 80 {
			if i%3 == 0 { // a pod that no scheduler placed, on any node
				foreign, node := podInfo(t, s, api.MakePod(fmt.Sprint("f", i)).Obj()), fmt.Sprint("n", r.IntN(12))
				if err := s.AddPodAt(foreign, s.Node(node)); err != nil {
					t.Fatal(err)
				}
				placed, nodes = append(placed, foreign), append(nodes, node)
			}
			pod := podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).Obj())
			d, err := sched.Place(s, pod)
			if err == nil {
				placed, nodes = append(placed, pod), append(nodes, d.Node)
			} else if !errors.As(err, new(*scheduling.FitError)) {
				t.Fatalf("set %06b, pod %d: %v", set, i, err)
			}
			for range r.IntN(4) {
				if len(placed) == 0 || r.IntN(2) == 0 {
					continue
				}
				k := r.IntN(len(placed))
				if err := sched.Release(s, placed[k], nodes[k]); err != nil {
					t.Fatal(err)
				}
				last := len(placed) - 1
				placed[k], nodes[k] = placed[last], nodes[last]
				placed, nodes = placed[:last], nodes[:last]
			}
		}
		if stats := sched.Stats(); stats.Hits < 70 {
			t.Errorf("set %06b: %+v", set, stats)
		}
	}
}

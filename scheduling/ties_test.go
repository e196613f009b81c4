package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// evenNames scores nodes with names of even length 1 and all others 0.
type evenNames struct{}

func (evenNames) Name() string { return "evenNames" }

func (evenNames) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(1 - len(n.Name())%2)
}

func (evenNames) Scope() framework.Scope { return framework.Scope{Reads: framework.ReadsNode} }

// TestDecisionsAreUniform draws through Schedule, on both paths.
func TestDecisionsAreUniform(t *testing.T) {
	const draws = 70_000
	tied := []string{"aa", "bb", "cc", "dd", "ee", "ff", "gg"}
	for _, rule := range []scheduling.TieRule{scheduling.Random, scheduling.Reservoir} {
		for _, off := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, cache off %t", rule, off), func(t *testing.T) {
				s := framework.NewSnapshot(framework.ZoneInterleaved)
				for _, name := range append([]string{"x", "yyy"}, tied...) {
					if err := s.AddNode(api.MakeNode(name, "1", "1Gi").Obj()); err != nil {
						t.Fatal(err)
					}
				}
				pod, err := s.NewPodInfo(api.MakePod("p").Obj())
				if err != nil {
					t.Fatal(err)
				}
				sched, err := scheduling.New(scheduling.Profile{Score: []scheduling.Weighted{{Plugin: evenNames{}, Weight: 1}}, TieRule: rule, Seed: 42, Cache: scheduling.CacheConfig{Off: off}})
				if err != nil {
					t.Fatal(err)
				}
				counts := map[string]int{}
				for range draws {
					d, err := sched.Schedule(s, pod)
					if err != nil {
						t.Fatal(err)
					}
					counts[d.Node]++
				}
				expected, chi, seen := float64(draws)/float64(len(tied)), 0.0, 0
				for _, name := range tied {
					d := float64(counts[name]) - expected
					chi += d * d / expected
					seen += counts[name]
				}
				const limit = 22.46 // the 99.9 % quantile of chi-square with 6 degrees of freedom
				if seen != draws || chi > limit {
					t.Errorf("chi-square of %v = %.1f, want at most %.1f over %d tied nodes and no other", counts, chi, limit, len(tied))
				}
			})
		}
	}
}

func TestTieRuleNames(t *testing.T) {
	if got := scheduling.Heap.String(); got != "Heap" {
		t.Errorf("Heap.String() = %q", got)
	}
	if got := scheduling.TieRule(200).String(); got != "TieRule(200)" {
		t.Errorf("TieRule(200).String() = %q", got)
	}
}

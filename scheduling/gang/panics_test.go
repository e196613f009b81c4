package gang_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// exploder is a placement scorer whose methods panic.
type exploder struct{ at string }

func (exploder) Name() string { return "exploder" }
func (e exploder) ScorePlacement(gang.Proposal) int64 {
	if e.at == "ScorePlacement" {
		panic("oh")
	}
	return 1
}

func (e exploder) NormalizePlacements([]int64) {
	if e.at == "NormalizePlacements" {
		panic("oh")
	}
}

// TestRulesThatPanic: a placement scorer, or a rule of choice, that panics is
// an error that names it; afterwards the snapshot is as before and no transaction is open.
func TestRulesThatPanic(t *testing.T) {
	for _, at := range []string{"ScorePlacement", "NormalizePlacements", "Compare"} {
		for _, what := range []string{"Place", "Try", "Attempt", "Propose", "PlaceSet"} {
			t.Run(at+"/"+what, func(t *testing.T) {
				s := racks(2, 2)
				rules := gang.Rules{Scores: []gang.WeightedScore{{Scorer: exploder{at}}}}
				if at == "Compare" {
					rules = gang.Rules{Compare: func(a, b *gang.Trial) int { panic("oh") }}
				}
				p := placer(rules)
				g := &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Min: 4, Topology: []gang.Level{{Key: rack}}}
				pods := 0
				func() {
					defer func() {
						if v := recover(); v != nil {
							t.Errorf("%s panics: %v", what, v)
						}
					}()
					var err error
					switch what {
					case "Place":
						_, err = p.Place(s, g)
					case "Try":
						_, err = p.Try(s, g)
					case "Attempt":
						err = toldBy(p.Attempt(s, g))
					case "Propose":
						err = toldBy(p.Propose(s, g))
					case "PlaceSet":
						_, err = p.PlaceSet(s, &gang.Set{Name: "s", Children: []gang.Child{g}})
					}
					if err == nil || !strings.Contains(err.Error(), "oh") || !strings.Contains(err.Error(), map[bool]string{true: "Rules.Compare", false: "exploder"}[at == "Compare"]) {
						t.Errorf("error %v, want one that names the rule", err)
					}
				}()
				for _, n := range s.All() {
					pods += len(n.Pods)
				}
				if pods != 0 {
					t.Errorf("%d pods are left on nodes", pods)
				}
				if err := s.AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil {
					t.Errorf("the snapshot afterwards: %v", err)
				}
			})
		}
	}
}

// toldBy returns what a Cycle tells of an attempt that could not be decided.
func toldBy(c *gang.Cycle, err error) error {
	if err != nil {
		return err
	}
	return errors.New(c.Condition.Message)
}

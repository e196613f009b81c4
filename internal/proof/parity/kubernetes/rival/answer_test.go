package rival_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
)

// Answers equal the recorded ones, in every case.
func TestAnswers(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 10
	}
	schedulers := map[string]*rival.Scheduler{}
	for _, family := range golden.Families() {
		t.Run(family, func(t *testing.T) {
			cases, err := golden.Load(family)
			if err != nil {
				t.Fatal(err)
			}
			different := 0
			for i := 0; i < len(cases); i += step {
				c := cases[i]
				c.Nominated = nil // they had no effect on the recording
				s, ok := schedulers[string(c.Config)]
				if !ok {
					if s, err = rival.New(context.Background(), rival.Options{Config: string(c.Config), Percentage: 100, Parallelism: 1}); err != nil {
						t.Fatal(err)
					}
					schedulers[string(c.Config)] = s
				}
				got, err := s.Answer(c)
				if err != nil {
					t.Fatalf("%s: %v", c.ID, err)
				}
				if diff := cmp.Diff(canonical(family, c.Expect), canonical(family, got), cmpopts.EquateEmpty()); diff != "" {
					if different++; different < 4 {
						t.Errorf("%s: answers (-recorded +got):\n%s", c.ID, diff)
					}
				}
			}
			if different > 0 {
				t.Errorf("%d cases differ", different)
			}
		})
	}
}

// canonical leaves out fields that were not recorded.
func canonical(family string, e golden.Expect) golden.Expect {
	e.Signature, e.Nominations, e.Pipeline.Chosen, e.Pipeline.Message, e.Pipeline.Failure = "", false, "", "", ""
	if family != "preemption" {
		e.Preemption = nil
	}
	if p := e.Preemption; p != nil {
		p.OrderSensitive, p.Searches = false, nil
		slices.Sort(p.Potential)
		slices.SortFunc(p.Candidates, func(a, b golden.PreemptionCandidate) int { return strings.Compare(a.Node, b.Node) })
		for name, s := range p.Failed {
			s.Plugin = ""
			p.Failed[name] = s
		}
	}
	return e
}

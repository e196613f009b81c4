package main

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// TestCriteria counts which criterion decides among candidates, and other events in
// the cases about preemption. None may be missing.
func TestCriteria(t *testing.T) {
	names := []string{"violations", "first victim", "sum", "number", "start", "nothing"}
	counts := map[string]int{}
	a := newAsker()
	defer a.forget()
	for _, family := range []string{"victims", "budgets", "unblock"} {
		for number := range uint64(160) {
			i, err := config{seed: 11}.generate(family, number)
			if err != nil {
				t.Fatal(err)
			}
			v := a.ask(i)
			if v.err != nil || len(v.differences) > 0 {
				t.Fatalf("%s: %v %q", i.ID, v.err, v.differences)
			}
			p := i.Expect.Preemption
			if p == nil {
				counts["fits"]++
				continue
			}
			if !p.Eligible {
				counts[p.IneligibleMsg]++
			}
			candidates := candidatesOf(i.Case)
			if len(candidates) > 1 {
				counts[names[decides(candidates)]]++
			}
			for _, s := range p.Searches {
				switch extended := i.Pod.Annotations[pipeline.AnnCutters] != ""; {
				case extended:
					counts["extenders: "+s.Code]++
				case s.Nominated == "":
					counts["no candidate kept"]++
				case len(s.Candidates) < len(candidates):
					counts["ended early"]++
				}
				if len(s.Evicted) == 0 && s.Nominated != "" {
					counts["all victims leaving"]++
				}
			}
			for _, s := range p.Failed {
				counts["failed "+s.Code]++
			}
		}
	}
	for _, name := range append(names,
		"not eligible due to preemptionPolicy=Never.", "not eligible due to a terminating pod on the nominated node.",
		"fits", "no candidate kept", "ended early", "all victims leaving",
		"extenders: Success", "extenders: Unschedulable", "extenders: Error", "failed Unschedulable", "failed UnschedulableAndUnresolvable",
	) {
		if counts[name] == 0 {
			t.Errorf("%q: in no case, of %v", name, counts)
		}
	}
}

// decides returns the index of the criterion that leaves a single candidate, or the
// number of criteria if none does.
func decides(candidates []*preemption.Candidate) int {
	criteria := preemption.Criteria()
	for i := range criteria {
		if len(preemption.Tied(candidates, criteria[:i+1])) == 1 {
			return i
		}
	}
	return len(criteria)
}

// candidatesOf returns the candidates that kube-scheduler found.
func candidatesOf(c *golden.Case) (list []*preemption.Candidate) {
	pods := map[string]*framework.PodInfo{}
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, p := range c.Pods {
		if info, err := s.NewPodInfo(p); err == nil {
			pods[p.Key()] = info
		}
	}
	for _, found := range c.Expect.Preemption.Candidates {
		candidate := &preemption.Candidate{Node: found.Node, Violations: found.Violations}
		for _, key := range found.Victims {
			candidate.Victims = append(candidate.Victims, framework.Victim{Pod: pods[key]})
		}
		list = append(list, candidate)
	}
	return list
}

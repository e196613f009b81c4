package preemption_test

import (
	"math"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// candidate has violations and victims of the given priorities.
func candidate(t *testing.T, node string, violations int, pods ...api.PodBuilder) *preemption.Candidate {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	c := &preemption.Candidate{Node: node, Violations: violations}
	for _, p := range pods {
		c.Victims = append(c.Victims, framework.Victim{Pod: podInfo(t, s, p.Obj())})
	}
	return c
}

// TestChoose tests one criterion at a time: in each test the earlier criteria leave
// the first two tied, and the later ones would choose the other one.
func TestChoose(t *testing.T) {
	pod := func(priority int32, started int) api.PodBuilder {
		b := api.MakePod("p").Priority(priority)
		if started >= 0 {
			b = b.Started(at(started))
		}
		return b
	}
	tests := []struct {
		name       string
		candidates []*preemption.Candidate
		want       string // the tied ones
	}{
		{"none", nil, ""},
		{"one", []*preemption.Candidate{candidate(t, "a", 3, pod(1, 0))}, "a"},
		{"fewest violations", []*preemption.Candidate{
			candidate(t, "a", 1, pod(1, 9)),
			candidate(t, "b", 0, pod(9, 0), pod(9, 0)),
		}, "b"},
		{"lowest priority of the first victim", []*preemption.Candidate{
			candidate(t, "a", 1, pod(5, 9)),
			candidate(t, "b", 1, pod(4, 0), pod(4, 0), pod(4, 0)),
		}, "b"},
		{"negative priorities are lower", []*preemption.Candidate{
			candidate(t, "a", 0, pod(0, 9)),
			candidate(t, "b", 0, pod(-4, 0)),
		}, "b"},
		{"no priority is 0", []*preemption.Candidate{
			candidate(t, "a", 0, pod(1, 9)),
			candidate(t, "b", 0, api.MakePod("p").Started(at(0))),
		}, "b"},
		{"least sum of priorities", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 9), pod(4, 9)),
			candidate(t, "b", 0, pod(5, 0), pod(3, 0)),
		}, "b"},
		{"one of negative priority is less than two", []*preemption.Candidate{
			candidate(t, "a", 0, pod(-5, 9), pod(-5, 9)),
			candidate(t, "b", 0, pod(-5, 0)),
		}, "b"},
		{"the smallest priority adds nothing, so the fewest victims decide", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 9), pod(math.MinInt32, 9)),
			candidate(t, "b", 0, pod(5, 0)),
		}, "b"},
		{"latest start", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 3), pod(4, 9)),
			candidate(t, "b", 0, pod(5, 4), pod(4, 0)),
		}, "b"},
		{"the earliest of those of the highest priority", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 9), pod(5, 3)),
			candidate(t, "b", 0, pod(5, 4), pod(5, 4)),
		}, "b"},
		{"the highest priority may come last", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 9), pod(6, 2)),
			candidate(t, "b", 0, pod(5, 0), pod(6, 3)),
		}, "b"},
		{"not started is latest", []*preemption.Candidate{
			candidate(t, "a", 0, pod(5, 1<<30)),
			candidate(t, "b", 0, pod(5, -1)),
		}, "b"},
		{"all equal", []*preemption.Candidate{
			candidate(t, "c", 0, pod(5, 1)),
			candidate(t, "a", 0, pod(5, 1)),
			candidate(t, "b", 0, pod(5, 2)),
			candidate(t, "d", 0, pod(5, 2)),
		}, "b d"},
		{"no victims at all", []*preemption.Candidate{
			candidate(t, "a", 0, pod(math.MinInt32, 1)),
			{Node: "b"},
		}, "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var tied []string
			for _, c := range preemption.Tied(test.candidates, preemption.Criteria()) {
				tied = append(tied, c.Node)
			}
			if got := strings.Join(tied, " "); got != test.want {
				t.Errorf("Tied = %q, want %q", got, test.want)
			}
			chosen := preemption.Choose(test.candidates, preemption.Criteria())
			if first, _, _ := strings.Cut(test.want, " "); chosen == nil && first != "" || chosen != nil && chosen.Node != first {
				t.Errorf("Choose = %v, want node %q", chosen, first)
			}
		})
	}
}

// Choose does not change its input list.
func TestChooseKeepsItsInput(t *testing.T) {
	list := []*preemption.Candidate{
		candidate(t, "a", 2, api.MakePod("p")), candidate(t, "b", 1, api.MakePod("p")), candidate(t, "c", 0, api.MakePod("p")),
	}
	preemption.Choose(list, preemption.Criteria())
	if got := list[0].Node + list[1].Node + list[2].Node; got != "abc" {
		t.Errorf("Choose reordered the candidates to %s", got)
	}
}

// Your own criteria replace all others.
func TestOwnCriteria(t *testing.T) {
	s := snapshotOf(t, []*api.Node{node("a", "1"), node("b", "1")}, objs(on("a", "low", "1", 1), on("b", "high", "1", 2)))
	preferB := func(c *preemption.Candidate) int64 { return int64(c.Node[0]) }
	for _, test := range []struct {
		name   string
		plugin preemption.DefaultPreemption
		want   string
	}{
		{"upstream's", preemption.DefaultPreemption{}, "a"},
		{"own", preemption.DefaultPreemption{Criteria: []preemption.Criterion{preferB}}, "b"},
		{"own and upstream's", preemption.DefaultPreemption{Criteria: append(preemption.Criteria(), preferB)}, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if o := preempt(t, s, test.plugin, preemptor("1", 5).Obj()); o.Nominated != test.want {
				t.Errorf("nominated to %q, want %q", o.Nominated, test.want)
			}
		})
	}
}

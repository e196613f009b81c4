package preemption_test

import (
	"testing"

	"github.com/berth-sched/berth/scheduling/preemption"
)

func TestChooseIgnoresNil(t *testing.T) {
	c := &preemption.Candidate{Node: "n"}
	if got := preemption.Choose([]*preemption.Candidate{nil, c, nil}, preemption.Criteria()); got != c {
		t.Errorf("Choose(nil, n, nil) = %v, want n", got)
	}
	if got := preemption.Tied([]*preemption.Candidate{nil}, preemption.Criteria()); len(got) != 0 {
		t.Errorf("Tied(nil) = %v, want none", got)
	}
}

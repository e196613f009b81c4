package whatif

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestTrialsThatFailCount: requests that cannot be lowered in so many steps count as much as others, so that a question about
// such a pod ends with an error soon.
func TestTrialsThatFailCount(t *testing.T) {
	p := api.MakePod("p").Obj()
	for i := range 1100 {
		p.Spec.Containers = append(p.Spec.Containers, api.Container{Name: fmt.Sprint("c", i), Resources: api.ResourceRequirements{Requests: resource.List{"cpu": resource.Milli(1)}}})
	}
	x := &whyNot{pod: p, node: api.MakeNode("n", "8", "8Gi").Obj()}
	_, err := x.trial([]Change{{Kind: ChangeRequest, Name: "cpu", Amount: 0}})
	if err == nil || !strings.Contains(err.Error(), "the search for remedies took more than 20000000 steps") {
		t.Errorf("trial: %.200v, want an error about steps", err)
	}
	x.steps = 0
	p.Spec.Containers = p.Spec.Containers[:300]
	p.Spec.Overhead = resource.List{"cpu": resource.Milli(1)}
	if _, err := x.trial([]Change{{Kind: ChangeRequest, Name: "cpu", Amount: 0}}); err == nil || !strings.Contains(err.Error(), "overhead alone") || x.steps < 300*300*sumSteps {
		t.Errorf("trial: %.200v and %d steps, want an error about the overhead, and its steps", err, x.steps)
	}
}

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// picky is a filter that reads a label of important pods, and of others only that they are not
// important. Which it is follows from what it reads, so it need not be asked for its scope.
type picky struct{}

func (picky) Name() string { return "picky" }

func (picky) Scope(pod *framework.PodInfo) framework.Scope {
	s := framework.Scope{Pod: framework.FieldPriority, Reads: framework.ReadsNode}
	if pod.Priority > 0 {
		s.Pod |= framework.FieldLabels
	}
	return s
}

func (picky) ScopeVaries() framework.PodParts { return 0 }

func (picky) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if pod.Priority > 0 && pod.Pod.Labels["to"] != node.Node.Name {
		return framework.UnschedulableStatus(framework.Text("not that one"))
	}
	return framework.Status{}
}

// TestGuessOfAnotherReading: the key of a pod that is guessed to be read like the pods before it is
// found anew if it is not.
func TestGuessOfAnotherReading(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Filter = append(profile.Filter, picky{})
	s := build(t, profile)
	snap := balanceCluster(t, 20)
	for i := range 200 {
		b := api.MakePod(fmt.Sprint("p", i))
		to := ""
		if i%4 == 3 {
			to = fmt.Sprint("n", i%20)
			b = b.Priority(1).Labels("to", to)
		}
		d, err := s.Schedule(snap, podInfo(t, snap, b.Obj()))
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		if to != "" && d.Node != to {
			t.Errorf("pod %d: node %s, want %s", i, d.Node, to)
		}
	}
	if n := s.Stats().Hits; n < 100 {
		t.Errorf("%d hits, want those of the other pods", n)
	}
}

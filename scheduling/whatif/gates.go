package whatif

import (
	"context"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// gated says why a pod with scheduling gates is not tried; nil if the profile tries it.
func (p *Planner) gated(pod *framework.PodInfo) *Unplaced {
	if !pod.HasGates() {
		return nil
	}
	_, status := p.sched.PreEnqueue(context.Background(), pod, scheduling.SchedulingGates{}.Name())
	if status.IsSuccess() {
		return nil
	}
	return &Unplaced{Pod: pod.Pod.Key(), Message: status.Message()}
}

// placeReady is place for a pod that may have scheduling gates.
func (p *Planner) placeReady(s *framework.Snapshot, pod *framework.PodInfo) (node string, miss *Unplaced, err error) {
	if miss := p.gated(pod); miss != nil {
		return "", miss, nil
	}
	return p.place(s, pod)
}

func writeGates(t *table, gates []string) {
	if len(gates) > 0 {
		t.line("the pod waits for its scheduling gates to be removed: %s", strings.Join(gates, ", "))
	}
}

package rival

import (
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// Preempted is the result of an attempt that found no node and looked for pods to
// evict.
type Preempted struct {
	Node    string
	Victims []*v1.Pod // most important first
	// Search is how long the search for a node took, and Preemption how long the
	// choice of a node and its victims took.
	Search, Preemption time.Duration
}

// Preempt runs the cycle of a prepared pod, which must find no node, and
// DefaultPreemption up to the choice of a node and its victims. It evicts no pods.
func (s *Scheduler) Preempt(p *Pending) (Preempted, error) {
	plugin, ok := plugins(p.profile)["DefaultPreemption"].(*defaultpreemption.DefaultPreemption)
	if !ok {
		return Preempted{}, errors.New("the profile has no DefaultPreemption")
	}
	q := &question{Scheduler: s, profile: p.profile, pod: p.info.Pod}
	start := time.Now()
	if err := s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return Preempted{}, err
	}
	state := newState()
	_, err := s.sched.SchedulePod(s.ctx, p.profile, state, p.info)
	searched := time.Now()
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		return Preempted{}, fmt.Errorf("pod %s/%s: %v, want no node to fit", q.pod.Namespace, q.pod.Name, err)
	}
	statuses := fit.Diagnosis.NodeToStatus
	if ok, message := plugin.PodEligibleToPreemptOthers(s.ctx, q.pod, statuses.Get(q.pod.Status.NominatedNodeName)); !ok {
		return Preempted{}, errors.New(message)
	}
	potential, err := statuses.NodesForStatusCode(s.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		return Preempted{}, err
	}
	offset, count := plugin.GetOffsetAndNumCandidates(int32(len(potential)))
	candidates, _, err := plugin.Evaluator.DryRunPreemption(s.ctx, state, q.pod, potential, q.budgets(), offset, count)
	if err != nil {
		return Preempted{}, err
	}
	if len(candidates) == 0 {
		return Preempted{}, errors.New("no node would have room without its pods of lower priority")
	}
	best := plugin.Evaluator.SelectCandidate(s.ctx, candidates)
	return Preempted{best.Name(), best.Victims().Pods, searched.Sub(start), time.Since(searched)}, nil
}

package rival

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A Placed is a pod that has its node, and its plugins' reservations.
type Placed struct {
	Result
	pod     *v1.Pod
	profile framework.Framework
	state   fwk.CycleState
}

// Place is Schedule with the points Reserve and Permit. If they reject the pod,
// everything is as before.
func (s *Scheduler) Place(p *Pending) (*Placed, error) {
	if err := s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return nil, err
	}
	p.state, p.fit = newState(), nil
	r, err := s.sched.SchedulePod(s.ctx, p.profile, p.state, p.info)
	if err != nil {
		errors.As(err, &p.fit)
		return nil, err
	}
	assumed := *p.info.Pod
	assumed.Spec.NodeName = r.SuggestedHost
	if err := s.sched.Cache.AssumePod(s.logger, &assumed); err != nil {
		return nil, err
	}
	s.sched.SchedulingQueue.DeleteNominatedPodIfExists(&assumed)
	placed := &Placed{Result{r.SuggestedHost, r.EvaluatedNodes, r.FeasibleNodes}, &assumed, p.profile, p.state}
	status := p.profile.RunReservePluginsReserve(s.ctx, p.state, &assumed, r.SuggestedHost)
	if status.IsSuccess() {
		_, status = p.profile.RunPermitPlugins(s.ctx, p.state, &assumed, r.SuggestedHost)
	}
	if status.IsSuccess() {
		return placed, nil
	}
	if err := s.Release(placed); err != nil {
		return nil, err
	}
	if !status.IsRejected() {
		return nil, status.AsError()
	}
	fit := &framework.FitError{NumAllNodes: 1, Pod: p.info.Pod, Diagnosis: framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}}
	fit.Diagnosis.NodeToStatus.Set(r.SuggestedHost, status)
	return nil, &Refused{fit}
}

// Refused is the error of a pod that was rejected after it had a node.
type Refused struct{ Fit *framework.FitError }

// Error returns the text of the FitError.
func (r *Refused) Error() string { return r.Fit.Error() }

// Release removes a placed pod from its node before it is bound, and ends its
// reservations.
func (s *Scheduler) Release(p *Placed) error {
	p.profile.RunReservePluginsUnreserve(s.ctx, p.state, p.pod, p.Node)
	return s.sched.Cache.ForgetPod(s.logger, p.pod)
}

// Forget removes a pod from the simulated API server, and from the queue, where its
// nomination put it.
func (s *Scheduler) Forget(p *v1.Pod) error {
	s.sched.SchedulingQueue.DeleteNominatedPodIfExists(p)
	s.sched.SchedulingQueue.Delete(s.logger, p)
	return s.pods.Delete(p)
}

// UpdatePod replaces a pod on a node.
func (s *Scheduler) UpdatePod(before, after *v1.Pod) error {
	known, err := s.sched.Cache.GetPod(before)
	if err != nil {
		return fmt.Errorf("pod %s/%s: %w", before.Namespace, before.Name, err)
	}
	if assumed, err := s.sched.Cache.IsAssumedPod(known); err != nil || assumed {
		bound := before.DeepCopy()
		bound.Spec.NodeName = known.Spec.NodeName
		if err := errors.Join(err, s.sched.Cache.AddPod(s.logger, bound)); err != nil {
			return err
		}
		known = bound
	}
	return s.sched.Cache.UpdatePod(s.logger, known, after)
}

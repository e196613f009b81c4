package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/util/retry"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube/convert"
	"github.com/berth-sched/berth/scheduling/kube/internal/record"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// Bind implements [lifecycle.Binder]. If the answer to the binding is lost, Bind asks for
// the pod until it knows what has become of it: until then the pod must count on the node.
//
// Differs: a binding whose answer is lost.
// Original: kube-scheduler takes the pod for one that is not bound.
// Here: Bind asks for the pod, and sends the binding again, until the API server has carried it out or
// certainly will not.
// Why: the room and the volumes of a pod that is bound a moment later must not go to others.
func (s *Scheduler) Bind(ctx context.Context, pod *api.Pod, node string) error {
	ctx, done := s.acting(ctx)
	defer done()
	defer s.events.Binding()()
	binding := &corev1.Binding{
		TypeMeta:   metav1.TypeMeta{Kind: "Binding", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: types.UID(pod.UID)},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}
	sending, sent := counting(ctx)
	answer, err := s.poster.Post(ctx, "api/v1/namespaces/"+pod.Namespace+"/pods/"+pod.Name+"/binding", binding)
	if !answer.IsDone() && err == nil {
		err = s.config.Client.CoreV1().Pods(pod.Namespace).Bind(sending, binding, metav1.CreateOptions{})
	}
	if err != nil && (answer.IsUncertain() || !sent.refused(err)) {
		lasting, done := s.lasting(ctx)
		defer done()
		lost := err
		err = lifecycle.Await(ctx, func() error { return s.settle(ctx, lasting, binding, lost) })
	}
	s.denied(err)
	if err == nil {
		s.events.Write(record.Event{
			Regarding: pod, Controller: nameOf(pod), Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding",
			Note: fmt.Sprintf("Successfully assigned %s to %s", pod.Key(), node),
		})
	}
	return err
}

// settle finds out what has become of a binding whose answer is err. As long as the pod has no
// node, the API server may still carry it out.
func (s *Scheduler) settle(ctx, lasting context.Context, b *corev1.Binding, err error) error {
	pods := s.config.Client.CoreV1().Pods(b.Namespace)
	return lostWrite{
		look: func(ctx context.Context, answer error) (fate, error) {
			live, err := pods.Get(ctx, b.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err), err == nil && live.UID != b.UID:
				return void, nil
			case err != nil:
				return uncertain, err
			case live.Spec.NodeName == b.Target.Name:
				return carriedOut, nil
			case live.Spec.NodeName != "":
				s.warn("another scheduler has bound a pod; two that serve one profile must share a lease", "pod", b.Namespace+"/"+b.Name, "node", live.Spec.NodeName)
				return void, nil
			case live.DeletionTimestamp != nil && apierrors.IsConflict(answer): // another conflict may be an error of the storage
				return void, nil
			}
			return uncertain, nil
		},
		send: func(ctx context.Context) error {
			again := pods.Bind(ctx, b, metav1.CreateOptions{})
			if again != nil && refuses(again) {
				return err // what the first one says stays uncertain
			}
			return again
		},
	}.settle(ctx, lasting, err)
}

// pause waits, unless ctx is done first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// acting returns a context that also ends when another scheduler leads.
func (s *Scheduler) acting(ctx context.Context) (context.Context, func()) {
	if s.leading.Done() == nil { // without an election
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.leading, func() { cancel(context.Cause(s.leading)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// lasting returns a context that does not end with ctx, but when another scheduler leads, or
// when Run no longer waits for bindings.
func (s *Scheduler) lasting(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.working, func() { cancel(context.Cause(s.working)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Evict implements [lifecycle.Evicter]: the victim gets the condition DisruptionTarget and
// is deleted. A patch that fails for the moment, or by a conflict, is tried again.
//
// Source: kube-scheduler 1.37, framework/preemption, PreemptPod.
//
// Differs: the deletion.
// Original: kube-scheduler deletes whatever pod has the victim's name.
// Here: the victim's UID is a precondition.
// Why: a new pod of the same name is no victim.
func (s *Scheduler) Evict(ctx context.Context, victim, preemptor *api.Pod) error {
	ctx, done := s.acting(ctx)
	defer done()
	patch, err := lifecycle.DisruptionPatch(victim, preemptor, time.Now())
	if err != nil {
		return err
	}
	if patch != nil {
		err := retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error { return s.patchStatus(ctx, victim, patch) })
		switch {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err) && s.replaced(ctx, victim):
			return nil
		case err != nil:
			s.denied(err)
			return err
		}
	}
	uid := types.UID(victim.UID)
	err = s.config.Client.CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it, or the pod of its name, is gone
	}
	s.denied(err)
	if err == nil {
		s.events.Write(record.Event{
			Regarding: victim, Related: preemptor, Controller: nameOf(preemptor), Type: corev1.EventTypeNormal, Reason: "Preempted", Action: "Preempting",
			Note: fmt.Sprintf("Preempted by pod %s on node %s", preemptor.UID, victim.Spec.NodeName),
		})
	}
	return err
}

// replaced reports whether the pod has gone, or another one has its name.
func (s *Scheduler) replaced(ctx context.Context, pod *api.Pod) bool {
	live, err := s.config.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && live.UID != types.UID(pod.UID)
}

func nameOf(p *api.Pod) string { return cmp.Or(p.Spec.SchedulerName, scheduling.DefaultName) }

// ReleaseClaim implements [lifecycle.ClaimReleaser]: it deallocates or deletes a claim that
// no pod uses.
//
// Source: kube-scheduler 1.37, dynamicresources, PostFilter.
func (s *Scheduler) ReleaseClaim(ctx context.Context, c framework.ClaimRelease, pod *api.Pod) error {
	ctx, done := s.acting(ctx)
	defer done()
	namespace, name, _ := strings.Cut(c.Claim, "/")
	claims := s.config.Client.ResourceV1().ResourceClaims(namespace)
	live, err := claims.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case c.Delete:
		err := claims.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return err
	case slices.ContainsFunc(live.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return r.UID != types.UID(pod.UID)
	}):
		return nil // another pod has taken it meanwhile
	}
	live.Status.ReservedFor, live.Status.Allocation, live.Status.Devices = nil, nil, nil
	_, err = claims.UpdateStatus(ctx, live, metav1.UpdateOptions{}) // refused if it has changed
	return err
}

// Report implements [lifecycle.Reporter]: it writes the condition PodScheduled and
// status.nominatedNodeName. The version of the pod is a precondition. If the pod has
// changed, Report looks at it again, so that it never writes to a bound pod.
//
// Source: kube-scheduler 1.37, schedule_one.go, handleSchedulingFailure and updatePod.
func (s *Scheduler) Report(ctx context.Context, pod *api.Pod, r lifecycle.Report) {
	ctx, done := s.acting(ctx)
	defer done()
	if r.Reason != "" {
		s.events.Write(record.Event{
			Regarding: pod, Controller: nameOf(pod), Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Action: "Scheduling", Note: r.Message,
		})
	}
	for range 3 {
		patch, err := r.StatusPatch(pod, time.Now())
		if err == nil && patch != nil {
			err = s.patchStatus(ctx, pod, patch)
		}
		switch {
		case err == nil || apierrors.IsNotFound(err) || ctx.Err() != nil:
			return
		case !apierrors.IsConflict(err):
			s.warn("writing the status of a pod", "pod", pod.Key(), "error", err)
			return
		}
		live, err := s.config.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || live.UID != types.UID(pod.UID) || live.Spec.NodeName != "" {
			return
		}
		if pod, err = convert.Pod(live); err != nil {
			return
		}
	}
}

// patchStatus writes the patch. What the API server cannot do for the moment is tried again.
//
// Source: kube-scheduler 1.37, util.PatchPodStatus.
func (s *Scheduler) patchStatus(ctx context.Context, pod *api.Pod, data []byte) error {
	momentary := func(err error) bool {
		return apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || net.IsConnectionRefused(err)
	}
	return retry.OnError(retry.DefaultBackoff, momentary, func() error {
		_, err := s.config.Client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
		return err
	})
}

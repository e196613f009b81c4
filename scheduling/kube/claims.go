package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/convert"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
)

// claimBinder is the PreBind part of DynamicResources: it writes the allocations that
// Reserve has chosen, reserves the claims for the pod, and waits for binding conditions.
//
// Source: kube-scheduler 1.37, dynamicresources, bindClaim.
//
// Differs: a pod whose binding fails after its claims were written.
// Original: kube-scheduler takes the pod out of the claims' reservedFor.
// Here: it stays there until the pod is bound or deleted.
// Why: the pod is tried again, and the claim controller clears up after deleted pods.
type claimBinder struct{ s *Scheduler }

func (claimBinder) Name() string { return "DynamicResources" }

// PreBindPreFlight skips pods without claims to write.
func (claimBinder) PreBindPreFlight(_ context.Context, c *framework.Cycle, _ string) (bool, framework.Status) {
	if d, ok := filter.DeviceClaimsKey.Get(c); !ok || len(d.Claims) == 0 {
		return true, framework.SkipStatus()
	}
	return true, framework.Status{}
}

func (b claimBinder) PreBind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	d, ok := filter.DeviceClaimsKey.Get(c)
	if !ok {
		return framework.Status{}
	}
	ctx, done := b.s.acting(ctx)
	defer done()
	var written []*resourcev1.ResourceClaim
	for _, claim := range d.Claims {
		w, err := b.write(ctx, c.Pod.Pod, claim)
		if err != nil {
			return framework.AsStatus(err)
		}
		if claim.Entry != "" {
			patch, err := d.StatusPatch(c.Pod.Pod, w.Name)
			if err == nil {
				err = b.s.patchStatus(ctx, c.Pod.Pod, patch)
			}
			if err != nil {
				return framework.AsStatus(err)
			}
		}
		written = append(written, w)
	}
	const timeout = 10 * time.Minute
	err := await(ctx, b.s.cluster, timeout, func() (bool, error) {
		if _, err := stillThere(b.s.cluster, c.Pod.Pod, node); err != nil {
			return false, err
		}
		return b.ready(written)
	})
	if err != nil {
		return framework.AsStatus(fmt.Errorf("device binding on node %s: %w", node, err))
	}
	return framework.Status{}
}

// write writes one claim and returns it as it is then.
func (b claimBinder) write(ctx context.Context, pod *api.Pod, d filter.DeviceClaim) (live *resourcev1.ResourceClaim, err error) {
	client := b.s.config.Client.ResourceV1().ResourceClaims(d.Claim.Namespace)
	name := d.Claim.Name
	if d.Entry != "" {
		if live, err = newClaim(d.Claim, pod); err != nil {
			return nil, err
		}
		if live, err = client.Create(ctx, live, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create claim for extended resources of pod %s: %w", pod.Key(), err)
		}
		name = live.Name
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if live, err = client.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			_, err = d.Write(nil, pod, time.Now())
			return errors.Join(err, fmt.Errorf("claim %s/%s does not exist", d.Claim.Namespace, name))
		} else if err != nil {
			return err
		}
		current, err := convert.ResourceClaim(live)
		if err != nil {
			return err
		}
		next, err := d.Write(current, pod, time.Now())
		if err != nil {
			return err
		}
		if !d.Allocated && !slices.Contains(live.Finalizers, api.FinalizerClaim) {
			live.Finalizers = append(live.Finalizers, api.FinalizerClaim)
			if live, err = client.Update(ctx, live, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		// What the claim has, and scheduling does not read, must stay.
		reserved := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: types.UID(pod.UID)}
		if !slices.Contains(live.Status.ReservedFor, reserved) {
			live.Status.ReservedFor = append(live.Status.ReservedFor, reserved)
		}
		if live.Status.Allocation == nil {
			if err := viaJSON(next.Status.Allocation, &live.Status.Allocation); err != nil {
				return err
			}
		}
		if at := next.Status.Allocation.AllocationTimestamp; live.Status.Allocation.AllocationTimestamp == nil && at != nil {
			live.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: *at}
		}
		live, err = client.UpdateStatus(ctx, live, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reserving claim %s/%s: %w", d.Claim.Namespace, name, err)
	}
	return live, nil
}

// newClaim returns the claim to create for a pod's extended resources.
func newClaim(c *api.ResourceClaim, pod *api.Pod) (*resourcev1.ResourceClaim, error) {
	made := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, GenerateName: pod.Name + "-extended-resources-", Annotations: c.Annotations,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: types.UID(pod.UID), Controller: new(true), BlockOwnerDeletion: new(true),
		}},
	}}
	return made, viaJSON(c.Spec, &made.Spec)
}

// viaJSON turns a value of framework/api into one of client-go. Both have one form in
// JSON; allocations are rare enough for that.
func viaJSON(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// ready reports whether the binding conditions of all devices are true.
func (b claimBinder) ready(written []*resourcev1.ResourceClaim) (bool, error) {
	for _, w := range written {
		c := b.s.cluster.Devices.Get(feed.KeyOf(w))
		if c == nil {
			return false, nil // it comes with a later event, or its pod fails by the timeout
		}
		if order, ok := api.CompareResourceVersions(c.ResourceVersion, w.ResourceVersion); ok && order < 0 {
			return false, nil
		}
		if ok, err := filter.DevicesReady(c); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

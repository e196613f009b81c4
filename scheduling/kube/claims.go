package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedresourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"
	"k8s.io/client-go/util/retry"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/convert"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// claimBinder is the PreBind part of DynamicResources: it writes the allocations that
// Reserve has chosen, reserves the claims for the pod, and waits for binding conditions.
//
// Source: kube-scheduler 1.37, dynamicresources, bindClaim.
//
// Differs: a pod whose binding fails after its claims were written.
// Original: kube-scheduler takes the pod out of the claims' reservedFor.
// Here: it stays there until the pod is bound or deleted, or the claim is being deleted; then [claimReleaser]
// takes it out.
// Why: the pod is tried again, and the claim controller clears up after deleted pods.
//
// Differs: devices of a claim that was written, if the binding fails before the watch tells so.
// Original: kube-scheduler goes back to what the watch has told, so another claim may get them.
// Here: the driver hears of every write before PreBind returns, and they stay in use.
// Why: the API server accepts claims that have the same device.
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
	return framework.AsStatus(lifecycle.Await(ctx, func() error { return b.bind(ctx, c.Pod.Pod, d, node) }))
}

// bind writes the claims, and waits until their devices are ready.
func (b claimBinder) bind(ctx context.Context, pod *api.Pod, d filter.DeviceClaims, node string) error {
	var written []*resourcev1.ResourceClaim
	for _, claim := range d.Claims {
		w, err := b.write(ctx, pod, claim, node)
		if err != nil {
			return err
		}
		if claim.Entry != "" {
			patch, err := d.StatusPatch(pod, w.Name)
			if err == nil {
				err = b.s.inTurn(ctx, pod, node, func() error { return b.s.patchStatus(ctx, pod, patch) })
			}
			if err != nil {
				return err
			}
		}
		written = append(written, w)
	}
	const timeout = 10 * time.Minute
	ready := resumed(len(written), func(i int) (bool, error) { return b.ready(written[i]) })
	err := await(ctx, b.s.cluster, timeout, func() (bool, error) {
		if _, err := stillThere(b.s.cluster, pod, node); err != nil {
			return false, err
		}
		return ready()
	})
	if err != nil {
		return fmt.Errorf("device binding on node %s: %w", node, err)
	}
	return nil
}

// write writes one claim and returns it as it is then. The driver knows what was written when
// write returns, also if that is an error. Each attempt, which reads the claim and writes it, takes a turn.
func (b claimBinder) write(ctx context.Context, pod *api.Pod, d filter.DeviceClaim, node string) (live *resourcev1.ResourceClaim, err error) {
	client := b.s.config.Client.ResourceV1().ResourceClaims(d.Claim.Namespace)
	name := d.Claim.Name
	if d.Entry != "" {
		made, err := newClaim(d.Claim, pod)
		if err != nil {
			return nil, err
		}
		err = b.s.inTurn(ctx, pod, node, func() (err error) {
			made, err = client.Create(ctx, made, metav1.CreateOptions{})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("create claim for extended resources of pod %s: %w", pod.Key(), err)
		}
		b.s.cluster.Devices.Written(made)
		name = made.Name
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		endTurn, err := b.s.writes.take(ctx, pod.Namespace)
		if err != nil {
			return err
		}
		defer endTurn()
		if _, err := stillThere(b.s.cluster, pod, node); err != nil {
			return err
		}
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
		if d.Allocated { // the driver counts the devices in any case
			live, err = client.UpdateStatus(ctx, live, metav1.UpdateOptions{})
		} else {
			live, err = b.give(ctx, client, live, endTurn)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reserving claim %s/%s: %w", d.Claim.Namespace, name, err)
	}
	b.s.cluster.Devices.Written(live)
	return live, nil
}

// give writes the status of a claim that gets its devices. After an error the claim does not have
// them and will not get them, because the driver gives them to other claims then. So if the answer
// is lost, give asks for the claim until that is certain, even if ctx ends meanwhile.
//
// It ends the turn of the write before it asks: that may take minutes, and a few lost answers would
// keep all others from writing. Asking needs no turn: it is a request every few seconds, and three
// more writes at most. In line, give would also hear later that the write was carried out.
func (b claimBinder) give(ctx context.Context, client typedresourcev1.ResourceClaimInterface, next *resourcev1.ResourceClaim, endTurn func()) (*resourcev1.ResourceClaim, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	lasting, done := b.s.lasting(ctx)
	defer done()
	sending, sent := counting(lasting)
	written, err := client.UpdateStatus(sending, next, metav1.UpdateOptions{})
	switch {
	case err == nil:
		return written, nil
	case sent.refused(err):
		return nil, err
	case !apierrors.IsConflict(err): // after a conflict, too, ask: a client may have sent the write twice
		b.s.warn("nobody knows whether a claim has got its devices; asking for it", "claim", feed.KeyOf(next), "error", err)
	}
	endTurn()
	return b.settle(ctx, lasting, client, next, err)
}

// settle finds out what has become of a write whose answer is err: it returns the claim if that
// has got its devices. A write names the version that it changes, so any other version tells.
func (b claimBinder) settle(ctx, lasting context.Context, client typedresourcev1.ResourceClaimInterface, next *resourcev1.ResourceClaim, err error) (written *resourcev1.ResourceClaim, _ error) {
	lost := lostWrite{
		look: func(ctx context.Context, _ error) (fate, error) {
			live, err := client.Get(ctx, next.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err), err == nil && live.UID != next.UID:
				return void, nil
			case err != nil || live.ResourceVersion == next.ResourceVersion:
				return uncertain, err
			}
			b.s.cluster.Devices.Written(live)
			if !hasGot(live, next) {
				return void, nil
			}
			written = live
			return carriedOut, nil
		},
		send: func(ctx context.Context) error {
			live, err := client.UpdateStatus(ctx, next, metav1.UpdateOptions{})
			if err == nil {
				written = live
			}
			return err
		},
	}
	err = lost.settle(ctx, lasting, err)
	return written, err
}

// hasGot reports whether a claim has the devices and the users that were to be written.
func hasGot(live, next *resourcev1.ResourceClaim) bool {
	return live.Status.Allocation != nil &&
		equality.Semantic.DeepEqual(live.Status.Allocation.Devices.Results, next.Status.Allocation.Devices.Results) &&
		!slices.ContainsFunc(next.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
			return !slices.Contains(live.Status.ReservedFor, r)
		})
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

// ready reports whether the binding conditions of a claim's devices are true.
func (b claimBinder) ready(written *resourcev1.ResourceClaim) (bool, error) {
	key := feed.KeyOf(written)
	c := b.s.cluster.Devices.Get(key)
	if c == nil || c.UID != api.UID(written.UID) {
		return false, fmt.Errorf("claim %s does not exist any more", key)
	}
	if order, ok := api.CompareResourceVersions(c.ResourceVersion, written.ResourceVersion); ok && order < 0 {
		return false, nil
	}
	return filter.DevicesReady(c)
}

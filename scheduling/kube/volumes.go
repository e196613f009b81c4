package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// volumeBinder is the PreBind part of VolumeBinding: it writes what Reserve has chosen,
// and waits until the volume controller and the provisioners have bound every claim.
//
// Source: kube-scheduler 1.37, volumebinding, BindPodVolumes.
//
// Differs: the wait.
// Original: kube-scheduler looks at the claims every second.
// Here: every change of a volume or a claim is looked at, at most 50,000 times a second for
// all pods that wait.
// Why: the pod starts up to a second earlier.
type volumeBinder struct {
	s       *Scheduler
	timeout time.Duration // 0: fail unless everything is bound at once
}

func (volumeBinder) Name() string { return "VolumeBinding" }

// PreBindPreFlight skips pods whose claims are all bound.
func (volumeBinder) PreBindPreFlight(_ context.Context, c *framework.Cycle, _ string) (bool, framework.Status) {
	if b, ok := filter.ClaimBindingsKey.Get(c); !ok || b.AllBound {
		return true, framework.SkipStatus()
	}
	return true, framework.Status{}
}

func (v volumeBinder) PreBind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	b, ok := filter.ClaimBindingsKey.Get(c)
	if !ok || b.AllBound {
		return framework.Status{}
	}
	ctx, done := v.s.acting(ctx)
	defer done()
	if err := v.write(ctx, &b); err != nil {
		return framework.AsStatus(err)
	}
	newest := filter.ClaimLookup{Volume: v.s.cluster.Volumes.Get, Claim: v.s.cluster.Claims.Get, CSINode: v.s.cluster.Drivers.Get}
	err := await(ctx, v.s.cluster, v.timeout, func() (bool, error) {
		on, err := stillThere(v.s.cluster, c.Pod.Pod, node)
		if err != nil {
			return false, err
		}
		return b.Bound(newest, on)
	})
	if err != nil {
		return framework.AsStatus(fmt.Errorf("binding volumes: %w", err))
	}
	return framework.Status{}
}

// stillThere returns the node, or an error if it or the pod does not exist any more. A new pod of
// the old one's name, such as one of a StatefulSet, is another one: what the old one waits for must
// not keep its place for minutes.
func stillThere(c *feed.Cluster, pod *api.Pod, node string) (*api.Node, error) {
	on := c.Nodes.Get(node)
	if on == nil {
		return nil, fmt.Errorf("node %s does not exist any more", node)
	}
	if p := c.Pods.Get(pod.Key()); p == nil || p.UID != pod.UID {
		return nil, errors.New("the pod does not exist any more")
	}
	return on, nil
}

// write writes the changes, and notes the versions that the API server answers with.
func (v volumeBinder) write(ctx context.Context, b *filter.ClaimBindings) error {
	core := v.s.config.Client.CoreV1()
	b.Volumes, b.Claims = slices.Clone(b.Volumes), slices.Clone(b.Claims)
	for i := range b.Volumes {
		r := &b.Volumes[i]
		patch, err := r.MergePatch()
		if err != nil {
			return err
		}
		written, err := core.PersistentVolumes().Patch(ctx, r.Volume, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("reserving volume %s: %w", r.Volume, err)
		}
		r.ResourceVersion = written.ResourceVersion
	}
	for i := range b.Claims {
		n := &b.Claims[i]
		patch, err := n.MergePatch()
		if err != nil {
			return err
		}
		written, err := core.PersistentVolumeClaims(n.Namespace).Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("noting the node on claim %s/%s: %w", n.Namespace, n.Name, err)
		}
		n.ResourceVersion = written.ResourceVersion
	}
	return nil
}

// lookShare is how long one pod that waits may keep the others that wait from their next
// look: all together look at most 50,000 times a second, however much changes.
const lookShare = 20 * time.Microsecond

// await looks at changes of a volume or a claim, and deletions, until ready reports true or
// an error. It looks at each if few pods wait. If thousands do, what has changed is looked at
// together, within a second as in kube-scheduler: otherwise pods whose volumes nobody makes
// would keep the cores busy.
func await(ctx context.Context, c *feed.Cluster, timeout time.Duration, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %v", timeout))
	defer cancel()
	c.Waiters.Add(1)
	defer c.Waiters.Add(-1)
	return lifecycle.Await(ctx, func() error {
		for {
			changed, looked := c.Changed(), time.Now()
			if ok, err := ready(); ok || err != nil {
				return err
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			apart := min(time.Second, time.Duration(c.Waiters.Load())*lookShare)
			if left := apart - time.Since(looked); left > 0 && pause(ctx, left) != nil {
				return context.Cause(ctx)
			}
		}
	})
}

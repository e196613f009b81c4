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
// Original: kube-scheduler looks at all claims of the pod every second.
// Here: it looks at every change of a volume or a claim, as often as [await] allows. A look begins with
// the claim that was not bound at the last one, so what befalls the claims before it is seen when that
// is bound.
// Why: the pod starts up to a second earlier, and thousands of claims cost no more than one.
//
// Differs: the writes.
// Original: kube-scheduler writes the claims of all pods at once.
// Here: a few objects are written at once, and namespaces take turns; see [turns].
// Why: the client sends its requests in the order in which they come, so pods with thousands of claims
// would take the requests of others' bindings.
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
	return framework.AsStatus(lifecycle.Await(ctx, func() error { return v.bind(ctx, c.Pod.Pod, b, node) }))
}

// bind writes the changes, and waits until all claims are bound.
func (v volumeBinder) bind(ctx context.Context, pod *api.Pod, b filter.ClaimBindings, node string) error {
	if err := v.write(ctx, pod, &b, node); err != nil {
		return err
	}
	newest := filter.ClaimLookup{Volume: v.s.cluster.Volumes.Get, Claim: v.s.cluster.Claims.Get, CSINode: v.s.cluster.Drivers.Get}
	volumes := len(b.Volumes)
	var on *api.Node
	bound := resumed(volumes+len(b.Claims), func(i int) (bool, error) {
		var one filter.ClaimBindings
		if i < volumes {
			one.Volumes = b.Volumes[i : i+1]
		} else {
			one.Claims = b.Claims[i-volumes : i-volumes+1]
		}
		return one.Bound(newest, on)
	})
	err := await(ctx, v.s.cluster, v.timeout, func() (ok bool, err error) {
		if on, err = stillThere(v.s.cluster, pod, node); err != nil {
			return false, err
		}
		return bound()
	})
	if err != nil {
		return fmt.Errorf("binding volumes: %w", err)
	}
	return nil
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

// inTurn calls write in a turn of the pod's namespace. The pod and the node must exist then: in line, hours
// may pass.
func (s *Scheduler) inTurn(ctx context.Context, pod *api.Pod, node string, write func() error) error {
	return s.writes.do(ctx, pod.Namespace, func() error {
		if _, err := stillThere(s.cluster, pod, node); err != nil {
			return err
		}
		return write()
	})
}

// write writes the changes, each in a turn, and notes the versions that the API server answers with.
func (v volumeBinder) write(ctx context.Context, pod *api.Pod, b *filter.ClaimBindings, node string) error {
	core := v.s.config.Client.CoreV1()
	b.Volumes, b.Claims = slices.Clone(b.Volumes), slices.Clone(b.Claims)
	for i := range b.Volumes {
		r := &b.Volumes[i]
		patch, err := r.MergePatch()
		if err != nil {
			return err
		}
		err = v.s.inTurn(ctx, pod, node, func() error {
			written, err := core.PersistentVolumes().Patch(ctx, r.Volume, types.MergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				r.ResourceVersion = written.ResourceVersion
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reserving volume %s: %w", r.Volume, err)
		}
	}
	for i := range b.Claims {
		n := &b.Claims[i]
		patch, err := n.MergePatch()
		if err != nil {
			return err
		}
		err = v.s.inTurn(ctx, pod, node, func() error {
			written, err := core.PersistentVolumeClaims(n.Namespace).Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			if err == nil {
				n.ResourceVersion = written.ResourceVersion
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("noting the node on claim %s/%s: %w", n.Namespace, n.Name, err)
		}
	}
	return nil
}

// resumed returns a look at n things, which reports whether all are ready, and begins with the one that
// was not at the last look: only if that is ready does it look at all of them.
func resumed(n int, ready func(i int) (bool, error)) func() (bool, error) {
	at := 0
	return func() (bool, error) {
		if n == 0 {
			return true, nil
		}
		if ok, err := ready(at); !ok || err != nil {
			return false, err
		}
		for at = range n {
			if ok, err := ready(at); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	}
}

// lookShare and lookPart say how long one pod that waits may keep the others that wait from their next
// look: for lookShare at least, which a goroutine takes to look at all, and for lookPart times what
// its last look took. So all together look at most 50,000 times a second, and for a tenth of the
// time of one core, however much changes and however many claims they have.
const (
	lookShare = 20 * time.Microsecond
	lookPart  = 10
)

// await looks at changes of a volume or a claim, and deletions, until ready reports true or
// an error. It looks at each if few pods wait. If thousands do, or have thousands of claims, what has
// changed is looked at together, within a second as in kube-scheduler: otherwise pods whose
// volumes nobody makes would keep the cores busy. Call it inside [lifecycle.Await].
func await(ctx context.Context, c *feed.Cluster, timeout time.Duration, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %v", timeout))
	defer cancel()
	c.Waiters.Add(1)
	defer c.Waiters.Add(-1)
	for {
		changed, looked := c.Changed(), time.Now()
		if ok, err := ready(); ok || err != nil {
			return err
		}
		share := max(lookShare, lookPart*time.Since(looked))
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		apart := min(time.Second, time.Duration(c.Waiters.Load())*share)
		if left := apart - time.Since(looked); left > 0 && pause(ctx, left) != nil {
			return context.Cause(ctx)
		}
	}
}

package lifecycle

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Handle is the [framework.Handle] of a driver. Make it before the driver, because
// plugins need the handle and the driver needs the plugins:
//
//	h := lifecycle.NewHandle()
//	profile.Permit = []framework.Plugin{Gang{Handle: h}}
//	driver, err := lifecycle.New(lifecycle.Config{Profiles: profiles, Handle: h, ...})
//
// Until [New] connects it, there is no snapshot, no clock and no waiting pod, and
// its other methods do nothing.
type Handle struct{ driver atomic.Pointer[Driver] }

var _ framework.Handle = (*Handle)(nil)

// NewHandle returns a handle that is not connected.
func NewHandle() *Handle { return new(Handle) }

// ErrNotConnected is the error of a handle without a driver.
var ErrNotConnected = errors.New("lifecycle: the handle belongs to no driver")

// Snapshot implements [framework.Handle].
func (h *Handle) Snapshot() *framework.Snapshot {
	if d := h.driver.Load(); d != nil {
		return d.snap
	}
	return nil
}

// Clock implements [framework.Handle]. It is nil until the handle is connected.
func (h *Handle) Clock() framework.Clock {
	if d := h.driver.Load(); d != nil {
		return d.clock
	}
	return nil
}

// Seed implements [framework.Handle].
func (h *Handle) Seed() uint64 {
	if d := h.driver.Load(); d != nil {
		return d.config.Seed
	}
	return 0
}

// WaitingPods implements [framework.Handle].
func (h *Handle) WaitingPods() []framework.WaitingPod {
	d := h.driver.Load()
	if d == nil {
		return nil
	}
	all := d.waiting.all()
	list := make([]framework.WaitingPod, len(all))
	for i, w := range all {
		list[i] = w
	}
	return list
}

// WaitingPod implements [framework.Handle].
func (h *Handle) WaitingPod(id string) framework.WaitingPod {
	d := h.driver.Load()
	if d == nil {
		return nil
	}
	for _, w := range d.waiting.all() {
		pod := w.pod.Pod
		if uid := string(pod.UID); uid != "" && uid == id || uid == "" && pod.Key() == id {
			return w
		}
	}
	return nil
}

// Nominate implements [framework.Handle]. A nil pod is ignored.
func (h *Handle) Nominate(pod *api.Pod, node string) {
	if d := h.driver.Load(); d != nil && pod != nil {
		d.mail.post(func(ctx context.Context) {
			if p := d.pods[keyOf(pod)]; p != nil && (p.item != nil && p.binding == nil || p.member != nil && d.isPending(p)) {
				d.clearNomination(ctx, p, node)
			}
		})
	}
}

// Activate implements [framework.Handle]. A pod that waits in a group activates the group. Nil pods are
// ignored.
func (h *Handle) Activate(pods ...*api.Pod) {
	if d := h.driver.Load(); d != nil {
		d.mail.post(func(ctx context.Context) {
			for _, pod := range pods {
				if pod == nil {
					continue
				}
				p := d.pods[keyOf(pod)]
				switch {
				case p == nil:
				case p.item != nil:
					d.queue.Activate(ctx, p.item)
				case p.member != nil && p.member.group.item != nil:
					d.queue.Activate(ctx, p.member.group.item)
				}
			}
		})
	}
}

// Bind implements [framework.Handle].
func (h *Handle) Bind(ctx context.Context, pod *api.Pod, node string) error {
	d := h.driver.Load()
	if d == nil {
		return ErrNotConnected
	}
	return d.config.Binder.Bind(ctx, pod, node)
}

// DefaultBinder is the Bind plugin that binds through the handle, for profiles that
// list it with other Bind plugins. A profile without Bind plugins does not need it.
//
// Source: kube-scheduler 1.37, plugin DefaultBinder.
type DefaultBinder struct{ Handle framework.Handle }

// Name returns "DefaultBinder".
func (DefaultBinder) Name() string { return "DefaultBinder" }

// Bind binds the pod.
func (b DefaultBinder) Bind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	if b.Handle == nil {
		return framework.AsStatus(ErrNotConnected)
	}
	return framework.AsStatus(b.Handle.Bind(ctx, c.Pod.Pod, node))
}

package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// makeRoom lets both schedulers look for victims after neither found a node for
// the pod, and does what they propose. It returns the pod with its nomination.
func (h *history) makeRoom(p waiter, d scheduling.Decision) (waiter, error) {
	c := &h.res.Preemption
	c.Attempts++
	ctx := context.Background()
	found, plugin, status, err := h.incremental.PostFilter(ctx, h.snap, p.info, d)
	// Where an extender refuses a node that has room, there is nobody to evict, and
	// preemption fails as kube-scheduler's does. So it does where pods that were taken off a
	// node and put back have other GPUs than before, and leave room.
	different, failed := h.different(err)
	if different || failed != nil && !h.extended && h.gpus == nil {
		return p, failed
	}
	same, samePlugin, sameStatus, sameErr := h.reference.PostFilter(ctx, h.snap, p.info, d)
	fast, plain := proposal(found, plugin, status, err), proposal(same, samePlugin, sameStatus, sameErr)
	if fast != plain {
		h.res.note(&scheduling.DifferenceError{What: "what PostFilter proposes to another scheduler", Reference: plain, Incremental: fast})
		return p, nil
	}
	if err != nil {
		return p, nil
	}
	switch text := status.Message(); {
	case strings.Contains(text, "terminating pod on the nominated node"):
		c.Waits++
	case strings.Contains(text, "preemptionPolicy=Never"):
		c.Never++
	}
	if found.Nominated == "" && !found.Override || h.undisturbed {
		return p, nil
	}
	if len(found.Victims) > 0 {
		c.Preemptions++
		if err := h.outrank(p, found.Nominated); err != nil {
			return p, err
		}
	}
	if found.Nominated != "" {
		c.Nominations++
	}
	if p, err = h.nominate(p, found.Nominated); err != nil {
		return p, err
	}
	for _, v := range found.Victims {
		if v.ViolatesBudget {
			c.Violations++
		}
		if err := h.evict(v.Pod, found.Nominated); err != nil {
			return p, err
		}
	}
	return p, nil
}

// proposal is all that a PostFilter said.
func proposal(f framework.PostFiltered, plugin string, status framework.Status, err error) string {
	var victims []string
	for _, v := range f.Victims {
		victims = append(victims, fmt.Sprintf("%s %t", v.Pod.Pod.Key(), v.ViolatesBudget))
	}
	return fmt.Sprintf("%q %t %q by %q: %s, %v", f.Nominated, f.Override, victims, plugin, status, err)
}

// outrank takes the node from the pods of lower priority that it was kept for.
func (h *history) outrank(p waiter, node string) error {
	for i, q := range h.waiting {
		if q.node != node || q.info.Priority >= p.info.Priority {
			continue
		}
		h.res.Preemption.ClearedNominations++
		var err error
		if h.waiting[i], err = h.nominate(q, ""); err != nil {
			return err
		}
	}
	return nil
}

// evict asks a victim to go. Half of them stay for some steps, marked as
// terminating. One that is about to go already is left alone.
func (h *history) evict(victim *framework.PodInfo, node string) error {
	c := &h.res.Preemption
	if victim.Pod.DeletionTimestamp != nil {
		return nil
	}
	c.Evictions++
	n := h.snap.Node(node)
	if err := h.snap.RemovePodAt(victim, n); err != nil {
		return err
	}
	if chance(h.r, 2) {
		return nil
	}
	c.Lingering++
	pod := *victim.Pod
	pod.DeletionTimestamp = new(h.snap.Now())
	pod.Status.Conditions = append(slices.Clip(pod.Status.Conditions), api.PodCondition{
		Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler,
	})
	info, err := h.snap.NewPodInfo(&pod)
	if err != nil {
		return err
	}
	h.leaving = append(h.leaving, leaver{info, node, h.steps + 1 + h.r.IntN(60)})
	return h.snap.AddPodAt(info, n)
}

// wait lets the pod wait, half of those that no node is kept for; others give up
// for it when there are too many.
func (h *history) wait(p waiter) error {
	if p.node == "" && (h.undisturbed || chance(h.r, 2)) {
		return nil
	}
	h.waiting = append(h.waiting, p)
	if len(h.waiting) > h.atOnce {
		return h.giveUp()
	}
	return nil
}

// giveUp deletes a waiting pod.
func (h *history) giveUp() error {
	p, ok := h.takeWaiter()
	if ok {
		h.snap.ClearNomination(p.info, p.node)
	}
	return nil
}

// takeWaiter takes one of the waiting pods out of the list.
func (h *history) takeWaiter() (waiter, bool) {
	if len(h.waiting) == 0 {
		return waiter{}, false
	}
	i := h.r.IntN(len(h.waiting))
	p := h.waiting[i]
	h.waiting = slices.Delete(h.waiting, i, i+1)
	return p, true
}

// retry tries a waiting pod again.
func (h *history) retry() error {
	if p, ok := h.takeWaiter(); ok {
		return h.decide(p, true)
	}
	return nil
}

// nominateFromOutside keeps a node for a pod that nobody leaves, as others than the scheduler
// may ask for: for a waiting pod or a new one, and often a node that is kept for others, too, or
// has many pods. Half of the pods are tried at once.
func (h *history) nominateFromOutside() error {
	if h.undisturbed {
		return nil
	}
	p, ok := waiter{}, false
	if chance(h.r, 2) {
		p, ok = h.takeWaiter()
	}
	if !ok {
		var err error
		if p.info, err = h.newPod(); err != nil {
			return err
		}
	}
	n := h.someNode()
	for range 3 {
		if other := h.someNode(); len(other.Pods) > len(n.Pods) {
			n = other
		}
	}
	if kept := h.snap.NominatedSlots(); len(kept) > 0 && chance(h.r, 2) {
		n = h.snap.AtSlot(pick(h.r, kept...))
	}
	p, err := h.nominate(p, n.Name())
	if err != nil {
		return err
	}
	h.res.Preemption.Nominations++
	if chance(h.r, 2) {
		return h.decide(p, true)
	}
	return h.wait(p)
}

// bindWaiter counts a waiting pod that someone else placed.
func (h *history) bindWaiter() error {
	p, ok := h.takeWaiter()
	if !ok {
		return nil
	}
	h.snap.ClearNomination(p.info, p.node)
	return h.snap.AddPodAt(p.info, h.someNode())
}

// start notes that some pods of a node have started.
func (h *history) start() error {
	n := h.someNode()
	for _, p := range slices.Clone(n.Pods) {
		if p.Pod.Status.StartTime != nil || p.Pod.DeletionTimestamp != nil || chance(h.r, 2) {
			continue
		}
		pod := *p.Pod
		pod.Status.StartTime = new(h.snap.Now().Add(-time.Duration(h.r.IntN(100)) * time.Second))
		info, err := h.snap.NewPodInfo(&pod)
		if err != nil {
			return err
		}
		if err := h.snap.RemovePodAt(p, n); err != nil {
			return err
		}
		if err := h.snap.AddPodAt(info, n); err != nil {
			return err
		}
	}
	return nil
}

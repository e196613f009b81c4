package soak

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// ranked gives most pods a priority, by number or by the name of a class, and
// some a policy.
func ranked(r *rand.Rand, b api.PodBuilder) api.PodBuilder {
	switch r.IntN(4) {
	case 0:
	case 1:
		b = b.PriorityClass(pick(r, "low", "high", "polite", api.SystemClusterCritical))
	default:
		b = b.Priority(pick[int32](r, -10, 0, 1, 1, 5, 5, 100, 1000))
	}
	if chance(r, 10) {
		b = b.Preemption(api.PreemptNever)
	}
	return b
}

// ofPriority makes the pod of a class that differs from another in its priority alone.
func ofPriority(priority int32, template *api.Pod) *api.Pod {
	p := *template
	p.Spec.Priority, p.Spec.PriorityClassName = &priority, ""
	return &p
}

// priorityClass makes or changes a class. The one that is polite takes nobody's
// place, and sometimes a class is everybody's.
func priorityClass(r *rand.Rand, name string) *api.PriorityClass {
	c := &api.PriorityClass{ObjectMeta: api.ObjectMeta{Name: name}, GlobalDefault: chance(r, 10)}
	switch name {
	case "low":
		c.Value = pick[int32](r, -100, 1)
	case "high":
		c.Value = pick[int32](r, 50, 500)
	default:
		c.Value, c.PreemptionPolicy = 200, new(api.PreemptNever)
	}
	return c
}

// budget makes or changes a budget. Some allow nothing, and some cover nobody.
func budget(r *rand.Rand) *api.PodDisruptionBudget {
	b := &api.PodDisruptionBudget{ObjectMeta: named(r, "a", "b", "c")}
	b.Spec.Selector = selector(r)
	b.Status.DisruptionsAllowed = pick[int32](r, 0, 0, 1, 2, -1)
	if chance(r, 4) {
		b.Status.DisruptedPods = map[string]time.Time{fmt.Sprint("pod-", 1+r.IntN(500)): {}}
	}
	return b
}

// changePolicies puts or deletes a budget or a class.
func (h *history) changePolicies() error {
	switch h.r.IntN(6) {
	case 0:
		framework.Delete[api.PodDisruptionBudget](h.snap, pick(h.r, "default/a", "default/b", "team/c"))
	case 1:
		return framework.Put(h.snap, priorityClass(h.r, pick(h.r, "low", "high", "polite")))
	default:
		return framework.Put(h.snap, budget(h.r))
	}
	return nil
}

// policies puts the first classes and budgets.
func (h *history) policies() error {
	for _, name := range []string{"low", "high", "polite"} {
		if err := framework.Put(h.snap, priorityClass(h.r, name)); err != nil {
			return err
		}
	}
	for range h.r.IntN(3) {
		if err := framework.Put(h.snap, budget(h.r)); err != nil {
			return err
		}
	}
	return nil
}

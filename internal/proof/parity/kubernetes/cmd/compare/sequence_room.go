package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// maker is DefaultPreemption, and also records where its search begins.
type maker struct {
	preemption.DefaultPreemption
	offset int
}

func (m *maker) PostFilter(ctx context.Context, c *framework.Cycle, v framework.Verdicts) (framework.PostFiltered, framework.Status) {
	n := uint64(0)
	for _, node := range c.Snapshot.All() {
		if _, status := v.Verdict(node); status.Code() == framework.Unschedulable {
			n++
		}
	}
	offset, _ := bits.Mul64(c.Seed, n)
	m.offset = int(offset)
	return m.DefaultPreemption.PostFilter(ctx, c, v)
}

// plugins adds the plugins of the later points to the profile.
func (w *walk) plugins(i *item, p *scheduling.Profile) error {
	if slices.ContainsFunc(p.Filter, func(p framework.Plugin) bool { return p.Name() == "VolumeBinding" }) {
		p.Reserve = append(p.Reserve, filter.VolumeBinding{})
	}
	p.Reserve, p.Permit = append(p.Reserve, refuse{}), append(p.Permit, refuse{})
	if !i.Preempt {
		return nil
	}
	plugin, err := pipeline.DefaultPreemption(i.Case)
	w.room = &maker{DefaultPreemption: plugin}
	p.PostFilter = []framework.Plugin{w.room}
	return err
}

// makeRoom runs preemption for a pod that found no node.
func (w *walk) makeRoom(p *placed, pending *rival.Pending, d scheduling.Decision) (string, error) {
	key := p.ours.Pod.Key()
	w.room.offset = 0
	result, _, status, ourErr := w.ours.PostFilter(context.Background(), w.snapshot, p.ours, d)
	room, err := w.theirs.MakeRoom(pending, w.room.offset)
	if err != nil {
		return "", err
	}
	if room.Code == framework.Error.String() && ourErr != nil {
		return "", w.giveUp(p)
	}
	if got := status.Code().String(); ourErr != nil || got != room.Code || result.Override != room.Override {
		return fmt.Sprintf("room for %s = %s, override %v (%v), want %s, override %v", key, got, result.Override, ourErr, room.Code, room.Override), nil
	}
	if !status.IsSuccess() || result.Nominated == room.Nominated {
		if got := status.Message(); got != room.Message {
			return fmt.Sprintf("message about room for %s = %q, want %q", key, got, room.Message), nil
		}
	}
	if result.Nominated == "" {
		if strings.Contains(room.Message, "terminating pod") {
			w.events["not eligible"]++
		}
		w.events["no room"]++
		if result.Override || w.pending[key] == nil {
			return "", w.giveUp(p)
		}
		return "", nil // the nomination stands
	}
	if !room.Picks(result.Nominated) {
		return fmt.Sprintf("node promised to %s = %q, want %q or an equal of %v", key, result.Nominated, room.Nominated, room.Candidates), nil
	}
	w.events["promised"]++
	w.events["promised again"] += one(w.pending[key] != nil)
	w.events["several candidates"] += one(len(room.Candidates) > 1)
	at := slices.IndexFunc(room.Candidates, func(c golden.PreemptionCandidate) bool { return c.Node == result.Nominated })
	var victims []string
	for _, v := range result.Victims {
		victims = append(victims, v.Pod.Pod.Key())
	}
	if !slices.Equal(victims, room.Candidates[at].Victims) {
		return fmt.Sprintf("victims for %s = %v, want %v", key, victims, room.Candidates[at].Victims), nil
	}
	return "", w.promise(p, result.Nominated, victims)
}

// promise nominates a pod to a node, and asks the victims to leave. Victims with an
// even number of letters in their keys leave later.
func (w *walk) promise(p *placed, node string, victims []string) error {
	for _, key := range slices.Sorted(maps.Keys(w.pending)) {
		q := w.pending[key]
		if q.ours.Pod.Status.NominatedNodeName == node && q.ours.Priority < p.ours.Priority {
			w.events["promise taken back"]++
			if err := w.giveUp(q); err != nil {
				return err
			}
		}
	}
	key, before := p.ours.Pod.Key(), p.ours.Pod.Status.NominatedNodeName
	if err := w.theirs.Forget(p.kube); err != nil {
		return err
	}
	pod := *p.ours.Pod
	pod.Status.NominatedNodeName = node
	q, err := w.pod(&pod)
	if err != nil {
		return err
	}
	w.pending[key] = q
	if err := errors.Join(w.theirs.Nominate(q.kube), w.snapshot.Nominate(q.ours, node, before)); err != nil {
		return err
	}
	for _, key := range victims {
		if err := w.evict(key); err != nil {
			return err
		}
	}
	return nil
}

// evict asks a pod to leave. A pod that is not bound leaves at once.
func (w *walk) evict(key string) error {
	p := w.pods[key]
	if p.reserved != nil || len(key)%2 == 1 {
		w.events["victim gone at once"]++
		return w.remove(key)
	}
	if p.ours.Pod.DeletionTimestamp != nil {
		return nil
	}
	pod := *p.ours.Pod
	pod.Spec.NodeName = p.node
	pod.DeletionTimestamp = new(time.Unix(1_700_000_000, 0).UTC())
	pod.Status.Conditions = append(slices.Clip(pod.Status.Conditions), api.PodCondition{
		Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler,
	})
	q, err := w.pod(&pod)
	if err != nil {
		return err
	}
	q.node = p.node
	w.pods[key] = q
	w.leaving = append(w.leaving, key)
	w.events["victim leaving"]++
	return errors.Join(w.theirs.UpdatePod(p.kube, q.kube), w.snapshot.RemovePod(p.ours, p.node), w.snapshot.AddPod(q.ours, q.node))
}

// sweep removes the pods that were asked to leave.
func (w *walk) sweep() error {
	for _, key := range w.leaving {
		if err := w.remove(key); err != nil {
			return err
		}
	}
	w.leaving = nil
	return nil
}

// retry schedules a nominated pod again: the one with the key, or the next one.
func (w *walk) retry(key string) (string, error) {
	p := next(w.pending, key, func(*placed) bool { return true })
	if p == nil {
		return "", nil
	}
	return w.place(p)
}

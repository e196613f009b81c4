package lifecycle

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// StatusPatch returns what the report changes in the pod's status, as a strategic merge
// patch that the API server refuses if the pod has changed; nil if it changes nothing. A
// condition that comes to be false does so at now.
//
// Source: kube-scheduler 1.37, schedule_one.go, handleSchedulingFailure and updatePod.
func (r Report) StatusPatch(pod *api.Pod, now time.Time) ([]byte, error) {
	p := podPatch{Metadata: patchMeta{UID: pod.UID, ResourceVersion: pod.ResourceVersion}}
	if r.Reason != "" {
		p.Status.set(pod, api.PodCondition{
			Type: api.PodScheduled, Status: api.ConditionFalse, Reason: r.Reason, Message: r.Message, LastTransitionTime: now,
		})
	}
	if r.Nominated != pod.Status.NominatedNodeName {
		p.Status.NominatedNodeName = json.RawMessage("null")
		if r.Nominated != "" {
			p.Status.NominatedNodeName, _ = json.Marshal(r.Nominated) // a string has no error
		}
	}
	return p.bytes()
}

// DisruptionPatch returns the change that notes in a victim's status, by the condition
// DisruptionTarget, why it must leave: a strategic merge patch that the API server refuses
// for another pod of its name; nil if the victim has the condition.
//
// Source: kube-scheduler 1.37, framework/preemption, PreemptPod.
func DisruptionPatch(victim, preemptor *api.Pod, now time.Time) ([]byte, error) {
	p := podPatch{Metadata: patchMeta{UID: victim.UID}}
	p.Status.set(victim, api.PodCondition{
		Type: api.DisruptionTarget, Status: api.ConditionTrue, Reason: api.PodReasonPreemptionByScheduler,
		Message: cmp.Or(preemptor.Spec.SchedulerName, scheduling.DefaultName) + ": preempting to accommodate a higher priority pod", LastTransitionTime: now,
	})
	return p.bytes()
}

type podPatch struct {
	Metadata patchMeta   `json:"metadata"`
	Status   statusPatch `json:"status"`
}

// patchMeta holds preconditions.
type patchMeta struct {
	UID             api.UID `json:"uid,omitempty"`
	ResourceVersion string  `json:"resourceVersion,omitempty"`
}

type statusPatch struct {
	Conditions        []api.PodCondition `json:"conditions,omitempty"`
	NominatedNodeName json.RawMessage    `json:"nominatedNodeName,omitempty"`
}

// set adds a condition unless the pod has it. If only its text is new, its time is kept.
func (s *statusPatch) set(pod *api.Pod, c api.PodCondition) {
	c.ObservedGeneration, c.Message = pod.Generation, strings.ToValidUTF8(c.Message, "?")
	c.LastTransitionTime = c.LastTransitionTime.UTC().Truncate(time.Second) // as the API keeps it
	for _, old := range pod.Status.Conditions {
		if old.Type != c.Type || old.Status != c.Status {
			continue
		}
		c.LastTransitionTime, c.LastProbeTime = old.LastTransitionTime, old.LastProbeTime
		if old == c {
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// bytes returns the patch, nil if it changes nothing.
func (p podPatch) bytes() ([]byte, error) {
	if p.Status.Conditions == nil && p.Status.NominatedNodeName == nil {
		return nil, nil
	}
	return json.Marshal(p)
}

package scheduling

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// PreEnqueue asks the PreEnqueue plugins whether the pod may enter the queue. The
// first answer other than Success decides, and its plugin and status are returned;
// an Error is a refusal like any other. first names the plugin to ask before the
// others, usually the one that refused the last time; "" means none.
//
// Source: kube-scheduler 1.37, runPreEnqueuePlugins.
//
// Differs: the order in which the other plugins are asked.
// Original: kube-scheduler's order is random.
// Here: the profile's order.
// Why: the answer must be the same on every run.
func (s *Scheduler) PreEnqueue(ctx context.Context, pod *framework.PodInfo, first string) (plugin string, status framework.Status) {
	list := s.plugins.preEnqueue
	i := slices.IndexFunc(list, func(p named[queueing.PreEnqueuePlugin]) bool { return p.name == first })
	if i >= 0 {
		if status := preEnqueue(ctx, list[i], pod); !status.IsSuccess() {
			return first, status
		}
	}
	for k, p := range list {
		if k == i {
			continue
		}
		if status := preEnqueue(ctx, p, pod); !status.IsSuccess() {
			return p.name, status
		}
	}
	return "", framework.Status{}
}

func preEnqueue(ctx context.Context, p named[queueing.PreEnqueuePlugin], pod *framework.PodInfo) (s framework.Status) {
	defer catchStatus(&s)
	return p.plugin.PreEnqueue(ctx, pod)
}

// catchStatus turns a panic into an Error status. It must be deferred.
func catchStatus(s *framework.Status) {
	if v := recover(); v != nil {
		*s = framework.AsStatus(recovered(v))
	}
}

// QueueSort returns the profile's QueueSort plugin.
func (s *Scheduler) QueueSort() queueing.QueueSortPlugin { return s.plugins.queueSort }

// A RegisteredEvent is an event that one plugin of a profile registered for.
type RegisteredEvent struct {
	Plugin string
	queueing.EventHint
}

// Events lists the events that may help pods that the profile's plugins rejected. It
// covers plugins that implement PreEnqueue, PreFilter, Filter, Reserve or Permit, in
// the order of their first appearance there. A plugin without
// [queueing.EnqueueExtensions] gets the wildcard event.
func (s *Scheduler) Events() []RegisteredEvent { return slices.Clone(s.events) }

// register asks the plugins for their events.
func (s *Scheduler) register() (events []RegisteredEvent, err error) {
	p := &s.profile
	var order []string
	says := map[string][]queueing.EventHint{}
	for _, list := range [][]framework.Plugin{p.PreEnqueue, p.PreFilter, p.Filter, p.Reserve, p.Permit} {
		for _, pl := range list {
			name := pl.Name()
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
			if e, ok := framework.As[queueing.EnqueueExtensions](pl); ok && says[name] == nil {
				if says[name], err = eventsOf(name, e); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range order {
		hints, ok := says[name]
		if !ok {
			hints = []queueing.EventHint{{Event: queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll}}}
		}
		for _, h := range hints {
			events = append(events, RegisteredEvent{name, h})
		}
	}
	if len(s.plugins.extenders) > 0 {
		// Any event may help a pod that an extender rejected.
		events = append(events, RegisteredEvent{ExtenderPlugin, queueing.EventHint{
			Event: queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll},
		}})
	}
	return events, nil
}

// eventsOf returns the events that a plugin registers for, never nil; a panic is an
// error.
func eventsOf(name string, e queueing.EnqueueExtensions) (events []queueing.EventHint, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PluginError{Point: "EventsToRegister", Plugin: name, Err: recovered(v)}
		}
	}()
	return append([]queueing.EventHint{}, e.EventsToRegister()...), nil
}

// refusal returns the error for a status that is neither Success nor a rejection.
func refusal(point, plugin string, status framework.Status) *PluginError {
	err := status.Err()
	if err == nil {
		err = fmt.Errorf("unexpected status %s", status.Code())
	}
	return &PluginError{Point: point, Plugin: plugin, Err: err}
}

// rejection returns the error for a plugin that rejects the chosen node.
func rejection(pod *framework.PodInfo, plugin string, status framework.Status) *FitError {
	return &FitError{Pod: pod.Pod.Key(), Nodes: 1, Rejections: []Rejection{{plugin, status, 1}}}
}

package simulate

import (
	"cmp"
	"context"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// Bind starts the pod on the node.
func (w *world) Bind(_ context.Context, pod *api.Pod, node string) error {
	l, n := w.pods[pod.Key()], w.nodes[node]
	if l == nil || n == nil {
		return &api.InvalidError{Object: "pod " + pod.Key(), Field: "spec.nodeName", Value: node, Err: errGone}
	}
	w.bound++
	w.waiting--
	delete(w.stuck, l)
	l.waited += w.clock.Now().Sub(l.since)
	l.Node, l.Message, l.Waited, l.Order = node, "", seconds(l.waited), w.bound
	l.Bound = new(seconds(w.now()))
	running := *pod
	running.Spec.NodeName, running.Status.Phase = node, api.PodRunning
	l.pod = &running
	w.result.Decisions = append(w.result.Decisions, Decision{At: w.now(), Pod: l.Pod, Node: node})
	w.driver.Apply(lifecycle.Update(l.pod))
	w.start(l, n)
	return nil
}

// Evict removes a victim of preemption.
func (w *world) Evict(_ context.Context, victim, _ *api.Pod) error {
	l := w.pods[victim.Key()]
	if l == nil || l.node == nil {
		return nil // it has left meanwhile
	}
	w.result.Evictions++
	w.result.Decisions = append(w.result.Decisions, Decision{At: w.now(), Pod: l.Pod, Node: l.node.node.Name, Evicted: true})
	w.displace(l)
	w.reconcile()
	return nil
}

// Report records why a pod waits.
func (w *world) Report(_ context.Context, pod *api.Pod, r lifecycle.Report) {
	l := w.pods[pod.Key()]
	if l == nil || l.node != nil || r.Message == "" {
		return
	}
	if l.Message == "" {
		w.result.Decisions = append(w.result.Decisions, Decision{At: w.now(), Pod: l.Pod, Message: r.Message})
	}
	l.Message = r.Message
	w.stuck[l] = true
}

// Attempt counts attempts.
func (w *world) Attempt(a *lifecycle.Attempt) {
	w.attempts++
	if l := w.pods[a.Pod.Pod.Key()]; l != nil {
		l.Attempts++
	}
	if w.config.Progress != nil && w.attempts%1000 == 0 {
		w.config.Progress(w.progress())
	}
}

func (w *world) progress() Progress {
	return Progress{Now: w.now(), Attempts: w.attempts, Bound: w.bound, Waiting: w.waiting}
}

// delete removes an object.
func (w *world) delete(ref Ref) error {
	switch ref.Kind {
	case "Node":
		return w.deleteNode(ref.Name)
	case "Pod":
		if l := w.pods[ref.Name]; l != nil { // otherwise it has ended
			w.end(l, false)
		}
		return nil
	}
	if c := w.controllers[ref]; c != nil {
		delete(w.controllers, ref)
		for _, l := range c.pods() {
			l.owner = nil
			w.end(l, false)
		}
	}
	e, err := deletion(ref)
	if err == nil {
		w.driver.Apply(e)
	}
	return err
}

// deleteNode lets a node fail: its pods have to leave it.
func (w *world) deleteNode(name string) error {
	n := w.nodes[name]
	if n == nil {
		return &api.InvalidError{Object: "node " + name, Err: errGone}
	}
	for _, l := range byArrival(n.pods) {
		if l.owner != nil && l.owner.Field == "" { // of a DaemonSet
			w.end(l, false)
		} else {
			w.displace(l)
		}
	}
	delete(w.nodes, name)
	w.allocatable, w.dirty = nil, true
	w.driver.Apply(lifecycle.Delete(n.node))
	return nil
}

// byArrival lists pods in the order of their arrival.
func byArrival(set map[*life]bool) []*life {
	list := make([]*life, 0, len(set))
	for l := range set {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *life) int { return cmp.Compare(a.serial, b.serial) })
	return list
}

package simulate

import (
	"errors"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/workload"
)

// apply adds or changes objects. Copies of them get the defaults of the API server.
func (w *world) apply(given *api.Objects) error {
	o, err := w.defaulted(given)
	if err != nil {
		return err
	}
	for _, x := range items(o) {
		switch object := x.object.(type) {
		case *api.Node:
			w.applyNode(object)
		case *api.Pod:
			if err := w.applyPod(object); err != nil {
				return err
			}
		default:
			w.update(x)
		}
	}
	if w.config.Trace.Recorded {
		return nil
	}
	w.provision(o)
	if w.config.NoControllers {
		return nil
	}
	return w.applyControllers(o)
}

// defaulted copies objects and fills in defaults. The given ones stay as they are,
// because several runs may share a trace.
func (w *world) defaulted(given *api.Objects) (*api.Objects, error) {
	o := *given
	o.Pods, o.Nodes, o.Namespaces = copies(given.Pods), copies(given.Nodes), copies(given.Namespaces)
	o.ReplicationControllers, o.StorageClasses = copies(given.ReplicationControllers), copies(given.StorageClasses)
	o.PersistentVolumeClaims, o.PersistentVolumes = copies(given.PersistentVolumeClaims), nil
	for _, v := range given.PersistentVolumes {
		if v != nil {
			o.PersistentVolumes = append(o.PersistentVolumes, api.Clone(v))
		}
	}
	o.PriorityClasses = append(append([]*api.PriorityClass(nil), w.classes...), given.PriorityClasses...)
	if err := o.Default(); err != nil {
		return nil, err
	}
	if w.classes = o.PriorityClasses; len(given.PriorityClasses) > 0 {
		w.scaler.full = nil // the order of the pods of DaemonSets may change
	}
	o.PriorityClasses = given.PriorityClasses
	return &o, nil
}

// copies returns a list of copies. They share what they point to, which defaults
// replace and do not change.
func copies[T any](list []*T) []*T {
	all := make([]*T, 0, len(list))
	for _, x := range list {
		if x != nil {
			copied := *x
			all = append(all, &copied)
		}
	}
	return all
}

func (w *world) applyNode(n *api.Node) {
	w.beforeNodes()
	w.lookAtNode(n.Name)
	state := w.nodes[n.Name]
	if state == nil {
		state = w.absent[n.Name]
		delete(w.absent, n.Name)
		if state == nil {
			state = &nodeState{name: n.Name, pods: map[*life]bool{}, idle: w.clock.Now()}
		}
		w.nodes[n.Name], state.node = state, n
		for _, l := range byArrival(state.pods) { // they were there before it
			w.series.add(l.pod, 1, w)
		}
	}
	state.node = n
	w.update(item{"Node", n.Name, n, lifecycle.Update(n)})
}

// applyPod lets a pod of the trace arrive, or run on its node.
func (w *world) applyPod(p *api.Pod) error {
	if p.Status.Phase.HasEnded() {
		w.noteSucceeded(p)
		return nil
	}
	if p.DeletionTimestamp != nil && p.Spec.NodeName == "" {
		return nil // it goes before it runs
	}
	if w.pods[p.Key()] != nil {
		if w.config.Trace.Recorded {
			return nil // it was evicted in the recording, and stayed in this run
		}
		return &api.InvalidError{Object: "pod " + p.Key(), Err: errors.New("the pod is there already")}
	}
	l, err := w.bear(p)
	if err != nil {
		return err
	}
	l.victim = w.evictedLater(p.Key())
	w.findOwner(l)
	if p.Spec.NodeName == "" {
		w.arrive(l)
		return nil
	}
	state := w.nodes[p.Spec.NodeName]
	if state == nil && w.config.Trace.Recorded {
		if state = w.absent[p.Spec.NodeName]; state == nil {
			state = &nodeState{name: p.Spec.NodeName, pods: map[*life]bool{}}
			w.absent[p.Spec.NodeName] = state
		}
	}
	if state == nil {
		return &api.InvalidError{Object: "pod " + p.Key(), Field: "spec.nodeName", Value: p.Spec.NodeName, Err: errors.New("there is no such node")}
	}
	l.Running = true
	w.update(podItem(p))
	w.start(l, state)
	if until := p.DeletionTimestamp; until != nil && !w.config.Trace.Recorded {
		w.goAt(l, *until)
	}
	return nil
}

// noteSucceeded counts a pod that has ended, if it succeeded, for its Job. A Job that is there has told
// in its status.
func (w *world) noteSucceeded(p *api.Pod) {
	if owner := p.ControllerRef(); owner != nil && owner.Kind == "Job" && p.Status.Phase == api.PodSucceeded {
		ref := Ref{owner.Kind, p.Namespace + "/" + owner.Name}
		if w.controllers[ref] == nil {
			w.succeeded[ref]++
		}
	}
}

// findOwner lets the pod's workload adopt it, or keeps it for when that comes. A Deployment adopts
// the pods of ReplicaSets that are not there. Only StatefulSets and DaemonSets wait for a pod that is
// being deleted; others have made another one.
func (w *world) findOwner(l *life) {
	owner := l.pod.ControllerRef()
	if owner == nil || l.pod.DeletionTimestamp != nil && owner.Kind != "StatefulSet" && owner.Kind != "DaemonSet" {
		return
	}
	refs := []Ref{{owner.Kind, l.pod.Namespace + "/" + owner.Name}}
	if d := workload.DeploymentOf(l.pod); d != "" {
		refs = append(refs, Ref{"Deployment", l.pod.Namespace + "/" + d})
	}
	for _, ref := range refs {
		if c := w.controllers[ref]; c != nil {
			c.adopt(l)
			w.lookAt(c)
			return
		}
		w.unowned[ref] = append(w.unowned[ref], l)
	}
}

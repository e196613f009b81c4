package main

import (
	"errors"
	"maps"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
)

// change takes a step that changes an object in place. done reports whether the step
// was one.
func (w *walk) change(s *cases.Step) (done bool, err error) {
	switch {
	case s.Node != "":
		err = w.relabel(s)
	case s.Pod != "":
		err = w.updatePod(s)
	case s.Namespace != nil:
		err = put[api.Namespace, v1.Namespace](w, s.Namespace)
	case s.DropNamespace != "":
		err = w.dropNamespace(s.DropNamespace)
	case s.Service != nil:
		err = put[api.Service, v1.Service](w, s.Service)
	case s.ReplicaSet != nil:
		err = put[api.ReplicaSet, apps.ReplicaSet](w, s.ReplicaSet)
	case s.Budget != nil:
		err = put[api.PodDisruptionBudget, policy.PodDisruptionBudget](w, s.Budget)
	default:
		return false, nil
	}
	return true, err
}

// relabel adds labels to a node, or removes them.
func (w *walk) relabel(s *cases.Step) error {
	n := w.snapshot.Node(s.Node)
	if n == nil {
		return nil
	}
	changed := *n.Node
	changed.Labels = map[string]string{}
	maps.Copy(changed.Labels, n.Node.Labels)
	maps.Copy(changed.Labels, s.Labels)
	if s.Without {
		for key := range s.Labels {
			delete(changed.Labels, key)
		}
	}
	w.events["node relabelled"]++
	return w.updateNode(&changed)
}

// updatePod gives a pod on a node other labels, or makes it begin to leave.
func (w *walk) updatePod(s *cases.Step) error {
	before := w.pods[s.Pod]
	if before == nil {
		return nil
	}
	pod := *before.ours.Pod
	pod.Spec.NodeName = before.node
	if s.Without {
		pod.DeletionTimestamp = new(time.Unix(1_700_000_000, 0).UTC())
	} else {
		pod.Labels = s.Labels
	}
	after, err := w.pod(&pod)
	if err != nil {
		return err
	}
	after.node = before.node
	w.pods[s.Pod] = after
	w.events["pod changed"]++
	return errors.Join(w.theirs.UpdatePod(before.kube, after.kube),
		w.snapshot.RemovePod(before.ours, before.node), w.snapshot.AddPod(after.ours, after.node))
}

func (w *walk) dropNamespace(name string) error {
	if framework.Lookup[api.Namespace](w.snapshot, name) == nil {
		return nil
	}
	framework.Delete[api.Namespace](w.snapshot, name)
	gone := new(v1.Namespace)
	gone.Name = name
	return w.theirs.Drop(gone)
}

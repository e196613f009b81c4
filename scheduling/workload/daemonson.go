package workload

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// DaemonsOn makes the pods that the DaemonSets of the list run on a new node. The objects are that node
// alone, the pods that run on it already, and the priority classes.
//
// A DaemonSet that controls none of these pods gets one, if the node admits it and has room for it beside
// those before it. Pods of higher priority come first, the others in the order of the list. A pod whose
// priority class is neither among the objects nor built into Kubernetes has priority 0. The pods have the
// names of their DaemonSets, the defaults of the API server, and no node. Other workloads of the list, and
// those that are being deleted, are ignored.
func DaemonsOn(o *api.Objects, list []Workload) ([]*api.Pod, error) {
	candidates, err := daemonsWithout(o, list)
	if err != nil || len(candidates) == 0 {
		return nil, err
	}
	sched, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{
		filter.NodeName{}, filter.TaintToleration{}, filter.NodeAffinity{}, filter.NodePorts{}, filter.NodeResourcesFit{},
	}})
	if err != nil {
		return nil, err
	}
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: o.Nodes, Pods: o.Pods}, framework.Arrival)
	if err != nil {
		return nil, err
	}
	var pods []*api.Pod
	for _, pod := range candidates {
		info, err := s.NewPodInfo(pod)
		if err != nil {
			return nil, err
		}
		var fit *scheduling.FitError
		var plugin *scheduling.PluginError
		switch _, err := sched.Place(s, info); {
		case err == nil:
			pods = append(pods, pod)
		case !errors.As(err, &fit) && !errors.As(err, &plugin):
			return nil, err
		}
	}
	return pods, nil
}

// daemonsWithout makes a pod of each DaemonSet that controls none of the pods, those of higher priority
// first.
func daemonsWithout(o *api.Objects, list []Workload) (pods []*api.Pod, err error) {
	type key struct{ namespace, name string }
	has := map[key]bool{}
	for _, p := range o.Pods {
		if ref := p.ControllerRef(); ref != nil && ref.Kind == "DaemonSet" {
			has[key{p.Namespace, ref.Name}] = true
		}
	}
	for i := range list {
		w := &list[i]
		if w.Field != "" || w.IsTerminating() || has[key{w.Namespace, w.Name}] {
			continue
		}
		has[key{w.Namespace, w.Name}] = true
		pod := w.Pod()
		pod.Name = w.Name
		if err := defaultDaemon(pod, o.PriorityClasses); err != nil {
			return nil, err
		}
		pods = append(pods, pod)
	}
	slices.SortStableFunc(pods, func(a, b *api.Pod) int { return cmp.Compare(*b.Spec.Priority, *a.Spec.Priority) })
	return pods, nil
}

// defaultDaemon sets the defaults of a pod. If its priority class is not known, the priority is 0.
func defaultDaemon(pod *api.Pod, classes []*api.PriorityClass) error {
	err := api.DefaultPod(pod, classes)
	var invalid *api.InvalidError
	if errors.As(err, &invalid) && invalid.Field == "spec.priorityClassName" {
		pod.Spec.Priority = new(int32(0))
		err = api.DefaultPod(pod, classes)
	}
	return err
}

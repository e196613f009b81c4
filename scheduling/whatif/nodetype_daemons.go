package whatif

import (
	"cmp"
	"errors"
	"slices"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/workload"
)

// WithDaemons returns the type with the pods that the DaemonSets of the list make on each of its nodes.
// The type itself stays as it is.
//
// A pod is added for a DaemonSet that controls none of the type's pods, if a node of the type admits the
// pod and has room for it beside those before it. Pods of higher priority come first, the others in the
// order of the list. A pod whose priority class is neither among the classes nor built into Kubernetes has
// priority 0. Other workloads of the list, and those that are being deleted, are
// ignored.
func (t NodeType) WithDaemons(list []workload.Workload, classes []*api.PriorityClass) (NodeType, error) {
	pods, err := t.daemons(list, classes)
	if err != nil || len(pods) == 0 {
		return t, err
	}
	// No node has this name, so a DaemonSet for one node does not count.
	const name = "-"
	s := framework.NewSnapshot(framework.Arrival)
	if err := t.AddNode(s, name); err != nil {
		return t, err
	}
	sched, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{
		filter.NodeName{}, filter.TaintToleration{}, filter.NodeAffinity{}, filter.NodePorts{}, filter.NodeResourcesFit{},
	}})
	if err != nil {
		return t, err
	}
	t.Pods = slices.Clip(t.Pods)
	for _, pod := range pods {
		info, err := s.NewPodInfo(pod)
		if err != nil {
			return t, err
		}
		if _, err = sched.Place(s, info); err == nil {
			t.Pods = append(t.Pods, pod)
			continue
		}
		if _, err = missed(info, err); err != nil {
			return t, err
		}
	}
	return t, nil
}

// daemons makes a pod of each DaemonSet that controls none of the type's pods, those of higher priority
// first.
func (t *NodeType) daemons(list []workload.Workload, classes []*api.PriorityClass) (pods []*api.Pod, err error) {
	type key struct{ namespace, name string }
	has := map[key]bool{}
	for _, p := range t.Pods {
		if p == nil {
			return nil, t.invalid("pods", "", "a pod is nil")
		}
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
		if err := defaultDaemon(pod, classes); err != nil {
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

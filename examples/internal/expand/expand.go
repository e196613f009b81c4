// Package expand adds the pods that workloads stand for.
package expand

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// Workloads adds the pods that workloads stand for to the objects:
//
//   - for a Deployment, ReplicaSet, ReplicationController or StatefulSet, as many as
//     its replicas, and for a Job, as many as run at a time;
//   - for a DaemonSet, one for each node whose taints, labels and name admit it. A
//     required node affinity binds it to that node, as with the DaemonSet
//     controller.
//
// It skips workloads that own a pod or another workload among the objects, since a
// cluster's output already holds their pods. So a Deployment whose pods are there without their
// ReplicaSet is skipped, too. It also skips workloads that are being deleted, each by its own mark: their
// controllers make no pods any more. The name of a pod is the name of its
// workload and the first free number, or the node for a DaemonSet. It calls made with the
// key of each pod and the label of its workload, and stops if that is an error. If there
// would be more than most pods in all, as [workload.WeightOf] counts them, it makes none, and returns an
// [*api.InvalidError].
func Workloads(o *api.Objects, most int, made func(pod, workload string) error) error {
	list := slices.DeleteFunc(workload.Of(o), func(w workload.Workload) bool { return w.IsTerminating() })
	owners, taken := map[string]bool{}, map[string]bool{}
	for _, w := range list {
		if ref := w.ControllerRef(); ref != nil {
			owners[ref.Kind+" "+w.Namespace+"/"+ref.Name] = true
		}
	}
	for _, p := range o.Pods {
		taken[p.Key()] = true
		if ref := p.ControllerRef(); ref != nil {
			owners[ref.Kind+" "+p.Namespace+"/"+ref.Name] = true
		}
		if d := workload.DeploymentOf(p); d != "" {
			owners["Deployment "+p.Namespace+"/"+d] = true
		}
	}
	list = slices.DeleteFunc(list, func(w workload.Workload) bool { return owners[w.Kind+" "+w.Key()] })
	if err := bound(o, list, most); err != nil {
		return err
	}
	called := map[string]numbers{} // of workloads that are called alike: a file may have one twice
	for _, w := range list {
		pods, err := w.Pods(o.Nodes)
		if err != nil {
			return err
		}
		tried := called[w.Label()]
		if tried == nil {
			tried = numbers{}
			called[w.Label()] = tried
		}
		next := int(w.Start)
		for _, p := range pods {
			for p.Name == "" || taken[p.Key()] {
				next = tried.take(next)
				w.NumberPod(p, next)
			}
			taken[p.Key()] = true
			if err := made(p.Key(), w.Label()); err != nil {
				return err
			}
		}
		o.Pods = append(o.Pods, pods...)
	}
	return nil
}

// numbers leads from each number that has been tried to a larger one, and so to the next that has not been.
type numbers map[int]int

// take returns the first number from n on that has not been tried.
func (t numbers) take(n int) int {
	free := n
	for next, tried := t[free]; tried; next, tried = t[free] {
		free = next
	}
	for n != free { // shorten the way for those to come
		n, t[n] = t[n], free
	}
	t[free] = free + 1
	return free
}

// taintsOfAPod is how many taints of nodes count as a pod for each DaemonSet: it is compared with all of them.
const taintsOfAPod = 64

// bound refuses workloads that make too many pods.
func bound(o *api.Objects, list []workload.Workload, most int) error {
	count, taints := len(o.Pods), 0
	for _, n := range o.Nodes {
		taints += len(n.Spec.Taints)
	}
	for i := range list {
		w := &list[i]
		n, err := w.Replicas()
		if err != nil {
			return err
		}
		if w.Field == "" {
			n = len(o.Nodes)
			count += taints / taintsOfAPod
		}
		weight := workload.WeightOf(w.Template)
		if count += n * weight; n > 0 && count > most {
			err := fmt.Errorf("makes more than %d pods in all", most)
			if weight > 1 {
				err = fmt.Errorf("%w; each counts as %d, for all that its template has", err, weight)
			}
			return &api.InvalidError{Object: w.Label(), Field: w.Field, Value: strconv.Itoa(n), Err: err}
		}
	}
	return nil
}

// Package expand adds the pods that workloads stand for.
package expand

import (
	"fmt"

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
// cluster's output already holds their pods. The name of a pod is the name of its
// workload and the first free number, or the node for a DaemonSet. It calls made with the
// key of each pod and the label of its workload, and stops if that is an error.
func Workloads(o *api.Objects, made func(pod, workload string) error) error {
	list := workload.Of(o)
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
	}
	for _, w := range list {
		if owners[w.Kind+" "+w.Key()] {
			continue
		}
		pods, err := w.Pods(o.Nodes)
		if err != nil {
			return err
		}
		next := 0
		for _, p := range pods {
			for p.Name == "" || taken[p.Key()] {
				p.Name = fmt.Sprintf("%s-%d", w.Name, next)
				next++
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

package input

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// maxReplicas bounds the pods of one workload.
const maxReplicas = 100_000

// A workload is an object that makes pods.
type workload struct {
	api.TypeMeta
	api.ObjectMeta
	template *api.PodTemplateSpec
	field    string // holds the number of pods; "" for one on each node
	count    *int32 // nil means 1
}

// label names the workload as errors do.
func (w *workload) label() string { return strings.ToLower(w.Kind) + " " + w.Key() }

// workloads lists the workloads among the objects.
func workloads(o *api.Objects) []workload {
	var list []workload
	for _, x := range o.Deployments {
		list = append(list, workload{x.TypeMeta, x.ObjectMeta, &x.Spec.Template, "spec.replicas", x.Spec.Replicas})
	}
	for _, x := range o.ReplicaSets {
		list = append(list, workload{x.TypeMeta, x.ObjectMeta, &x.Spec.Template, "spec.replicas", x.Spec.Replicas})
	}
	for _, x := range o.ReplicationControllers {
		if x.Spec.Template != nil {
			list = append(list, workload{x.TypeMeta, x.ObjectMeta, x.Spec.Template, "spec.replicas", x.Spec.Replicas})
		}
	}
	for _, x := range o.StatefulSets {
		list = append(list, workload{x.TypeMeta, x.ObjectMeta, &x.Spec.Template, "spec.replicas", x.Spec.Replicas})
	}
	for _, x := range o.DaemonSets {
		list = append(list, workload{x.TypeMeta, x.ObjectMeta, &x.Spec.Template, "", nil})
	}
	for _, x := range o.Jobs {
		field, count := "spec.parallelism", x.Spec.Parallelism
		if c := x.Spec.Completions; c != nil && *c < orOne(count) {
			field, count = "spec.completions", c
		}
		list = append(list, workload{x.TypeMeta, x.ObjectMeta, &x.Spec.Template, field, count})
	}
	return list
}

// expand adds the pods that workloads stand for:
//
//   - for a Deployment, ReplicaSet, ReplicationController or StatefulSet, as many as
//     its replicas, and for a Job, as many as run at a time;
//   - for a DaemonSet, one for each node whose taints, labels and name admit it. A
//     required node affinity binds it to that node, as with the DaemonSet
//     controller.
//
// expand skips workloads that own a pod or another workload among the objects, since
// a cluster's output already holds their pods. The name of a pod is the name of its
// workload and the first free number, or the node for a DaemonSet.
//
// Differs: a StatefulSet makes no claims. A Job that has finished, but whose pods
// are gone, runs again.
func (c *Cluster) expand() error {
	o := &c.Objects
	list := workloads(o)
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
		pods, err := w.pods(o.Nodes)
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
			c.from("pod "+p.Key(), c.files[w.label()])
		}
		o.Pods = append(o.Pods, pods...)
	}
	return nil
}

// orOne returns the number, or 1 if there is none.
func orOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// pods makes the workload's pods. Only pods of a DaemonSet have names.
func (w *workload) pods(nodes []*api.Node) ([]*api.Pod, error) {
	if w.field == "" {
		return w.daemons(nodes)
	}
	n := orOne(w.count)
	if n < 0 || n > maxReplicas {
		return nil, &api.InvalidError{
			Object: w.label(), Field: w.field, Value: fmt.Sprint(n), Err: fmt.Errorf("want a number from 0 to %d", maxReplicas),
		}
	}
	pods := make([]*api.Pod, n)
	for i := range pods {
		pods[i] = w.pod()
	}
	return pods, nil
}

// pod makes one pod, without a name. It shares its contents with the template.
func (w *workload) pod() *api.Pod {
	return &api.Pod{
		TypeMeta: api.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{
			Namespace: w.Namespace, Labels: w.template.Labels, Annotations: w.template.Annotations,
			OwnerReferences: []api.OwnerReference{
				{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: new(true)},
			},
		},
		Spec: w.template.Spec,
	}
}

package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// maxReplicas bounds the pods of one workload.
const maxReplicas = 100_000

// A Workload is an object whose controller makes pods: a Deployment, ReplicaSet,
// ReplicationController, StatefulSet, DaemonSet or Job.
type Workload struct {
	api.TypeMeta
	api.ObjectMeta
	// Template is the pattern of its pods.
	Template *api.PodTemplateSpec
	// Field is the field that holds the number of pods, such as "spec.replicas"; "" for
	// one on each node. Count is its value; nil means 1.
	Field string
	Count *int32
	// Completions is how many pods of a Job must succeed; nil for as many as run at a
	// time, and for all other workloads.
	Completions *int32
	// Succeeded is how many pods of a Job have succeeded, as its status says.
	Succeeded int32
	// Start is the number of the first pod of a StatefulSet.
	Start int32
	// Ordered is set for a StatefulSet whose pods are made one after the other, each once those before it
	// run.
	Ordered bool
	// Indexed is set for a Job whose pods have a completion index.
	Indexed bool

	labels map[string]string // of the pods; nil for those of Template
	hashed *hashed           // of a Deployment
	twin   bool              // a StatefulSet has its name, too
}

// Label names the workload as errors do.
func (w *Workload) Label() string { return strings.ToLower(w.Kind) + " " + w.Key() }

// IsTerminating reports whether the workload is being deleted. Its controller makes no pods any more.
//
// Source: Kubernetes 1.37, the controllers' checks of metadata.deletionTimestamp.
func (w *Workload) IsTerminating() bool { return w.DeletionTimestamp != nil }

// Of lists the workloads among the objects. A ReplicationController without a template
// is none. A Go value without a type is of the kind of its list. A workload that is being
// deleted, and a Job that is suspended or has finished, has no pods.
func Of(o *api.Objects) []Workload {
	var list []Workload
	hashed := hashes(o)
	for _, x := range o.Deployments {
		w := withReplicas(typed(x.TypeMeta, "apps/v1", "Deployment"), x.ObjectMeta, &x.Spec.Template, x.Spec.Replicas)
		w.hashed = hashed[x.Namespace+"/"+x.Name]
		list = append(list, w)
	}
	for _, x := range o.ReplicaSets {
		list = append(list, withReplicas(typed(x.TypeMeta, "apps/v1", "ReplicaSet"), x.ObjectMeta, &x.Spec.Template, x.Spec.Replicas))
	}
	for _, x := range o.ReplicationControllers {
		if x.Spec.Template != nil {
			list = append(list, withReplicas(typed(x.TypeMeta, "v1", "ReplicationController"), x.ObjectMeta, x.Spec.Template, x.Spec.Replicas))
		}
	}
	for _, x := range o.StatefulSets {
		w := withReplicas(typed(x.TypeMeta, "apps/v1", "StatefulSet"), x.ObjectMeta, &x.Spec.Template, x.Spec.Replicas)
		if ordinals := x.Spec.Ordinals; ordinals != nil {
			w.Start = max(0, ordinals.Start)
		}
		w.Ordered = x.Spec.PodManagementPolicy != api.ParallelPodManagement
		list = append(list, w)
	}
	for _, x := range o.DaemonSets {
		list = append(list, Workload{TypeMeta: typed(x.TypeMeta, "apps/v1", "DaemonSet"), ObjectMeta: x.ObjectMeta, Template: &x.Spec.Template})
	}
	for _, x := range o.Jobs {
		list = append(list, ofJob(x))
	}
	noteTwins(list)
	return list
}

// noteTwins finds the workloads whose name a StatefulSet has, too.
func noteTwins(list []Workload) {
	sets := map[string]bool{}
	for i := range list {
		if list[i].Kind == "StatefulSet" {
			sets[list[i].Key()] = true
		}
	}
	for i := range list {
		if sets[list[i].Key()] {
			list[i].NameApart()
		}
	}
}

func withReplicas(t api.TypeMeta, meta api.ObjectMeta, template *api.PodTemplateSpec, replicas *int32) Workload {
	return Workload{TypeMeta: t, ObjectMeta: meta, Template: template, Field: "spec.replicas", Count: replicas}
}

// typed fills in what a decoded object has, and a Go value may lack.
func typed(t api.TypeMeta, version, kind string) api.TypeMeta {
	return api.TypeMeta{APIVersion: cmp.Or(t.APIVersion, version), Kind: cmp.Or(t.Kind, kind)}
}

// ofJob is the workload of a Job: as many pods as run at a time, but no more than have to succeed
// yet.
func ofJob(x *api.Job) Workload {
	w := Workload{
		TypeMeta: typed(x.TypeMeta, "batch/v1", "Job"), ObjectMeta: x.ObjectMeta, Template: &x.Spec.Template,
		Field: "spec.parallelism", Count: x.Spec.Parallelism, Completions: x.Spec.Completions,
		Succeeded: max(0, x.Status.Succeeded), Indexed: x.Spec.CompletionMode != nil && *x.Spec.CompletionMode == api.IndexedCompletion,
		labels: jobLabels(x),
	}
	if c := x.Spec.Completions; c != nil && int64(*c)-int64(w.Succeeded) < int64(orOne(w.Count)) {
		w.Field, w.Count = "spec.completions", c
		if *c >= 0 {
			w.Count = new(max(0, *c-w.Succeeded))
		}
	}
	switch s := x.Spec.Suspend; {
	case s != nil && *s:
		w.Field, w.Count = "spec.suspend", new(int32(0))
	case slices.ContainsFunc(x.Status.Conditions, endsJob):
		w.Field, w.Count = "status.conditions", new(int32(0))
	case x.Spec.Completions == nil && w.Succeeded > 0: // the queue of work is empty: no more pods are made
		w.Field, w.Count = "status.succeeded", new(int32(0))
	}
	return w
}

// jobLabels are the labels of a Job's pods: those of the template, and those that an API server adds.
//
// Source: k8s.io/kubernetes 1.37, registry/batch/job, generateSelector.
func jobLabels(x *api.Job) map[string]string {
	if x.Spec.ManualSelector != nil && *x.Spec.ManualSelector {
		return nil
	}
	labels := map[string]string{"job-name": x.Name, "batch.kubernetes.io/job-name": x.Name}
	if x.UID != "" {
		labels["controller-uid"], labels["batch.kubernetes.io/controller-uid"] = string(x.UID), string(x.UID)
	}
	maps.Copy(labels, x.Spec.Template.Labels)
	return labels
}

// endsJob reports whether a Job with the condition makes no pods any more.
func endsJob(c api.JobCondition) bool {
	switch c.Type {
	case "Complete", "Failed", "SuccessCriteriaMet", "FailureTarget":
		return c.Status == api.ConditionTrue
	}
	return false
}

// orOne returns the number, or 1 if there is none.
func orOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// Pods makes the workload's pods: as many as its replicas, for a Job as many as run at
// a time, and for a DaemonSet one for each of the nodes whose taints, labels and name
// admit it; none if the workload is being deleted. Only pods of a DaemonSet have names; [Workload.NumberPod] names others. A number of pods that is negative or
// above 100,000 is an [*api.InvalidError].
func (w *Workload) Pods(nodes []*api.Node) ([]*api.Pod, error) {
	if w.Field == "" && !w.IsTerminating() {
		return w.daemons(nodes)
	}
	n, err := w.Replicas()
	if err != nil {
		return nil, err
	}
	pods := make([]*api.Pod, n)
	for i := range pods {
		pods[i] = w.Pod()
	}
	return pods, nil
}

// Replicas is the number of pods that run at a time, 1 for a DaemonSet; 0 if the workload is being
// deleted. It returns the errors of Pods.
func (w *Workload) Replicas() (int, error) {
	if w.IsTerminating() {
		return 0, nil
	}
	n := orOne(w.Count)
	if n < 0 || n > maxReplicas {
		return 0, &api.InvalidError{
			Object: w.Label(), Field: w.Field, Value: fmt.Sprint(n), Err: fmt.Errorf("want a number from 0 to %d", maxReplicas),
		}
	}
	return int(n), nil
}

// Pod makes one pod, without a name. It shares its contents with the template. That of a DaemonSet
// tolerates what the controller lets it tolerate, and names no node.
func (w *Workload) Pod() *api.Pod {
	p := w.bare()
	if w.Field == "" {
		tolerate(p)
	}
	return p
}

func (w *Workload) bare() *api.Pod {
	labels := w.labels
	switch {
	case w.hashed != nil:
		labels = w.hashed.of(w.Template)
	case labels == nil:
		labels = w.Template.Labels
	}
	return &api.Pod{
		TypeMeta: api.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{
			Namespace: w.Namespace, Labels: labels, Annotations: w.Template.Annotations,
			OwnerReferences: []api.OwnerReference{
				{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID, Controller: new(true)},
			},
		},
		Spec: w.Template.Spec,
	}
}

// DeletionCost is the annotation controller.kubernetes.io/pod-deletion-cost of a pod: of several pods,
// controllers end those of the least cost first. It is 0 if the annotation is absent or no number of 32 bits.
func DeletionCost(p *api.Pod) int64 {
	text, ok := p.Annotations["controller.kubernetes.io/pod-deletion-cost"]
	if !ok {
		return 0
	}
	cost, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return cost
}

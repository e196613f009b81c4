package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// An item is one object of a list.
type item struct {
	kind, name string
	object     any
	update     lifecycle.Event
}

// items lists the objects that scheduling reads: nodes first, pods last. Quotas and clusters
// are left out.
func items(o *api.Objects) (list []item) {
	add(&list, "Node", o.Nodes, func(x *api.Node) string { return x.Key() })
	add(&list, "Namespace", o.Namespaces, func(x *api.Namespace) string { return x.Key() })
	add(&list, "PriorityClass", o.PriorityClasses, func(x *api.PriorityClass) string { return x.Key() })
	add(&list, "PodDisruptionBudget", o.PodDisruptionBudgets, func(x *api.PodDisruptionBudget) string { return x.Key() })
	add(&list, "PodGroup", o.PodGroups, func(x *api.PodGroup) string { return x.Key() })
	add(&list, "CompositePodGroup", o.CompositePodGroups, func(x *api.CompositePodGroup) string { return x.Key() })
	add(&list, "Workload", o.Workloads, func(x *api.Workload) string { return x.Key() })
	add(&list, "Service", o.Services, func(x *api.Service) string { return x.Key() })
	add(&list, "ReplicationController", o.ReplicationControllers, func(x *api.ReplicationController) string { return x.Key() })
	add(&list, "ReplicaSet", o.ReplicaSets, func(x *api.ReplicaSet) string { return x.Key() })
	add(&list, "StatefulSet", o.StatefulSets, func(x *api.StatefulSet) string { return x.Key() })
	add(&list, "Deployment", o.Deployments, func(x *api.Deployment) string { return x.Key() })
	add(&list, "DaemonSet", o.DaemonSets, func(x *api.DaemonSet) string { return x.Key() })
	add(&list, "Job", o.Jobs, func(x *api.Job) string { return x.Key() })
	add(&list, "PersistentVolume", o.PersistentVolumes, func(x *api.PersistentVolume) string { return x.Key() })
	add(&list, "PersistentVolumeClaim", o.PersistentVolumeClaims, func(x *api.PersistentVolumeClaim) string { return x.Key() })
	add(&list, "StorageClass", o.StorageClasses, func(x *api.StorageClass) string { return x.Key() })
	add(&list, "CSINode", o.CSINodes, func(x *api.CSINode) string { return x.Key() })
	add(&list, "CSIDriver", o.CSIDrivers, func(x *api.CSIDriver) string { return x.Key() })
	add(&list, "CSIStorageCapacity", o.CSIStorageCapacities, func(x *api.CSIStorageCapacity) string { return x.Key() })
	add(&list, "VolumeAttachment", o.VolumeAttachments, func(x *api.VolumeAttachment) string { return x.Key() })
	add(&list, "DeviceClass", o.DeviceClasses, func(x *api.DeviceClass) string { return x.Key() })
	add(&list, "ResourceSlice", o.ResourceSlices, func(x *api.ResourceSlice) string { return x.Key() })
	add(&list, "ResourceClaim", o.ResourceClaims, func(x *api.ResourceClaim) string { return x.Key() })
	add(&list, "ResourceClaimTemplate", o.ResourceClaimTemplates, func(x *api.ResourceClaimTemplate) string { return x.Key() })
	add(&list, "DeviceTaintRule", o.DeviceTaintRules, func(x *api.DeviceTaintRule) string { return x.Key() })
	add(&list, "NodeMetric", o.NodeMetrics, func(x *api.NodeMetric) string { return x.Key() })
	add(&list, "Pod", o.Pods, func(x *api.Pod) string { return x.Key() })
	return list
}

func add[T api.Object](list *[]item, kind string, objects []*T, key func(*T) string) {
	for _, x := range objects {
		if x == nil {
			continue
		}
		*list = append(*list, item{kind, key(x), x, lifecycle.Update(x)})
	}
}

// podItem is one pod.
func podItem(p *api.Pod) item { return item{"Pod", p.Key(), p, lifecycle.Update(p)} }

// FromObjects makes a trace of the objects that kubectl prints: everything is there from
// the beginning, except pods whose annotation says when they arrive. Malformed
// annotations are an [*api.InvalidError].
func FromObjects(o *api.Objects) (*Trace, error) {
	first := *o
	first.Pods = nil
	t := &Trace{}
	var later []Event
	for _, p := range o.Pods {
		if p == nil {
			continue
		}
		at, err := timeOf(p, AnnotationArrival, 0)
		if err != nil {
			return nil, err
		}
		if _, err := timeOf(p, AnnotationRunTime, forever); err != nil {
			return nil, err
		}
		if at == 0 {
			first.Pods = append(first.Pods, p)
		} else {
			later = append(later, Event{At: at, Apply: &api.Objects{Pods: []*api.Pod{p}}})
		}
	}
	slices.SortStableFunc(later, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	if len(items(&first)) > 0 {
		t.Events = append(t.Events, Event{Apply: &first})
	}
	t.Events = append(t.Events, later...)
	dated := false
	for _, m := range o.NodeMetrics { // so that metrics are fresh at the start
		if m == nil || m.Status.UpdateTime == nil {
			continue
		}
		if at := *m.Status.UpdateTime; !dated || at.After(t.Start) {
			t.Start, dated = at, true
		}
	}
	return t, nil
}

// forever is the run time of pods that never end.
const forever time.Duration = -1

// longest bounds times, so that sums of a few do not overflow.
const longest = 50 * 365 * 24 * time.Hour

var errTime = errors.New("want a duration such as 90s or 1h30m, or a number of seconds, from 0 to 50 years")

// timeOf reads an annotation of a pod.
func timeOf(p *api.Pod, key string, without time.Duration) (time.Duration, error) {
	text, ok := p.Annotations[key]
	if !ok {
		return without, nil
	}
	d, err := parseTime(text)
	if err != nil {
		return 0, &api.InvalidError{Object: "pod " + p.Key(), Field: fmt.Sprintf("metadata.annotations[%s]", key), Value: text, Err: err}
	}
	return d, nil
}

func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds >= 0 && seconds <= longest.Seconds()) {
			return 0, errTime
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 || d > longest {
		return 0, errTime
	}
	return d, nil
}

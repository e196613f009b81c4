package simulate

import (
	"errors"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

var errGone = errors.New("is not there")

// deletion is the event that an object goes.
func deletion(ref Ref) (lifecycle.Event, error) {
	namespace, name, found := strings.Cut(ref.Name, "/")
	if !found {
		namespace, name = "", ref.Name
	}
	m := api.ObjectMeta{Namespace: namespace, Name: name}
	switch ref.Kind {
	case "Namespace":
		return lifecycle.Delete(&api.Namespace{ObjectMeta: m}), nil
	case "PriorityClass":
		return lifecycle.Delete(&api.PriorityClass{ObjectMeta: m}), nil
	case "PodDisruptionBudget":
		return lifecycle.Delete(&api.PodDisruptionBudget{ObjectMeta: m}), nil
	case "Service":
		return lifecycle.Delete(&api.Service{ObjectMeta: m}), nil
	case "ReplicationController":
		return lifecycle.Delete(&api.ReplicationController{ObjectMeta: m}), nil
	case "PodGroup":
		return lifecycle.Delete(&api.PodGroup{ObjectMeta: m}), nil
	case "CompositePodGroup":
		return lifecycle.Delete(&api.CompositePodGroup{ObjectMeta: m}), nil
	case "Workload":
		return lifecycle.Delete(&api.Workload{ObjectMeta: m}), nil
	case "ReplicaSet":
		return lifecycle.Delete(&api.ReplicaSet{ObjectMeta: m}), nil
	case "StatefulSet":
		return lifecycle.Delete(&api.StatefulSet{ObjectMeta: m}), nil
	case "Deployment":
		return lifecycle.Delete(&api.Deployment{ObjectMeta: m}), nil
	case "DaemonSet":
		return lifecycle.Delete(&api.DaemonSet{ObjectMeta: m}), nil
	case "Job":
		return lifecycle.Delete(&api.Job{ObjectMeta: m}), nil
	case "PersistentVolume":
		return lifecycle.Delete(&api.PersistentVolume{ObjectMeta: m}), nil
	case "PersistentVolumeClaim":
		return lifecycle.Delete(&api.PersistentVolumeClaim{ObjectMeta: m}), nil
	case "StorageClass":
		return lifecycle.Delete(&api.StorageClass{ObjectMeta: m}), nil
	case "CSINode":
		return lifecycle.Delete(&api.CSINode{ObjectMeta: m}), nil
	case "CSIDriver":
		return lifecycle.Delete(&api.CSIDriver{ObjectMeta: m}), nil
	case "CSIStorageCapacity":
		return lifecycle.Delete(&api.CSIStorageCapacity{ObjectMeta: m}), nil
	case "VolumeAttachment":
		return lifecycle.Delete(&api.VolumeAttachment{ObjectMeta: m}), nil
	case "DeviceClass":
		return lifecycle.Delete(&api.DeviceClass{ObjectMeta: m}), nil
	case "ResourceSlice":
		return lifecycle.Delete(&api.ResourceSlice{ObjectMeta: m}), nil
	case "ResourceClaim":
		return lifecycle.Delete(&api.ResourceClaim{ObjectMeta: m}), nil
	case "ResourceClaimTemplate":
		return lifecycle.Delete(&api.ResourceClaimTemplate{ObjectMeta: m}), nil
	case "DeviceTaintRule":
		return lifecycle.Delete(&api.DeviceTaintRule{ObjectMeta: m}), nil
	case "NodeMetric":
		return lifecycle.Delete(&api.NodeMetric{ObjectMeta: m}), nil
	}
	return lifecycle.Event{}, field("delete.kind", ref.Kind, errKind)
}

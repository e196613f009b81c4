package main

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// events returns an event for every object except the pods.
func events(o *api.Objects) []lifecycle.Event {
	return slices.Concat(
		puts(o.Nodes), puts(o.Namespaces), puts(o.PriorityClasses), puts(o.PodDisruptionBudgets),
		puts(o.Services), puts(o.ReplicationControllers), puts(o.ReplicaSets), puts(o.StatefulSets),
		puts(o.Deployments), puts(o.DaemonSets), puts(o.Jobs),
		puts(o.PersistentVolumes), puts(o.PersistentVolumeClaims), puts(o.StorageClasses),
		puts(o.CSINodes), puts(o.CSIDrivers), puts(o.CSIStorageCapacities), puts(o.VolumeAttachments),
		puts(o.DeviceClasses), puts(o.ResourceSlices), puts(o.ResourceClaims),
		puts(o.ResourceClaimTemplates), puts(o.DeviceTaintRules), puts(o.NodeMetrics),
	)
}

func puts[T api.Object](list []*T) []lifecycle.Event {
	events := make([]lifecycle.Event, len(list))
	for i, x := range list {
		events[i] = lifecycle.Update(x)
	}
	return events
}

package frameworktest

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// objectFacts lists the objects besides pods and nodes, by what they say: an
// object that was replaced, and put back by another of the same content, is as
// it was. A kind without objects has no fact.
func objectFacts(s *framework.Snapshot) []fact {
	var facts []fact
	for _, of := range objectKinds {
		facts = append(facts, of(s))
	}
	return facts
}

// objectKinds has a function for every kind of [api.Objects] that
// snapshots hold.
var objectKinds = []func(*framework.Snapshot) fact{
	factOf[api.Namespace], factOf[api.PriorityClass], factOf[api.PodDisruptionBudget], factOf[api.PodGroup], factOf[api.CompositePodGroup], factOf[api.Workload], factOf[api.ResourceQuota],
	factOf[api.Service], factOf[api.ReplicationController], factOf[api.ReplicaSet], factOf[api.StatefulSet],
	factOf[api.Deployment], factOf[api.DaemonSet], factOf[api.Job],
	factOf[api.PersistentVolume], factOf[api.PersistentVolumeClaim], factOf[api.StorageClass],
	factOf[api.CSINode], factOf[api.CSIDriver], factOf[api.CSIStorageCapacity], factOf[api.VolumeAttachment],
	factOf[api.DeviceClass], factOf[api.ResourceSlice], factOf[api.ResourceClaim],
	factOf[api.ResourceClaimTemplate], factOf[api.DeviceTaintRule], factOf[api.NodeMetric], factOf[api.Cluster],
}

// factOf returns what the objects of a kind say.
func factOf[T api.Object](s *framework.Snapshot) fact {
	text := "none"
	if list := framework.List[T](s); len(list) > 0 {
		text = jsonText(list)
	}
	return fact{"", "", "other objects", text}
}

package frameworktest

import "github.com/berth-sched/berth/framework"

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

// objectKinds has a function for every kind of [framework.Objects] that
// snapshots hold.
var objectKinds = []func(*framework.Snapshot) fact{
	factOf[framework.Namespace], factOf[framework.PriorityClass], factOf[framework.PodDisruptionBudget], factOf[framework.ResourceQuota],
	factOf[framework.Service], factOf[framework.ReplicationController], factOf[framework.ReplicaSet], factOf[framework.StatefulSet],
	factOf[framework.Deployment], factOf[framework.DaemonSet], factOf[framework.Job],
	factOf[framework.PersistentVolume], factOf[framework.PersistentVolumeClaim], factOf[framework.StorageClass],
	factOf[framework.CSINode], factOf[framework.CSIDriver], factOf[framework.CSIStorageCapacity], factOf[framework.VolumeAttachment],
	factOf[framework.DeviceClass], factOf[framework.NodeMetric], factOf[framework.Cluster],
}

// factOf returns what the objects of a kind say.
func factOf[T framework.Object](s *framework.Snapshot) fact {
	text := "none"
	if list := framework.List[T](s); len(list) > 0 {
		text = jsonText(list)
	}
	return fact{"", "", "other objects", text}
}

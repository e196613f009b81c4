package workload

import (
	"encoding/json"

	"github.com/berth-sched/berth/framework/api"
)

// What one pod takes of its own, in bytes, for each part of a template: what is copied for it, and what is derived from it
// for decisions. Pods of a template share the rest. TestWeightOfAll measures them.
const (
	plainBytes     = 4 << 10 // a plain pod, with its history in a simulation
	entryBytes     = 85      // a label, an annotation, an entry of the node selector, a toleration
	resourceBytes  = 40      // a name in requests or overhead
	limitBytes     = 140     // a name in limits, if a request becomes of it
	limitsBytes    = 500     // the requests that become of limits, and the container that has them
	containerBytes = 60
	portBytes      = 150 // of the host
	claimBytes     = 150 // of a volume or devices
	diskBytes      = 215 // also for each monitor of a Ceph block device
	ephemeralBytes = 700 // an ephemeral volume, with its claim
	nameBytes      = 4   // for each byte of the name of a claim, which is in messages
	termBytes      = 4   // for each byte of the text of terms and constraints
)

// WeightOf returns how many plain pods a pod of the template counts as where the number of pods is bounded: 1 for most, and
// more if a pod takes more memory than that of its own, or if its template is long, as each decision reads it.
func WeightOf(t *api.PodTemplateSpec) int {
	s := &t.Spec
	size := (sizeOf(s.Affinity) + sizeOf(s.TopologySpreadConstraints)) * termBytes
	size += sizeOf(s) + sizeOf(t.Labels)
	size += (len(t.Labels) + len(t.Annotations) + len(s.NodeSelector) + len(s.Tolerations)) * entryBytes
	size += len(s.Overhead) * resourceBytes
	for _, list := range [2][]api.Container{s.InitContainers, s.Containers} {
		for i := range list {
			size += containerSize(&list[i], s.HostNetwork)
		}
	}
	for i := range s.ResourceClaims {
		size += claimBytes
		if name := s.ResourceClaims[i].ResourceClaimName; name != nil {
			size += len(*name) * nameBytes
		}
	}
	for i := range s.Volumes {
		size += volumeSize(&s.Volumes[i])
	}
	return 1 + size/plainBytes
}

// containerSize returns how many bytes of its own a pod takes for a container.
func containerSize(c *api.Container, hostNetwork bool) int {
	size := containerBytes + len(c.Resources.Requests)*resourceBytes
	become := 0
	for name := range c.Resources.Limits {
		if _, ok := c.Resources.Requests[name]; !ok {
			become++
		}
	}
	if become > 0 {
		size += limitsBytes + len(c.Resources.Limits)*limitBytes
	}
	for i := range c.Ports {
		if hostNetwork || c.Ports[i].HostPort != 0 {
			size += portBytes
		}
	}
	return size
}

// volumeSize returns how many bytes of its own a pod takes for a volume.
func volumeSize(v *api.Volume) int {
	switch {
	case v.Ephemeral != nil:
		return ephemeralBytes + len(v.Name)*nameBytes
	case v.PersistentVolumeClaim != nil:
		return claimBytes + len(v.PersistentVolumeClaim.ClaimName)*nameBytes
	case v.RBD != nil:
		return (1 + len(v.RBD.CephMonitors)) * diskBytes
	case v.GCEPersistentDisk != nil, v.AWSElasticBlockStore != nil, v.ISCSI != nil, v.Cinder != nil,
		v.AzureDisk != nil, v.VsphereVolume != nil, v.PortworxVolume != nil, v.AzureFile != nil, v.CSI != nil:
		return diskBytes
	}
	return 0
}

// sizeOf returns the length of a value as JSON.
func sizeOf(v any) int {
	text, _ := json.Marshal(v) // cannot fail: it holds no values that JSON has not got
	return len(text)
}

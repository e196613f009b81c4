package filter

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

const (
	reasonZone         = framework.Text("node(s) had no available volume zone")
	reasonUnnamedClaim = framework.Text("PersistentVolumeClaim had no name")
	reasonNoClass      = framework.Text("PersistentVolumeClaim had no pv name and storageClass name")
	reasonNoVolume     = framework.Text("PersistentVolume had no name")
)

// VolumeZone rejects nodes outside the zones and regions in the labels of the pod's
// bound volumes; "a__b" names two. Nodes without any such label pass. Rejections are
// unresolvable. Ephemeral volumes are ignored.
//
// Source: kube-scheduler 1.37, plugin VolumeZone.
type VolumeZone struct{}

// Name returns "VolumeZone".
func (VolumeZone) Name() string { return "VolumeZone" }

// Scope declares that a verdict reads the node, and of the pod's volumes what is in the class key; for a
// pod without claims it reads nothing.
func (VolumeZone) Scope(pod *framework.PodInfo) framework.Scope {
	if len(volumes.Of(pod).Keys) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{Reads: volumes.Reads}
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends the zones and regions of the pod's
// volumes.
func (VolumeZone) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	start := len(b)
	for _, ref := range volumes.Of(pod).Claims {
		if ref.Ephemeral {
			continue
		}
		volume, status := zonedVolume(s, pod.Pod.Namespace, ref.Name)
		if !status.IsSuccess() {
			return volumes.AppendProblem(b[:start], status.String())
		}
		if volume != nil {
			b = volumes.AppendZones(b, volume)
		}
	}
	return b
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (VolumeZone) ClassKeyVersion(s *framework.Snapshot) uint64 { return volumes.KeyVersion(s) }

// ClassKeySource implements [incremental.SharedKeyer].
func (VolumeZone) ClassKeySource() string { return volumes.KeySource }

func (VolumeZone) keyed(pod *framework.PodInfo) framework.PodFields { return volumeFields(pod) }

// Idle implements [incremental.Idler]: no volume of the pod says a zone or region.
func (VolumeZone) Idle(c *framework.Cycle) bool {
	var room [4]volumes.Zone
	zones, status := zonesOf(room[:0], c)
	return status.IsSuccess() && len(zones) == 0
}

// Concern implements [incremental.Concerned]: pods with volumes.
func (VolumeZone) Concern() framework.PodParts { return framework.PartVolumes }

// EventsToRegister names the events that may help a rejected pod: a node is added or
// relabelled; one of the pod's claims, or any class, is added or changes; any volume is
// added, or its zones change; the pod's volumes change.
func (p VolumeZone) EventsToRegister() []queueing.EventHint {
	const came = queueing.ActionAdd | queueing.ActionUpdate
	return []queueing.EventHint{
		onNode(queueing.ActionAdd|queueing.ActionUpdateNodeLabel, rezoned),
		onOwnClaims(came, func(pod *framework.PodInfo, _, after *api.PersistentVolumeClaim) bool {
			return names(pod, after)
		}),
		onVolumes(came, func(_ *framework.PodInfo, before, after *api.PersistentVolume) bool {
			return before == nil || !volumes.SameZones(before.Labels, after.Labels)
		}),
		onAny(queueing.ResourceStorageClass, came),
		onSelf(p),
	}
}

// rezoned reports whether a node was added, or a label that decides about a volume's
// zones changed.
func rezoned(_ *framework.PodInfo, before, after *api.Node) bool {
	return before == nil || after == nil || !volumes.SameZones(before.Labels, after.Labels)
}

// PreFilter collects the zones of the pod's volumes and skips pods whose volumes
// have none. It rejects a pod if one of its claims, or an object that the claim
// names, does not exist. It also rejects a claim without a volume, unless the claim
// waits for the pod's node.
func (VolumeZone) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(volumes.Of(c.Pod).Keys) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[volumeZone](c)
	zones, status := zonesOf(f.zones[:0], c)
	switch f.zones = zones; {
	case !status.IsSuccess():
		return framework.PreFiltered{}, status
	case len(zones) == 0:
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// zonesOf appends the zones and regions of the pod's volumes to an empty list.
func zonesOf(zones []volumes.Zone, c *framework.Cycle) ([]volumes.Zone, framework.Status) {
	for _, ref := range volumes.Of(c.Pod).Claims {
		if ref.Ephemeral {
			continue
		}
		volume, status := zonedVolume(c.Snapshot, c.Pod.Pod.Namespace, ref.Name)
		if !status.IsSuccess() {
			return zones[:0], status
		}
		if volume != nil {
			zones = volumes.ZonesOf(zones, volume)
		}
	}
	return zones, framework.Status{}
}

// zonedVolume returns the volume of a claim by its name, nil if the claim waits for its
// first pod.
func zonedVolume(s *framework.Snapshot, namespace, name string) (*api.PersistentVolume, framework.Status) {
	if name == "" {
		return nil, framework.UnresolvableStatus(reasonUnnamedClaim)
	}
	claim, err := volumes.Claim(s, namespace, name)
	if err != nil {
		return nil, framework.UnresolvableStatus(framework.Text(err.Error()))
	}
	if claim.Spec.VolumeName != "" {
		volume, err := volumes.Volume(s, claim.Spec.VolumeName)
		if err != nil {
			return nil, framework.UnresolvableStatus(framework.Text(err.Error()))
		}
		return volume, framework.Status{}
	}
	className := volumes.ClassOfClaim(claim)
	if className == "" {
		return nil, framework.UnresolvableStatus(reasonNoClass)
	}
	class, err := volumes.Class(s, className)
	switch {
	case err != nil:
		return nil, framework.UnresolvableStatus(framework.Text(err.Error()))
	case class.VolumeBindingMode == nil:
		return nil, framework.UnresolvableStatus(framework.Text(fmt.Sprintf("VolumeBindingMode not set for StorageClass %q", className)))
	case *class.VolumeBindingMode != api.VolumeBindingWaitForFirstConsumer:
		return nil, framework.UnresolvableStatus(reasonNoVolume)
	}
	return nil, framework.Status{}
}

// volumeZone is the bound filter.
type volumeZone struct {
	unchanged
	zones []volumes.Zone
}

func (f *volumeZone) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	labels := node.Node.Labels
	if !volumes.Zoned(labels) {
		return framework.Status{}
	}
	for i := range f.zones {
		if !f.zones[i].Allows(labels) {
			return framework.UnresolvableStatus(reasonZone)
		}
	}
	return framework.Status{}
}

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

// Scope declares that a verdict reads the pod's volumes, the node and the objects of
// the cluster; for a pod without claims it reads nothing.
func (VolumeZone) Scope(pod *framework.PodInfo) framework.Scope {
	if len(volumes.Of(pod).Keys) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{
		Pod:   framework.FieldVolumes | framework.FieldNamespace,
		Reads: framework.ReadsNode | framework.ReadsVolumes,
	}
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
		onClaims(came, func(pod *framework.PodInfo, _, after *api.PersistentVolumeClaim) bool {
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
	v := volumes.Of(c.Pod)
	if len(v.Keys) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[volumeZone](c)
	f.zones = f.zones[:0]
	for _, ref := range v.Claims {
		if ref.Ephemeral {
			continue
		}
		volume, status := zonedVolume(c, ref.Name)
		if !status.IsSuccess() {
			return framework.PreFiltered{}, status
		}
		if volume != nil {
			f.zones = volumes.ZonesOf(f.zones, volume)
		}
	}
	if len(f.zones) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// zonedVolume returns the volume of a claim, nil if the claim waits for its
// first pod.
func zonedVolume(c *framework.Cycle, name string) (*api.PersistentVolume, framework.Status) {
	if name == "" {
		return nil, framework.UnresolvableStatus(reasonUnnamedClaim)
	}
	claim, err := volumes.Claim(c.Snapshot, c.Pod.Pod.Namespace, name)
	if err != nil {
		return nil, framework.UnresolvableStatus(framework.Text(err.Error()))
	}
	if claim.Spec.VolumeName != "" {
		volume, err := volumes.Volume(c.Snapshot, claim.Spec.VolumeName)
		if err != nil {
			return nil, framework.UnresolvableStatus(framework.Text(err.Error()))
		}
		return volume, framework.Status{}
	}
	className := volumes.ClassOfClaim(claim)
	if className == "" {
		return nil, framework.UnresolvableStatus(reasonNoClass)
	}
	class, err := volumes.Class(c.Snapshot, className)
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
type volumeZone struct{ zones []volumes.Zone }

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

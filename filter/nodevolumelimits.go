package filter

import (
	"errors"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

const reasonVolumeCount = framework.Text("node(s) exceed max volume count")

// NodeVolumeLimits rejects a node if the pod would attach more volumes of a CSI
// driver than the node's CSINode allows. A volume that several pods use counts once.
// An attached volume counts even if no pod uses it. Volumes still to be provisioned
// count, too, and in-tree disks count for the driver that took them over.
//
// If the CSIDriver asks for it (preventPodSchedulingIfMissing), a node that lacks
// the driver of one of the pod's volumes is rejected, too.
//
// Source: kube-scheduler 1.37, plugin NodeVolumeLimits, with the feature gate
// VolumeLimitScaling on.
//
// Differs: the driver that the reason names, if several are missing.
// Original: kube-scheduler names any.
// Here: the first by name.
// Why: the answer must be the same on every run.
//
// Differs: a volume of a pod on a node with a limit that cannot be determined, such as an
// in-tree disk with a malformed name, or an ephemeral volume with the claim of another.
// Original: the attempt of every pod with volumes ends with an error.
// Here: such a volume counts as none.
// Why: any user can create a pod for a node, and one could stop all pods with volumes. No
// kubelet mounts such a volume.
type NodeVolumeLimits struct{}

// Name returns "NodeVolumeLimits".
func (NodeVolumeLimits) Name() string { return "NodeVolumeLimits" }

// Scope declares that a verdict reads the node, the volumes that its pods use, and of the pod's volumes
// what is in the class key; for a pod without such volumes it reads nothing.
func (NodeVolumeLimits) Scope(pod *framework.PodInfo) framework.Scope {
	if len(volumes.Of(pod).Mounts) == 0 {
		return framework.Scope{}
	}
	scope := volumes.ScopeOf(pod)
	scope.Reads |= framework.ReadsPods
	return scope
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends how many volumes of each driver the pod
// adds to a node, those by name that pods use already.
func (NodeVolumeLimits) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	return volumes.AppendLimitKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (NodeVolumeLimits) ClassKeyVersion(s *framework.Snapshot) uint64 { return volumes.KeyVersion(s) }

// ClassKeySource implements [incremental.SharedKeyer].
func (NodeVolumeLimits) ClassKeySource() string { return volumes.KeySource }

func (NodeVolumeLimits) keyed(pod *framework.PodInfo) framework.PodFields { return volumeFields(pod) }

// Concern implements [incremental.Concerned]: pods with volumes.
func (NodeVolumeLimits) Concern() framework.PodParts { return framework.PartVolumes }

// EventsToRegister names the events that may help a rejected pod: a node is added;
// the drivers on a node, or a driver, change; an attachment changes or is deleted; a
// pod with volumes leaves; a pod is added with a claim of the pod, or one of both has a
// disk; claims (also their owners), volumes or classes change; the pod's volumes change.
// Two claims are taken for two disks: volumes with one handle are not looked for.
func (p NodeVolumeLimits) EventsToRegister() []queueing.EventHint {
	may := func(p *framework.PodInfo) bool { return len(volumes.Of(p).Mounts) > 0 }
	return append(volumeEvents(p, mounts, may),
		onAny(queueing.ResourceNode, queueing.ActionAdd),
		onAny(queueing.ResourceCSIDriver, queueing.ActionUpdate|queueing.ActionDelete),
		onAny(queueing.ResourceVolumeAttachment, queueing.ActionUpdate|queueing.ActionDelete),
	)
}

// PreFilter skips pods that have no claims and no disks that a CSI driver may have
// taken over.
func (NodeVolumeLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(volumes.Of(c.Pod).Mounts) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[nodeVolumeLimits](c)
	f.Attached = volumes.AttachedTo(c.Snapshot)
	f.known.prepare(c, true)
	f.unknown.prepare(c, false)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// nodeVolumeLimits is the bound filter. It follows what the nodes have.
type nodeVolumeLimits struct {
	*volumes.Attached
	known   newVolumes // on nodes whose drivers are known
	unknown newVolumes // on the others
}

// newVolumes are the volumes that the pod adds to a node.
type newVolumes struct {
	status   framework.Status // why it is unknown
	handles  []volumes.Handle // by driver
	required []missingDriver  // drivers that the node must have
}

type missingDriver struct {
	name   string
	reason framework.Text
}

func (v *newVolumes) prepare(c *framework.Cycle, known bool) {
	v.status, v.required = framework.Status{}, v.required[:0]
	var err error
	if v.handles, err = volumes.AppendHandles(v.handles[:0], c.Snapshot, c.Pod, known); err != nil {
		v.status = framework.AsStatus(err)
		if _, missing := errors.AsType[*volumes.MissingError](err); missing {
			v.status = framework.UnresolvableStatus(framework.Text(err.Error()))
		}
		return
	}
	for list := v.handles; len(list) > 0; {
		var driver []volumes.Handle
		if driver, list = volumes.NextDriver(list); volumes.IsRequired(c.Snapshot, driver[0].Driver) {
			name := driver[0].Driver
			v.required = append(v.required, missingDriver{name, framework.Text(name + " CSI driver is not installed on the node")})
		}
	}
}

func (f *nodeVolumeLimits) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	there := f.On(node)
	return f.addedTo(&there).filter(&there)
}

// addedTo returns what the pod adds to a node.
func (f *nodeVolumeLimits) addedTo(there *volumes.NodeVolumes) *newVolumes {
	if there.Node == nil {
		return &f.unknown
	}
	return &f.known
}

func (v *newVolumes) filter(there *volumes.NodeVolumes) framework.Status {
	if !v.status.IsSuccess() || len(v.handles) == 0 {
		return v.status
	}
	for i := range v.required {
		if d := &v.required[i]; !hasDriver(there.Node, d.name) {
			return framework.UnschedulableStatus(d.reason)
		}
	}
	for list := v.handles; len(list) > 0; {
		var driver []volumes.Handle
		driver, list = volumes.NextDriver(list)
		limit, limited := there.Limit(driver[0].Driver)
		present := there.Counts[driver[0].Driver]
		if !limited || present+len(driver) <= limit {
			continue // most nodes have room for all of them
		}
		if n := there.Adds(driver); n > 0 && present+n > limit {
			return framework.UnschedulableStatus(reasonVolumeCount)
		}
	}
	return framework.Status{}
}

// Replicas implements [replica.Counter]: replicas share the volumes of the first one. It cannot tell for ephemeral
// volumes, as each replica has its own.
func (f *nodeVolumeLimits) Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	return replicasSharing(f, pod, node)
}

// FilterAfter implements [replica.Counter].
func (f *nodeVolumeLimits) FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, _ int64) framework.Status {
	return f.Filter(pod, node)
}

// replicasSharing is how many replicas of a pod a filter of volumes lets on a node, if it counts each volume once.
func replicasSharing(f framework.NodeFilter, pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	switch {
	case !f.Filter(pod, node).IsSuccess():
		return 0, true
	case slices.ContainsFunc(volumes.Of(pod).Claims, func(c volumes.ClaimRef) bool { return c.Ephemeral }):
		return 0, false
	}
	return math.MaxInt64, true
}

// FilterWith is Filter as if the pods had been added to the node.
func (f *nodeVolumeLimits) FilterWith(_ *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool) {
	there := f.With(node, added)
	return f.addedTo(&there).filter(&there), true
}

func hasDriver(n *api.CSINode, name string) bool {
	return n != nil && slices.ContainsFunc(n.Spec.Drivers, func(d api.CSINodeDriver) bool { return d.Name == name })
}

// Details implements [framework.Detailer]: one detail for each driver that is missing,
// or has no more volumes to attach.
func (f *nodeVolumeLimits) Details(_ *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	there := f.On(node)
	added := f.addedTo(&there)
	for i := range added.required {
		if name := added.required[i].name; !hasDriver(there.Node, name) {
			list = append(list, framework.Detail{Subject: "missing driver " + name})
		}
	}
	for handles := added.handles; len(handles) > 0; {
		var of []volumes.Handle
		of, handles = volumes.NextDriver(handles)
		driver := of[0].Driver
		limit, limited := there.Limit(driver)
		present, asked := there.Counts[driver], there.Adds(of)
		if limited && asked > 0 && present+asked > limit {
			list = append(list, framework.Detail{Subject: "volumes of " + driver, Asked: int64(asked), Used: int64(present), Limit: int64(limit)})
		}
	}
	return list
}

package filter

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/volumes"
)

const (
	reasonDiskConflict = framework.Text("node(s) had no available disk")
	reasonClaimInUse   = framework.Text("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
)

// VolumeRestrictions rejects a node where another pod uses a disk from the pod's
// spec and the two cannot share it. It rejects all nodes while another pod anywhere
// uses one of the pod's claims with the access mode ReadWriteOncePod.
//
// Two pods of a node can share a Google Compute Engine disk, an iSCSI disk or a Ceph
// block device only if both read. Two Ceph block devices are the same if pool and
// image are the same and they have a monitor in common. They can never share an
// Amazon EBS disk.
//
// Source: kube-scheduler 1.37, plugin VolumeRestrictions. As there, if pods are
// added or removed temporarily (preemption, nominated pods), only the names of their
// claims are compared, whatever their namespace.
//
// Differs: a Ceph block device for which a pod names more than 32 different monitors.
// Original: kube-scheduler compares all of them.
// Here: it is the same as any device of this pool and image that has a monitor.
// Why: to compare thousands for each pod with the image would take the time of all others. Clusters have three to nine.
type VolumeRestrictions struct{}

// Name returns "VolumeRestrictions".
func (VolumeRestrictions) Name() string { return "VolumeRestrictions" }

// Scope declares that a verdict reads the pod's disks and the node's pods, and of the pod's claims what
// is in the class key; for a pod without either it reads nothing.
func (VolumeRestrictions) Scope(pod *framework.PodInfo) framework.Scope {
	var scope framework.Scope
	v := volumes.Of(pod)
	if len(v.Exclusive) > 0 {
		scope = framework.Scope{Pod: framework.FieldVolumes, Reads: framework.ReadsPods}
	}
	if len(v.Keys) > 0 {
		scope.Reads |= volumes.Reads
	}
	return scope
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends the claims that only one pod may use,
// and whether a pod uses one of them.
func (VolumeRestrictions) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	var room [8]string
	claims, err := soleClaims(room[:0], s, pod)
	if err != nil {
		return volumes.AppendProblem(b, err.Error())
	}
	if len(claims) == 0 {
		return b
	}
	b = match.AppendString(b, pod.Pod.Namespace)
	for _, name := range claims {
		b = match.AppendString(b, name)
	}
	return binary.AppendUvarint(b, uint64(usesOf(s, pod, claims)))
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (VolumeRestrictions) ClassKeyVersion(s *framework.Snapshot) uint64 {
	return volumes.KeyVersion(s)
}

// ClassKeySource implements [incremental.SharedKeyer].
func (VolumeRestrictions) ClassKeySource() string { return volumes.KeySource }

func (VolumeRestrictions) keyed(pod *framework.PodInfo) framework.PodFields { return volumeFields(pod) }

// Idle implements [incremental.Idler]: the pod has no disk that it may not share, and nobody uses one of
// its claims that only one pod may use.
func (VolumeRestrictions) Idle(c *framework.Cycle) bool {
	v := volumes.Of(c.Pod)
	if len(v.Exclusive) > 0 {
		return false
	}
	var room [8]string
	claims, err := soleClaims(room[:0], c.Snapshot, c.Pod)
	return err == nil && usesOf(c.Snapshot, c.Pod, claims) == 0
}

// Concern implements [incremental.Concerned]: pods with volumes.
func (VolumeRestrictions) Concern() framework.PodParts { return framework.PartVolumes }

// EventsToRegister names the events that may help a rejected pod: a pod that uses
// one of its disks or claims leaves; a node is added, for a pod with disks, or is
// deleted with its pods, for a pod with claims; one of its claims is added or
// changes; the pod's volumes change.
func (p VolumeRestrictions) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		aboutThese(onPods(gone, func(pod, before, after *framework.PodInfo) bool {
			return before == nil || inTheWay(pod, before) && readsOther(p, before, after)
		}), shared, func(before, _ *framework.PodInfo) []queueing.Subject {
			if before == nil {
				return anything
			}
			return shared(before)
		}),
		onNode(queueing.ActionAdd, func(pod *framework.PodInfo, _, _ *api.Node) bool { return len(volumes.Of(pod).Exclusive) > 0 }),
		onNode(queueing.ActionDelete, func(pod *framework.PodInfo, _, _ *api.Node) bool { return len(volumes.Of(pod).Keys) > 0 }),
		onOwnClaims(queueing.ActionAdd|queueing.ActionUpdate, func(pod *framework.PodInfo, _, after *api.PersistentVolumeClaim) bool {
			return names(pod, after)
		}),
		onSelf(p),
	}
}

// inTheWay reports whether the other pod uses a disk that the pod cannot share,
// or a claim of the pod, which may be for one pod alone.
func inTheWay(pod, other *framework.PodInfo) bool {
	mine, others := volumes.Of(pod), volumes.Of(other)
	return mine.SharesClaim(others) || mine.SharesDisk(others)
}

// PreFilter skips pods that cannot conflict with any other, and rejects a pod if one
// of its claims does not exist.
func (VolumeRestrictions) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	v := volumes.Of(c.Pod)
	if len(v.Keys)+len(v.Exclusive) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[volumeRestrictions](c)
	f.pod = v
	var err error
	if f.claims, err = soleClaims(f.claims[:0], c.Snapshot, c.Pod); err != nil {
		return framework.PreFiltered{}, framework.UnresolvableStatus(framework.Text(err.Error()))
	}
	f.conflicts = usesOf(c.Snapshot, c.Pod, f.claims)
	if len(f.pod.Exclusive) == 0 && f.conflicts == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	if f.disks = nil; len(f.pod.Exclusive) > 0 {
		f.disks = volumes.DiskUsesIn(c.Snapshot)
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// soleClaims appends the names of the pod's claims that only one pod may use, sorted, to an empty list. It is
// an error if one of the claims of the pod does not exist.
func soleClaims(list []string, s *framework.Snapshot, pod *framework.PodInfo) ([]string, error) {
	refs := volumes.Of(pod).Claims
	const few = 16 // mounts; of more, each claim is looked at once
	var seen map[string]bool
	if len(refs) > few {
		seen = map[string]bool{}
	}
	for _, ref := range refs {
		if ref.Ephemeral || seen[ref.Name] {
			continue
		}
		if seen != nil {
			seen[ref.Name] = true
		}
		claim, err := volumes.Claim(s, pod.Pod.Namespace, ref.Name)
		if err != nil {
			return list[:0], err
		}
		if slices.Contains(claim.Spec.AccessModes, api.ReadWriteOncePod) {
			list = append(list, claim.Name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// usesOf counts the claims of the pod's namespace that pods on nodes use.
func usesOf(s *framework.Snapshot, pod *framework.PodInfo, claims []string) (n int) {
	if len(claims) == 0 {
		return 0
	}
	uses := volumes.UsesIn(s)
	for _, name := range claims {
		claim := api.ObjectMeta{Namespace: pod.Pod.Namespace, Name: name}
		if uses.Count(claim.Key()) > 0 {
			n++
		}
	}
	return n
}

// volumeRestrictions is the bound filter.
type volumeRestrictions struct {
	unchanged
	pod       *volumes.Pod
	claims    []string // claims that only one pod may use, sorted
	conflicts int      // number of uses of the claims elsewhere
	disks     *volumes.DiskUses
}

func (f *volumeRestrictions) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if f.disks != nil && f.disks.Conflict(f.pod, node) {
		return framework.UnschedulableStatus(reasonDiskConflict)
	}
	if f.conflicts > 0 {
		return framework.UnschedulableStatus(reasonClaimInUse)
	}
	return framework.Status{}
}

// Replicas implements [replica.Counter]: replicas can share a node if they only read their disks. It cannot tell for
// claims that only one pod may use.
func (f *volumeRestrictions) Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	switch {
	case !f.Filter(pod, node).IsSuccess():
		return 0, true
	case len(f.claims) > 0:
		return 0, false
	case f.pod.WritesDisks():
		return 1, true
	}
	return math.MaxInt64, true
}

// FilterAfter implements [replica.Counter].
func (f *volumeRestrictions) FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, replicas int64) framework.Status {
	if replicas > 0 && f.pod.WritesDisks() {
		return framework.UnschedulableStatus(reasonDiskConflict)
	}
	return f.Filter(pod, node)
}

// AddPod counts the uses of the other pod.
func (f *volumeRestrictions) AddPod(_ *framework.Cycle, other *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	f.conflicts += f.uses(other)
	return framework.Status{}
}

// RemovePod takes back the uses of the other pod.
func (f *volumeRestrictions) RemovePod(_ *framework.Cycle, other *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
	f.conflicts -= f.uses(other)
	return framework.Status{}
}

func (f *volumeRestrictions) uses(p *framework.PodInfo) (n int) {
	for _, ref := range volumes.Of(p).Claims {
		if ref.Ephemeral {
			continue
		}
		if _, once := slices.BinarySearch(f.claims, ref.Name); once {
			n++
		}
	}
	return n
}

// FilterWith is Filter as if the pods had been added to the node, and AddPod called for
// each.
func (f *volumeRestrictions) FilterWith(_ *framework.PodInfo, node *framework.NodeInfo, added []*framework.PodInfo) (framework.Status, bool) {
	conflicts := f.conflicts
	for _, p := range added {
		if f.pod.SharesDisk(volumes.Of(p)) {
			return framework.UnschedulableStatus(reasonDiskConflict), true
		}
		conflicts += f.uses(p)
	}
	status := f.Filter(nil, node)
	if status.IsSuccess() && conflicts > 0 {
		status = framework.UnschedulableStatus(reasonClaimInUse)
	}
	return status, true
}

// Fork returns a copy.
func (f *volumeRestrictions) Fork() framework.FilterUpdater {
	copied := *f
	copied.claims = slices.Clone(f.claims) // f is memory of the cycle
	return &copied
}

package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

// VolumeBinding rejects a node if the pod's claims cannot have their volumes there:
// the node cannot use a bound volume, or an unbound claim finds no usable volume and
// none can be provisioned. It reports all reasons against a node; rejections are
// unresolvable.
//
// If the class of a claim waits for its first consumer, the claim takes, on each
// node, the smallest volume that suits it; claims with the smallest requests choose
// first. If no volume suits, the class must be able to provision one there: its
// topologies allow the node, and, if the CSI driver publishes its free space, some
// CSIStorageCapacity has enough. A claim with a node selected earlier is bound to
// that node.
//
// As a Reserve plugin it assigns the chosen node's volumes to the claims, in the
// snapshot. It reserves volumes, and notes the node on claims whose volume must be
// provisioned. Forks and transactions cover these changes. Unreserve reverts them, except
// for objects that somebody has put into the snapshot since. [ClaimBindingsKey] of the
// cycle holds the changes that a driver's binding points must write to the API server.
//
// Source: kube-scheduler 1.37, plugin VolumeBinding, with the feature gates
// VolumeAttributesClass and StorageCapacityScoring on.
//
// Differs: equally large volumes, and several capacities with enough space.
// Original: kube-scheduler takes any.
// Here: the first by name is taken.
// Why: the answer must be the same on every run.
//
// Differs: PreBind, which writes objects and waits.
// Original: it is part of kube-scheduler's plugin.
// Here: it is left to the driver, which finds what to write under [ClaimBindingsKey].
// Why: the library has no API client.
//
// Differs: another pod's reservations for the same claims, if a pod fails at Reserve.
// Original: kube-scheduler reverts them, too.
// Here: they stay. Once a pod has reserved for the claims, its Unreserve reverts them,
// as in kube-scheduler.
// Why: the pod that failed has reserved nothing that could be reverted.
type VolumeBinding struct{}

// Name returns "VolumeBinding".
func (VolumeBinding) Name() string { return "VolumeBinding" }

// Scope declares that a verdict reads the node, and of the pod's claims what is in the class key; for a
// pod without claims it reads nothing.
func (VolumeBinding) Scope(pod *framework.PodInfo) framework.Scope {
	if len(volumes.Of(pod).Claims) == 0 {
		return framework.Scope{}
	}
	return volumes.ScopeOf(pod)
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends where the volumes of the pod's claims can
// be used, and what unbound claims ask for. Pods whose claims allow the same are alike, whatever the
// claims are called.
func (VolumeBinding) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	return volumes.AppendBindingKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (VolumeBinding) ClassKeyVersion(s *framework.Snapshot) uint64 { return volumes.KeyVersion(s) }

// ClassKeySource implements [incremental.SharedKeyer].
func (VolumeBinding) ClassKeySource() string { return volumes.KeySource }

func (VolumeBinding) keyed(pod *framework.PodInfo) framework.PodFields { return volumeFields(pod) }

// Concern implements [incremental.Concerned]: pods with volumes.
func (VolumeBinding) Concern() framework.PodParts { return framework.PartVolumes }

// EventsToRegister names the events that may help a rejected pod: a node is added or
// relabelled; one of the pod's claims is added or changes; any volume is added or
// changes; a volume that is kept for one of the pod's claims is deleted, after which the
// claim may take another; any class is added or changes; a storage capacity is added,
// grows or moves; a driver stops publishing capacities; drivers take over in-tree volumes
// of a node, or no longer do; a pod with claims leaves its node, which releases the
// volumes reserved for it; the pod's volumes change.
func (p VolumeBinding) EventsToRegister() []queueing.EventHint {
	const came = queueing.ActionAdd | queueing.ActionUpdate
	return []queueing.EventHint{
		onAny(queueing.ResourceNode, queueing.ActionAdd|queueing.ActionUpdateNodeLabel),
		onOwnClaims(came, func(pod *framework.PodInfo, _, after *api.PersistentVolumeClaim) bool {
			return mounts(pod, after)
		}),
		onVolumes(queueing.ActionAll, func(pod *framework.PodInfo, before, after *api.PersistentVolume) bool {
			return after != nil || isKeptFor(before, pod)
		}),
		onAny(queueing.ResourceStorageClass, came),
		on(queueing.ResourceCSIStorageCapacity, came, func(_ *framework.PodInfo, before, after *api.CSIStorageCapacity) bool {
			return before == nil || after == nil || volumes.MayOffer(before, after)
		}),
		on(queueing.ResourceCSIDriver, queueing.ActionAll, func(_ *framework.PodInfo, before, after *api.CSIDriver) bool {
			return publishesCapacity(before) && !publishesCapacity(after)
		}),
		onCSINodes(func(before, after *api.CSINode) bool { return before == nil || migrates(before) != migrates(after) }),
		ifAny(onPods(queueing.ActionDelete, func(_, before, _ *framework.PodInfo) bool { return hasClaims(before) }),
			func(before, _ *framework.PodInfo) bool { return hasClaims(before) }),
		onSelf(p),
	}
}

func hasClaims(pod *framework.PodInfo) bool { return pod == nil || len(volumes.Of(pod).Claims) > 0 }

// isKeptFor reports whether a volume is kept for a claim of the pod. The claim takes no
// other, even if it cannot use that one.
func isKeptFor(v *api.PersistentVolume, pod *framework.PodInfo) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && mounts(pod, &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}})
}

// migrates returns the in-tree plugins that drivers of a node have taken over.
func migrates(n *api.CSINode) string {
	if n == nil {
		return ""
	}
	return n.Annotations[api.AnnMigratedPlugins]
}

func publishesCapacity(d *api.CSIDriver) bool {
	return d != nil && d.Spec.StorageCapacity != nil && *d.Spec.StorageCapacity
}

// PreFilter skips pods without claims. It rejects a pod if one of its claims does
// not exist, is being deleted, or should already have had a volume before the pod is
// placed.
func (VolumeBinding) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(volumes.Of(c.Pod).Claims) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[volumeBinding](c)
	if status := f.finder.Prepare(c.Snapshot, c.Pod); !status.IsSuccess() {
		return framework.PreFiltered{}, status
	}
	volumes.FinderKey.Offer(c, &f.finder)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// volumeBinding is the bound filter.
type volumeBinding struct{ finder volumes.Finder }

func (f *volumeBinding) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	var room volumes.Room
	_, reasons, err := f.finder.Find(node, room.Empty())
	return bindingStatus(reasons, err)
}

// Version implements [incremental.DomainTracker]: drivers that take over in-tree volumes matter where the pod
// has such volumes.
func (f *volumeBinding) Version() uint64 { return f.finder.Version() }

// Changed implements [incremental.DomainTracker].
func (f *volumeBinding) Changed(since uint64, dirty func(slot int)) bool {
	return f.finder.Changed(since, dirty)
}

// Details names the claim that keeps the pod off the node, and what it lacks there.
func (f *volumeBinding) Details(_ *framework.PodInfo, node *framework.NodeInfo) []framework.Detail {
	return f.finder.Details(node)
}

func bindingStatus(reasons volumes.Reasons, err error) framework.Status {
	switch {
	case err != nil:
		return framework.AsStatus(err)
	case reasons == 0:
		return framework.Status{}
	}
	return framework.DetailedStatus(framework.UnschedulableAndUnresolvable, bindingReasons{}, uint64(reasons))
}

// bindingReasons is the Reasoner for a set of volumes.Reasons.
type bindingReasons struct{}

var bindingTexts = [...]string{
	"node(s) didn't match PersistentVolume's node affinity",
	"node(s) didn't find available persistent volumes to bind",
	"node(s) did not have enough free storage",
	"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}

// Reasons returns the texts of the set, in upstream's order.
func (bindingReasons) Reasons(set uint64) (texts []string) {
	for i, text := range bindingTexts {
		if set&(1<<i) != 0 {
			texts = append(texts, text)
		}
	}
	return texts
}

// Reserve assigns the volumes found on the node to the pod's claims.
func (VolumeBinding) Reserve(c *framework.Cycle, node *framework.NodeInfo) framework.Status {
	if len(volumes.Of(c.Pod).Claims) == 0 {
		return framework.Status{}
	}
	finder, ok := volumes.FinderKey.Get(c)
	if !ok {
		finder = new(volumes.Finder)
		if status := finder.Prepare(c.Snapshot, c.Pod); !status.IsSuccess() {
			return status
		}
	}
	if finder.AllBound() {
		ClaimBindingsKey.Set(c, ClaimBindings{AllBound: true})
		return framework.Status{}
	}
	found, reasons, err := finder.Find(node, volumes.Found{})
	if reasons != 0 || err != nil {
		return bindingStatus(reasons, err)
	}
	if err := volumes.Assume(c.Snapshot, c.Pod, node.Name(), &found); err != nil {
		return framework.AsStatus(err)
	}
	ClaimBindingsKey.Set(c, bindingsOf(&found, node.Name()))
	return framework.Status{}
}

// Unreserve reverts what Reserve assigned to the pod, also in a later cycle and
// after the pod or its node has left the snapshot. Volumes and claims return to the
// state in which they were put into the snapshot last, also if another pod has reserved
// for the same claim since. If a bound pod leaves without Unreserve, its claims stay
// as they are.
//
// Differs: reservations that another pod makes after a pod has left the snapshot.
// Original: kube-scheduler reverts them together with the first pod's.
// Here: they belong to that other pod and stay.
// Why: the first pod no longer has a claim to them.
func (VolumeBinding) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) {
	if c.Snapshot == nil || len(volumes.Of(c.Pod).Claims) == 0 {
		return
	}
	ClaimBindingsKey.Delete(c)
	// The objects were in the snapshot before, so they can be put back.
	_ = volumes.Revert(c.Snapshot, c.Pod)
}

// VolumeSteps returns at how many free volumes the selectors of claims have looked so far in the snapshot.
// A fork counts together with it if volumes had been asked for before. A step takes some 60 ns, so a program can
// bound its work, and alike on every machine. It costs O(1), but the first question about volumes of a snapshot
// reads all of them.
func VolumeSteps(s *framework.Snapshot) int64 { return volumes.Spent(s) }

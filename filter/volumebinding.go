package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// VolumeBinding rejects nodes on which the pod's claims cannot have their
// volumes: a bound volume cannot be used from there, or an unbound claim finds
// no volume that can, and none can be made. All reasons against a node are
// told; rejections are unresolvable.
//
// A claim of a class that waits for its first consumer takes, on each node, the
// smallest volume that suits it; the claims that ask for least choose first. If
// there is none, the class must be able to make one there: its topologies allow
// the node, and, where the CSI driver publishes the space that is left, some
// CSIStorageCapacity has enough. A claim for which a node was selected earlier
// is bound to that node.
//
// As a Reserve plugin it gives the claims what the chosen node has for them, in
// the snapshot: volumes are reserved, and the node is noted on claims for which
// a volume is to be made. Forks and transactions cover that, and Unreserve takes
// it back as long as nobody has changed those objects. What has to be written to
// the outside world is in [ClaimBindingsKey] of the cycle, for the binding
// points of a driver.
//
// Source: kube-scheduler 1.37, plugin VolumeBinding, with the feature gates
// VolumeAttributesClass and StorageCapacityScoring on.
//
// Differs: among equally large volumes, and among capacities with enough space,
// the first by name is taken; kube-scheduler takes any. PreBind, which writes
// objects and waits, is left to the driver. A pod that fails at Reserve leaves
// what another pod has reserved for the same claims as it is; kube-scheduler
// gives that back, too, as Unreserve does here.
type VolumeBinding struct{}

// Name returns "VolumeBinding".
func (VolumeBinding) Name() string { return "VolumeBinding" }

// Scope declares that a verdict reads the pod's volumes, the node and the
// objects of the cluster; nothing at all for a pod without claims.
func (VolumeBinding) Scope(pod *framework.PodInfo) framework.Scope {
	v := volumes.Of(pod)
	if len(v.Claims) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{Pod: v.Fields(), Reads: framework.ReadsNode | framework.ReadsObjects}
}

// EventsToRegister names what may help a pod that was rejected: a node comes or
// is labelled anew; one of the pod's claims comes or changes; any volume comes,
// changes or goes, or any class or storage capacity comes or changes; a driver no
// longer publishes capacities; what is known of the drivers on a node changes; a
// pod with claims leaves its node, which gives volumes back that were reserved
// for it; the pod's volumes change.
func (p VolumeBinding) EventsToRegister() []framework.EventHint {
	const came = framework.ActionAdd | framework.ActionUpdate
	return []framework.EventHint{
		onAny(framework.ResourceNode, framework.ActionAdd|framework.ActionUpdateNodeLabel),
		onClaims(came, func(pod *framework.PodInfo, _, after *api.PersistentVolumeClaim) bool {
			return mounts(pod, after)
		}),
		onAny(framework.ResourcePersistentVolume, framework.ActionAll),
		onAny(framework.ResourceStorageClass, came),
		onAny(framework.ResourceCSIStorageCapacity, came),
		on(framework.ResourceCSIDriver, framework.ActionAll, func(_ *framework.PodInfo, before, after *api.CSIDriver) bool {
			return publishesCapacity(before) && !publishesCapacity(after)
		}),
		onAny(framework.ResourceCSINode, framework.ActionAll),
		onPods(framework.ActionDelete, func(_, before, _ *framework.PodInfo) bool { return len(volumes.Of(before).Claims) > 0 }),
		onSelf(p),
	}
}

func publishesCapacity(d *api.CSIDriver) bool {
	return d != nil && d.Spec.StorageCapacity != nil && *d.Spec.StorageCapacity
}

// PreFilter skips pods without claims, and rejects those of which a claim does
// not exist, is on its way out, or should have had its volume before the pod is
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

func bindingStatus(reasons volumes.Reasons, err error) framework.Status {
	switch {
	case err != nil:
		return framework.AsStatus(err)
	case reasons == 0:
		return framework.Status{}
	}
	return framework.DetailedStatus(framework.UnschedulableAndUnresolvable, bindingReasons{}, uint64(reasons))
}

// bindingReasons tells a set of volumes.Reasons.
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

// ClaimBindings is what a driver has to do for the claims of a placed pod before
// it binds the pod.
type ClaimBindings struct {
	// AllBound tells that all claims had their volumes before: there is nothing
	// to do.
	AllBound bool
	// Volumes are to be written: each is reserved for a claim (spec.claimRef).
	Volumes []*api.PersistentVolume
	// Claims are to be written: the chosen node is noted on each
	// (volume.kubernetes.io/selected-node), so that a volume is made there.
	Claims []*api.PersistentVolumeClaim
}

// ClaimBindingsKey holds the ClaimBindings of a pod with claims from Reserve of
// VolumeBinding on. The objects are those in the snapshot and must not be
// changed.
var ClaimBindingsKey = framework.NewKey[ClaimBindings]("ClaimBindings")

// Reserve gives the pod's claims what they find on the node.
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
	var bindings ClaimBindings
	for _, b := range found.Bindings {
		bindings.Volumes = append(bindings.Volumes, b.Volume)
	}
	for _, p := range found.Provisions {
		bindings.Claims = append(bindings.Claims, p.Claim)
	}
	ClaimBindingsKey.Set(c, bindings)
	return framework.Status{}
}

// Unreserve gives back what Reserve gave to the pod, also in a later cycle and after
// the pod or its node has left the snapshot: volumes and claims become again what
// they were when they were last put there, even where another pod has reserved for
// the same claim since. A pod that leaves without Unreserve, because it was bound,
// leaves its claims as they are.
//
// Differs: what another pod reserves after a pod has left the snapshot is that
// one's; kube-scheduler gives it back with the first of them, too.
func (VolumeBinding) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) {
	if c.Snapshot == nil || len(volumes.Of(c.Pod).Claims) == 0 {
		return
	}
	ClaimBindingsKey.Delete(c)
	// The objects were in the snapshot before, so they can be put back.
	_ = volumes.Revert(c.Snapshot, c.Pod)
}

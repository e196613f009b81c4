package filter

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/resource"
)

// diskLimits is what EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits
// have in common: a limit on the number of disks of a kind on a node.
//
// Source: kube-scheduler 1.18, nodevolumelimits, nonCSILimits.
type diskLimits struct {
	kind *volumes.DiskKind
	told resource.Name // by which a node tells its limit
	max  int64         // of nodes that tell none; 0: by the type of machine
}

func (l diskLimits) scope(pod *framework.PodInfo) framework.Scope {
	if !l.kind.MayMount(pod) {
		return framework.Scope{}
	}
	return framework.Scope{
		Pod:   framework.FieldVolumes | framework.FieldNamespace,
		Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsObjects,
	}
}

func (l diskLimits) events(plugin framework.Scoper) []framework.EventHint {
	return append(volumeEvents(),
		onAny(framework.ResourceNode, framework.ActionAdd|framework.ActionUpdateNodeAllocatable|framework.ActionUpdateNodeLabel),
		onAny(framework.ResourceCSINode, framework.ActionAll),
		onPods(framework.ActionAll, func(_, before, after *framework.PodInfo) bool {
			mounts := func(p *framework.PodInfo) bool { return p != nil && l.kind.MayMount(p) }
			return (mounts(before) || mounts(after)) && readsOther(plugin, before, after)
		}),
		onSelf(plugin),
	)
}

// preFilter skips pods that mount no such disk.
func (l diskLimits) preFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !l.kind.MayMount(c.Pod) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[diskFilter](c)
	f.limits, f.snapshot = l, c.Snapshot
	f.added, f.err = l.kind.Append(f.added[:0], c.Snapshot, c.Pod)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// diskFilter is the bound filter.
type diskFilter struct {
	limits   diskLimits
	snapshot *framework.Snapshot
	added    []volumes.Disk // what the pod mounts
	err      error          // why that cannot be told
}

func (f *diskFilter) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	switch {
	case f.err != nil:
		return framework.AsStatus(f.err)
	case len(f.added) == 0, f.limits.kind.Migrated(volumes.CSINode(f.snapshot, node.Name())):
		return framework.Status{}
	}
	var room [32]volumes.Disk
	disks := room[:0]
	for _, p := range node.Pods {
		var err error
		if disks, err = f.limits.kind.Append(disks, f.snapshot, p); err != nil {
			return framework.AsStatus(err)
		}
	}
	n := int64(len(disks))
	for _, d := range f.added {
		if !slices.Contains(disks, d) {
			n++
		}
	}
	if n > f.limits.on(node.Node) {
		return framework.Reject(reasonVolumeCount)
	}
	return framework.Status{}
}

// on is the limit of a node.
func (l diskLimits) on(n *framework.Node) int64 {
	if told, ok := n.Status.Allocatable[l.told]; ok {
		return told.Value()
	}
	if l.max > 0 {
		return l.max
	}
	return ebsLimit(n)
}

// maxDisks is the configured limit, or the standard one.
func maxDisks(configured, standard int64) int64 {
	if configured > 0 {
		return configured
	}
	return standard
}

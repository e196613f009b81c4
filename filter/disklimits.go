package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/volumes"
)

// diskLimits is the shared part of EBSLimits, GCEPDLimits, AzureDiskLimits and
// CinderLimits: a limit on the number of disks of one cloud on a node.
//
// Source: kube-scheduler 1.18, nodevolumelimits, nonCSILimits.
type diskLimits struct{ volumes.DiskLimit }

func diskLimitsOf(plugin string, max int64) diskLimits {
	limit, _ := volumes.DiskLimitOf(plugin, max)
	return diskLimits{limit}
}

func (l diskLimits) scope(pod *framework.PodInfo) framework.Scope {
	if !l.Kind.MayMount(pod) {
		return framework.Scope{}
	}
	return framework.Scope{
		Pod:   framework.FieldVolumes | framework.FieldNamespace,
		Reads: framework.ReadsNode | framework.ReadsPods | framework.ReadsVolumes,
	}
}

func (l diskLimits) events(plugin framework.Scoper) []queueing.EventHint {
	return append(volumeEvents(plugin, names, l.Kind.MayMount),
		onAny(queueing.ResourceNode, queueing.ActionAdd|queueing.ActionUpdateNodeAllocatable|queueing.ActionUpdateNodeLabel),
	)
}

// preFilter skips pods that mount no such disk.
func (l diskLimits) preFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if !l.Kind.MayMount(c.Pod) {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[diskFilter](c)
	f.limits, f.snapshot = l, c.Snapshot
	f.added, f.err = l.Kind.Append(f.added[:0], c.Snapshot, c.Pod)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// diskFilter is the bound filter.
type diskFilter struct {
	limits   diskLimits
	snapshot *framework.Snapshot
	added    []volumes.Disk // what the pod mounts
	err      error          // why added is unknown
}

func (f *diskFilter) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	switch {
	case f.err != nil:
		return framework.AsStatus(f.err)
	case len(f.added) == 0, f.limits.Kind.Migrated(volumes.CSINode(f.snapshot, node.Name())):
		return framework.Status{}
	}
	there, more, err := f.limits.Kind.Count(f.snapshot, node, f.added)
	switch {
	case err != nil:
		return framework.AsStatus(err)
	case there+more > f.limits.On(node.Node):
		return framework.UnschedulableStatus(reasonVolumeCount)
	}
	return framework.Status{}
}

// Replicas implements [replica.Counter], as that of NodeVolumeLimits does.
func (f *diskFilter) Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	return replicasSharing(f, pod, node)
}

// FilterAfter implements [replica.Counter].
func (f *diskFilter) FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, _ int64) framework.Status {
	return f.Filter(pod, node)
}

// Details implements [framework.Detailer].
func (f *diskFilter) Details(_ *framework.PodInfo, node *framework.NodeInfo) []framework.Detail {
	if f.err != nil || len(f.added) == 0 || f.limits.Kind.Migrated(volumes.CSINode(f.snapshot, node.Name())) {
		return nil
	}
	there, more, err := f.limits.Kind.Count(f.snapshot, node, f.added)
	limit := f.limits.On(node.Node)
	if err != nil || there+more <= limit {
		return nil
	}
	return []framework.Detail{{Subject: "disks", Asked: more, Used: there, Limit: limit}}
}

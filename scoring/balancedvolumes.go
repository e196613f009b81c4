package scoring

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/resource"
)

// A VolumeLimit names a filter that limits the number of its disks on a node.
type VolumeLimit struct {
	// Filter is EBSLimits, GCEPDLimits, AzureDiskLimits or CinderLimits.
	Filter string
	// MaxVolumes is the filter's field of the same name: 0 or less means its default
	// limit.
	MaxVolumes int64
}

// BalancedVolumesScoreKubernetes118 returns [BalancedAllocationScoreKubernetes118]
// with a third fraction, more/room. more is the number of disks that a pod would
// attach, and room how many the node can still take:
//
//	0                       where one of the three is used up
//	(1-variance)*100        otherwise, truncated
//
// The variance is the mean of the squared differences between the three fractions
// and their mean. If room is 0, so unknown or all taken, the score is
// BalancedAllocationScoreKubernetes118.
//
// Source: kube-scheduler 1.18, balancedResourceScorer, with the feature gate
// BalanceAttachedNodeVolumes on.
//
// Differs: negative amounts.
// Original: they enter the formula.
// Here: a negative amount counts as 0.
// Why: the score must be from 0 to 100.
func BalancedVolumesScoreKubernetes118(cpuRequested, cpuAllocatable, memoryRequested, memoryAllocatable, more, room int64) int64 {
	if room <= 0 || cpuAllocatable <= 0 || memoryAllocatable <= 0 {
		return BalancedAllocationScoreKubernetes118(cpuRequested, cpuAllocatable, memoryRequested, memoryAllocatable)
	}
	cpu, memory, disks := fraction(cpuRequested, cpuAllocatable), fraction(memoryRequested, memoryAllocatable), fraction(more, room)
	if cpu >= 1 || memory >= 1 || disks >= 1 {
		return 0
	}
	mean := (cpu + memory + disks) / 3
	// The conversions forbid fused multiply-add.
	variance := (float64((cpu-mean)*(cpu-mean)) + float64((memory-mean)*(memory-mean)) + float64((disks-mean)*(disks-mean))) / 3
	return int64((1 - variance) * float64(framework.MaxNodeScore))
}

// podDisks are the pod's disks under one limit.
type podDisks struct {
	limit volumes.DiskLimit
	disks []volumes.Disk
}

// countsVolumes reports whether the score of the pod may depend on disks.
func (p NodeResourcesBalancedAllocation) countsVolumes(pod *framework.PodInfo) bool {
	for _, l := range p.AttachedVolumes {
		if limit, ok := volumes.DiskLimitOf(l.Filter, l.MaxVolumes); ok && limit.Kind.MayMount(pod) {
			return true
		}
	}
	return false
}

// bindVolumes finds the pod's disks; false if no disk of the pod counts.
func (b *balanced) bindVolumes(c *framework.Cycle, limits []VolumeLimit) (bool, error) {
	b.snapshot, b.disks = c.Snapshot, b.disks[:0]
	for _, l := range limits {
		limit, ok := volumes.DiskLimitOf(l.Filter, l.MaxVolumes)
		if !ok || !limit.Kind.MayMount(c.Pod) {
			continue
		}
		disks, err := limit.Kind.Append(nil, c.Snapshot, c.Pod)
		if err != nil {
			return false, err
		}
		if len(disks) > 0 {
			b.disks = append(b.disks, podDisks{limit, disks})
		}
	}
	return len(b.disks) > 0, nil
}

func (b *balancedVolumes) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	cpu, memory := &b.terms[resource.IndexCPU], &b.terms[resource.IndexMemory]
	more, room := b.volumes(node)
	return BalancedVolumesScoreKubernetes118(
		cpu.requested(node), node.Allocatable.At(resource.IndexCPU),
		memory.requested(node), node.Allocatable.At(resource.IndexMemory), more, room)
}

// volumes returns how many disks the pod would attach to the node, and how many the
// node can still take. If several limits apply, the last one with enough capacity
// that is not left to a CSI driver counts, as its filter is the last to report.
func (b *balancedVolumes) volumes(node *framework.NodeInfo) (more, room int64) {
	csi := volumes.CSINode(b.snapshot, node.Name())
	for i := len(b.disks) - 1; i >= 0; i-- {
		k := &b.disks[i]
		if k.limit.Kind.Migrated(csi) {
			continue
		}
		there, more, err := k.limit.Kind.Count(b.snapshot, node, k.disks)
		if limit := k.limit.On(node.Node); err == nil && more <= limit-there {
			return more, limit - there
		}
	}
	return 0, 0
}

// checkVolumes reports an unknown filter, and rules that do not count disks.
func (p NodeResourcesBalancedAllocation) checkVolumes() error {
	if len(p.AttachedVolumes) > 0 && p.Rules != Kubernetes118 {
		return fmt.Errorf("%s: attachedVolumes: only the rules %s count them", balancedName, Kubernetes118)
	}
	for i, l := range p.AttachedVolumes {
		if _, ok := volumes.DiskLimitOf(l.Filter, l.MaxVolumes); !ok {
			return fmt.Errorf("%s: attachedVolumes[%d]: unknown filter %q: want EBSLimits, GCEPDLimits, AzureDiskLimits or CinderLimits", balancedName, i, l.Filter)
		}
	}
	return nil
}

package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// GCEPDLimits rejects nodes that would exceed their limit of attached Google Compute
// Engine disks. The limit is 16, unless the node's allocatable gives another number
// (attachable-volumes-gce-pd). It counts as [EBSLimits] does.
//
// Source: kube-scheduler 1.18, plugin GCEPDLimits.
//
// Differs: nodes whose CSINode lists the disks' plugin as migrated.
// Original: in 1.18 they pass only if the feature gate of that migration is on.
// Here: they pass, as for [EBSLimits].
// Why: later releases do so.
type GCEPDLimits struct {
	// MaxVolumes replaces 16, as the environment variable KUBE_MAX_PD_VOLS does for
	// kube-scheduler. 0 or less means 16.
	MaxVolumes int64
}

// Name returns "GCEPDLimits".
func (GCEPDLimits) Name() string { return "GCEPDLimits" }

// Scope declares what [EBSLimits] declares.
func (p GCEPDLimits) Scope(pod *framework.PodInfo) framework.Scope { return p.limits().scope(pod) }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changes in a way that affects its limit; a pod with such disks leaves, or is
// added, since it may use the same disks; claims, volumes, classes or the drivers on
// nodes change.
func (p GCEPDLimits) EventsToRegister() []queueing.EventHint { return p.limits().events(p) }

// PreFilter skips pods that mount neither such a disk nor a claim.
func (p GCEPDLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.limits().preFilter(c)
}

func (p GCEPDLimits) limits() diskLimits { return diskLimitsOf(p.Name(), p.MaxVolumes) }

package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// CinderLimits rejects nodes that would exceed their limit of attached OpenStack
// disks. The limit is 256, unless the node's allocatable gives another number
// (attachable-volumes-cinder). It counts as [EBSLimits] does.
//
// Source: kube-scheduler 1.18, plugin CinderLimits.
//
// Differs: nodes whose CSINode lists the disks' plugin as migrated.
// Original: in 1.18 they pass only if the feature gate of that migration is on.
// Here: they pass, as for [EBSLimits].
// Why: later releases do so.
type CinderLimits struct {
	// MaxVolumes replaces 256, as the environment variable KUBE_MAX_PD_VOLS does for
	// kube-scheduler. 0 or less means 256.
	MaxVolumes int64
}

// Name returns "CinderLimits".
func (CinderLimits) Name() string { return "CinderLimits" }

// Scope declares what [EBSLimits] declares.
func (p CinderLimits) Scope(pod *framework.PodInfo) framework.Scope { return p.limits().scope(pod) }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changes in a way that affects its limit; a pod with such disks leaves, or is
// added, since it may use the same disks; claims, volumes, classes or the drivers on
// nodes change.
func (p CinderLimits) EventsToRegister() []queueing.EventHint { return p.limits().events(p) }

// PreFilter skips pods that mount neither such a disk nor a claim.
func (p CinderLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.limits().preFilter(c)
}

func (p CinderLimits) limits() diskLimits { return diskLimitsOf(p.Name(), p.MaxVolumes) }

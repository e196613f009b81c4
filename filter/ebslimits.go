package filter

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

// EBSLimits rejects nodes that would exceed their limit of attached Amazon EBS
// disks. The limit is 39, or 25 for machine types that start with c5, m5 or r5 or
// contain t3 or z1d, unless the node's allocatable gives another number
// (attachable-volumes-aws-ebs). Disks in the pod spec and disks behind claims count,
// each once. Nodes where a CSI driver has taken over such disks pass:
// NodeVolumeLimits counts there.
//
// Source: kube-scheduler 1.18, plugin EBSLimits.
//
// Differs: a node that has both machine-type labels.
// Original: kube-scheduler takes either.
// Here: the current one counts.
// Why: the answer must be the same on every run.
//
// Differs: nodes whose CSINode lists the disks' plugin as migrated.
// Original: in 1.18 they pass only if the feature gate of that migration, such as
// CSIMigrationAWS, is on.
// Here: they always pass.
// Why: later releases do so.
type EBSLimits struct {
	// MaxVolumes replaces 39 and 25, as the environment variable KUBE_MAX_PD_VOLS
	// does for kube-scheduler. 0 or less means the defaults.
	MaxVolumes int64
}

// Name returns "EBSLimits".
func (EBSLimits) Name() string { return "EBSLimits" }

// Scope declares that a verdict reads the pod's volumes, the node and its pods, and
// the objects of the cluster; for a pod without such volumes it reads nothing.
func (p EBSLimits) Scope(pod *framework.PodInfo) framework.Scope { return p.limits().scope(pod) }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or changes in a way that affects its limit; a pod with such disks leaves, or is
// added, since it may use the same disks; claims, volumes, classes or the drivers on
// nodes change.
func (p EBSLimits) EventsToRegister() []queueing.EventHint { return p.limits().events(p) }

// PreFilter skips pods that mount neither such a disk nor a claim.
func (p EBSLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.limits().preFilter(c)
}

func (p EBSLimits) limits() diskLimits { return diskLimitsOf(p.Name(), p.MaxVolumes) }

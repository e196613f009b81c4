package filter

import "github.com/berth-sched/berth/framework"

// GCEPDLimits rejects nodes that would have more disks of Google Compute Engine attached
// than they take: 16, unless their allocatable names another number
// (attachable-volumes-gce-pd). It counts as [EBSLimits] does.
//
// Source: kube-scheduler 1.18, plugin GCEPDLimits.
//
// Differs: nodes pass on which a CSI driver has taken the disks over, as those of
// [EBSLimits] do.
type GCEPDLimits struct {
	// MaxVolumes takes the place of 16, as the environment variable
	// KUBE_MAX_PD_VOLS does for kube-scheduler. 0, or less, means that.
	MaxVolumes int64
}

// Name returns "GCEPDLimits".
func (GCEPDLimits) Name() string { return "GCEPDLimits" }

// Scope declares what [EBSLimits] declares.
func (p GCEPDLimits) Scope(pod *framework.PodInfo) framework.Scope { return p.limits().scope(pod) }

// EventsToRegister names what may help a pod that was rejected: a node comes, or
// changes in what its limit is told by; a pod with such disks leaves, or comes,
// for it may use the same; claims, volumes, classes, or what is known of the
// drivers on nodes change.
func (p GCEPDLimits) EventsToRegister() []framework.EventHint { return p.limits().events(p) }

// PreFilter skips pods that mount neither such a disk nor a claim.
func (p GCEPDLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.limits().preFilter(c)
}

func (p GCEPDLimits) limits() diskLimits { return diskLimitsOf(p.Name(), p.MaxVolumes) }

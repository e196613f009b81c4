package filter

import "github.com/berth-sched/berth/framework"

// EBSLimits rejects nodes that would have more disks of Amazon EBS attached than
// they take: 39, or 25 for the types of machine that start with c5, m5 or r5 or
// contain t3 or z1d, unless their allocatable names another number
// (attachable-volumes-aws-ebs). Disks that pods name themselves and those of
// claims count, each once. Nodes on which a CSI driver has taken such disks over
// pass: NodeVolumeLimits counts there.
//
// Source: kube-scheduler 1.18, plugin EBSLimits.
//
// Differs: of the two labels for the type of machine the present one counts,
// where kube-scheduler takes any. Nodes whose CSINode lists the disks' plugin as
// migrated always pass, as in later releases; in 1.18 only where the feature gate of
// that migration, such as CSIMigrationAWS, was on.
type EBSLimits struct {
	// MaxVolumes takes the place of 39 and 25, as the environment variable
	// KUBE_MAX_PD_VOLS does for kube-scheduler. 0, or less, means those.
	MaxVolumes int64
}

// Name returns "EBSLimits".
func (EBSLimits) Name() string { return "EBSLimits" }

// Scope declares that a verdict reads the pod's volumes, the node and its pods,
// and the objects of the cluster; nothing at all for a pod without such volumes.
func (p EBSLimits) Scope(pod *framework.PodInfo) framework.Scope { return p.limits().scope(pod) }

// EventsToRegister names what may help a pod that was rejected: a node comes, or
// changes in what its limit is told by; a pod with such disks leaves, or comes,
// for it may use the same; claims, volumes, classes, or what is known of the
// drivers on nodes change.
func (p EBSLimits) EventsToRegister() []framework.EventHint { return p.limits().events(p) }

// PreFilter skips pods that mount neither such a disk nor a claim.
func (p EBSLimits) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return p.limits().preFilter(c)
}

func (p EBSLimits) limits() diskLimits { return diskLimitsOf(p.Name(), p.MaxVolumes) }

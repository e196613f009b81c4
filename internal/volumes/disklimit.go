package volumes

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A DiskLimit is the number of disks of one kind that a node takes.
type DiskLimit struct {
	Kind *DiskKind

	told resource.Name // the resource for a node's own limit
	max  int64         // for nodes without that resource; 0: by machine type
}

// DiskLimitOf returns the limit that a plugin of kube-scheduler 1.18 enforces, or
// false for any other name. If max is above 0, it replaces the standard number, as
// the environment variable KUBE_MAX_PD_VOLS does.
//
// Source: kube-scheduler 1.18, nodevolumelimits, newNonCSILimits.
func DiskLimitOf(plugin string, max int64) (l DiskLimit, ok bool) {
	switch plugin {
	case "EBSLimits":
		l = DiskLimit{EBSDisks, "attachable-volumes-aws-ebs", 0}
	case "GCEPDLimits":
		l = DiskLimit{GCEDisks, "attachable-volumes-gce-pd", 16}
	case "AzureDiskLimits":
		l = DiskLimit{AzureDisks, "attachable-volumes-azure-disk", 16}
	case "CinderLimits":
		l = DiskLimit{CinderDisks, "attachable-volumes-cinder", 256}
	default:
		return DiskLimit{}, false
	}
	if max > 0 {
		l.max = max
	}
	return l, true
}

// On returns the limit of a node.
func (l DiskLimit) On(n *api.Node) int64 {
	if told, ok := n.Status.Allocatable[l.told]; ok {
		return told.Value()
	}
	if l.max > 0 {
		return l.max
	}
	return ebsLimit(n)
}

// The labels of a node for its machine type.
const (
	labelInstanceType    = "node.kubernetes.io/instance-type"
	labelInstanceTypeOld = "beta.kubernetes.io/instance-type"
)

// ebsLimit returns 25 for machine types that share their limit with network cards,
// and 39 for all others.
func ebsLimit(n *api.Node) int64 {
	machine, ok := n.Labels[labelInstanceType]
	if !ok {
		machine = n.Labels[labelInstanceTypeOld]
	}
	ofFive := len(machine) > 1 && strings.Contains("cmr", machine[:1]) && machine[1] == '5'
	if ofFive || strings.Contains(machine, "t3") || strings.Contains(machine, "z1d") {
		return 25
	}
	return 39
}

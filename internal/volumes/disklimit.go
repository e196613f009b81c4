package volumes

import (
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A DiskLimit is how many disks of a kind a node takes.
type DiskLimit struct {
	Kind *DiskKind

	told resource.Name // by which a node tells its limit
	max  int64         // of nodes that tell none; 0: by the type of machine
}

// DiskLimitOf returns the limit that a plugin of kube-scheduler 1.18 enforces;
// false for a plugin of another name. max, if above 0, takes the place of the
// standard number, as the environment variable KUBE_MAX_PD_VOLS does.
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

// On is the limit of a node.
func (l DiskLimit) On(n *api.Node) int64 {
	if told, ok := n.Status.Allocatable[l.told]; ok {
		return told.Value()
	}
	if l.max > 0 {
		return l.max
	}
	return ebsLimit(n)
}

// The labels of a node for its type of machine.
const (
	labelInstanceType    = "node.kubernetes.io/instance-type"
	labelInstanceTypeOld = "beta.kubernetes.io/instance-type"
)

// ebsLimit knows the machines that share their limit with network cards.
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

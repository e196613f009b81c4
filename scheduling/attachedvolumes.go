package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scoring"
)

// BalanceAttachedVolumes does to a profile what the alpha feature gate
// BalanceAttachedNodeVolumes did to kube-scheduler 1.18, where it was off by
// default: NodeResourcesBalancedAllocation of the version v1.18 counts the disks
// that a pod would attach, as far as the filters of the profile limit them. Other
// versions stay as they are, and so does the list of scorers, of which a copy is
// changed.
//
//	p := scheduling.Kubernetes118()
//	scheduling.BalanceAttachedVolumes(&p)
func BalanceAttachedVolumes(p *Profile) {
	limits := volumeLimits(p.Filter)
	list := make([]Weighted, len(p.Score))
	for i, w := range p.Score {
		if b, ok := w.Plugin.(scoring.NodeResourcesBalancedAllocation); ok && b.Version == scoring.BalanceV118 {
			b.AttachedVolumes = limits
			w.Plugin = b
		}
		list[i] = w
	}
	p.Score = list
}

// volumeLimits lists the filters that limit disks, in order.
func volumeLimits(filters []framework.Plugin) (list []scoring.VolumeLimit) {
	for _, p := range filters {
		var most int64
		switch p := p.(type) {
		case filter.EBSLimits:
			most = p.MaxVolumes
		case filter.GCEPDLimits:
			most = p.MaxVolumes
		case filter.AzureDiskLimits:
			most = p.MaxVolumes
		case filter.CinderLimits:
			most = p.MaxVolumes
		default:
			continue
		}
		list = append(list, scoring.VolumeLimit{Filter: p.Name(), MaxVolumes: most})
	}
	return list
}

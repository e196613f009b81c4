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
// changed. Plugins may be values or pointers, of which the list gets a value.
//
//	p := scheduling.Kubernetes118()
//	scheduling.BalanceAttachedVolumes(&p)
func BalanceAttachedVolumes(p *Profile) {
	limits := volumeLimits(p.Filter)
	list := make([]Weighted, len(p.Score))
	for i, w := range p.Score {
		b, ok := as[scoring.NodeResourcesBalancedAllocation](w.Plugin)
		if ok && b.Rules == scoring.Kubernetes118 {
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
		most, ok := mostVolumes(p)
		if ok {
			list = append(list, scoring.VolumeLimit{Filter: p.Name(), MaxVolumes: most})
		}
	}
	return list
}

// mostVolumes returns the limit that a plugin states, if it is one that limits disks.
func mostVolumes(p framework.Plugin) (int64, bool) {
	if f, ok := as[filter.EBSLimits](p); ok {
		return f.MaxVolumes, true
	}
	if f, ok := as[filter.GCEPDLimits](p); ok {
		return f.MaxVolumes, true
	}
	if f, ok := as[filter.AzureDiskLimits](p); ok {
		return f.MaxVolumes, true
	}
	f, ok := as[filter.CinderLimits](p)
	return f.MaxVolumes, ok
}

// as returns a plugin as the type, be it a value or a pointer to one.
func as[P framework.Plugin](p framework.Plugin) (value P, ok bool) {
	if pointer, isPointer := any(p).(*P); isPointer && pointer != nil {
		return *pointer, true
	}
	value, ok = p.(P)
	return value, ok
}

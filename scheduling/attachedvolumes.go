package scheduling

import (
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scoring"
)

// BalanceAttachedVolumes gives a profile the alpha feature gate
// BalanceAttachedNodeVolumes of kube-scheduler 1.18, where it was off by default.
// NodeResourcesBalancedAllocation of v1.18 then counts the disks that a pod would
// attach, as far as the profile's filters limit them. Other versions of the plugin
// stay as they are. The list of scorers is copied before it is changed. Plugins may
// be values or pointers; the copy holds a value.
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

// mostVolumes returns the limit of a plugin that limits disks.
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

// as returns a plugin as P, whether it is a value or a pointer to one.
func as[P framework.Plugin](p framework.Plugin) (value P, ok bool) {
	if pointer, isPointer := any(p).(*P); isPointer && pointer != nil {
		return *pointer, true
	}
	value, ok = p.(P)
	return value, ok
}

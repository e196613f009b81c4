package soak

import (
	"math/rand/v2"
	"slices"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scoring"
)

// made is what matters of the schedulers that were made.
type made struct {
	mix      int // index of what counts the first one's hits
	extended bool
	named    bool          // a PreFilter whose answers are kept names nodes
	gpus     *devices.GPUs // nil if the profile shares no GPUs
}

// schedulers builds two of the same profile; the second takes the reference path only.
func schedulers(r *rand.Rand) (fast, plain *scheduling.Scheduler, of made, err error) {
	p := profile(r)
	if chance(r, 3) {
		of.gpus = shareGPUs(r, &p)
	}
	of.named = slices.ContainsFunc(p.Filter, func(x framework.Plugin) bool { _, ok := x.(aisles); return ok })
	p.Seed = r.Uint64()
	if p.TieRule = scheduling.TieRule(r.IntN(int(scheduling.Custom) + 1)); p.TieRule == scheduling.Custom {
		p.TieBreak = func(c *framework.Cycle, tied []*framework.NodeInfo) int { return int(c.Seed % uint64(len(tied))) }
	}
	p.Percentage = pick(r, scheduling.AllNodes, scheduling.Adaptive, 20)
	of.mix = pick(r, roomy, roomy, tight)
	if chance(r, 4) {
		p.Extenders, of.extended = extenders(r), true
	}
	p.Cache = scheduling.CacheConfig{Verify: true, Budget: [mixes]int{tight: 200_000}[of.mix]}
	if fast, err = scheduling.New(p); err != nil {
		return nil, nil, of, err
	}
	p.Cache = scheduling.CacheConfig{Off: true}
	p.Parallelism = 1 + r.IntN(3)
	plain, err = scheduling.New(p)
	return fast, plain, of, err
}

// profile returns the default profile of a release, sometimes with plugins or
// arguments that are not among the defaults.
func profile(r *rand.Rand) scheduling.Profile {
	p := pick(r, scheduling.Kubernetes137, scheduling.Kubernetes137, scheduling.Kubernetes137, scheduling.Kubernetes134, scheduling.Kubernetes118)()
	if chance(r, 6) {
		zone := []string{api.LabelTopologyZone}
		p.Filter = append(p.Filter, filter.ServiceAffinity{AffinityLabels: zone})
		p.Score = append(p.Score, scheduling.Weighted{Plugin: scoring.ServiceAffinity{AntiAffinityLabels: zone}, Weight: 2})
	}
	if chance(r, 4) {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: scoring.SelectorSpread{}, Weight: 1})
	}
	if chance(r, 4) {
		p.PostFilter = []framework.Plugin{preemption.DefaultPreemption{
			MinCandidateNodesPercentage: new(int32(1 + r.IntN(30))), MinCandidateNodesAbsolute: new(int32(r.IntN(4))),
		}}
	}
	if chance(r, 4) {
		spreadByList(r, &p)
	}
	if chance(r, 3) {
		p.Filter = append(p.Filter, shifts{})
		p.Score = append(p.Score, scheduling.Weighted{Plugin: shifts{}, Weight: 2})
	}
	if chance(r, 6) {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: crowds{2 + r.IntN(20)}, Weight: 3})
	}
	if chance(r, 7) {
		p.Filter = append(p.Filter, rows{2 + r.IntN(4)})
	}
	if chance(r, 9) {
		p.Filter = append(p.Filter, aisles{rows{2 + r.IntN(4)}})
	}
	if chance(r, 3) {
		scoreDevices(r, &p)
	}
	if chance(r, 2) {
		scheduling.BalanceAttachedVolumes(&p) // of 1.18
	}
	return p
}

// scoreDevices lets the score of resources count the devices behind extended resources.
func scoreDevices(r *rand.Rand, p *scheduling.Profile) {
	for i := range p.Score {
		if fit, ok := p.Score[i].Plugin.(scoring.NodeResourcesFit); ok {
			fit.Strategy = pick(r, scoring.LeastAllocated, scoring.MostAllocated)
			fit.Resources = []scoring.ResourceSpec{{Name: resource.CPU, Weight: 1}, {Name: deviceResource, Weight: 2}, {Name: dedicatedResource, Weight: 1}}
			p.Score[i].Plugin = fit
		}
	}
}

// spreadByList replaces the default constraints, where the profile spreads pods
// by topology, by a list which also has a constraint that must hold.
func spreadByList(r *rand.Rand, p *scheduling.Profile) {
	constraints := []api.TopologySpreadConstraint{
		{MaxSkew: int32(1 + r.IntN(3)), TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule},
		{MaxSkew: int32(1 + r.IntN(3)), TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.ScheduleAnyway},
	}
	for i := range p.Filter {
		if _, ok := p.Filter[i].(filter.PodTopologySpread); ok {
			p.Filter[i] = filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: constraints}
		}
	}
	for i := range p.Score {
		switch p.Score[i].Plugin.(type) {
		case scoring.PodTopologySpread:
			p.Score[i].Plugin = scoring.PodTopologySpread{ListDefaulting: true, DefaultConstraints: constraints}
		case scoring.EvenPodsSpread:
			p.Score[i].Plugin = scoring.EvenPodsSpread{DefaultConstraints: constraints}
		}
	}
}

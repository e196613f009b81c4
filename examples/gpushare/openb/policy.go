package openb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A Policy names a scorer and a rule that picks GPUs.
type Policy string

// The policies. All but FirstFit are published.
const (
	Random        Policy = "Random"
	DotProd       Policy = "DotProd"
	GpuClustering Policy = "GpuClustering"
	GpuPacking    Policy = "GpuPacking"
	BestFit       Policy = "BestFit"
	FGD           Policy = "FGD"
	FirstFit      Policy = "FirstFit"
)

// Published are the policies of the published tables, in their order.
func Published() []Policy {
	return []Policy{Random, DotProd, GpuClustering, GpuPacking, BestFit, FGD}
}

// Policies are all policies.
func Policies() []Policy { return append(Published(), FirstFit) }

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (Policy, error) {
	if all := Policies(); !slices.Contains(all, Policy(name)) {
		return "", fmt.Errorf("no policy %q; there are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
	}
	return Policy(name), nil
}

// IsRandom reports whether the policy draws its nodes.
func (p Policy) IsRandom() bool { return p == Random }

// plugins are the plugins of a policy, and the GPUs that they share.
func (p Policy) plugins(w *devices.Workload, seed uint64) (*devices.GPUs, framework.Plugin) {
	var choose devices.Choice
	switch p {
	case FGD:
		choose = devices.LeastFragmentation{Workload: w}
	case Random:
		choose = devices.AnyGPU{Seed: seed}
	}
	gpus := devices.New(devices.Config{Choose: choose})
	switch p {
	case FGD:
		return gpus, devices.FGD{GPUs: gpus, Workload: w}
	case BestFit:
		return gpus, devices.BestFit{GPUs: gpus}
	case DotProd:
		return gpus, devices.DotProd{GPUs: gpus}
	case GpuPacking:
		return gpus, devices.GpuPacking{GPUs: gpus}
	case GpuClustering:
		return gpus, devices.GpuClustering{GPUs: gpus}
	case Random:
		return gpus, devices.Random{}
	}
	return gpus, devices.FirstFit{}
}

// A Tie is a rule that chooses among nodes of equal score.
type Tie string

// The tie rules.
const (
	// FixedOrder takes the first node in an order that the seed draws, as the published
	// simulator does.
	FixedOrder Tie = "fixed order"
	// Uniform draws one of the nodes, as kube-scheduler does.
	Uniform Tie = "uniform"
	// UsedFirst takes nodes with pods before empty ones, then the fixed order.
	UsedFirst Tie = "used first"
	// LeastGPU takes the node with least left of its GPUs, then the fixed order.
	LeastGPU Tie = "least GPU left"
	// LeastCPU takes the node with least CPU left, then the fixed order.
	LeastCPU Tie = "least CPU left"
)

// Ties are all tie rules.
func Ties() []Tie { return []Tie{FixedOrder, Uniform, UsedFirst, LeastGPU, LeastCPU} }

// set makes the profile break ties by the rule.
func (t Tie) set(p *scheduling.Profile, gpus *devices.GPUs) {
	by := func(measure func(s *framework.Snapshot, n *framework.NodeInfo) int64) {
		p.TieRule = scheduling.Custom
		p.TieBreak = func(c *framework.Cycle, tied []*framework.NodeInfo) int { return least(c.Snapshot, tied, measure) }
	}
	switch t {
	case Uniform:
		p.TieRule = scheduling.Random
	case UsedFirst:
		by(func(_ *framework.Snapshot, n *framework.NodeInfo) int64 { return -min(1, int64(len(n.Pods))) })
	case LeastGPU:
		by(func(s *framework.Snapshot, n *framework.NodeInfo) int64 { free := gpus.Free(s, n); return free.Total() })
	case LeastCPU:
		by(func(_ *framework.Snapshot, n *framework.NodeInfo) int64 {
			return n.Allocatable.At(resource.IndexCPU) - n.Requested.At(resource.IndexCPU)
		})
	default:
		p.TieRule = scheduling.First
	}
}

// least returns the index of the node with the smallest measure, the first of equals.
func least(s *framework.Snapshot, nodes []*framework.NodeInfo, measure func(*framework.Snapshot, *framework.NodeInfo) int64) int {
	best, smallest := 0, measure(s, nodes[0])
	for i, n := range nodes[1:] {
		if x := measure(s, n); x < smallest {
			best, smallest = i+1, x
		}
	}
	return best
}

// profile returns the rules of a run. The sum of the thousandths of GPUs, which the trace
// has as a resource, is not checked: GPUShare knows each GPU.
func profile(c Config, w *devices.Workload) (scheduling.Profile, *devices.GPUs) {
	gpus, scorer := c.Policy.plugins(w, uint64(c.Seed))
	fit := filter.NodeResourcesFit{IgnoredResources: []resource.Name{devices.Vendor + "/gpu-milli"}}
	p := scheduling.Profile{
		Name:    string(c.Policy),
		Filter:  []framework.Plugin{fit, devices.GPUShare{GPUs: gpus}},
		Score:   []scheduling.Weighted{{Plugin: scorer}},
		Reserve: []framework.Plugin{devices.GPUShare{GPUs: gpus}},
		Seed:    uint64(c.Seed),
		Cache:   c.Cache,
	}
	c.Tie.set(&p, gpus)
	return p, gpus
}

package soak

import (
	"math/rand/v2"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Plugins from outside of the library that hold state: some profiles share GPUs among
// pods. The workload of the formula is small, and need not be that of the history.
var (
	shareWorkload = func() *devices.Workload {
		w, err := devices.NewWorkload([]devices.Typical{
			{Demand: devices.Demand{CPU: 500, GPU: devices.Request{Count: 1, Milli: 300}}, Weight: 0.5},
			{Demand: devices.Demand{CPU: 1000, GPU: devices.Request{Count: 1, Milli: 1000, Models: "new"}}, Weight: 0.25},
			{Demand: devices.Demand{CPU: 1500}, Weight: 0.25},
		})
		if err != nil {
			panic(err)
		}
		return w
	}()
	tightGPUs   = devices.New(devices.Config{})
	descentGPUs = devices.New(devices.Config{Choose: devices.LeastFragmentation{Workload: shareWorkload}})
	drawnGPUs   = devices.New(devices.Config{Choose: devices.AnyGPU{Seed: 1}})
)

// shareGPUs adds the plugins to a profile, with one of the scorers or none.
func shareGPUs(r *rand.Rand, p *scheduling.Profile) *devices.GPUs {
	gpus := pick(r, tightGPUs, descentGPUs, drawnGPUs)
	share := devices.GPUShare{GPUs: gpus}
	p.Filter, p.Reserve = append(p.Filter, share), append(p.Reserve, share)
	scorers := []framework.Plugin{
		devices.FGD{GPUs: gpus, Workload: shareWorkload},
		devices.BestFit{GPUs: gpus},
		devices.DotProd{GPUs: gpus},
		devices.GpuPacking{GPUs: gpus},
		devices.GpuClustering{GPUs: gpus},
		devices.FirstFit{},
		devices.Random{},
	}
	if i := r.IntN(2 * len(scorers)); i < len(scorers) {
		if i == len(scorers)-1 && !chance(r, 4) {
			i = 0 // Random asks about all nodes each time, so it is rare
		}
		p.Score = append(p.Score, scheduling.Weighted{Plugin: scorers[i], Weight: int64(1 + r.IntN(3))})
	}
	return gpus
}

// withGPUs gives some nodes GPUs.
func withGPUs(r *rand.Rand, b api.NodeBuilder) api.NodeBuilder {
	if chance(r, 2) {
		return b
	}
	return b.Resource(devices.Vendor+"/gpu-count", pick(r, "1", "2", "4")).Labels(devices.Vendor+"/gpu-card-model", pick(r, "new", "old"))
}

// wantsGPUs makes some pods ask for GPUs. A few say which they have.
func wantsGPUs(r *rand.Rand, p *api.Pod) *api.Pod {
	if !chance(r, 4) {
		return p
	}
	set := func(name, value string) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[devices.Vendor+"/"+name] = value
	}
	switch r.IntN(6) {
	case 0:
		set("gpu-count", pick(r, "1", "2"))
	case 1:
		set("gpu-count", "2")
		set("gpu-milli", "400")
	default:
		set("gpu-milli", pick(r, "200", "300", "500", "700", "1000"))
	}
	if chance(r, 5) {
		set("gpu-card-model", pick(r, "new", "new|old", "other"))
	}
	if chance(r, 12) {
		set("gpu-index", pick(r, "0", "1", "0-1", "x"))
	}
	return p
}

package devices

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// GPUShare rejects nodes whose GPUs cannot serve the pod: no model that it accepts, or too
// few GPUs with enough left. The annotation gpu-index of a pending pod is ignored: it may be
// left from an attempt whose binding failed. A pod that names a node in its spec is rejected
// there unless the GPUs of its annotation have enough left. Its Reserve finds the GPUs that the pod got when it came to
// the node, and hands them on with [Assigned].
//
// Source: the plugin Open-Gpu-Share of the simulator.
type GPUShare struct{ *GPUs }

// Assigned holds, after Reserve, the GPUs of the pod. A PreBind plugin of yours writes
// them to the annotation gpu-index.
var Assigned = framework.NewKey[Set]("GPUs of the pod")

// Name returns "GPUShare".
func (GPUShare) Name() string { return "GPUShare" }

// PreFilter skips pods that ask for no GPU, and rejects those whose request cannot be
// read.
func (p GPUShare) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	g := p.orUsual()
	w := g.wants.Of(c.Pod)
	switch {
	case w.err != nil:
		return framework.PreFiltered{}, framework.UnresolvableStatus(framework.Text(w.err.Error()))
	case w.Count == 0:
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[gpuFilter](c)
	*f = gpuFilter{g, g.held.Of(c.Snapshot), w}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// gpuFilter is bound to the request of a pod.
type gpuFilter struct {
	gpus  *GPUs
	state framework.NodeState[*ledger]
	want  *wanted
}

// Why GPUShare rejects a node.
const (
	reasonModel = framework.Text("node(s) had no GPU of an accepted model")
	reasonFew   = framework.Text("node(s) had too few GPUs")
	reasonFree  = framework.Text("node(s) had too few GPUs with enough left")
)

// Filter implements [framework.NodeFilter].
func (f *gpuFilter) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	switch r := f.gpus.leftOn(n, f.state.Get(n)); {
	case int64(r.gpus) < f.want.Count:
		return framework.UnresolvableStatus(reasonFew)
	case f.want.Models != "" && !f.want.Accepts(r.model):
		return framework.UnresolvableStatus(reasonModel)
	case !f.want.fits(n, r):
		return framework.UnschedulableStatus(reasonFree)
	}
	return framework.Status{}
}

// FilterNodes implements [incremental.BatchFilter].
func (f *gpuFilter) FilterNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	for i, n := range nodes {
		if r := f.gpus.leftOn(n, f.state.Get(n)); !f.want.fits(n, r) || f.want.Models != "" && !f.want.Accepts(r.model) {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

// Details implements [framework.Detailer]: how many GPUs have enough left, and the most
// that one has.
func (f *gpuFilter) Details(p *framework.PodInfo, n *framework.NodeInfo) []framework.Detail {
	status := f.Filter(p, n)
	if status.IsSuccess() {
		return nil
	}
	free := f.gpus.leftOn(n, f.state.Get(n)).with(freeCPU(n))
	if status.Same(framework.UnresolvableStatus(reasonModel)) {
		return []framework.Detail{{Subject: "gpu model " + free.Model}}
	}
	fitting, most := free.Fitting(f.want.Milli), int32(0)
	for _, left := range free.Left[:free.GPUs] {
		most = max(most, left)
	}
	return []framework.Detail{{
		Subject: fmt.Sprintf("GPUs with %d thousandths left", f.want.Milli),
		Asked:   f.want.Count, Used: int64(free.GPUs) - fitting, Limit: int64(free.GPUs),
		Facts: []framework.Fact{{Name: "most left on one", Value: int64(most), Unit: framework.UnitMilli}},
	}}
}

// Reserve finds the GPUs that the pod has got: the node counts it already.
func (p GPUShare) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	g := p.orUsual()
	w := g.wants.Of(c.Pod)
	if w.Count == 0 || w.err != nil {
		return framework.Status{}
	}
	s := g.Held(c.Snapshot, n, c.Pod)
	if s == 0 {
		return framework.UnschedulableStatus(reasonFree)
	}
	Assigned.Set(c, s)
	return framework.Status{}
}

// Unreserve has nothing to give back: what the pod has goes with it.
func (GPUShare) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// Reserves implements [framework.ReserveDetailer]: the GPUs that the pod has, or would
// get.
func (p GPUShare) Reserves(s *framework.Snapshot, pod *framework.PodInfo, n *framework.NodeInfo) string {
	g := p.orUsual()
	if has := g.Held(s, n, pod); has != 0 {
		return has.words()
	}
	return g.would(s, n, pod).words()
}

// would returns the GPUs that the pod would get on the node.
func (g *GPUs) would(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) Set {
	would, _ := g.pick(n, p, g.held.Of(s).Get(n), freeCPU(n))
	return would
}

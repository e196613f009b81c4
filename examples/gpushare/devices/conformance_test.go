//go:build full

package devices_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

var small = func() *devices.Workload {
	w, err := devices.NewWorkload([]devices.Typical{
		{asks(500, 1, 300), 0.5}, {asks(1000, 1, 1000), 0.3}, {asks(2000, 0, 0), 0.2},
	})
	if err != nil {
		panic(err)
	}
	return w
}()

// clusters makes nodes with GPUs, some of them in use.
func clusters(seed uint64) *api.Objects {
	r := rand.New(rand.NewPCG(seed, 7))
	o := new(api.Objects)
	one := func(values ...string) string { return values[r.IntN(len(values))] }
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		o.Nodes = append(o.Nodes, api.MakeNode(name, one("8", "16", "64"), "64Gi").
			Resource(devices.Vendor+"/gpu-count", one("0", "1", "2", "4", "8")).Labels(devices.Vendor+"/gpu-card-model", one("G2", "T4")).Obj())
	}
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		p := api.MakePod("p"+name).Requests(one("500m", "1", "2"), "1Gi")
		if r.IntN(5) > 0 {
			p = p.Annotations(devices.Vendor+"/gpu-milli", one("200", "300", "500", "700", "1000"), devices.Vendor+"/gpu-count", one("1", "1", "1", "2"))
		}
		if r.IntN(4) == 0 {
			p = p.Annotations(devices.Vendor+"/gpu-card-model", one("G2", "T4|G2", "A10"))
		}
		if r.IntN(2) == 0 {
			p = p.Node(one("a", "b", "c", "d", "e"))
		}
		o.Pods = append(o.Pods, p.Obj())
	}
	return o
}

// TestConformance hands every plugin to the kit, with each way to choose GPUs.
func TestConformance(t *testing.T) {
	tight := devices.New(devices.Config{})
	descent := devices.New(devices.Config{Choose: devices.LeastFragmentation{Workload: small}})
	drawn := devices.New(devices.Config{Choose: devices.AnyGPU{Seed: 3}})
	follows := map[frameworktest.Exercise]string{frameworktest.Reserves: "the state follows PodAdded; Reserve only notes which GPUs the pod got"}
	alike := map[frameworktest.Exercise]string{frameworktest.Ranks: "all scores are equal"}
	for name, c := range map[string]struct {
		plugin framework.Plugin
		gpus   *devices.GPUs
		never  map[frameworktest.Exercise]string
	}{
		"GPUShare":               {devices.GPUShare{GPUs: tight}, tight, follows},
		"GPUShare of descent":    {devices.GPUShare{GPUs: descent}, descent, follows},
		"GPUShare of draws":      {devices.GPUShare{GPUs: drawn}, drawn, follows},
		"GPUShare by default":    {devices.GPUShare{}, nil, follows},
		"FGD":                    {devices.FGD{GPUs: descent, Workload: small}, descent, nil},
		"BestFit":                {devices.BestFit{GPUs: tight}, tight, nil},
		"DotProd":                {devices.DotProd{GPUs: tight}, tight, nil},
		"GpuPacking":             {devices.GpuPacking{GPUs: tight}, tight, nil},
		"GpuClustering":          {devices.GpuClustering{GPUs: tight}, tight, nil},
		"GpuClustering, default": {devices.GpuClustering{}, nil, nil},
		"Random":                 {devices.Random{}, nil, nil},
		"FirstFit":               {devices.FirstFit{}, nil, alike},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frameworktest.Run(t, c.plugin, frameworktest.Config{
				Clusters: effort.Of(8, 12), Quick: !effort.Full(), Generate: clusters, Unexercised: c.never,
				State: func(s *framework.Snapshot) any {
					state := map[string]devices.Free{}
					for _, n := range s.All() {
						state[n.Name()] = c.gpus.Free(s, n)
					}
					return state
				},
			})
		})
	}
}

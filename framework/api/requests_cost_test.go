package api_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The memory for the requests of a pod grows with its names and containers, not with their
// product.
func TestPodRequestsMemory(t *testing.T) {
	pod := func(n int, list func(*api.Pod) *[]api.Container, sidecar bool) *api.Pod {
		p := api.MakePod("p").Requests("1m", "1Mi").Obj()
		to := list(p)
		for i := range n {
			c := api.Container{Name: fmt.Sprint("c", i)}
			c.Resources.Requests = resource.List{resource.CPU: resource.Milli(1)}
			if i == 0 {
				for k := range n {
					c.Resources.Requests[resource.Name(fmt.Sprint("example.com/r-", k))] = resource.New(1, resource.DecimalSI)
				}
			}
			if sidecar || i == 0 {
				c.RestartPolicy = new(api.ContainerRestartPolicyAlways)
			}
			*to = append(*to, c)
		}
		return p
	}
	containers := func(p *api.Pod) *[]api.Container { return &p.Spec.Containers }
	inits := func(p *api.Pod) *[]api.Container { return &p.Spec.InitContainers }
	for _, x := range []struct {
		name string
		make func(n int) *api.Pod
	}{
		{"containers", func(n int) *api.Pod { return pod(n, containers, false) }},
		{"sidecars", func(n int) *api.Pod { return pod(n, inits, true) }},
		{"init containers", func(n int) *api.Pod { return pod(n, inits, false) }},
	} {
		t.Run(x.name, func(t *testing.T) {
			of := func(n int) uint64 {
				p := x.make(n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got := api.PodRequests(p, api.RequestOptions{NonZero: true})
				runtime.ReadMemStats(&after)
				if len(got) != n+2 {
					t.Fatalf("%d names, want %d", len(got), n+2)
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			small, large := of(200), of(800)
			t.Logf("%d bytes for 200, %d for 800", small, large)
			if large > 6*small {
				t.Errorf("%d bytes for 200 names and containers, %d for 800: more than 6 times as many", small, large)
			}
		})
	}
}

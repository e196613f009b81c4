package framework_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// TestGPUShareVerified places and releases pods with parts of GPUs on a snapshot and
// on forks of it. Both paths must agree (Verify), and no GPU may be given out twice.
func TestGPUShareVerified(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 6 {
		must(t, s.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Labels("gpus", fmt.Sprint(i%3)).Obj()))
	}
	p := scheduling.Profile{
		Filter:  []framework.Plugin{filter.NodeResourcesFit{}, GPUShare{}},
		Score:   []scheduling.Weighted{{Plugin: Spare{}}},
		Reserve: []framework.Plugin{GPUShare{}},
	}
	p.Cache.Verify = true
	sched, err := scheduling.New(p)
	must(t, err)
	type placed struct {
		pod  *framework.PodInfo
		node string
	}
	var all []placed
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	place := func(s *framework.Snapshot, name string) (placed, bool) {
		pod := podInfo(t, s, api.MakePod(name).Annotations("gpu-percent", fmt.Sprint(10*r.IntN(8))).Obj())
		d, err := sched.Place(s, pod)
		var fit *scheduling.FitError
		if errors.As(err, &fit) {
			refused++
			return placed{}, false
		}
		must(t, err)
		return placed{pod, d.Node}, true
	}
	check := func(s *framework.Snapshot) {
		t.Helper()
		for _, n := range s.All() {
			used, parts := map[int]int{}, 0
			for _, h := range gpuParts.Of(s).Get(n) {
				used[h.gpu] += h.percent
				parts++
			}
			for gpu, percent := range used {
				if percent > 100 {
					t.Fatalf("%d %% of gpu %d of %s are held", percent, gpu, n.Name())
				}
			}
			for _, p := range n.Pods {
				if p.Pod.Annotations["gpu-percent"] != "0" {
					parts--
				}
			}
			if parts != 0 {
				t.Fatalf("%s has %d parts more than pods with parts", n.Name(), parts)
			}
		}
	}
	for i := range 400 {
		switch r.IntN(5) {
		case 0:
			if len(all) > 0 {
				k := r.IntN(len(all))
				must(t, sched.Release(s, all[k].pod, all[k].node))
				all[k] = all[len(all)-1]
				all = all[:len(all)-1]
			}
		case 1:
			f := s.Fork()
			for k := range 4 {
				place(f, fmt.Sprint("fork-", i, "-", k))
			}
			check(f)
		default:
			if p, ok := place(s, fmt.Sprint("p", i)); ok {
				all = append(all, p)
			}
		}
		check(s)
	}
	if len(all) == 0 || refused == 0 {
		t.Errorf("%d pods placed, %d refused: want some of both", len(all), refused)
	}
}

func TestGPUShareConforms(t *testing.T) {
	frameworktest.Run(t, GPUShare{}, frameworktest.Config{
		Quick:       !effort.Full(),
		Labels:      map[string][]string{"gpus": {"0", "1", "2"}},
		Annotations: map[string][]string{"gpu-percent": {"30", "60", "100"}, "gpu": {"1", "2"}},
		Unexercised: map[frameworktest.Exercise]string{
			frameworktest.Reserves: "the state follows PodAdded; Reserve only notes which part the pod got",
		},
	})
}

package scoring_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scoring"
)

// TestOverheadV118 compares with scores recorded from the plugins of kube-scheduler
// 1.18.20. They count a pod's CPU overhead as one thousandth of a core per core,
// rounded up.
func TestOverheadV118(t *testing.T) {
	type podCase struct{ CPU, Memory, OverCPU, OverMem, InitCPU string }
	pod := func(name string, c podCase) api.PodBuilder {
		b := api.MakePod(name).Requests(c.CPU, c.Memory)
		if c.InitCPU != "" {
			b = b.InitContainer("init").Requests(c.InitCPU, "1Mi")
		}
		if c.OverCPU != "" {
			b = b.Overhead("cpu", c.OverCPU)
		}
		if c.OverMem != "" {
			b = b.Overhead("memory", c.OverMem)
		}
		return b
	}
	file, err := os.Open("testdata/overhead118.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	overheads := 0
	for d := json.NewDecoder(file); d.More(); {
		var c struct {
			CPU, Memory                  string
			There, Pod                   podCase
			Least, Most, Ratio, Balanced int64
		}
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if c.Pod.OverCPU != "" {
			overheads++
		}
		s := snapshotOf(t, []*api.Node{api.MakeNode("n", c.CPU, c.Memory).Obj()}, pod("there", c.There).Node("n").Obj())
		p := pod("p", c.Pod).Obj()
		for _, test := range []struct {
			plugin framework.PreScorePlugin
			want   int64
		}{
			{scoring.NodeResourcesLeastAllocated{}, c.Least},
			{scoring.NodeResourcesMostAllocated{}, c.Most},
			{scoring.NodeResourcesRequestedToCapacityRatio{Shape: scoring.Shape{{0, 0}, {100, 10}}}, c.Ratio},
			{scoring.NodeResourcesBalancedAllocation{Rules: scoring.Kubernetes118}, c.Balanced},
		} {
			if got, status := scoresOf(t, s, test.plugin, p); !status.IsSuccess() || got[0] != test.want {
				t.Errorf("%s of %+v = %d, %v; want %d", test.plugin.Name(), c, got, status, test.want)
			}
		}
	}
	if overheads < 20 {
		t.Errorf("%d pods with overhead: the cases test too little", overheads)
	}
}

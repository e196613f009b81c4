package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// A countedFilter is a filter that counts how often it is asked, and reads what it is told to.
type countedFilter struct {
	reads framework.Reads
	asked *int
}

func (countedFilter) Name() string { return "Counted" }

func (f countedFilter) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: f.reads}
}

func (f countedFilter) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	*f.asked++
	return framework.Status{}
}

// Answers are kept while objects change that the plugin does not read.
func TestAnswersBesideOtherObjects(t *testing.T) {
	const nodes, rounds = 50, 20
	meta := api.ObjectMeta{Namespace: "default", Name: "x"}
	put := map[string]func(s *framework.Snapshot) error{
		"service": func(s *framework.Snapshot) error { return framework.Put(s, &api.Service{ObjectMeta: meta}) },
		"claim": func(s *framework.Snapshot) error {
			return framework.Put(s, &api.PersistentVolumeClaim{ObjectMeta: meta})
		},
		"device": func(s *framework.Snapshot) error { return framework.Put(s, &api.ResourceClaim{ObjectMeta: meta}) },
	}
	for _, tt := range []struct {
		reads   framework.Reads
		changes string
		anew    bool
	}{
		{framework.ReadsVolumes, "service", false},
		{framework.ReadsVolumes, "device", false},
		{framework.ReadsVolumes, "claim", true},
		{framework.ReadsDevices, "service", false},
		{framework.ReadsDevices, "claim", false},
		{framework.ReadsDevices, "device", true},
		{framework.ReadsObjects, "service", true},
		{framework.ReadsObjects, "claim", true},
		{framework.ReadsObjects, "device", true},
	} {
		s, asked := lateCluster(t, nodes), 0
		sched := build(t, scheduling.Profile{
			Filter: []framework.Plugin{countedFilter{framework.ReadsNode | tt.reads, &asked}},
			Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}}}, Percentage: scheduling.AllNodes,
		})
		for round := range rounds {
			if err := put[tt.changes](s); err != nil {
				t.Fatal(err)
			}
			if d, err := sched.Schedule(s, info(t, s, api.MakePod(fmt.Sprint("p", round)).Obj())); err != nil || d.Feasible == 0 {
				t.Fatal(d, err)
			}
		}
		if anew := asked > nodes*rounds/2; anew != tt.anew {
			t.Errorf("reads %b, and each time another %s: asked %d times in %d rounds on %d nodes; all anew: want %t", tt.reads, tt.changes, asked, rounds, nodes, tt.anew)
		}
	}
}

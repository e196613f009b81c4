package gang_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

func TestMain(m *testing.M) {
	effort.Rapid()
	os.Exit(m.Run())
}

// Labels of nodes in tests.
const (
	block = "example.com/block"
	rack  = "example.com/rack"
)

// cluster is a snapshot of nodes and of pods that name their nodes.
func cluster(nodes []*api.Node, pods ...*api.Pod) *framework.Snapshot {
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: nodes, Pods: pods}, framework.Arrival)
	if err != nil {
		panic(err)
	}
	return s
}

// racks is a cluster of nodes of 4 CPUs, so many in each rack, named "r0-0", "r0-1" and so
// on.
func racks(nodes ...int) *framework.Snapshot {
	var list []*api.Node
	for r, n := range nodes {
		for i := range n {
			list = append(list, api.MakeNode(fmt.Sprintf("r%d-%d", r, i), "4", "16Gi").Labels(rack, fmt.Sprintf("r%d", r), api.LabelHostname, fmt.Sprintf("r%d-%d", r, i)).Obj())
		}
	}
	return cluster(list)
}

func info(s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	i, err := s.NewPodInfo(p)
	if err != nil {
		panic(err)
	}
	return i
}

// workers are equal pods.
func workers(s *framework.Snapshot, n int, cpu string) (list []*framework.PodInfo) {
	for i := range n {
		list = append(list, info(s, api.MakePod(fmt.Sprintf("worker-%d", i)).Requests(cpu, "1Gi").Obj()))
	}
	return list
}

func placer(rules gang.Rules) *gang.Placer {
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	return placerOf(profile, rules)
}

func placerOf(profile scheduling.Profile, rules gang.Rules) *gang.Placer {
	sched, err := scheduling.New(profile)
	if err != nil {
		panic(err)
	}
	p, err := gang.New(sched, rules)
	if err != nil {
		panic(err)
	}
	return p
}

// counts are how many pods each node got, by name.
func counts(o *gang.Outcome) map[string]int {
	m := map[string]int{}
	for _, p := range o.Placed {
		m[p.Node]++
	}
	return m
}

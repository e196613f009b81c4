package whatif_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// planner is a Planner of a profile that is known to be valid.
func planner(s *framework.Snapshot) *whatif.Planner {
	p, err := whatif.New(scheduling.Kubernetes137(), s)
	if err != nil {
		panic(err)
	}
	return p
}

// cluster is a snapshot of nodes and of pods that name their nodes.
func cluster(nodes []api.NodeBuilder, pods ...*api.Pod) *framework.Snapshot {
	o := &api.Objects{Pods: pods}
	for _, n := range nodes {
		o.Nodes = append(o.Nodes, n.Obj())
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	if err != nil {
		panic(err)
	}
	return s
}

// pod is a PodInfo for the snapshot.
func pod(s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	info, err := s.NewPodInfo(p)
	if err != nil {
		panic(err)
	}
	return info
}

// content describes everything that a question must leave as it was.
func content(s *framework.Snapshot) string {
	text := fmt.Sprintln(s.Version(), s.NodeSet(), s.Objects(), s.Nominations())
	for _, n := range s.All() {
		text += fmt.Sprintln(n.Name(), n.Generation(), n.Requested)
		for _, p := range n.Pods {
			text += fmt.Sprintln("  ", p.Pod.Key())
		}
	}
	return text
}

// random is a small random cluster; every fourth is hostile, and left out.
func random(t testing.TB, seed uint64) (*framework.Snapshot, []*framework.PodInfo) {
	t.Helper()
	s, pending, err := frameworktest.Snapshot(frameworktest.Cluster(seed/3*4 + seed%3))
	if err != nil {
		t.Fatal(err)
	}
	return s, pending
}

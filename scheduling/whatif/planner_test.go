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

// TestSeek asks in the middle of a history: WhyNot must name the node that the
// scheduler chooses next, though ties and samples depend on the number of the decision.
func TestSeek(t *testing.T) {
	var nodes []api.NodeBuilder
	for i := range 120 {
		nodes = append(nodes, api.MakeNode(fmt.Sprintf("n%03d", i), "8", "16Gi"))
	}
	s := cluster(nodes)
	profile := scheduling.Kubernetes137()
	profile.TieRule, profile.Percentage, profile.Seed = scheduling.Random, 1, 7
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]bool{}
	for i := range 12 {
		next := pod(s, api.MakePod(fmt.Sprintf("p%d", i)).Requests("1", "1Gi").Obj())
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		p.Seek(sched.Position())
		why, err := p.WhyNot(next, "n000")
		if err != nil {
			t.Fatal(err)
		}
		base, err := p.Sweep([]*framework.PodInfo{next}, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := sched.Place(s, next)
		if err != nil {
			t.Fatal(err)
		}
		if why.Chosen != d.Node || base.Base[0] != d.Node {
			t.Errorf("decision %d: WhyNot says %s, Sweep %s, want %s", i, why.Chosen, base.Base[0], d.Node)
		}
		first[d.Node] = true
	}
	if len(first) < 6 {
		t.Errorf("only %d nodes are chosen: ties are not drawn anew for each decision", len(first))
	}
}

//go:build full

package whatif_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A pod that is nominated gives its nomination up where it is placed: it does not count twice.
func TestPlaceNominated(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("n1", "4", "16Gi")})
	first := api.MakePod("a").Requests("3", "1Gi").Obj()
	first.Status.NominatedNodeName = "n1"
	a, b := pod(s, first), pod(s, api.MakePod("b").Requests("1", "1Gi").Obj())
	if err := s.Nominate(a, "n1", ""); err != nil {
		t.Fatal(err)
	}
	p := planner(s)
	if r, err := p.Place([]*framework.PodInfo{a, b}); err != nil || len(r.Placed) != 2 {
		t.Errorf("Place: %+v, %v; want both on n1", r, err)
	}
	n, err := p.NodesNeeded([]*framework.PodInfo{a, b}, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "16Gi").Obj()})
	if err != nil || n.Counts[0].Nodes != 0 {
		t.Errorf("NodesNeeded: %+v, %v; want none", n, err)
	}
	if c, err := p.Compare(scheduling.Kubernetes134(), []*framework.PodInfo{a, b}); err != nil || c.A.Placed != 2 {
		t.Errorf("Compare: %+v, %v; want both placed", c, err)
	}
	if s.Nominations() != 1 {
		t.Errorf("%d nominations afterwards, want 1", s.Nominations())
	}
}

// WhyNot goes by the nomination of a pod that waits, as the scheduler does.
func TestWhyNotNominated(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("n1", "4", "16Gi"), api.MakeNode("n2", "16", "64Gi")})
	waits := api.MakePod("a").Requests("2", "8Gi").Obj()
	waits.Status.NominatedNodeName = "n1"
	a := pod(s, waits)
	p := planner(s)
	for _, name := range []string{"n1", "n2"} {
		w, err := p.WhyNot(a, name)
		if err != nil || w.Chosen != "n1" {
			t.Fatalf("WhyNot(%s): %+v, %v; want n1 chosen", name, w, err)
		}
		for _, r := range w.Remedies {
			if to, err := p.Decide(a, name, r.Changes...); err != nil || to != name {
				t.Errorf("%v leads to %s, %v", r, to, err)
			}
		}
	}
	if to, err := p.Decide(a, "n1"); err != nil || to != "n1" {
		t.Errorf("Decide: %s, %v", to, err)
	}
}

// A pod of a StatefulSet that is being deleted is made again, and counts for those after it; so do replicas of a pod that is being
// deleted.
func TestTerminatingPodsAreMadeAgain(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	web := func(name, owner string) *api.Pod {
		p := api.MakePod(name).UID(api.UID(name)).Labels("app", "web").Requests("1", "1Gi").Owner(owner, "web").
			Spread(1, api.LabelHostname, api.DoNotSchedule, "app=web").Node("a").Obj()
		p.DeletionTimestamp = &now
		return p
	}
	host := func(name, cpu string) api.NodeBuilder {
		return api.MakeNode(name, cpu, "64Gi").Labels(api.LabelHostname, name)
	}
	s := cluster([]api.NodeBuilder{host("a", "8"), host("b", "64"), host("c", "4")}, web("web-0", "StatefulSet"), web("web-1", "StatefulSet"))
	put(s, &api.StatefulSet{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}})
	d, err := planner(s).Drain("a")
	if err != nil || len(d.Moves) != 2 || d.Moves[0].To == d.Moves[1].To {
		t.Errorf("%+v, %v; want a pod on each node", d, err)
	}
	s = cluster([]api.NodeBuilder{host("a", "8"), host("b", "2")}, web("web", "ReplicaSet"))
	p := planner(s)
	pattern, err := p.Pod("default/web")
	if err != nil {
		t.Fatal(err)
	}
	if h, err := p.Headroom(pattern, 0); err != nil || h.Total != 5 {
		t.Errorf("headroom %+v, %v; want 3 on a and 2 on b", h, err)
	}
}

// A pod may shun the name that the first new node gets.
func TestNodesNeededShunningName(t *testing.T) {
	web := api.MakePod("web").Requests("1", "1Gi").Obj()
	web.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{{Key: api.LabelHostname, Operator: api.NodeSelectorOpNotIn, Values: []string{"t-0"}}}}},
	}}}
	s := cluster(nil)
	pods, err := whatif.Replicas(pod(s, web), 3)
	if err != nil {
		t.Fatal(err)
	}
	n, err := planner(s).NodesNeeded(pods, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj()})
	if err != nil || len(n.Placement.Placed) != 3 || n.Counts[0].Nodes != 2 {
		t.Errorf("%+v, %v; want two nodes for all pods", n, err)
	}
}

// Pods of equal specs may hold different amounts, while a resize is under way.
func TestWhyNotFewestOfResized(t *testing.T) {
	small := func(name, cpu string, priority int32) *api.Pod {
		return api.MakePod(name).Labels("app", name[:1]).Requests(cpu, "1Gi").Priority(priority).Node("n").Obj()
	}
	shrinks := small("p0", "1", 5)
	holds := resource.List{"cpu": resource.MustParse("3"), "memory": resource.MustParse("1Gi")}
	shrinks.Status.ContainerStatuses = []api.ContainerStatus{{
		Name: shrinks.Spec.Containers[0].Name, AllocatedResources: holds, Resources: &api.ResourceRequirements{Requests: holds},
	}}
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "8", "64Gi")}, shrinks, small("p1", "1", 5), small("q1", "2", 1), small("q2", "2", 1))
	why, err := planner(s).WhyNot(pod(s, api.MakePod("web").Requests("3", "1Gi").Obj()), "n")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(why.Remedies); !contains(why.Remedies, "remove pod default/p0 from n") {
		t.Errorf("%s; want p0 alone to be enough", got)
	}
}

func contains(list []whatif.Remedy, text string) bool {
	for _, r := range list {
		if r.String() == text {
			return true
		}
	}
	return false
}

// licences lets three pods with app=web run in the cluster.
type licences struct{}

func (licences) Name() string { return "Licences" }

func (licences) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	used := 0
	for _, n := range c.Snapshot.All() {
		for _, p := range n.Pods {
			if p.Pod.Labels["app"] == "web" {
				used++
			}
		}
	}
	if used > 3 { // with the pod itself
		return framework.UnschedulableStatus("no licence is free")
	}
	return framework.Status{}
}

func (licences) Unreserve(*framework.Cycle, *framework.NodeInfo) {}

// A Reserve plugin of another module may refuse by more than a node: then nothing is counted node by node.
func TestHeadroomHeedsReserve(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Reserve = append(profile.Reserve, licences{})
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "16Gi"), api.MakeNode("b", "8", "16Gi")})
	web := pod(s, api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Obj())
	p, err := whatif.New(profile, s)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := p.Headroom(web, 0); err != nil || h.Total != 3 {
		t.Errorf("headroom %+v, %v; want 3", h, err)
	}
}

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
	put(s, &api.StatefulSet{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}, Spec: api.StatefulSetSpec{Replicas: new(int32(2))}})
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

// A claim that was made for a pod goes with it, so the pod that is made in its place gets the device.
func TestMadeClaimGoesWithPod(t *testing.T) {
	for _, isOwned := range []bool{true, false} {
		s, demand := gpus("a")
		c := holding("web-e-1", "a", demand, "web")
		if isOwned {
			owned(c, "web")
		} else {
			c.Status.ReservedFor = append(c.Status.ReservedFor, api.ResourceClaimConsumerReference{Resource: "pods", Name: "other", UID: "o"})
		}
		put(s, c)
		runs := running("web", "n")
		runs.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
		runs.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: new("web-e-1")}}
		web := pod(s, runs)
		if err := s.AddPod(web, "n"); err != nil {
			t.Fatal(err)
		}
		p := planner(s)
		before := content(s)
		d, err := p.Drain("n")
		if err != nil || len(d.Moves) == 1 != isOwned {
			t.Errorf("owned %t: %+v, %v", isOwned, d, err)
		}
		r, err := p.Removable("n")
		if err != nil || r[0].Removable != isOwned {
			t.Errorf("owned %t: %+v, %v", isOwned, r, err)
		}
		w, err := p.WhyNot(web, "m")
		if err != nil || (w.Chosen != "") != isOwned {
			t.Errorf("owned %t: %+v, %v", isOwned, w, err)
		}
		if content(s) != before || framework.Lookup[api.ResourceClaim](p.Snapshot(), "default/web-e-1") == nil {
			t.Error("the claim is gone afterwards")
		}
	}
}

// A pod that waits has claims that were made for it; replicas of it get others.
func TestHeadroomOfPodWithMadeClaim(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "8", "64Gi")})
	put(s, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}})
	slice := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s"}}
	slice.Spec = api.ResourceSliceSpec{
		Driver: "d.io", NodeName: new("n"), Devices: []api.Device{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
		Pool: api.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
	}
	put(s, slice)
	template := &api.ResourceClaimTemplate{ObjectMeta: api.ObjectMeta{Name: "t", Namespace: "default"}}
	template.Spec.Spec.Devices = api.DeviceClaim{Requests: []api.DeviceRequest{{Name: "r", Exactly: &api.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: 1}}}}
	put(s, template)
	made := &api.ResourceClaim{ObjectMeta: api.ObjectMeta{Name: "web-e-1", Namespace: "default", UID: "c"}, Spec: template.Spec.Spec}
	made.OwnerReferences = []api.OwnerReference{{Kind: "Pod", Name: "web", UID: "u", Controller: new(true)}}
	put(s, made)
	waits := api.MakePod("web").UID("u").Requests("1", "1Gi").Obj()
	waits.Spec.ResourceClaims = []api.PodResourceClaim{{Name: "e", ResourceClaimTemplateName: new("t")}}
	waits.Status.ResourceClaimStatuses = []api.PodResourceClaimStatus{{Name: "e", ResourceClaimName: &made.Name}}
	if h, err := planner(s).Headroom(pod(s, waits), 0); err != nil || h.Total != 4 {
		t.Errorf("headroom %+v, %v; want 4", h, err)
	}
}

// A DaemonSet's pod that is being deleted does not come with a new node beside the pod that takes its place.
func TestTypeLikeLeavesOutPredecessors(t *testing.T) {
	daemon := func(name string) *api.Pod {
		return api.MakePod(name).UID(api.UID(name)).Owner("DaemonSet", "agent").Node("n").Obj()
	}
	old := daemon("old")
	old.DeletionTimestamp = new(time.Unix(1_700_000_000, 0))
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "8", "64Gi")}, old, daemon("new"))
	kind := whatif.TypeLike("like", s.Node("n"))
	if len(kind.Pods) != 1 || kind.Pods[0].Name != "new" {
		t.Errorf("pods %v, want the new one", kind.Pods)
	}
}

// pairs passes nodes whose zone has two nodes or more.
type pairs struct{}

func (pairs) Name() string { return "Pairs" }

func (pairs) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsNodeSet}
}

func (pairs) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	zones := nodesOfZones{}
	for _, n := range c.Snapshot.All() {
		zones[n.Node.Labels[api.LabelTopologyZone]]++
	}
	return framework.PreFiltered{Filter: zones}, framework.Status{}
}

type nodesOfZones map[string]int

func (z nodesOfZones) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if z[n.Node.Labels[api.LabelTopologyZone]] < 2 {
		return framework.UnschedulableStatus("the zone has one node")
	}
	return framework.Status{}
}

// few rejects all pods in PreFilter while the cluster has fewer than three nodes.
type few struct{ pairs }

func (few) Name() string { return "Few" }

func (few) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if c.Snapshot.Len() < 3 {
		return framework.PreFiltered{}, framework.UnschedulableStatus("too few nodes")
	}
	return framework.PreFiltered{}, framework.SkipStatus()
}

// Pods that one new node does not take are not set aside if a plugin may let it pass beside others.
func TestNodesNeededWithFiltersOfNodes(t *testing.T) {
	for want, plugin := range map[int]framework.Plugin{2: pairs{}, 3: few{}} {
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, plugin)
		s := cluster(nil)
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		list, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "1Gi").Obj()), 3)
		if err != nil {
			t.Fatal(err)
		}
		n, err := p.NodesNeeded(list, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Zone("z").Obj()})
		if err != nil || n.Counts[0].Nodes != want || len(n.Placement.Placed) != 3 {
			t.Errorf("%s: %+v, %v; want all pods on %d nodes", plugin.Name(), n, err, want)
		}
	}
}

// A DaemonSet has one pod on a new node, though the node that it is like has several while a new version rolls out.
func TestTypeLikeTakesOneOfSeveral(t *testing.T) {
	daemon := func(name string, created int64, gone bool) *api.Pod {
		p := api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Owner("DaemonSet", "agent").Node("n").Obj()
		p.CreationTimestamp = time.Unix(created, 0)
		if gone {
			p.DeletionTimestamp = new(time.Unix(1_700_000_000, 0))
		}
		return p
	}
	for want, pods := range map[string][]*api.Pod{
		"later": {daemon("later", 2, true), daemon("early", 1, true)},
		"new":   {daemon("old", 1, false), daemon("new", 2, false)},
		"stays": {daemon("stays", 1, false), daemon("goes", 2, true)},
		"b":     {daemon("a", 1, false), daemon("b", 1, false)},
	} {
		static := api.MakePod("static").Owner("Node", "n").Node("n").Obj()
		static.Annotations = map[string]string{"kubernetes.io/config.mirror": "x"}
		second := api.Clone(static)
		second.Name = "static2"
		s := cluster([]api.NodeBuilder{api.MakeNode("n", "4", "64Gi")}, append(pods, static, second)...)
		kind := whatif.TypeLike("like", s.Node("n"))
		if len(kind.Pods) != 3 || kind.Pods[0].Name != want {
			t.Errorf("%d pods come with a node, the first is %s; want %s and two static pods", len(kind.Pods), kind.Pods[0].Name, want)
		}
	}
}

// A StatefulSet that has fewer replicas does not make a pod again that is being deleted.
func TestDrainOfScaledDown(t *testing.T) {
	for _, tt := range []struct {
		replicas, start int32
		again           bool
	}{{2, 0, false}, {3, 0, true}, {2, 1, true}, {2, 3, false}} {
		web := api.MakePod("web-2").UID("web-2").Requests("3", "1Gi").Owner("StatefulSet", "web").Node("a").Obj()
		web.DeletionTimestamp = new(time.Unix(1_700_000_000, 0))
		s := cluster([]api.NodeBuilder{api.MakeNode("a", "8", "64Gi"), api.MakeNode("b", "2", "64Gi")}, web)
		set := &api.StatefulSet{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}}
		set.Spec.Replicas, set.Spec.Ordinals = &tt.replicas, &api.StatefulSetOrdinals{Start: tt.start}
		put(s, set)
		if d, err := planner(s).Drain("a"); err != nil || (len(d.Stuck) == 1) != tt.again || (len(d.Left) == 0) != tt.again {
			t.Errorf("%+v: %+v, %v", tt, d, err)
		}
		if r, err := planner(s).Removable("a"); err != nil || r[0].Removable == tt.again {
			t.Errorf("%+v: %+v, %v", tt, r, err)
		}
	}
}

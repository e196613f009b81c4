package whatif_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/google/go-cmp/cmp"
)

// A spreadCase is a small cluster, uneven in all that spread constraints and affinity look
// at, and a pod with some of them.
type spreadCase struct {
	s    *framework.Snapshot
	pod  *framework.PodInfo
	keys []string // of what counts the replicas: spread constraints, anti-affinity, affinity
}

// kind names what counts the replicas.
func (c *spreadCase) kind() string {
	slices.Sort(c.keys)
	return strings.Join(c.keys, " ")
}

func newSpreadCase(r *rand.Rand) spreadCase {
	var nodes []api.NodeBuilder
	even := r.IntN(3) == 0
	for i := range 2 + r.IntN(7) {
		n := api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(1+r.IntN(5)), fmt.Sprint(1+r.IntN(6), "Gi")).Labels("pool", fmt.Sprint("p", r.IntN(2)))
		if even {
			n = n.Zone(fmt.Sprint("z", i%2))
		} else if r.IntN(8) > 0 {
			n = n.Zone(fmt.Sprint("z", r.IntN(4)))
		}
		if r.IntN(8) > 0 {
			n = n.Labels(api.LabelHostname, fmt.Sprint("n", i-r.IntN(20)/19)) // rarely that of its neighbour
		}
		if r.IntN(6) == 0 {
			n = n.Taint("dedicated=x:NoSchedule")
		}
		if r.IntN(8) == 0 {
			n = n.Unschedulable()
		}
		nodes = append(nodes, n)
	}
	var pods []*api.Pod
	for i := range r.IntN(10) {
		p := api.MakePod(fmt.Sprint("old", i)).Labels("app", []string{"web", "db"}[r.IntN(2)], "hash", fmt.Sprint(r.IntN(2))).
			Requests(fmt.Sprint(100*(1+r.IntN(9)), "m"), "256Mi").Node(fmt.Sprint("n", r.IntN(len(nodes))))
		if r.IntN(12) == 0 {
			p = p.PodAntiAffinity(api.LabelTopologyZone, "app=web")
		}
		pods = append(pods, p.Obj())
	}
	c := spreadCase{s: cluster(nodes, pods...)}
	b := api.MakePod("web").Labels("app", "web", "hash", "0").Requests(fmt.Sprint(100*(2+r.IntN(10)), "m"), fmt.Sprint(100*(1+r.IntN(8)), "Mi"))
	short := map[string]string{api.LabelTopologyZone: "zone", api.LabelHostname: "host", "pool": "pool"}
	constrain := func(key, app string) {
		constraint := api.TopologySpreadConstraint{
			MaxSkew: int32(1 + r.IntN(3)), TopologyKey: key,
			WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}
		if r.IntN(4) == 0 {
			constraint.MinDomains = new(int32(1 + r.IntN(5)))
		}
		if r.IntN(4) == 0 {
			constraint.MatchLabelKeys = []string{"hash"}
		}
		if r.IntN(3) == 0 {
			constraint.NodeTaintsPolicy = new([]api.NodeInclusionPolicy{api.NodeInclusionPolicyHonor, api.NodeInclusionPolicyIgnore}[r.IntN(2)])
		}
		if r.IntN(3) == 0 {
			constraint.NodeAffinityPolicy = new([]api.NodeInclusionPolicy{api.NodeInclusionPolicyHonor, api.NodeInclusionPolicyIgnore}[r.IntN(2)])
		}
		if r.IntN(12) == 0 {
			constraint.LabelSelector, app = &api.LabelSelector{}, "" // which counts no pod
		}
		if app == "web" {
			c.keys = append(c.keys, "spread:"+short[constraint.TopologyKey])
		}
		b = b.SpreadConstraint(constraint)
	}
	near := func(key, app string) {
		if b = b.PodAffinity(key, "app="+app); app == "web" {
			c.keys = append(c.keys, "affinity:"+short[key])
		}
	}
	apart := func(key, app string) {
		if b = b.PodAntiAffinity(key, "app="+app); app == "web" {
			c.keys = append(c.keys, "anti:"+short[key])
		}
	}
	if r.IntN(2) == 0 { // anything
		somewhere := func() (key, app string) {
			return []string{api.LabelTopologyZone, api.LabelTopologyZone, api.LabelHostname, "pool"}[r.IntN(4)], []string{"web", "web", "web", "db"}[r.IntN(4)]
		}
		for range r.IntN(4) {
			constrain(somewhere())
		}
		for range max(0, r.IntN(6)-3) {
			apart(somewhere())
		}
		for range max(0, r.IntN(8)-5) {
			near(somewhere())
		}
	} else { // what is usual
		which := 1 + r.IntN(15)
		for i, add := range []func(){
			func() { constrain(api.LabelTopologyZone, "web") },
			func() { constrain(api.LabelHostname, "web") },
			func() { apart(api.LabelHostname, "web") },
			func() { near(api.LabelTopologyZone, "web") },
		} {
			if which&(1<<i) != 0 {
				add()
			}
		}
	}
	switch r.IntN(12) {
	case 2:
		b = b.HostPort(8080)
	case 3:
		b = b.NodeSelector("pool", "p0")
	case 4:
		b = b.Tolerates("dedicated=x:NoSchedule")
	case 5:
		b = b.Spread(1, api.LabelHostname, api.ScheduleAnyway, "app=web")
	case 6:
		b = b.PreferPodAntiAffinity(10, api.LabelHostname, "app=web")
	}
	c.pod = pod(c.s, b.Obj())
	return c
}

// TestHeadroomSpread compares the headroom of pods with hard spread constraints, affinity and
// anti-affinity with placing until it fails, both with the nodes of each replica and with
// those of a domain together.
func TestHeadroomSpread(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	counted, shared, placed := map[string]int{}, 0, 0
	least, ofKind := effort.Of(15, 120), effort.Of(1, 3)
	few := func() []string { // kinds with too few cases that are counted
		return slices.DeleteFunc([]string{
			"", "spread:zone", "spread:host", "spread:host spread:zone", "anti:host", "anti:host spread:zone",
			"anti:host spread:host", "anti:host spread:host spread:zone", "affinity:zone", "affinity:zone anti:host", "affinity:zone spread:host",
			"affinity:zone spread:zone", "affinity:zone spread:host spread:zone", "affinity:zone anti:host spread:zone",
		}, func(kind string) bool { return counted[kind] >= ofKind })
	}
	for seed := range uint64(12_000) {
		if effort.Suffices(shared >= least && placed >= least && len(few()) == 0) {
			break
		}
		c := newSpreadCase(rand.New(rand.NewPCG(seed, 17)))
		total, nodes := placeUntilFull(t, c.s, c.pod)
		if total < 0 {
			t.Fatalf("seed %d: the pod cannot be placed at all", seed)
		}
		p := planner(c.s)
		h, err := p.Headroom(c.pod, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, n := range h.Nodes {
			if n.Pods > 0 {
				got[n.Node] = n.Pods
			}
		}
		if diff := cmp.Diff(nodes, got); diff != "" || h.Total != total {
			t.Errorf("seed %d: %s: Headroom = %d, want %d; nodes (-want +got):\n%s", seed, c.kind(), h.Total, total, diff)
		}
		checkLimits(t, seed, c.s, c.pod, h)
		if checkShared(t, seed, c.s, h, nodes) {
			t.Errorf("seed %d: nodes are shared, though there are few replicas", seed)
		}

		q := planner(c.s)
		q.PlaceNoneToKnowNodes()
		h, err = q.Headroom(c.pod, 0)
		if err != nil {
			t.Fatal(err)
		}
		if h.Total != total {
			t.Errorf("seed %d: %s: by domains, Headroom = %d, want %d", seed, c.kind(), h.Total, total)
		}
		if q.Decisions() < uint64(min(2, total)) { // one to know where the first goes
			if total > 1 {
				counted[c.kind()]++
			}
		} else {
			placed++
		}
		if checkShared(t, seed, c.s, h, nodes) {
			shared++
			if p.Decisions() < 2 {
				t.Errorf("seed %d: which nodes get replicas depends on scores, and no replica is placed", seed)
			}
		}
	}
	t.Logf("counted %v, of which shared %d; placed %d", counted, shared, placed)
	for _, kind := range few() {
		t.Errorf("%d cases with %q are counted, want %d", counted[kind], kind, ofKind)
	}
	if shared < least || placed < least {
		t.Error("the test shows too little")
	}
}

// checkShared compares nodes, and domains in place of shared nodes, with what was placed.
// It reports whether nodes are shared.
func checkShared(t *testing.T, seed uint64, s *framework.Snapshot, h *whatif.Headroom, placed map[string]int) (shared bool) {
	t.Helper()
	for _, n := range h.Nodes {
		switch {
		case n.Shared:
			shared = true
			if placed[n.Node] > n.Pods {
				t.Errorf("seed %d: %d replicas go to %s, which has room for %d", seed, placed[n.Node], n.Node, n.Pods)
			}
			if n.Plugin != "PodTopologySpread" && n.Plugin != "InterPodAffinity" {
				t.Errorf("seed %d: the domain of %s is limited by %s", seed, n.Node, n.Plugin)
			}
		case placed[n.Node] != n.Pods:
			t.Errorf("seed %d: %d replicas go to %s, want %d", seed, n.Pods, n.Node, placed[n.Node])
		}
	}
	if shared && h.Domains == nil {
		t.Errorf("seed %d: shared %t, but domains %v", seed, shared, h.Domains)
	}
	for _, d := range h.Domains {
		pods, room, some := 0, 0, false
		for _, n := range h.Nodes {
			if s.Node(n.Node).Node.Labels[d.Key] != d.Value {
				continue
			}
			pods, room, some = pods+placed[n.Node], room+n.Pods, some || n.Shared
		}
		if pods != d.Pods || d.Room < d.Pods || some && room != d.Room {
			t.Errorf("seed %d: domain %+v takes %d replicas of %d", seed, d, pods, room)
		}
	}
	return shared
}

// checkLimits places the replicas where the headroom says and asks why no more fit.
func checkLimits(t *testing.T, seed uint64, s *framework.Snapshot, pod *framework.PodInfo, h *whatif.Headroom) {
	t.Helper()
	s = s.Fork()
	for i, n := range h.Nodes {
		for k := range n.Pods {
			replica, err := pod.Named(fmt.Sprintf("replica-%d-%d", i, k))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.AddPod(replica, n.Node); err != nil {
				t.Fatal(err)
			}
		}
	}
	var all []*framework.NodeInfo
	for _, n := range s.All() {
		all = append(all, n)
	}
	verdicts, err := scheduler(t).FilterNodes(s, pod, all)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range h.Nodes {
		if v := verdicts[i]; v.Plugin != n.Plugin || fmt.Sprint(v.Status.Reasons()) != fmt.Sprint(n.Reasons) {
			t.Errorf("seed %d: %s limits node %s: %v; want %s: %v", seed, n.Plugin, n.Node, n.Reasons, v.Plugin, v.Status.Reasons())
		}
	}
}

// A term may select the namespace of the pod only because the snapshot does not have it: then a replica on a node keeps
// others off, though its own term would not.
func TestHeadroomInUnknownNamespace(t *testing.T) {
	for _, known := range []bool{true, false} {
		for _, selector := range []string{"!env", "env=prod"} {
			s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "8Gi").Labels(api.LabelHostname, "a"), api.MakeNode("b", "4", "8Gi").Labels(api.LabelHostname, "b")})
			if known {
				put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default"}})
			}
			namespaces, err := api.ParseLabelSelector(selector)
			if err != nil {
				t.Fatal(err)
			}
			web := api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Obj()
			web.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{
				TopologyKey: api.LabelHostname, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, NamespaceSelector: namespaces,
			}}}}
			want := map[string]int{"!env": 2, "env=prod": 8}[selector]
			h, err := planner(s).Headroom(pod(s, web), 0)
			if err != nil || h.Total != want {
				t.Errorf("known %t, selector %s: headroom %d, %v; want %d", known, selector, h.Total, err, want)
			}
		}
	}
}

package whatif_test

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
)

// variedProfiles are presets, and profiles in which more than the pod's own words decide: default constraints that
// must hold, load, samples.
func variedProfiles(t *testing.T) []scheduling.Profile {
	list := []scheduling.Profile{scheduling.Kubernetes118(), scheduling.Kubernetes134(), scheduling.Kubernetes137()}
	d := scheduling.Kubernetes137()
	if err := d.Replace(filter.PodTopologySpread{ListDefaulting: true, DefaultConstraints: []api.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule},
	}}); err != nil {
		t.Fatal(err)
	}
	list = append(list, d)
	load, err := estimator.NewLoad(estimator.LoadConfig{Thresholds: map[resource.Name]int64{"cpu": 60, "memory": 70}, Rules: estimator.Koordinator18, EstimateScheduled: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	l := scheduling.Kubernetes137()
	l.Filter = append(l.Filter, filter.LoadAware{Load: load})
	l.Score = append(l.Score, scheduling.Weighted{Plugin: scoring.LoadAware{Load: load}, Weight: 1})
	list = append(list, l)
	r := scheduling.Kubernetes137()
	r.TieRule, r.Percentage = scheduling.Random, 5
	list = append(list, r)
	return list
}

// variedCluster is a small cluster with devices, services and usage, and a pod to ask about.
func variedCluster(t *testing.T, r *rand.Rand) (*framework.Snapshot, *framework.PodInfo) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	class := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "gpu"}}
	class.Spec.ExtendedResourceName = new("x.io/g")
	ext := r.IntN(3) == 0
	if ext {
		must(framework.Put(s, class))
	}
	if r.IntN(2) == 0 {
		must(framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "web", Namespace: "default"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}))
	}
	n := 2 + r.IntN(5)
	for i := range n {
		name := fmt.Sprint("n", i)
		b := api.MakeNode(name, fmt.Sprint(1+r.IntN(4)), fmt.Sprint(1+r.IntN(6), "Gi")).Zone(fmt.Sprint("z", r.IntN(3))).Labels(api.LabelHostname, name)
		if r.IntN(3) == 0 {
			b = b.Resource("x.io/g", fmt.Sprint(r.IntN(3)))
		}
		if r.IntN(3) == 0 {
			b = b.Resource("pods", fmt.Sprint(1+r.IntN(4)))
		}
		must(s.AddNode(b.Obj()))
		if r.IntN(3) == 0 {
			m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
			now := time.Unix(1_700_000_000, 0)
			m.Status.UpdateTime = &now
			m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{"cpu": resource.MustParse(fmt.Sprint(r.IntN(2000), "m")), "memory": resource.MustParse(fmt.Sprint(r.IntN(2), "Gi"))})}
			must(framework.Put(s, m))
		}
		if ext && r.IntN(2) == 0 {
			x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "s-" + name}}
			x.Spec = api.ResourceSliceSpec{Driver: "d.io", NodeName: &name, Pool: api.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1}}
			for k := range r.IntN(4) {
				x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint(k)})
			}
			must(framework.Put(s, x))
		}
	}
	s.SetNow(time.Unix(1_700_000_010, 0))
	if ext && r.IntN(2) == 0 {
		x := &api.ResourceSlice{ObjectMeta: api.ObjectMeta{Name: "all"}}
		x.Spec = api.ResourceSliceSpec{Driver: "d.io", AllNodes: new(true), Pool: api.ResourcePool{Name: "all", Generation: 1, ResourceSliceCount: 1}}
		for k := range 1 + r.IntN(4) {
			x.Spec.Devices = append(x.Spec.Devices, api.Device{Name: fmt.Sprint(k)})
		}
		must(framework.Put(s, x))
	}
	for i := range r.IntN(6) {
		p := api.MakePod(fmt.Sprint("r", i)).Labels("app", []string{"web", "db"}[r.IntN(2)]).Requests(fmt.Sprint(100*(1+r.IntN(8)), "m"), "100Mi")
		if r.IntN(4) == 0 {
			p = p.PodAntiAffinity(api.LabelHostname, "app=web")
		}
		must(s.AddPod(pod(s, p.Obj()), fmt.Sprint("n", r.IntN(n))))
	}
	b := api.MakePod("web").Labels("app", "web").Requests(fmt.Sprint(100*(1+r.IntN(8)), "m"), fmt.Sprint(r.IntN(900), "Mi"))
	if r.IntN(3) == 0 {
		b = b.Request("x.io/g", fmt.Sprint(1+r.IntN(2)))
	}
	switch r.IntN(8) {
	case 0:
		b = b.HostPort(80)
	case 1:
		b = b.Spread(1+int32(r.IntN(2)), api.LabelTopologyZone, api.DoNotSchedule, "app=web")
	case 2:
		b = b.PodAntiAffinity(api.LabelHostname, "app=web")
	case 3:
		b = b.PodAffinity(api.LabelTopologyZone, "app=web")
	}
	return s, pod(s, b.Obj())
}

// bruteHeadroom places replicas until none fits, and counts them; -1 if there is an error.
func bruteHeadroom(t *testing.T, profile scheduling.Profile, s *framework.Snapshot, pod *framework.PodInfo) (int, map[string]int) {
	profile.Cache.Off = true
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	s = s.Fork()
	nodes, total := map[string]int{}, 0
	for total < 300 {
		p := api.Clone(pod.Pod)
		p.Name, p.UID = fmt.Sprint("replica-", total), ""
		info, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := sched.Place(s, info)
		var fit *scheduling.FitError
		switch {
		case err == nil:
			total++
			nodes[d.Node]++
		case errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes):
			return total, nodes
		default:
			return -1, nil
		}
	}
	return total, nodes
}

// TestHeadroomOfProfiles: as many replicas fit as can be placed one after the other, under every profile.
func TestHeadroomOfProfiles(t *testing.T) {
	profiles := variedProfiles(t)
	sum := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 99))
		s, web := variedCluster(t, r)
		k := r.IntN(len(profiles))
		p, err := whatif.New(profiles[k], s)
		if err != nil {
			t.Fatal(err)
		}
		total, nodes := bruteHeadroom(t, profiles[k], s, web)
		h, err := p.Headroom(web, 0)
		if total < 0 || err != nil {
			if (total < 0) != (err != nil) {
				t.Errorf("seed %d: %d, %v", seed, total, err)
			}
			continue
		}
		got := map[string]int{}
		for _, x := range h.Nodes {
			if x.Pods > 0 {
				got[x.Node] = x.Pods
			}
		}
		sum += total
		if diff := cmp.Diff(nodes, got); h.Total != total || diff != "" {
			t.Errorf("seed %d, profile %d: headroom %d, want %d (-want +got):\n%s", seed, k, h.Total, total, diff)
		}
	}
	if sum == 0 {
		t.Error("no pod was placed")
	}
}

// TestNodesNeededOfProfiles: no number of nodes of a type places more pods than the one found, no smaller one is
// enough if it is exact, and none is below the bound.
func TestNodesNeededOfProfiles(t *testing.T) {
	const most = 6
	profiles := variedProfiles(t)
	exact := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 98))
		s, web := variedCluster(t, r)
		k := r.IntN(len(profiles))
		pods, err := whatif.Replicas(web, 1+r.IntN(6))
		if err != nil {
			t.Fatal(err)
		}
		node := api.MakeNode("t", fmt.Sprint(1+r.IntN(3)), "4Gi").Zone(fmt.Sprint("z", r.IntN(4))).Resource("x.io/g", fmt.Sprint(r.IntN(3))).Obj()
		kind := whatif.NodeType{Name: "t", Node: node, Max: most}
		p, err := whatif.New(profiles[k], s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.NodesNeeded(pods, kind)
		if err != nil {
			continue
		}
		best, least := -1, 0
		for n := range most + 1 {
			if placed := placedOnMore(t, profiles[k], s, pods, kind, n); placed > best {
				best, least = placed, n
			}
		}
		if len(got.Placement.Placed) != best || got.Exact && got.Counts[0].Nodes != least || got.LowerBound > int64(least) {
			t.Errorf("seed %d, profile %d: %+v place %d, exact %t, at least %d; want %d nodes for %d pods",
				seed, k, got.Counts, len(got.Placement.Placed), got.Exact, got.LowerBound, least, best)
		}
		if got.Exact && least > 0 {
			exact++
		}
	}
	if exact == 0 {
		t.Error("no exact answer with a node")
	}
}

// placedOnMore is how many of the pods find a place with so many nodes more.
func placedOnMore(t *testing.T, profile scheduling.Profile, s *framework.Snapshot, pods []*framework.PodInfo, kind whatif.NodeType, nodes int) int {
	t.Helper()
	f := s.Fork()
	if _, err := kind.AddNodes(f, nodes); err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(profile, f)
	if err != nil {
		t.Fatal(err)
	}
	placement, err := p.Place(pods)
	if err != nil {
		t.Fatal(err)
	}
	return len(placement.Placed)
}

// TestRemediesOfProfiles: a remedy puts the pod on the node, none of its changes is needless, and if it is proved, no fewer
// pods of the node suffice.
func TestRemediesOfProfiles(t *testing.T) {
	profiles := variedProfiles(t)
	profiles = profiles[:len(profiles)-1] // samples differ with every change
	proved := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1234))
		s, web := variedCluster(t, r)
		profile := profiles[r.IntN(len(profiles))]
		addPlaced(t, r, profile, s, web)
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		before := content(s)
		for _, n := range s.All() {
			why, err := p.WhyNot(web, n.Name())
			if err != nil {
				continue
			}
			for _, remedy := range why.Remedies {
				x := judge{t, profile, s, web, n.Name()}
				if x.checkRemedy(seed, remedy); !remedy.Unproved {
					proved += x.checkFewest(seed, remedy)
				}
			}
		}
		if content(s) != before {
			t.Fatalf("seed %d: the snapshot is another", seed)
		}
	}
	if proved == 0 {
		t.Error("no remedy that removes pods is proved")
	}
}

// addPlaced lets a scheduler place some pods like web.
func addPlaced(t *testing.T, r *rand.Rand, profile scheduling.Profile, s *framework.Snapshot, web *framework.PodInfo) {
	t.Helper()
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.IntN(6) {
		q := api.Clone(web.Pod)
		q.Name = fmt.Sprint("placed-", i)
		q.UID = api.UID(q.Name)
		q.Spec.Priority = new(int32(r.IntN(3)))
		var fit *scheduling.FitError
		if _, err := sched.Place(s, pod(s, q)); err != nil && !errors.As(err, &fit) {
			t.Fatal(err)
		}
	}
}

// A judge decides about a pod and a node.
type judge struct {
	t       *testing.T
	profile scheduling.Profile
	s       *framework.Snapshot
	pod     *framework.PodInfo
	node    string
}

func (x judge) wins(changes []whatif.Change) bool {
	p, err := whatif.New(x.profile, x.s)
	if err != nil {
		x.t.Fatal(err)
	}
	got, err := p.Decide(x.pod, x.node, changes...)
	return err == nil && got == x.node
}

func (x judge) checkRemedy(seed uint64, remedy whatif.Remedy) {
	x.t.Helper()
	if !x.wins(remedy.Changes) {
		x.t.Errorf("seed %d, node %s: %v does not suffice", seed, x.node, remedy)
	}
	for i, c := range remedy.Changes {
		if x.wins(slices.Delete(slices.Clone(remedy.Changes), i, i+1)) {
			x.t.Errorf("seed %d, node %s: %v suffices without %v", seed, x.node, remedy, c)
		}
	}
}

// checkFewest tries all smaller sets of pods of the node, and returns 1 if there are any.
func (x judge) checkFewest(seed uint64, remedy whatif.Remedy) int {
	x.t.Helper()
	isRemoval := func(c whatif.Change) bool { return c.Kind == whatif.ChangeRemove }
	others := slices.DeleteFunc(slices.Clone(remedy.Changes), isRemoval)
	removes := len(remedy.Changes) - len(others)
	if removes == 0 {
		return 0
	}
	pods := x.s.Node(x.node).Pods
	for set := range uint(1) << len(pods) {
		if bits.OnesCount(set) >= removes {
			continue
		}
		changes := slices.Clone(others)
		for i, q := range pods {
			if set>>i&1 != 0 {
				changes = append(changes, whatif.Change{Kind: whatif.ChangeRemove, Name: q.Pod.Key(), From: x.node})
			}
		}
		if x.wins(changes) {
			x.t.Errorf("seed %d, node %s: %v is said to be proved, but %v suffices", seed, x.node, remedy, changes)
		}
	}
	return 1
}

// A node of the snapshot has the name that the first new node would have without it, and its metric says that it
// is hot. That does not concern new nodes.
func TestNodesNeededBesideNamesake(t *testing.T) {
	for _, old := range []string{"other", "t-0"} {
		s := framework.NewSnapshot(framework.Arrival)
		now := time.Unix(1_800_000_000, 0)
		s.SetNow(now)
		if err := s.AddNode(api.MakeNode(old, "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{old, "t-1"} { // of t-1, the metric is left
			m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: name}}
			m.Status.UpdateTime = &now
			m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.MustParse("1700m"), resource.Memory: resource.MustParse("4Gi")})}
			put(s, m)
		}
		if err := s.AddPod(pod(s, api.MakePod("full").UID("full").Requests("4", "1Gi").Node(old).Obj()), old); err != nil {
			t.Fatal(err)
		}
		profile := scheduling.Kubernetes137()
		profile.Filter = append(profile.Filter, filter.LoadAware{Load: estimator.DefaultLoad()})
		p, err := whatif.New(profile, s)
		if err != nil {
			t.Fatal(err)
		}
		var pods []*framework.PodInfo
		for i := range 3 {
			pods = append(pods, pod(s, api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("p", i))).Labels("app", "w").Requests("1", "1Gi").Obj()))
		}
		for _, most := range []int{0, 2} {
			got, err := p.NodesNeeded(pods, whatif.NodeType{Name: "t", Node: api.MakeNode("t", "4", "8Gi").Obj(), Max: most})
			if err != nil || got.Counts[0].Nodes != 1 || len(got.Placement.Placed) != 3 {
				t.Errorf("beside %s, at most %d: %+v, %v; want one node for all pods", old, most, got, err)
			}
		}
	}
}

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// The answer of the nominated node stays, even if a PreFilter excludes that node
// from the search that follows.
func TestNominatedNodeThatThePreFilterLeavesOut(t *testing.T) {
	for _, tt := range []struct{ nominated, want string }{
		{"", "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"gone", "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
		{"a", "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
	} {
		s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj(), api.MakeNode("b", "4", "4Gi").Obj())
		pod := api.MakePod("p").Obj()
		pod.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{"c"}}},
			}}},
		}}
		pod.Status.NominatedNodeName = tt.nominated
		sched := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.NodeAffinity{}}})
		if _, err := sched.Schedule(s, podInfo(t, s, pod)); err == nil || err.Error() != tt.want {
			t.Errorf("nominated to %q: Schedule fails with %v\nwant %s", tt.nominated, err, tt.want)
		}
	}
}

// A nominated node beyond the sample counts as evaluated, and the next search begins
// one place later, also if the answers are kept ones.
func TestNominatedNodeBeyondTheSample(t *testing.T) {
	const nodes = 200
	for _, tt := range []struct {
		nominated string
		evaluated int
	}{{"", 101}, {"n050", 101}, {"n199", 102}} { // the search passes n050, which is crowded
		var list []*api.Node
		for i := range nodes {
			list = append(list, api.MakeNode(fmt.Sprintf("n%03d", i), "4", "4Gi").Obj())
		}
		s := smallCluster(t, list...)
		for _, taken := range []string{"n199", "n050"} {
			if err := s.AddPod(podInfo(t, s, api.MakePod("taken").UID(api.UID("on-"+taken)).Obj()), taken); err != nil {
				t.Fatal(err)
			}
		}
		pod := api.MakePod("p").Obj()
		pod.Status.NominatedNodeName = tt.nominated
		sched := build(t, scheduling.Profile{
			Filter: []framework.Plugin{crowded{}}, Score: []scheduling.Weighted{{Plugin: byName{}}}, Percentage: 50, TieRule: scheduling.First,
		})
		for round := range 3 { // the first is not answered from kept answers
			d, err := sched.Schedule(s, podInfo(t, s, pod))
			if err != nil {
				t.Fatal(err)
			}
			if d.Evaluated != tt.evaluated || d.Feasible != 100 {
				t.Errorf("round %d, nominated to %q: %d nodes evaluated, %d feasible, want %d and 100", round, tt.nominated, d.Evaluated, d.Feasible, tt.evaluated)
			}
			next, err := sched.Schedule(s, podInfo(t, s, api.MakePod("q").Obj()))
			if want := fmt.Sprintf("n%03d", tt.evaluated); err != nil || next.Node != want {
				t.Errorf("round %d, nominated to %q: the next search begins at %s (%v), want %s", round, tt.nominated, next.Node, err, want)
			}
			sched.Seek(scheduling.Position{})
		}
		if stats := sched.Stats(); stats.Hits == 0 {
			t.Errorf("nominated to %q: %+v, want a hit", tt.nominated, stats)
		}
	}
}

// byName gives all nodes the same score.
type byName struct{}

func (byName) Name() string                                        { return "byName" }
func (byName) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// A pod nominated to a node counts there with its affinity terms, even if no pod in
// the cluster has such terms.
func TestNominatedPodWithNewTerms(t *testing.T) {
	const want = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Obj())
	first := api.MakePod("first").PodAntiAffinity(api.LabelHostname, "app=web").Obj()
	if err := s.Nominate(podInfo(t, s, first), "a", ""); err != nil {
		t.Fatal(err)
	}
	pod := api.MakePod("p").Labels("app", "web").PodAntiAffinity(api.LabelTopologyZone, "app=other").Obj()
	sched := build(t, scheduling.Profile{Filter: []framework.Plugin{filter.InterPodAffinity{}}})
	for i := range 2 {
		if _, err := sched.Schedule(s, podInfo(t, s, pod)); err == nil || err.Error() != want {
			t.Errorf("decision %d: %v, want %s", i, err, want)
		}
	}
}

// countingPods counts how often it is asked about nodes and their pods.
type countingPods struct{ counting }

func (countingPods) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsPods}
}

// Verdicts about nodes that pods with affinity terms are nominated to are kept. Terms of nominated pods count only while one of a pod in the
// cluster matches the pod, too.
func TestNominatedTerms(t *testing.T) {
	const nodes, decisions = 40, 20
	for _, verify := range []bool{false, true} {
		asked := 0
		p := scheduling.Kubernetes137()
		p.TieRule, p.Cache.Verify = scheduling.First, verify
		p.Filter = append(p.Filter, countingPods{counting{&asked}})
		sched := build(t, p)
		var list []*api.Node
		for i := range nodes {
			list = append(list, api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj())
		}
		s := smallCluster(t, list...)
		keepsAway := func(name string) *framework.PodInfo {
			return podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Priority(9).PodAntiAffinity(api.LabelHostname, "app=web").Obj())
		}
		for i := range nodes / 2 {
			if err := s.Nominate(keepsAway(fmt.Sprint("first-", i)), fmt.Sprint("n", i), ""); err != nil {
				t.Fatal(err)
			}
		}
		for round, tt := range []struct {
			app            string
			feasible, most int
		}{{"db", nodes, 3}, {"web", nodes, 3}, {"db", nodes, 3}, {"web", nodes/2 - 1, 3}, {"db", nodes, 3}} {
			if round == 3 {
				if err := s.AddPod(keepsAway("hermit"), fmt.Sprint("n", nodes-1)); err != nil {
					t.Fatal(err)
				}
			}
			for i := range decisions {
				asked = 0
				name := fmt.Sprint(tt.app, "-", round, "-", i)
				pod := podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Labels("app", tt.app).Requests("100m", "64Mi").Obj())
				d, err := sched.Place(s, pod)
				if err != nil {
					t.Fatal(err)
				}
				if d.Feasible != tt.feasible {
					t.Fatalf("%s: %d feasible nodes, want %d", name, d.Feasible, tt.feasible)
				}
				if !verify && i > 3 && asked > tt.most {
					t.Errorf("%s: the filter is asked %d times, want at most %d", name, asked, tt.most)
				}
				if err := sched.Release(s, pod, d.Node); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// additions counts pods that are added to nodes, in decisions, too.
type additions struct{ pods int }

var additionsKey = framework.NewExtensionKey(func(*framework.Snapshot) *additions { return new(additions) })

func (a *additions) Fork(*framework.Snapshot) framework.Extension { return new(additions) }

func (a *additions) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) { a.pods++ }

func (a *additions) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

// Pods that are nominated to all nodes, each with a term like no other, are not put there for
// each decision about a pod that terms, constraints or volumes concern, whatever its labels.
func TestNominatedPodsAreNotTried(t *testing.T) {
	const nodes, decisions = 40, 30
	kinds := map[string]func(api.PodBuilder) api.PodBuilder{
		"plain":         func(b api.PodBuilder) api.PodBuilder { return b },
		"seen by terms": func(b api.PodBuilder) api.PodBuilder { return b.Labels("app", "web") },
		"anti-affinity": func(b api.PodBuilder) api.PodBuilder {
			return b.Labels("app", "own").PodAntiAffinity(api.LabelHostname, "app=hostile")
		},
		"affinity": func(b api.PodBuilder) api.PodBuilder { return b.PodAffinity(api.LabelTopologyZone, "app=hermit") },
		"spread": func(b api.PodBuilder) api.PodBuilder {
			return b.Labels("app", "even").Spread(50, api.LabelTopologyZone, api.DoNotSchedule, "app=even")
		},
		"claim": func(b api.PodBuilder) api.PodBuilder { return b.Claim("data") },
	}
	fits := map[string]bool{"plain": true, "affinity": true, "spread": true, "claim": true} // the nominated pods bar the others
	for kindName, kind := range kinds {
		t.Run(kindName, func(t *testing.T) {
			p := scheduling.Kubernetes137()
			p.TieRule = scheduling.First
			sched := build(t, p)
			var list []*api.Node
			for i := range nodes {
				list = append(list, api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Zone(fmt.Sprint(i%3)).Labels(api.LabelHostname, fmt.Sprint("n", i)).Obj())
			}
			s := smallCluster(t, list...)
			volume := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "v"}}
			claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
			claim.Spec.VolumeName, claim.Spec.AccessModes = "v", []api.PersistentVolumeAccessMode{api.ReadWriteMany}
			for _, err := range []error{framework.Put(s, volume), framework.Put(s, claim)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			hermit := api.MakePod("hermit").UID("hermit").Labels("app", "hermit").PodAntiAffinity(api.LabelHostname, "app=web").Obj()
			if err := s.AddPod(podInfo(t, s, hermit), "n0"); err != nil {
				t.Fatal(err)
			}
			for i := range nodes {
				name := fmt.Sprint("hostile-", i)
				q := api.MakePod(name).UID(api.UID(name)).Labels("app", "hostile", "of", name).Priority(9).PodAntiAffinity(api.LabelHostname, "app=web,of!="+name).Obj()
				if err := s.Nominate(podInfo(t, s, q), fmt.Sprint("n", i), ""); err != nil {
					t.Fatal(err)
				}
			}
			hits := sched.Stats().Hits
			for i := range decisions {
				before := additionsKey.Of(s).pods
				name := fmt.Sprint("p-", i)
				pod := podInfo(t, s, kind(api.MakePod(name).UID(api.UID(name)).Labels("pod", name)).Requests("100m", "64Mi").Obj())
				_, err := sched.Place(s, pod)
				if (err == nil) != fits[kindName] {
					t.Fatalf("decision %d: %v, want that the pod fits: %t", i, err, fits[kindName])
				}
				// the pod itself, and the one nominated to the node that the last one got
				if added := additionsKey.Of(s).pods - before; i > 3 && added > 2 {
					t.Errorf("decision %d: %d pods are added to nodes, want at most 2", i, added)
				}
			}
			if hits = sched.Stats().Hits - hits; hits < decisions-5 {
				t.Errorf("%d of %d decisions from kept answers, want at least %d", hits, decisions, decisions-5)
			}
		})
	}
}

// Verdicts about nodes that pods are nominated to are found again when objects have
// changed that a filter reads.
func TestNominatedVerdictsFollowObjects(t *testing.T) {
	sched := build(t, scheduling.Profile{
		Filter: []framework.Plugin{seasonal{}}, Score: []scheduling.Weighted{{Plugin: byName{}}},
		TieRule: scheduling.First, Cache: scheduling.CacheConfig{Verify: true},
	})
	s := smallCluster(t, api.MakeNode("a", "4", "4Gi").Labels("color", "red").Obj(), api.MakeNode("b", "4", "4Gi").Labels("color", "blue").Obj())
	for _, node := range []string{"a", "b"} {
		if err := s.Nominate(podInfo(t, s, api.MakePod("first-"+node).UID(api.UID("first-"+node)).Obj()), node, ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		word, want := "red", "a"
		if i/3%2 == 1 {
			word, want = "blue", "b"
		}
		putSetting(t, s, word)
		d, err := sched.Schedule(s, podInfo(t, s, api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint("p", i))).Obj()))
		if err != nil || d.Node != want {
			t.Errorf("decision %d, %s: node %q, %v, want %q", i, word, d.Node, err, want)
		}
	}
	if stats := sched.Stats(); stats.Hits < 8 {
		t.Errorf("%+v, want 8 hits or more", stats)
	}
}

// A pod does not count where it is nominated itself. So what the others of its class were
// told about the node does not hold for it.
func TestNominatedVerdictsOfTheNomineeItself(t *testing.T) {
	sched := build(t, scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeResourcesFit{}}, Score: []scheduling.Weighted{{Plugin: byName{}}},
		TieRule: scheduling.First,
	})
	s := smallCluster(t, api.MakeNode("a", "2", "4Gi").Obj(), api.MakeNode("b", "1", "4Gi").Obj())
	pod := func(name string) *framework.PodInfo {
		return podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Requests("1", "1Mi").Obj())
	}
	nominee := pod("nominee")
	for _, q := range []*framework.PodInfo{nominee, pod("second")} {
		if err := s.Nominate(q, "a", ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		p, want := pod(fmt.Sprint("p", i)), 1 // the nominated two fill a
		if i%3 == 2 {
			p, want = nominee, 2
		}
		d, err := sched.Schedule(s, p)
		if err != nil || d.Feasible != want {
			t.Errorf("decision %d, about %s: %d feasible nodes, %v, want %d", i, p.Pod.Name, d.Feasible, err, want)
		}
	}
	if stats := sched.Stats(); stats.Hits < 8 {
		t.Errorf("%+v, want 8 hits or more", stats)
	}
}

// Of the pods nominated to a node, those count for a pod that have at least its priority. What
// one pod was told about the node does not hold for one for which more of them count.
func TestNominatedPodsOfSeveralPriorities(t *testing.T) {
	sched := build(t, scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeResourcesFit{}}, Score: []scheduling.Weighted{{Plugin: byName{}}},
		TieRule: scheduling.First,
	})
	s := smallCluster(t, api.MakeNode("a", "3", "4Gi").Obj(), api.MakeNode("b", "1", "4Gi").Obj())
	pod := func(name, cpu string, priority int32) *framework.PodInfo {
		return podInfo(t, s, api.MakePod(name).UID(api.UID(name)).Requests(cpu, "1Mi").Priority(priority).Obj())
	}
	for _, q := range []*framework.PodInfo{pod("first", "1", 10), pod("second", "1", 5)} {
		if err := s.Nominate(q, "a", ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		priority, want := int32(7), "a" // it fits beside the first, but not beside both
		if i%2 == 1 {
			priority, want = 0, ""
		}
		d, err := sched.Schedule(s, pod(fmt.Sprint("p", i), "1500m", priority))
		if d.Node != want || (err == nil) != (want != "") {
			t.Errorf("decision %d, about a pod of priority %d: node %q, %v, want %q", i, priority, d.Node, err, want)
		}
	}
	if stats := sched.Stats(); stats.Hits < 8 {
		t.Errorf("%+v, want 8 hits or more", stats)
	}
}

// TestCrowdOnLateNode nominates many pods to a node that came when another node had a crowd
// already. Decisions are made from kept answers before and after.
func TestCrowdOnLateNode(t *testing.T) {
	s := build(t, scheduling.Kubernetes137())
	snap := framework.NewSnapshot(framework.Arrival)
	add := func(n string) {
		if err := snap.AddNode(api.MakeNode(n, "64", "256Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		add(fmt.Sprintf("n%d", i))
	}
	serial := 0
	pod := func(node string) *framework.PodInfo {
		serial++
		b := api.MakePod(fmt.Sprintf("p%d", serial)).Requests("100m", "64Mi").Priority(5)
		if node != "" {
			b = b.Nominated(node)
		}
		return podInfo(t, snap, b.Obj())
	}
	crowd := func(node string) {
		for range 20 {
			if err := snap.Nominate(pod(node), node, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	place := func(k int) {
		before := s.Stats()
		for range k {
			if _, err := s.Schedule(snap, pod("")); err != nil {
				t.Fatal(err)
			}
		}
		st := s.Stats()
		if hits := st.Hits - before.Hits; hits+2 < uint64(k) || st.Faults > 0 {
			t.Errorf("%d hits of %d, %d faults; want nearly all, and none", hits, k, st.Faults)
		}
	}
	place(10)
	crowd("n0")
	place(10)
	for i := range 60 {
		add(fmt.Sprintf("later%d", i))
	}
	place(10)
	crowd("later59")
	place(10)
	place(10)
	if err := snap.RemoveNode("n0"); err != nil {
		t.Fatal(err)
	}
	place(10)
}

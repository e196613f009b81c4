//go:build full

package scheduling_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chapter is a part of the story: pods of one kind, so many.
type chapter struct {
	kind        string
	pods, group int // equal ones
}

// storyWorld is the cluster of the story, and a scheduler.
type storyWorld struct {
	t      *testing.T
	snap   *framework.Snapshot
	s      *scheduling.Scheduler
	serial int
}

// one makes a decision about a pod of a kind.
func (w *storyWorld) one(kind string, group int) {
	w.t.Helper()
	must := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.serial++
	name := func(i int) string { return fmt.Sprint("n", i%w.snap.Len()) }
	pod := api.MakePod(fmt.Sprint("p", w.serial)).Requests("1m", fmt.Sprint(1_000_000+w.serial/group)).Obj()
	within := 0
	switch kind {
	case "updates":
		must(w.snap.UpdateNode(api.MakeNode(name(w.serial), "64", "256Gi").Obj()))
	case "changes": // of all nodes' pods
		for i := range w.snap.Len() {
			n := w.snap.At(i)
			if len(n.Pods) > 0 {
				must(w.snap.RemovePodAt(n.Pods[0], n))
			} else {
				must(w.snap.AddPodAt(podInfo(w.t, w.snap, api.MakePod(fmt.Sprint("q", i)).Requests("1m", "1").Obj()), n))
			}
		}
	case "unfit", "unfit twice":
		pod.Spec.Containers[0].Resources.Requests["cpu"] = api.MakePod("").Requests("100", "1").Obj().Spec.Containers[0].Resources.Requests["cpu"]
	case "named 12", "named 100":
		var terms []api.NodeSelectorTerm
		for i := range map[string]int{"named 12": 12, "named 100": 100}[kind] {
			terms = append(terms, api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{name(i)}}}})
		}
		pod.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: terms}}}
	case "nominated": // half of the nodes
		for i := w.snap.Nominations(); i < w.snap.Len()/2; i++ {
			must(w.snap.Nominate(podInfo(w.t, w.snap, api.MakePod(fmt.Sprint("m", i)).Requests("1m", "1").Priority(1).Obj()), name(2*i), ""))
		}
	case "within 16":
		within = 16
	case "within half":
		within = w.snap.Len() / 2
	case "terms":
		pod = api.MakePod(pod.Name).Requests("1m", fmt.Sprint(1_000_000+w.serial/group)).Labels("app", "x").PodAntiAffinity("rack", "app=other").Obj()
	case "spread":
		pod.Labels = map[string]string{"app": fmt.Sprint(w.serial % 3)}
		pod.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: api.ScheduleAnyway, LabelSelector: &api.LabelSelector{MatchLabels: pod.Labels}}}
	case "services": // with the default constraints
		pod.Labels = map[string]string{"app": fmt.Sprint(w.serial % 3)}
		must(framework.Put(w.snap, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: pod.Namespace, Name: fmt.Sprint("s", w.serial%7)}, Spec: api.ServiceSpec{Selector: map[string]string{"app": fmt.Sprint(w.serial % 5)}}}))
	}
	on := w.snap
	if kind == "forks" { // eleven pods are moved in each
		on = w.snap.Fork()
		for i := range 11 {
			must(on.AddPod(podInfo(w.t, on, api.MakePod(fmt.Sprint("f", i)).Requests("1m", "1").Obj()), name(w.serial+i)))
		}
	}
	info := podInfo(w.t, on, pod)
	times := 1
	if strings.HasSuffix(kind, "twice") {
		times = 2
	}
	for range times {
		err := error(nil)
		if within == 0 {
			_, err = w.s.Schedule(on, info)
		} else {
			var nodes []*framework.NodeInfo
			for i := range within {
				nodes = append(nodes, w.snap.At(i))
			}
			set, setErr := scheduling.NewNodeSet(w.snap, nodes)
			must(setErr)
			_, err = w.s.ScheduleWithin(w.snap, info, set)
		}
		if fits := !strings.HasPrefix(kind, "unfit"); fits != (err == nil) {
			w.t.Fatal(err)
		}
	}
}

// TestBalanceStory compares which pods are answered from kept answers, and which step aside, with
// a golden file. The account counts, so this is the same on every machine: a change of the file
// says whom a change of the account helps, and at whose cost.
func TestBalanceStory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	var b strings.Builder
	for _, size := range []struct{ nodes, percent int }{{20, 0}, {300, 0}, {400, 0}, {1000, 35}, {2000, 10}} {
		profile := scheduling.Kubernetes137()
		profile.Percentage = size.percent
		w := &storyWorld{t: t, snap: balanceCluster(t, size.nodes), s: build(t, profile)}
		fmt.Fprintf(&b, "%d nodes, %d %% of them wanted\n", size.nodes, profile.Percentage)
		for _, c := range []chapter{
			{"plain", 200, 100},
			{"plain", 400, 1},
			{"plain", 200, 2},
			{"plain", 200, 3},
			{"plain", 200, 5},
			{"plain", 400, 100},
			{"twice", 200, 1},
			{"plain", 200, 50},
			{"updates", 150, 1000},
			{"changes", 150, 1000},
			{"changes", 150, 1},
			{"plain", 300, 1000},
			{"unfit", 150, 1},
			{"unfit twice", 100, 1},
			{"unfit", 200, 20},
			{"plain", 300, 50},
			{"named 12", 150, 1},
			{"named 12", 200, 50},
			{"named 100", 150, 2},
			{"named 100", 200, 50},
			{"within 16", 200, 2},
			{"within 16", 300, 100},
			{"within half", 200, 3},
			{"within half", 300, 100},
			{"terms", 200, 1},
			{"terms", 200, 2},
			{"spread", 200, 1000},
			{"services", 200, 1000},
			{"forks", 100, 1000},
			{"nominated", 200, 1},
			{"nominated", 300, 100},
		} {
			before := w.s.Stats()
			for range c.pods {
				w.one(c.kind, c.group)
			}
			after := w.s.Stats()
			fmt.Fprintf(&b, "%-12s %4d pods, %4d alike: %4d hits, %4d misses, %4d bypassed\n", c.kind, c.pods, c.group, after.Hits-before.Hits, after.Misses-before.Misses, after.Bypassed-before.Bypassed)
		}
	}
	file := filepath.Join("testdata", "story_balance.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the story has changed (-want +got); if that is meant, run with -update:\n%s", diff)
	}
}

// TestBalanceOfNewClasses: replicas of ever new workloads are answered from kept answers while
// a tenant's pods like none before come among them, and after that.
func TestBalanceOfNewClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, tt := range []struct{ nodes, percent, every, group int }{ // pods for one of the tenant's; equal ones of these
		{5000, scheduling.Adaptive, 2, 1}, {5000, scheduling.Adaptive, 20, 1}, {1000, 35, 1, 3}, {1000, 35, 1, 2},
	} {
		snap := balanceCluster(t, tt.nodes)
		profile := scheduling.Kubernetes137()
		profile.Percentage = tt.percent // at least 350 nodes
		s, serial, tenants := build(t, profile), 0, 0
		decide := func(memory int) {
			serial++
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", serial)).Requests("100m", fmt.Sprint(memory)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		workloads := func(n int, tenant bool) (hits uint64) {
			for range n {
				first := serial
				for i := range 100 {
					if tenant && i%tt.every == 0 {
						tenants++
						decide(900_000_000 + tenants/tt.group)
					}
					before := s.Stats().Hits
					decide(1_000_000 + first)
					hits += s.Stats().Hits - before
				}
			}
			return hits
		}
		workloads(30, true)
		before := s.Stats().Bypassed
		if hits := workloads(10, true); hits < 900 {
			t.Errorf("%+v: %d of 1,000 pods were answered from kept answers beside the tenant", tt, hits)
		}
		if aside := s.Stats().Bypassed - before; aside < uint64(1000/tt.every/2) {
			t.Errorf("%+v: %d pods took the reference path, want most of the tenant's", tt, aside)
		}
		if hits := workloads(10, false); hits < 950 {
			t.Errorf("%+v: %d of 1,000 pods were answered from kept answers after the tenant", tt, hits)
		}
	}
}

// TestBalanceNamed brings pods whose node affinity names some of the nodes, in groups of equal ones:
// they step aside where fewer nodes are saved than a class costs.
func TestBalanceNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, tt := range []struct {
		named, group int
		pays         bool
	}{{12, 1, false}, {12, 8, false}, {100, 2, false}, {100, 64, true}} {
		var terms []api.NodeSelectorTerm
		for i := range tt.named {
			terms = append(terms, api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{fmt.Sprint("n", i)}}}})
		}
		snap := balanceCluster(t, 500)
		s := build(t, scheduling.Kubernetes137())
		come := func(from, to int) (answered int) {
			before := s.Stats()
			for i := from; i < to; i++ {
				p := api.MakePod(fmt.Sprint("p", i)).Requests("100m", fmt.Sprint(1_000_000+i/tt.group)).Obj()
				p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: terms}}}
				if _, err := s.Schedule(snap, podInfo(t, snap, p)); err != nil {
					t.Fatal(err)
				}
			}
			return int(s.Stats().Hits + s.Stats().Misses - before.Hits - before.Misses)
		}
		come(0, 512)
		if answered := come(512, 1024); tt.pays && answered < 500 || !tt.pays && answered > 50 {
			t.Errorf("%+v: the engine answered for %d of 512 pods", tt, answered)
		}
	}
}

// TestBalanceOfGroups brings equal pods in groups: they step aside where a class costs more than
// its group saves. What a search costs depends on whether it ends early.
func TestBalanceOfGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	for _, tt := range []struct {
		name, cpu             string
		nodes, percent, group int
		strangers             int // that come first
		within                int // 0: all nodes
		pays                  bool
	}{
		{name: "samples", cpu: "100m", nodes: 5000, percent: 10, group: 3},
		{name: "samples", cpu: "100m", nodes: 5000, percent: 10, group: 100, pays: true},
		{name: "that fit nowhere", cpu: "100", nodes: 2000, percent: 5, group: 5, pays: true},
		{name: "that fit nowhere", cpu: "100", nodes: 2000, percent: 20, group: 1},
		{name: "that fit nowhere, after strangers", cpu: "100", nodes: 2000, percent: 10, group: 50, strangers: 400, pays: true},
		{name: "in a small set", cpu: "100m", nodes: 500, group: 10, within: 16},
		{name: "in a small set", cpu: "100m", nodes: 500, group: 256, within: 16, pays: true},
		{name: "in a large set", cpu: "100m", nodes: 500, group: 2, within: 400},
		{name: "in a large set", cpu: "100m", nodes: 500, group: 20, within: 400, pays: true},
	} {
		snap := balanceCluster(t, tt.nodes)
		profile := scheduling.Kubernetes137()
		profile.Percentage = tt.percent
		s := build(t, profile)
		var set *scheduling.NodeSet
		if tt.within > 0 {
			var err error
			var nodes []*framework.NodeInfo
			for i := range tt.within {
				nodes = append(nodes, snap.At(i))
			}
			if set, err = scheduling.NewNodeSet(snap, nodes); err != nil {
				t.Fatal(err)
			}
		}
		come := func(from, to int) (answered int) {
			before := s.Stats()
			for i := from; i < to; i++ {
				pod := podInfo(t, snap, api.MakePod(fmt.Sprint("p", i)).Requests(tt.cpu, fmt.Sprint(1_000_000+i/tt.group)).Obj())
				err := error(nil)
				if set != nil {
					_, err = s.ScheduleWithin(snap, pod, set)
				} else {
					_, err = s.Schedule(snap, pod)
				}
				if fits := tt.cpu != "100"; fits != (err == nil) {
					t.Fatal(err)
				}
			}
			return int(s.Stats().Hits + s.Stats().Misses - before.Hits - before.Misses)
		}
		for i := range tt.strangers {
			if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("s", i)).Requests("100m", fmt.Sprint(9_000_000+i)).Obj())); err != nil {
				t.Fatal(err)
			}
		}
		come(0, 600)
		if answered := come(600, 1200); tt.pays && answered < 550 || !tt.pays && answered > 60 {
			t.Errorf("groups of %d pods %s, %d nodes: the engine answered for %d of 600 pods", tt.group, tt.name, tt.nodes, answered)
		}
	}
}

// A scheduler that verifies asks for all kept answers.
func TestBalanceVerifies(t *testing.T) {
	snap := balanceCluster(t, 10)
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	s := build(t, profile)
	for i := range 600 { // in pairs
		if _, err := s.Schedule(snap, podInfo(t, snap, api.MakePod(fmt.Sprint("p", i)).Requests("100m", fmt.Sprint(1_000_000+i/2)).Obj())); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Stats(); got.Hits+got.Misses < 550 {
		t.Errorf("%+v, want nearly all of 600 pods to be answered", got)
	}
}

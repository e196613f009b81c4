package whatif_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scheduling/workload"
	"github.com/google/go-cmp/cmp"
)

func ExamplePlanner_Headroom() {
	s := cluster([]api.NodeBuilder{
		api.MakeNode("a", "4", "16Gi"), api.MakeNode("b", "8", "4Gi"), api.MakeNode("c", "4", "16Gi").Taint("gpu:NoSchedule"),
	}, api.MakePod("db").Requests("2", "1Gi").Node("a").Obj())
	h, err := planner(s).Headroom(pod(s, api.MakePod("web").Requests("500m", "1Gi").Obj()), 0)
	if err != nil {
		panic(err)
	}
	if err := h.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	var first whatif.Reason = h.Limits[0]
	fmt.Println(first.Plugin, first.Nodes)
	// Output:
	// 8 replicas of default/web fit
	// LIMIT                             PLUGIN            NODES
	// Insufficient cpu                  NodeResourcesFit  1
	// Insufficient memory               NodeResourcesFit  1
	// node(s) had untolerated taint(s)  TaintToleration   1
	// NODE  PODS  LIMIT
	// a     4     Insufficient cpu
	// b     4     Insufficient memory
	// c     0     node(s) had untolerated taint(s)
	// NodeResourcesFit 1
}

func ExamplePlanner_Headroom_spread() {
	s := cluster([]api.NodeBuilder{
		api.MakeNode("a", "2", "16Gi").Zone("east"), api.MakeNode("b", "4", "16Gi").Zone("west"), api.MakeNode("c", "4", "16Gi").Zone("west"),
	})
	web := api.MakePod("web").Labels("app", "web").Requests("1", "1Gi").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=web")
	h, err := planner(s).Headroom(pod(s, web.Obj()), 0)
	if err != nil {
		panic(err)
	}
	var east whatif.DomainHeadroom = h.Domains[0]
	fmt.Println("full:", east.Value, east.Pods == east.Room)
	for _, d := range h.Domains {
		fmt.Printf("%s takes %d, and has room for %d\n", d.Value, d.Pods, d.Room)
	}
	// Output:
	// full: east true
	// east takes 2, and has room for 2
	// west takes 3, and has room for 8
}

// scheduler is a scheduler of the planner's profile.
func scheduler(t *testing.T) *scheduling.Scheduler {
	t.Helper()
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	return sched
}

// placeUntilFull places replicas with a scheduler of its own until one fails.
func placeUntilFull(t *testing.T, s *framework.Snapshot, pod *framework.PodInfo) (total int, nodes map[string]int) {
	t.Helper()
	sched := scheduler(t)
	s = s.Fork()
	nodes = map[string]int{}
	for {
		p := api.Clone(pod.Pod)
		p.Name, p.UID = fmt.Sprint("replica-", total), ""
		p.Spec.NodeName = ""
		p.Status = api.PodStatus{}
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
}

// TestHeadroom compares the headroom with placing until it fails, on random clusters.
func TestHeadroom(t *testing.T) {
	some := 0
	seeds := effort.Of(20, 60)
	for seed := range uint64(seeds) {
		s, pending := random(t, seed)
		p := planner(s)
		before := content(s)
		for _, pod := range pending[:min(3, len(pending))] {
			total, nodes := placeUntilFull(t, s, pod)
			h, err := p.Headroom(pod, 0)
			if total < 0 {
				if err == nil {
					t.Errorf("seed %d: %s cannot be decided, but Headroom has no error", seed, pod.Pod.Key())
				}
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			got := map[string]int{}
			for _, n := range h.Nodes {
				if n.Pods > 0 {
					got[n.Node] = n.Pods
				}
				if n.Plugin == "" && len(n.Reasons) == 0 && h.Total > 0 {
					t.Errorf("seed %d: node %s has no limit", seed, n.Node)
				}
			}
			if diff := cmp.Diff(nodes, got); diff != "" || h.Total != total || h.Stopped {
				t.Errorf("seed %d: Headroom(%s) = %d, want %d; nodes (-want +got):\n%s", seed, pod.Pod.Key(), h.Total, total, diff)
			}
			again, err := p.Headroom(pod, 0)
			if diff := cmp.Diff(h, again); err != nil || diff != "" {
				t.Errorf("seed %d: asked again (-first +second):\n%s", seed, diff)
			}
			if total > 1 {
				some++
				less, err := p.Headroom(pod, total-1)
				if err != nil || less.Total != total-1 || !less.Stopped {
					t.Errorf("seed %d: at most %d: %d, stopped %t, %v", seed, total-1, less.Total, less.Stopped, err)
				}
				exact, err := p.Headroom(pod, total)
				if err != nil || exact.Total != total || exact.Stopped {
					t.Errorf("seed %d: at most %d: %d, stopped %t, %v", seed, total, exact.Total, exact.Stopped, err)
				}
			}
		}
		if after := content(s); after != before {
			t.Errorf("seed %d: the snapshot changed (-before +after):\n%s", seed, cmp.Diff(before, after))
		}
	}
	if some < seeds*2/3 {
		t.Errorf("only %d pods had room for two", some)
	}
}

// TestHeadroomNames checks that pods with the names of replicas do no harm.
func TestHeadroomNames(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi")}, api.MakePod("web-0").Requests("1", "").Node("a").Obj())
	s.RefuseDuplicates()
	h, err := planner(s).Headroom(pod(s, api.MakePod("web").Requests("1", "").Obj()), 0)
	if err != nil || h.Total != 3 {
		t.Errorf("Headroom = %+v, %v; want 3", h, err)
	}
}

// TestHeadroomRefuses checks bad input.
func TestHeadroomRefuses(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "16Gi")})
	p := planner(s)
	if _, err := p.Headroom(nil, 0); err == nil {
		t.Error("a nil pod is no error")
	}
	if _, err := p.Headroom(pod(s, api.MakePod("p").Obj()), -1); err == nil {
		t.Error("a negative number is no error")
	}
	if _, err := whatif.New(scheduling.Kubernetes137(), nil); err == nil {
		t.Error("a nil snapshot is no error")
	}
	h, err := planner(framework.NewSnapshot(framework.Arrival)).Headroom(pod(framework.NewSnapshot(framework.Arrival), api.MakePod("p").Obj()), 0)
	if err == nil && h.Total != 0 {
		t.Errorf("an empty cluster has room for %d", h.Total)
	}
	text, err := json.Marshal(whatif.Headroom{Pod: "default/p", Nodes: []whatif.NodeHeadroom{}})
	if err != nil || string(text) != `{"pod":"default/p","total":0,"nodes":[]}` {
		t.Errorf("JSON %s, %v", text, err)
	}
}

// TestHeadroomOfLargePods: without a number of replicas, the answer ends at fewer of a pod that takes more memory.
func TestHeadroomOfLargePods(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("n", "64", "64Gi").Allocatable("pods", "5000")})
	large := api.MakePod("large").Obj()
	large.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{
		{Weight: 1, Preference: api.NodeSelectorTerm{MatchExpressions: []api.NodeSelectorRequirement{{Key: "k", Operator: api.NodeSelectorOpIn, Values: []string{strings.Repeat("v", 1_000_000)}}}}},
	}}}
	for want, p := range map[int]*api.Pod{5000: api.MakePod("plain").Obj(), 1_000_000 / (4 * workload.WeightOf(&api.PodTemplateSpec{Spec: large.Spec})): large} {
		h, err := planner(s).Headroom(pod(s, p), 0)
		if err != nil || h.Total != want || h.Stopped != (p == large) {
			t.Errorf("%s: %d replicas, stopped %t, %v, want %d", p.Name, h.Total, h.Stopped, err, want)
		}
	}
}

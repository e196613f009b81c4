package scheduling_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/scheduling"
	"github.com/google/go-cmp/cmp"
)

func ExampleScheduler_ExplainAll() {
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range []api.NodeBuilder{
		api.MakeNode("a", "4", "16Gi").Taint("gpu:NoSchedule"), api.MakeNode("b", "2", "16Gi").Zone("z2"),
	} {
		if err := s.AddNode(n.Obj()); err != nil {
			panic(err)
		}
	}
	sched := scheduler(scheduling.Kubernetes137())
	e := sched.ExplainAll(s, pending(s, "big", "6", "1Gi"))
	if err := e.WriteTable(os.Stdout, 0); err != nil {
		panic(err)
	}
	var first scheduling.NodeRejection = e.Nodes[0].Rejections[1]
	fmt.Println(first.Plugin, first.Details[0].Free())
	// Output:
	// pod default/big goes nowhere: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).
	// NODE  VERDICT   PLUGIN            REASONS
	// a     rejected  TaintToleration   node(s) had untolerated taint(s) (taint gpu:NoSchedule)
	// a     rejected  NodeResourcesFit  Insufficient cpu (cpu: asked 6, free 4 of 4)
	// b     rejected  NodeResourcesFit  Insufficient cpu (cpu: asked 6, free 2 of 2)
	// NodeResourcesFit 4000
}

func ExampleFiltering() {
	s := twoNodes()
	sched := scheduler(scheduling.Kubernetes137())
	pod := pending(s, "web", "1", "1Gi")
	f, err := sched.Filtering(s, pod)
	if err != nil {
		panic(err)
	}
	placed := 0
	for {
		v, err := f.Node(s.Node("small"))
		if err != nil {
			panic(err)
		}
		if !v.Status.IsSuccess() {
			fmt.Println(placed, "fit on small, then", v.Status.Message())
			break
		}
		replica, err := pod.Named(fmt.Sprint("web-", placed))
		if err != nil {
			panic(err)
		}
		if err := f.Place(replica, s.Node("small")); err != nil {
			panic(err)
		}
		placed++
	}
	fmt.Println("each node answers for itself:", f.NodeOnly())
	// Output:
	// 2 fit on small, then Insufficient cpu
	// each node answers for itself: true
}

// TestRejections checks, on random clusters, that the first of all rejections is the
// verdict of a decision, that a node without any is feasible, and that numbers explain
// themselves.
func TestRejections(t *testing.T) {
	several, detailed := 0, 0
	for seed := range uint64(60) {
		s, waiting, err := frameworktest.Snapshot(frameworktest.Cluster(seed))
		if err != nil {
			t.Fatal(err)
		}
		sched := scheduler(scheduling.Kubernetes137())
		for _, pod := range waiting {
			f, err := sched.Filtering(s, pod)
			if err != nil {
				continue // a malformed constraint
			}
			for _, n := range s.All() {
				v, err := f.Node(n)
				if err != nil {
					continue
				}
				list, err := f.Rejections(n)
				if err != nil {
					continue
				}
				if v.Status.IsSuccess() != (len(list) == 0) {
					t.Fatalf("seed %d, %s on %s: verdict %v, rejections %+v", seed, pod.Pod.Key(), n.Name(), v.Status, list)
				}
				if len(list) > 1 {
					several++
				}
				if v.Plugin != "" && !hasRejection(list, v) {
					t.Fatalf("seed %d, %s on %s: verdict %s %v is not among %+v", seed, pod.Pod.Key(), n.Name(), v.Plugin, v.Status, list)
				}
				for _, r := range list {
					for _, d := range r.Details {
						detailed++
						if d.Subject == "" || (d.Asked != 0 || d.Used != 0 || d.Limit != 0) && d.Asked <= d.Free() {
							t.Fatalf("seed %d, %s on %s: %s: detail %+v does not explain a rejection", seed, pod.Pod.Key(), n.Name(), r.Plugin, d)
						}
					}
					if r.Plugin == "NodeResourcesFit" && len(r.Details) != len(r.Reasons) {
						t.Fatalf("seed %d: %d details for %q", seed, len(r.Details), r.Reasons)
					}
				}
			}
		}
	}
	if several < 100 || detailed < 200 {
		t.Errorf("%d nodes with several rejections, %d details; the test shows too little", several, detailed)
	}
}

func hasRejection(list []scheduling.NodeRejection, v scheduling.NodeVerdict) bool {
	for _, r := range list {
		if r.Plugin == v.Plugin && r.Code == v.Status.Code().String() && cmp.Equal(r.Reasons, v.Status.Reasons()) {
			return true
		}
	}
	return false
}

// TestRejectionsNominated checks that a nominated pod counts, in the verdict and in
// the numbers.
func TestRejectionsNominated(t *testing.T) {
	s := twoNodes()
	sched := scheduler(scheduling.Kubernetes137())
	vip, err := s.NewPodInfo(api.MakePod("vip").Priority(10).Requests("2", "1Gi").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Nominate(vip, "small", ""); err != nil {
		t.Fatal(err)
	}
	f, err := sched.Filtering(s, pending(s, "p", "1", "1Gi"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Rejections(s.Node("small"))
	want := []scheduling.NodeRejection{{
		Plugin: "NodeResourcesFit", Code: "Unschedulable", Reasons: []string{"Insufficient cpu"},
		Details: []framework.Detail{{Subject: "cpu", Unit: framework.UnitMilli, Asked: 1000, Used: 2000, Limit: 2000}},
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Rejections: %v (-want +got):\n%s", err, diff)
	}
	if len(s.Node("small").Pods) != 0 {
		t.Error("the nominated pod stayed on the node")
	}
	if _, err := f.Node(nil); err == nil {
		t.Error("Node(nil) is no error")
	}
	if _, err := f.Rejections(nil); err == nil {
		t.Error("Rejections(nil) is no error")
	}
}

// An explanation of all nodes keeps the first details of a rejection, and says how many more there are.
func TestExplainAllIsBounded(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	for _, terms := range []int{32, 33, 5000} {
		pod := api.MakePod("p").Obj()
		required := &api.NodeSelector{}
		for i := range terms {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, api.NodeSelectorTerm{
				MatchExpressions: []api.NodeSelectorRequirement{{Key: fmt.Sprint("k", i), Operator: api.NodeSelectorOpExists}},
			})
		}
		pod.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		info, err := s.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		sched, err := scheduling.New(scheduling.Kubernetes137())
		if err != nil {
			t.Fatal(err)
		}
		details := sched.ExplainAll(s, info).Nodes[0].Rejections[0].Details
		last := details[len(details)-1].Subject
		if want := fmt.Sprintf("%d more", terms-32); terms > 32 && (len(details) != 33 || last != want) || terms == 32 && len(details) != 32 {
			t.Errorf("%d terms: %d details, the last one %q", terms, len(details), last)
		}
	}
}

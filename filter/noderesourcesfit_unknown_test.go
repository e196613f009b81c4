package filter_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/oracle"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// TestFitUnknown compares verdicts with an oracle in a snapshot whose schema gives no
// more numbers to names that only pods have.
func TestFitUnknown(t *testing.T) {
	names := []resource.Name{"cpu", "memory", "example.com/a", "example.com/b", "hugepages-2Mi", "example.com/c"}
	list := func(t *rapid.T) resource.List {
		l := resource.List{}
		for _, n := range names {
			if rapid.Bool().Draw(t, "has") {
				l[n] = resource.New(rapid.Int64Range(0, 4).Draw(t, string(n)), resource.DecimalSI)
			}
		}
		return l
	}
	s, err := scheduling.New(scheduling.Profile{Filter: []framework.Plugin{filter.NodeResourcesFit{IgnoredResources: []resource.Name{"example.com/c"}}}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		snap := framework.NewSnapshot(framework.Arrival)
		full := resource.List{}
		for i := range resource.MaxGuests {
			full[resource.Name(fmt.Sprintf("example.com/z%03d", i))] = resource.Milli(1)
		}
		snap.Schema().AdmitGuests(full)
		derive := func(name string) *framework.PodInfo {
			p := api.MakePod(name).Obj()
			p.Spec.Containers = []api.Container{{Name: "c", Resources: api.ResourceRequirements{Requests: list(t)}}}
			info, err := snap.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		node := func() *api.Node {
			n := api.MakeNode("n", "4", "4").Obj()
			n.Status.Allocatable = list(t)
			n.Status.Allocatable["pods"] = resource.New(10, resource.DecimalSI)
			return n
		}
		n := node()
		pods := []*framework.PodInfo{derive("a"), derive("b")}
		pod := derive("p")
		if err := snap.AddNode(n); err != nil {
			t.Fatal(err)
		}
		var objects []*api.Pod
		for _, p := range pods {
			if err := snap.AddPod(p, "n"); err != nil {
				t.Fatal(err)
			}
			objects = append(objects, p.Pod)
		}
		for range 3 {
			verdicts, err := s.FilterNodes(snap, pod, []*framework.NodeInfo{snap.Node("n")})
			if err != nil {
				t.Fatal(err)
			}
			want, forGood := oracle.Fit(pod.Pod, n, objects, "example.com/c")
			got := verdicts[0].Status
			if !slices.Equal(got.Reasons(), want) || (got.Code() == framework.UnschedulableAndUnresolvable) != forGood {
				t.Fatalf("%v, want %v, for good %t; the pod has %v and %v", got, want, forGood, pod.Requests, pod.Unknown)
			}
			n = node()
			if err := snap.UpdateNode(n); err != nil {
				t.Fatal(err)
			}
		}
	})
}

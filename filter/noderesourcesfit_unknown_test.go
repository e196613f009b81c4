//go:build full

package filter_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
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

// TestFitReasonsAreBounded rejects pods with many and with long names of resources, both
// known and unknown.
func TestFitReasonsAreBounded(t *testing.T) {
	long := resource.Name("hugepages-" + strings.Repeat("x", 1<<20))
	for name, tt := range map[string]struct {
		requests int
		long     bool
		offered  int // by another node
		want     string
	}{
		"few":              {requests: 2, want: "Insufficient cpu, Insufficient example.com/r-0000, Insufficient example.com/r-0001"},
		"many unknown":     {requests: 5000, want: "Insufficient cpu, Insufficient example.com/r-0000, .*Insufficient 4[0-9]{3} other resources"},
		"many known":       {requests: 1000, offered: 1000, want: "Insufficient cpu, Insufficient example.com/r-0000, .*Insufficient 8[0-9]{2} other resources"},
		"some known":       {requests: 1000, offered: 500, want: "Insufficient cpu, Insufficient example.com/r-0000, .*Insufficient 8[0-9]{2} other resources"},
		"one that is long": {long: true, want: `Insufficient cpu, Insufficient hugepages-x{502}\.\.\. \(1048586 bytes\)`},
	} {
		snap := framework.NewSnapshot(framework.Arrival)
		other := api.MakeNode("other", "1", "1Gi").Obj()
		p := api.MakePod("p").Requests("2", "1Mi").Obj()
		for i := range max(tt.requests, tt.offered) {
			r := resource.Name(fmt.Sprintf("example.com/r-%04d", i))
			if i < tt.offered {
				other.Status.Allocatable[r] = resource.MustParse("1")
			}
			p.Spec.Containers[0].Resources.Requests[r] = resource.MustParse("1")
		}
		if tt.long {
			p.Spec.Containers[0].Resources.Requests[long] = resource.MustParse("1")
		}
		for _, n := range []*api.Node{other, api.MakeNode("n", "1", "1Gi").Obj()} {
			if err := snap.AddNode(n); err != nil {
				t.Fatal(err)
			}
		}
		info, err := snap.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		statuses, _, _ := verdicts(&framework.Cycle{Snapshot: snap, Pod: info}, filter.NodeResourcesFit{})
		got := statuses[1].Message()
		if matched, err := regexp.MatchString("^"+tt.want+"$", got); err != nil || !matched || len(got) > 5<<10 {
			t.Errorf("%s: %d bytes: %.300s, want %s, %v", name, len(got), got, tt.want, err)
		}
	}
}

//go:build full

package gang

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/scheduling"
)

// TestReturnsAgree compares the units that return if only the pods beside them are asked
// with those that return if all pods are: any group, and units with ports, terms, and pods
// on several nodes.
func TestReturnsAgree(t *testing.T) {
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(sched, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	want := map[string]int{"groups of separate pods": 20, "units beside them returned": 20, "units beside them gone": 20}
	enough.Check(t, seen, want, func(t *rapid.T) {
		const most = 5
		s := framework.NewSnapshot(framework.Arrival)
		nodes := rapid.IntRange(1, most).Draw(t, "nodes")
		for i := range nodes {
			name := fmt.Sprint("n", i)
			n := api.MakeNode(name, rapid.SampledFrom([]string{"1", "2", "4"}).Draw(t, "cpu"), "64Gi").Labels(api.LabelHostname, name, "zone", fmt.Sprint("z", i%2))
			if err := s.AddNode(n.Obj()); err != nil {
				t.Fatal(err)
			}
		}
		node := func() string { return fmt.Sprint("n", rapid.IntRange(0, nodes-1).Draw(t, "node")) }
		pod := func(name string, hostile bool) *framework.PodInfo {
			b := api.MakePod(name).Namespace("default").Labels("app", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app")).
				Requests(rapid.SampledFrom([]string{"100m", "100m", "1"}).Draw(t, "asks"), "1Mi")
			if rapid.IntRange(0, 5).Draw(t, "port") == 0 {
				b = b.HostPort(rapid.Int32Range(80, 81).Draw(t, "number"))
			}
			if hostile && rapid.IntRange(0, 3).Draw(t, "term") == 0 {
				switch zone := rapid.SampledFrom([]string{"zone", api.LabelHostname}).Draw(t, "key"); rapid.IntRange(0, 3).Draw(t, "how") {
				case 0:
					b = b.PodAffinity(zone, "app=a")
				case 1:
					b = b.Spread(1, zone, api.DoNotSchedule, "app=a")
				default:
					b = b.PodAntiAffinity(zone, rapid.SampledFrom([]string{"app=a", "app=b", "app=c"}).Draw(t, "whom"))
				}
			}
			info, err := s.NewPodInfo(b.Obj())
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		withTerms := rapid.Bool().Draw(t, "units with terms")
		var units []*Unit
		for i := range rapid.IntRange(1, 8).Draw(t, "units") {
			u := &Unit{}
			for k := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "size") {
				u.Members = append(u.Members, Member{pod(fmt.Sprintf("u-%d-%d", i, k), withTerms), node()})
			}
			units = append(units, u)
		}
		g := &Group{Name: "g", Priority: 5}
		var placed []Placement
		groupTerms := rapid.IntRange(0, 3).Draw(t, "terms in the group") == 0
		for i := range rapid.IntRange(1, most).Draw(t, "pods") {
			g.Pods = append(g.Pods, pod(fmt.Sprint("m-", i), groupTerms))
			placed = append(placed, Placement{Pod: g.Pods[i].Pod.Key(), Node: node(), index: i})
		}
		if rapid.IntRange(0, 3).Draw(t, "nominated") == 0 {
			who := g.Pods[0]
			if rapid.Bool().Draw(t, "another") {
				who = pod("another", false)
			}
			if err := s.Nominate(who, node(), ""); err != nil {
				t.Fatal(err)
			}
		}
		returns := func(all bool) (gone []*Unit) {
			mark := s.Begin()
			defer s.Rollback(mark)
			x := p.reprieval(s, g, placed)
			if all {
				x.separate = false
			} else if x.separate {
				seen["groups of separate pods"]++
			}
			gone, err := x.putBack(units)
			if err == nil {
				gone, err = x.putBack(gone) // as under other rules
			}
			if err != nil {
				t.Fatal(err)
			}
			if x.separate {
				seen["units beside them gone"] += len(gone)
				seen["units beside them returned"] += len(units) - len(gone)
			}
			return gone
		}
		if got, want := returns(false), returns(true); !slices.Equal(got, want) {
			t.Fatalf("%d of %d units stay away, want %d", len(got), len(units), len(want))
		}
	})
}

package whatif_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
)

// packing is the default profile with nodes filled one after the other.
func packing() scheduling.Profile {
	p := scheduling.Kubernetes137()
	p.Name = "packing"
	if err := p.Replace(scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}); err != nil {
		panic(err)
	}
	if err := p.Reweigh("NodeResourcesFit", 100); err != nil {
		panic(err)
	}
	return p
}

func ExamplePlanner_Compare() {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "8Gi"), api.MakeNode("b", "4", "8Gi")})
	small, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "1Gi").Obj()), 4)
	if err != nil {
		panic(err)
	}
	c, err := planner(s).Compare(packing(), append(small, pod(s, api.MakePod("db").Requests("4", "2Gi").Obj())))
	if err != nil {
		panic(err)
	}
	if err := c.WriteTable(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// 3 pods go elsewhere or fit only under one profile
	// PROFILE  PLACED  UNPLACED  RESOURCE  USED    FRAGMENTED  STRANDED
	// a        4       1         cpu       50.0%   10.0%       0.0%
	// a        4       1         memory    25.0%   15.0%       0.0%
	// b        5       0         cpu       100.0%  0.0%        0.0%
	// b        5       0         memory    37.5%   62.5%       62.5%
	// POD            A  B
	// default/web-1  b  a
	// default/web-3  b  a
	// default/db     -  b
}

// TestCompare works out a comparison by hand: spread pods leave no room for the large
// one, packed pods do.
func TestCompare(t *testing.T) {
	s := cluster([]api.NodeBuilder{api.MakeNode("a", "4", "8Gi"), api.MakeNode("b", "4", "8Gi")})
	small, err := whatif.Replicas(pod(s, api.MakePod("web").Requests("1", "1Gi").Obj()), 3)
	if err != nil {
		t.Fatal(err)
	}
	pods := append(small, pod(s, api.MakePod("db").Requests("4", "2Gi").Obj()))
	before := content(s)
	c, err := planner(s).Compare(packing(), pods)
	if err != nil {
		t.Fatal(err)
	}
	if content(s) != before {
		t.Error("the snapshot changed")
	}
	if c.A.Placed != 3 || c.A.Unplaced != 1 || c.B.Placed != 4 || c.B.Unplaced != 0 {
		t.Errorf("placed %d and %d, unplaced %d and %d; want 3 and 4, 1 and 0", c.A.Placed, c.B.Placed, c.A.Unplaced, c.B.Unplaced)
	}
	// Under A 3 of 8 CPUs are used; of the 5 free ones none can take the db, which is
	// one pod of four. Under B 7 are used, and the last cannot take it either.
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	near("A utilization", c.A.Capacity[0].Utilization, 3.0/8)
	near("A fragmentation", c.A.Capacity[0].Fragmentation, 5.0/8/4)
	near("A stranded", c.A.Capacity[0].Stranded, 0)
	near("B utilization", c.B.Capacity[0].Utilization, 7.0/8)
	near("B fragmentation", c.B.Capacity[0].Fragmentation, 1.0/8/4)
	near("B stranded", c.B.Capacity[0].Stranded, 0)
	near("B stranded memory", c.B.Capacity[1].Stranded, 6.0/16) // the node of the db has no CPU left
	var last whatif.Difference = c.Differ[len(c.Differ)-1]
	if last.Pod != "default/db" || last.A != "" || last.B == "" {
		t.Errorf("last difference %+v, want the db, unplaced under A", last)
	}
	if same, err := planner(s).Compare(scheduling.Kubernetes137(), pods); err != nil || len(same.Differ) != 0 {
		t.Errorf("a profile differs from itself: %+v, %v", same, err)
	}
	if _, err := planner(s).Compare(scheduling.Profile{Percentage: -7}, pods); err == nil {
		t.Error("an invalid profile is no error")
	}
	if _, err := planner(s).Compare(packing(), []*framework.PodInfo{nil}); err == nil {
		t.Error("a nil pod is no error")
	}
	var _ whatif.Capacity = c.A.Capacity[0]
	var _ whatif.ProfileResult = c.A
}

// A profile does not differ from itself, wherever the questions begin.
func TestCompareAfterSeek(t *testing.T) {
	var nodes []api.NodeBuilder
	for i := range 40 {
		nodes = append(nodes, api.MakeNode(fmt.Sprintf("n%03d", i), "8", "16Gi"))
	}
	s := cluster(nodes)
	profile := scheduling.Kubernetes137()
	profile.TieRule, profile.Seed = scheduling.Random, 7
	sched, err := scheduling.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	web := func(name string) *framework.PodInfo { return pod(s, api.MakePod(name).Requests("1", "1Gi").Obj()) }
	if _, err := sched.Place(s, web("before")); err != nil {
		t.Fatal(err)
	}
	p, err := whatif.New(profile, s)
	if err != nil {
		t.Fatal(err)
	}
	p.Seek(sched.Position())
	var pods []*framework.PodInfo
	for i := range 5 {
		pods = append(pods, web(fmt.Sprint("p", i)))
	}
	if c, err := p.Compare(profile, pods); err != nil || len(c.Differ) > 0 {
		t.Errorf("a profile differs from itself: %v, %v", c.Differ, err)
	}
}

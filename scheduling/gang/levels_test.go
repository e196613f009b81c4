package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A slice is placed as a whole or not at all, also if its level is that of the domain that
// is tried, or a coarser one.
func TestSlicesAreWhole(t *testing.T) {
	torn := func(pods int, levels ...gang.Level) *gang.Group {
		return &gang.Group{Name: "g", Pods: make([]*framework.PodInfo, pods), Topology: levels}
	}
	for _, tt := range []struct {
		name  string
		free  []string // CPUs of the node of each rack, all in one block
		asks  []string
		least int
		group *gang.Group
	}{
		// Pods 1 and 2, one of each slice, fit together, but no slice does.
		{"of the candidate", []string{"3", "2"}, []string{"3", "1", "2", "2"}, 2, torn(4, gang.Level{Key: rack, Slice: 2})},
		{"of a preferred candidate", []string{"3", "2"}, []string{"3", "1", "2", "2"}, 2, torn(4, gang.Level{Key: rack, Mode: gang.Preferred, Slice: 2})},
		// Pod by pod, the first of each slice fit; the second of each is too large.
		{"pod by pod", []string{"3"}, []string{"1", "4", "1", "4", "1", "4"}, 2, torn(6, gang.Level{Key: rack, Slice: 2})},
		// Racks take 6 equal pods, which are one slice of 4 and a half.
		{"of a coarser level", []string{"6"}, []string{"1", "1", "1", "1", "1", "1", "1", "1"}, 4, torn(8, gang.Level{Key: block, Slice: 4}, gang.Level{Key: rack, Slice: 2})},
	} {
		var nodes []*api.Node
		for i, cpu := range tt.free {
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), cpu, "64Gi").Labels(block, "b", rack, fmt.Sprint("r", i)).Obj())
		}
		s := cluster(nodes)
		g := *tt.group
		g.Min = tt.least
		for i, ask := range tt.asks {
			g.Pods[i] = info(s, api.MakePod(fmt.Sprint("p", i)).Requests(ask, "1Mi").Obj())
		}
		for _, search := range []int{0, 1000} {
			out, err := placer(gang.Rules{Choice: gang.BestFit, Search: search}).Try(s, &g)
			if err != nil {
				t.Fatal(err)
			}
			size := max(g.Topology[0].Slice, 1)
			slices := map[int]int{}
			for _, p := range out.Placed {
				slices[p.Index()/size]++
			}
			for k, n := range slices {
				if n != size {
					t.Errorf("%s, search %d: %d of %d pods of slice %d are placed: %+v", tt.name, search, n, size, k, out.Placed)
				}
			}
			if want := tt.name == "of a coarser level"; (out.Status == gang.Placed) != want {
				t.Errorf("%s, search %d: %v, %s, want placed %t", tt.name, search, out.Status, out.Text, want)
			}
		}
	}
}

// A Preferred level keeps pods together only if that leaves none out.
func TestPreferredLeavesNoneOut(t *testing.T) {
	mixed := func(s *framework.Snapshot, n int) (list []*framework.PodInfo) {
		for i := range n {
			p := api.MakePod(fmt.Sprint("worker-", i)).Requests("1", "1Gi")
			if i%2 == 1 {
				p = p.Requests("1", "2Gi")
			}
			list = append(list, info(s, p.Obj()))
		}
		return list
	}
	alike := func(s *framework.Snapshot, n int) []*framework.PodInfo { return workers(s, n, "1") }
	compare := func(a, b *gang.Trial) int { return b.Pods - a.Pods }
	for _, tt := range []struct {
		pods, least int
		exact       bool
		placed      int
		racks       int
	}{
		{10, 2, false, 10, 2}, // racks have room for 4, 8 and 4
		{8, 2, false, 8, 1},
		{10, 10, false, 10, 2},
		{10, 2, true, 2, 1},
		{20, 2, false, 16, 3}, // as many as there is room for
	} {
		for name, pods := range map[string]func(*framework.Snapshot, int) []*framework.PodInfo{"alike": alike, "mixed": mixed} {
			for _, rules := range []gang.Rules{{Choice: gang.BestFit}, {Choice: gang.LeastFree}, {Choice: gang.MostPacked}, {Compare: compare}, {Choice: gang.BestFit, Search: 1000}} {
				rules.Exact = tt.exact
				s := racks(1, 2, 1)
				g := &gang.Group{Name: "g", Pods: pods(s, tt.pods), Min: tt.least, Topology: []gang.Level{{Key: rack, Mode: gang.Preferred}}}
				out, err := placer(rules).Place(s, g)
				if err != nil || out.Status != gang.Placed {
					t.Fatalf("%s, %+v: %+v, %v", name, tt, out, err)
				}
				used := map[string]bool{}
				for _, p := range out.Placed {
					used[s.Node(p.Node).Node.Labels[rack]] = true
				}
				fewest := len(used) == tt.racks || rules.Choice == gang.LeastFree && len(used) >= tt.racks
				if len(out.Placed) != tt.placed || !fewest {
					t.Errorf("%s, %+v by %v: %d pods in racks %v", name, tt, rules.Choice, len(out.Placed), used)
				}
			}
		}
	}
}

// If all cannot be together, and no more pods fit in several domains than in one, they stay
// in one.
func TestPreferredKeepsTheMost(t *testing.T) {
	nodes := []*api.Node{
		api.MakeNode("a", "8", "64Gi").Labels(rack, "r0").Obj(),
		api.MakeNode("b", "1", "64Gi").Labels(rack, "r1").Obj(),
	}
	s := cluster(nodes)
	for _, pods := range [][]*framework.PodInfo{workers(s, 6, "2"), append(workers(s, 5, "2"), info(s, api.MakePod("worker-5").Requests("2", "2Gi").Obj()))} {
		for _, rules := range []gang.Rules{{Choice: gang.BestFit}, {Compare: func(a, b *gang.Trial) int { return b.Pods - a.Pods }}} {
			out, err := placer(rules).Try(s, &gang.Group{Name: "g", Pods: pods, Min: 2, Topology: []gang.Level{{Key: rack, Mode: gang.Preferred}}})
			if err != nil || len(out.Placed) != 4 || len(out.Domain) != 1 || out.Domain[0].Value != "r0" || len(out.Left) != 2 {
				t.Errorf("Try = %+v, %v, want 4 pods in r0", out, err)
			}
		}
	}
}

// Levels that are out of order, by what labels mean or by the nodes, are refused by every
// way, with field and value, and nothing has changed.
func TestLevelsOutOfOrder(t *testing.T) {
	const zone, region = api.LabelTopologyZone, api.LabelTopologyRegion
	mk := func() *framework.Snapshot {
		var nodes []*api.Node
		for b := range 2 {
			for r := range 2 {
				name := fmt.Sprintf("b%dr%d", b, r)
				n := api.MakeNode(name, "8", "16Gi").Labels(block, fmt.Sprint("b", b), rack, name, "number", fmt.Sprint(r))
				nodes = append(nodes, n.Labels(zone, "z", region, "r", api.LabelHostname, name).Obj())
			}
		}
		return cluster(nodes)
	}
	for _, tt := range []struct {
		levels []gang.Level
		want   string // in the text of the error, "" if the levels are in order
	}{
		{[]gang.Level{{Key: zone}, {Key: region}}, `topology[1].key: "` + region + `": must be above topology[0], ` + zone},
		{[]gang.Level{{Key: zone}, {Key: block}, {Key: region}}, `topology[2].key: "` + region + `": must be above topology[0], ` + zone},
		{[]gang.Level{{Key: rack, Mode: gang.Counted}, {Key: block, Mode: gang.Counted, Slice: 4}}, `topology[1].key: "` + block + `": must be above topology[0], ` + rack},
		{[]gang.Level{{Key: region}, {Key: rack}, {Key: block}}, `topology[2].key: "` + block + `": must be above topology[1], ` + rack},
		{[]gang.Level{{Key: region}, {Key: zone}, {Key: block}, {Key: rack}, {Key: api.LabelHostname}}, ""},
		{[]gang.Level{{Key: block}, {Key: "number"}}, ""}, // numbers are those of all blocks
	} {
		for way, call := range entries {
			s := mk()
			before := imageOf(s)
			err := call(placer(gang.Rules{Choice: gang.BestFit}), s, &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Topology: tt.levels})
			var invalid *api.InvalidError
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%s of %v: %v", way, tt.levels, err)
			case tt.want == "":
				continue
			case !errors.As(err, &invalid) || !strings.Contains(err.Error(), tt.want):
				t.Errorf("%s of %v: %v, want %s", way, tt.levels, err, tt.want)
			}
			unchanged(t, s, before, way)
		}
	}
}

// Names that all racks or blocks use say nothing about the order.
func TestLevelsThatShareNames(t *testing.T) {
	var nodes []*api.Node
	for i := range 4 {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "8", "16Gi").Labels(block, fmt.Sprint("b", i), rack, "r0").Obj())
	}
	s := cluster(nodes)
	out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Topology: []gang.Level{{Key: block}, {Key: rack}}})
	if err != nil || out.Status != gang.Placed {
		t.Errorf("Try = %+v, %v, want Placed", out, err)
	}
}

// A refusal names what divides pods that fit each by itself.
func TestReasonOfSlices(t *testing.T) {
	s := racks(2, 2)
	out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, 4, "3"), Topology: []gang.Level{{Key: rack, Mode: gang.Counted, Slice: 4}}})
	const want = "the cluster takes 0 of 4 pods; every slice of 4 pods must be in one rack"
	if err != nil || out.Text != want {
		t.Errorf("Text = %q, %v, want %q", out.Text, err, want)
	}
}

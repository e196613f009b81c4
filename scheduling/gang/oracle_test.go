package gang_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// A tiny is a cluster and a group so small that every assignment can be tried. Pods ask
// for CPUs, some for a host port, which no two pods of a node share, and some for another
// pod of the group on their node.
type tiny struct {
	cpu   []int    // free, by node
	racks []string // by node, "" for none
	asks  []int    // by pod
	port  []bool   // by pod
	near  []int    // by pod: the pod that must be on its node before it, -1 for none
}

// drawTiny draws at most 6 nodes and 5 pods.
func drawTiny(t *rapid.T) tiny {
	var x tiny
	for range rapid.IntRange(1, 6).Draw(t, "nodes") {
		x.cpu = append(x.cpu, rapid.IntRange(0, 4).Draw(t, "cpu"))
		x.racks = append(x.racks, rapid.SampledFrom([]string{"b0/r0", "b0/r1", "b1/r0", ""}).Draw(t, "rack"))
	}
	alike := rapid.Bool().Draw(t, "alike")
	for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
		if alike && i > 0 {
			x.asks, x.port = append(x.asks, x.asks[0]), append(x.port, x.port[0])
			continue
		}
		x.asks, x.port = append(x.asks, rapid.IntRange(1, 3).Draw(t, "ask")), append(x.port, rapid.IntRange(0, 4).Draw(t, "port") == 0)
	}
	affine := rapid.Bool().Draw(t, "affine")
	for i := range x.asks {
		near := -1
		if affine && rapid.Bool().Draw(t, "near") {
			near = rapid.IntRange(0, len(x.asks)-1).Draw(t, "to")
		}
		if near == i { // a pod may be the first that its own term matches
			near = -1
		}
		x.near = append(x.near, near)
	}
	return x
}

func (x tiny) snapshot() (*framework.Snapshot, []*framework.PodInfo) {
	var nodes []*api.Node
	for i, cpu := range x.cpu {
		n := api.MakeNode(fmt.Sprintf("n%d", i), fmt.Sprint(cpu), "64Gi").Labels(api.LabelHostname, fmt.Sprintf("n%d", i))
		if r := x.racks[i]; r != "" {
			n = n.Labels(block, r[:2], rack, r[3:])
		}
		nodes = append(nodes, n.Obj())
	}
	s := cluster(nodes)
	var pods []*framework.PodInfo
	for i, ask := range x.asks {
		p := api.MakePod(fmt.Sprintf("m-%d", i)).Requests(fmt.Sprint(ask), "1Mi")
		if x.port[i] {
			p = p.HostPort(80)
		}
		if x.affine() {
			p = p.Labels("id", fmt.Sprint(i))
		}
		if near := x.near[i]; near >= 0 {
			p = p.PodAffinity(api.LabelHostname, fmt.Sprintf("id=%d", near))
		}
		pods = append(pods, info(s, p.Obj()))
	}
	return s, pods
}

// affine reports whether a pod asks for another.
func (x tiny) affine() bool { return slices.ContainsFunc(x.near, func(i int) bool { return i >= 0 }) }

// together reports whether, in some order, each pod that stands finds the pod that it asks
// for on its node. node is -1 for pods that do not stand.
func (x tiny) together(node []int) bool {
	for i := range x.near {
		at := i
		for range len(x.near) + 1 {
			next := x.near[at]
			if node[at] < 0 || next < 0 {
				at = -1
				break
			}
			if node[next] != node[at] {
				return false
			}
			at = next
		}
		if at >= 0 { // pods that wait for each other
			return false
		}
	}
	return true
}

// exists reports whether at least min of the pods fit, all of them on allowed nodes and
// every slice on nodes with one home.
func (x tiny) exists(min, slice int, allowed func(node int) bool, home func(node int) string) bool {
	free := append([]int(nil), x.cpu...)
	ports := make([]bool, len(free))
	node := make([]int, len(x.asks))
	var from func(i, placed int) bool
	from = func(i, placed int) bool {
		if i == len(x.asks) {
			return placed >= min && x.together(node)
		}
		if placed+len(x.asks)-i < min {
			return false
		}
		for n := range free {
			if !allowed(n) || free[n] < x.asks[i] || ports[n] && x.port[i] {
				continue
			}
			if slice > 0 {
				if home(n) == "" {
					continue
				}
				if i%slice != 0 && (node[i-1] < 0 || home(node[i-1]) != home(n)) {
					continue
				}
			}
			free[n] -= x.asks[i]
			had := ports[n]
			ports[n] = ports[n] || x.port[i]
			node[i] = n
			if from(i+1, placed+1) {
				return true
			}
			free[n] += x.asks[i]
			ports[n] = had
		}
		if slice == 0 {
			node[i] = -1
			return from(i+1, placed)
		}
		if i%slice == 0 { // a slice is left out as a whole
			for k := i; k < i+slice; k++ {
				node[k] = -1
			}
			return from(i+slice, placed)
		}
		return false
	}
	return from(0, 0)
}

// drawSliced draws levels with slices of a size, or without if it is 0, at any level and of
// any mode.
func drawSliced(t *rapid.T, slice int) []gang.Level {
	modes := []gang.Mode{gang.Required, gang.Preferred, gang.Counted}
	outer := rapid.SampledFrom(modes).Draw(t, "mode of blocks")
	inner := rapid.SampledFrom(modes[outer:]).Draw(t, "mode of racks")
	switch rapid.IntRange(0, 4).Draw(t, "levels") {
	case 0:
		if slice == 0 {
			return nil
		}
		return []gang.Level{{Key: block, Mode: outer, Slice: slice}}
	case 1:
		return []gang.Level{{Key: block, Mode: outer, Slice: slice}, {Key: rack, Mode: inner}}
	case 2:
		return []gang.Level{{Key: rack, Mode: outer, Slice: slice}, {Key: api.LabelHostname, Mode: gang.Counted}}
	}
	return []gang.Level{{Key: block, Mode: outer}, {Key: rack, Mode: inner, Slice: slice}}
}

// An unlimited search finds a placement exactly if there is one, and says so. If pods ask
// for others, it may miss one, but then it claims no proof.
func TestSearchAgreesWithExhaustion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTiny(t)
		s, pods := x.snapshot()
		least := rapid.IntRange(1, len(pods)).Draw(t, "min")
		slice := 0
		if rapid.Bool().Draw(t, "sliced") && len(pods)%2 == 0 && least%2 == 0 {
			slice = 2
		}
		g := &gang.Group{Name: "g", Pods: pods, Min: least}
		g.Topology = drawSliced(t, slice)
		inBlock := func(n int) string { return x.racks[n][:min(2, len(x.racks[n]))] }
		inRack := func(n int) string { return x.racks[n] }
		if len(g.Topology) > 0 && g.Topology[0].Key == rack { // the racks r0 of all blocks are one
			inRack = func(n int) string { return x.racks[n][min(3, len(x.racks[n])):] }
		}
		base := func(int) string { return "" } // the domain of the finest Required level
		home := inRack
		for _, l := range g.Topology {
			of := map[string]func(int) string{block: inBlock, rack: inRack}[l.Key]
			if l.Mode == gang.Required {
				base = of
			}
			if l.Slice > 0 {
				home = of
			}
		}
		exists := false
		for at := range x.cpu {
			exists = exists || x.exists(least, slice, func(n int) bool {
				return base(n) == base(at) && (len(g.Topology) == 0 || x.racks[n] != "" && x.racks[at] != "")
			}, home)
		}
		for _, search := range []int{0, 1 << 30} {
			for _, choice := range []gang.Choice{gang.BestFit, gang.LeastFree, gang.MostPacked} {
				out, err := placer(gang.Rules{Choice: choice, Search: search}).Try(s, g)
				if err != nil {
					t.Fatal(err)
				}
				checkOutcome(t, s, g, out)
				placed := out.Status == gang.Placed
				switch {
				case placed && !exists:
					t.Fatalf("%v, search %d: placed %v, but there is no placement", choice, search, out.Placed)
				case !placed && exists && (search > 0 && !x.affine() || out.Proved):
					t.Fatalf("%v, search %d: %v, proved %t, %q, but there is a placement", choice, search, out.Status, out.Proved, out.Text)
				case !placed && search > 0 && !out.Proved && !x.affine():
					t.Fatalf("%v: an unlimited search does not prove its no: %+v", choice, out)
				}
			}
		}
	})
}

// mostTried bounds the replicas that [tiny.most] tries.
const mostTried = 14

// most is how many replicas of the first pod fit on allowed nodes, in whole slices.
func (x tiny) most(slice int, allowed func(int) bool) (n int) {
	one := x
	home := func(n int) string { return x.racks[n] }
	unit := max(1, slice)
	for {
		one.asks, one.port, one.near = nil, nil, nil
		for range n + unit {
			one.asks, one.port = append(one.asks, x.asks[0]), append(one.port, x.port[0])
			one.near = append(one.near, -1)
		}
		if n+unit > mostTried || !one.exists(n+unit, slice, allowed, home) {
			return n
		}
		n += unit
	}
}

// The domain that each rule chooses for equal pods, and how many gangs fit, follow from
// trying everything.
func TestCountsAgreeWithExhaustion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTiny(t)
		slice := rapid.SampledFrom([]int{0, 2}).Draw(t, "slice")
		n := max(1, slice) * rapid.IntRange(1, 2).Draw(t, "units")
		x.asks, x.port = x.asks[:1], x.port[:1]
		x.near = []int{-1}
		s, pods := x.snapshot()
		for i := 1; i < n; i++ {
			p, err := pods[0].Named(fmt.Sprintf("m-%d", i))
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
		}
		g := &gang.Group{Name: "g", Pods: pods, Topology: []gang.Level{{Key: block}, {Key: rack, Mode: gang.Counted, Slice: slice}}}
		smallest, gangs := "", 0
		size := 1 << 30
		for _, b := range []string{"b0", "b1"} {
			most := x.most(slice, func(n int) bool { return x.racks[n] != "" && x.racks[n][:2] == b })
			if most+max(1, slice) > mostTried {
				return // more may fit
			}
			gangs += most / n
			if most >= n && most < size {
				smallest, size = b, most
			}
		}
		p := placer(gang.Rules{Choice: gang.BestFit})
		out, err := p.Try(s, g)
		if err != nil {
			t.Fatal(err)
		}
		if (out.Status == gang.Placed) != (smallest != "") || smallest != "" && out.Best().Capacity != size {
			t.Fatalf("BestFit takes %v of %d pods (%v), want the block with room for %d", out.Domain, out.Best().Capacity, out.Status, size)
		}
		c, err := p.Capacity(s, g, 0)
		if err != nil || c.Fits != gangs || !c.Exact {
			t.Fatalf("Capacity = %+v, %v, want %d", c, err, gangs)
		}
		anywhere := 0
		all := x.most(0, func(int) bool { return true })
		if all < mostTried {
			if anywhere = all / n; c.Anywhere != anywhere {
				t.Fatalf("Anywhere = %d, want %d", c.Anywhere, anywhere)
			}
		}
		// Placing one gang after the other comes to the same number.
		placed := 0
		for ; placed <= gangs; placed++ {
			next := &gang.Group{Name: fmt.Sprintf("g%d", placed), Topology: g.Topology}
			for i, pod := range pods {
				q, err := pod.Named(fmt.Sprintf("p-%d-%d", placed, i))
				if err != nil {
					t.Fatal(err)
				}
				next.Pods = append(next.Pods, q)
			}
			if out, err := p.Place(s, next); err != nil || out.Status != gang.Placed {
				break
			}
		}
		if placed != gangs {
			t.Fatalf("%d gangs can be placed one after the other, Capacity says %d", placed, gangs)
		}
	})
}

// Under BestFit equal pods are in as few domains as possible.
func TestFewestDomains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 6).Draw(t, "room")
		total := 0
		for _, r := range room {
			total += r
		}
		if total == 0 {
			return
		}
		s := hosts(room...)
		n := rapid.IntRange(1, total).Draw(t, "pods")
		out, err := placer(gang.Rules{Choice: gang.BestFit}).Try(s, &gang.Group{Name: "g", Pods: workers(s, n, "1"), Topology: []gang.Level{{Key: api.LabelHostname, Mode: gang.Counted}}})
		if err != nil || out.Status != gang.Placed {
			t.Fatalf("Try: %+v, %v", out, err)
		}
		fewest := len(room)
		for set := range 1 << len(room) {
			sum, size := 0, 0
			for i, r := range room {
				if set>>i&1 == 1 {
					sum, size = sum+r, size+1
				}
			}
			if sum >= n {
				fewest = min(fewest, size)
			}
		}
		if used := len(counts(out)); used != fewest {
			t.Fatalf("%d pods are on %d nodes with room %v, want %d", n, used, room, fewest)
		}
	})
}

// A search in one order of the pods proves nothing if one may fit only after another, and
// no number of empty nodes is what such a group misses.
func TestOrderProvesNothing(t *testing.T) {
	s := racks(2)
	client := info(s, api.MakePod("client").Labels("app", "client").Requests("1", "1Gi").PodAffinity(api.LabelHostname, "app=server").Obj())
	server := info(s, api.MakePod("server").Labels("app", "server").Requests("2", "2Gi").Obj())
	apart := func(name string) *framework.PodInfo {
		return info(s, api.MakePod(name).Labels("app", "alone").Requests("1", "1Gi").PodAntiAffinity(api.LabelHostname, "app=alone").Obj())
	}
	zones := cluster([]*api.Node{api.MakeNode("a", "1", "64Gi").Zone("za").Obj(), api.MakeNode("b", "4", "64Gi").Zone("zb").Obj()})
	spread := func(name, cpu string) *framework.PodInfo {
		return info(zones, api.MakePod(name).Labels("app", "x").Requests(cpu, "1Gi").Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=x").Obj())
	}
	small, large, other := spread("small", "1"), spread("large", "2"), spread("other", "2")
	for _, tt := range []struct {
		name   string
		snap   *framework.Snapshot
		pods   []*framework.PodInfo
		placed bool
		proved bool
	}{
		{"the client first", s, []*framework.PodInfo{client, server}, false, false},
		{"the server first", s, []*framework.PodInfo{server, client}, true, true},
		{"one zone filled first", zones, []*framework.PodInfo{large, other, small}, false, false},
		{"the small pod second", zones, []*framework.PodInfo{large, small, other}, true, true},
		{"three pods apart on two nodes", s, []*framework.PodInfo{apart("x"), apart("y"), apart("z")}, false, true},
	} {
		out, err := placer(gang.Rules{Choice: gang.BestFit, Search: 1 << 30}).Try(tt.snap, &gang.Group{Name: "g", Pods: tt.pods})
		if err != nil || (out.Status == gang.Placed) != tt.placed || out.Proved != tt.proved || out.GaveUp {
			t.Errorf("%s: Try = %+v, %v, want placed %t, proved %t", tt.name, out, err, tt.placed, tt.proved)
			continue
		}
		if !tt.proved && (strings.Contains(out.Text, "Missing room") || out.Best().Missing.Nodes != 0 || out.Best().Missing.Exact) {
			t.Errorf("%s: %q, %+v, want no hint of room", tt.name, out.Text, out.Best().Missing)
		}
	}
}

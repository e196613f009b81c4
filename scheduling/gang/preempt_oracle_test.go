package gang_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// What has returned may let another unit return that could not before: the pod of the
// group spreads over racks, beside pods that run.
func TestEvictionReturnsAgain(t *testing.T) {
	var nodes []*api.Node
	for i, cpu := range []string{"4", "2", "2"} { // only r0 has room for the pod
		name := fmt.Sprintf("r%d", i)
		nodes = append(nodes, api.MakeNode(name+"-0", cpu, "16Gi").Labels(rack, name).Obj())
	}
	s := cluster(nodes)
	add := func(name, node string, priority int32, labels ...string) {
		p := info(s, api.MakePod(name).Labels(labels...).Priority(priority).Requests("1", "1Gi").Obj())
		if err := s.AddPod(p, node); err != nil {
			t.Fatal(err)
		}
	}
	// The group's pod goes to r0, where a big pod has to leave. Beside it, web-0 may stay
	// only while each other rack has one such pod.
	big := info(s, api.MakePod("big").Priority(0).Requests("3", "1Gi").Obj())
	if err := s.AddPod(big, "r0-0"); err != nil {
		t.Fatal(err)
	}
	add("web-0", "r0-0", 4, "app", "web")
	add("web-1", "r1-0", 3, "app", "web")
	add("web-2", "r2-0", 2, "app", "web")
	pod := info(s, api.MakePod("new").Labels("app", "web").Priority(9).Requests("3", "1Gi").Spread(1, rack, api.DoNotSchedule, "app=web").Obj())
	g := &gang.Group{Name: "g", Priority: 9, Pods: []*framework.PodInfo{pod}}
	e, err := placer(gang.Rules{Choice: gang.BestFit}).Preempt(s, g)
	if err != nil || e.Status != framework.Success {
		t.Fatalf("Preempt = %+v, %v", e, err)
	}
	var victims []string
	for _, v := range e.Victims() {
		victims = append(victims, v.Pod.Pod.Name)
	}
	if fmt.Sprint(victims) != "[big]" {
		t.Errorf("victims %v, want big alone", victims)
	}
	// kube-scheduler puts back once, in order: web-0 is out.
	e, err = placer(gang.Rules{}).Preempt(s, g)
	if err != nil || len(e.Victims()) != 2 {
		t.Errorf("under Kubernetes137: victims %v, %v, want web-0 and big", e.Victims(), err)
	}
}

// full is a small cluster of full racks.
type full struct {
	free, running []int // by node: CPUs that are free, and by pod: CPUs
	rack          []string
	on            []int // by pod: node
	priority      []int
	asks          []int
}

func drawFull(t *rapid.T) full {
	var x full
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		x.free = append(x.free, 4)
		x.rack = append(x.rack, rapid.SampledFrom([]string{"r0", "r1"}).Draw(t, "rack"))
	}
	for range rapid.IntRange(0, 8).Draw(t, "running") {
		n, cpu := rapid.IntRange(0, len(x.free)-1).Draw(t, "on"), rapid.IntRange(1, 2).Draw(t, "cpu")
		if x.free[n] < cpu {
			continue
		}
		x.free[n] -= cpu
		x.running, x.on, x.priority = append(x.running, cpu), append(x.on, n), append(x.priority, rapid.IntRange(0, 6).Draw(t, "priority"))
	}
	for range rapid.IntRange(1, 3).Draw(t, "pods") {
		x.asks = append(x.asks, rapid.IntRange(1, 4).Draw(t, "ask"))
	}
	return x
}

func (x full) snapshot() *framework.Snapshot {
	var nodes []*api.Node
	for i, r := range x.rack {
		nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), "4", "64Gi").Labels(rack, r).Obj())
	}
	var pods []*api.Pod
	for i, cpu := range x.running {
		pods = append(pods, api.MakePod(fmt.Sprint("old-", i)).Requests(fmt.Sprint(cpu), "1Mi").Priority(int32(x.priority[i])).Node(fmt.Sprint("n", x.on[i])).Obj())
	}
	return cluster(nodes, pods...)
}

const fullPriority = 5

// harm is what is compared between racks: the highest priority, the sum of priorities,
// how many.
func (x full) harm(victims []int) [3]int {
	h := [3]int{-1 << 40, 0, len(victims)}
	for _, v := range victims {
		h[0] = max(h[0], x.priority[v])
		h[1] += x.priority[v] + 1<<31
	}
	return h
}

// victims lists the pods that must go if the group stands where it does: of all sets that may
// stay, the one that keeps the most important pods first.
func (x full) victims(rack string, node []int) []int {
	var lower []int
	free := slices.Clone(x.free)
	for i, n := range x.on {
		if x.rack[n] == rack && x.priority[i] < fullPriority {
			lower = append(lower, i)
			free[n] += x.running[i]
		}
	}
	for i, n := range node {
		free[n] -= x.asks[i]
	}
	slices.SortStableFunc(lower, func(a, b int) int {
		return cmp.Or(x.priority[b]-x.priority[a], x.on[a]-x.on[b]) // in the order of the snapshot
	})
	best, found := []bool(nil), false
	for set := range 1 << len(lower) {
		left, keep, ok := slices.Clone(free), make([]bool, len(lower)), true
		for k, i := range lower {
			if keep[k] = set>>k&1 == 1; keep[k] {
				left[x.on[i]] -= x.running[i]
				ok = ok && left[x.on[i]] >= 0
			}
		}
		first := func(keep, best []bool) bool { // keeps a more important pod
			for k := range keep {
				if keep[k] != best[k] {
					return keep[k]
				}
			}
			return false
		}
		if ok && (!found || first(keep, best)) {
			best, found = keep, true
		}
	}
	var out []int
	for k, i := range lower {
		if !best[k] {
			out = append(out, i)
		}
	}
	return out
}

// packs reports whether the group fits in the rack once all lower pods have left.
func (x full) packs(rack string) bool {
	free := slices.Clone(x.free)
	for i, n := range x.on {
		if x.priority[i] < fullPriority {
			free[n] += x.running[i]
		}
	}
	y := tiny{cpu: free, racks: x.rack, asks: x.asks, port: make([]bool, len(x.asks))}
	return y.exists(len(x.asks), 0, func(n int) bool { return x.rack[n] == rack }, func(int) string { return "" })
}

// Under a rule of its own, with a search without bounds, a group preempts exactly if some
// rack would hold it. The victims there are the least important ones, and those of no
// other rack harm less.
func TestPreemptAgreesWithExhaustion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawFull(t)
		s := x.snapshot()
		g := &gang.Group{Name: "g", Priority: fullPriority, Topology: []gang.Level{{Key: rack}}}
		for i, ask := range x.asks {
			g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprint("m-", i)).Priority(fullPriority).Requests(fmt.Sprint(ask), "1Mi").Obj()))
		}
		p := placer(gang.Rules{Choice: gang.BestFit, Search: 1 << 30})
		e, err := p.Preempt(s, g)
		if err != nil {
			t.Fatal(err)
		}
		lower := slices.ContainsFunc(x.priority, func(p int) bool { return p < fullPriority })
		possible := lower && (x.packs("r0") || x.packs("r1"))
		if (e.Status == framework.Success) != possible {
			t.Fatalf("Preempt = %v %s, want success %t", e.Status, e.Text, possible)
		}
		if !possible {
			return
		}
		chosen := e.Outcome.Domain
		at := ""
		node := make([]int, len(x.asks))
		for _, n := range e.Nominated {
			if _, err := fmt.Sscanf(n.Node, "n%d", &node[n.Index()]); err != nil {
				t.Fatal(err)
			}
			at = x.rack[node[n.Index()]]
		}
		var got []int
		for _, v := range e.Victims() {
			var i int
			if _, err := fmt.Sscanf(v.Pod.Pod.Name, "old-%d", &i); err != nil {
				t.Fatal(err)
			}
			got = append(got, i)
		}
		if want := x.victims(at, node); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Fatalf("victims %v in %v, want %v", got, chosen, want)
		}
		// The other rack alone, with its own victims.
		other := "r0"
		if at == "r0" {
			other = "r1"
		}
		if !x.packs(other) {
			return
		}
		fork := s.Fork()
		for i, r := range x.rack {
			if r == at {
				for _, q := range slices.Clone(fork.Node(fmt.Sprint("n", i)).Pods) {
					if err := fork.RemovePod(q, fmt.Sprint("n", i)); err != nil {
						t.Fatal(err)
					}
				}
				if err := fork.RemoveNode(fmt.Sprint("n", i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		e, err = p.Preempt(fork, g)
		if err != nil {
			t.Fatal(err)
		}
		var alone []int
		for _, v := range e.Victims() {
			var i int
			if _, err := fmt.Sscanf(v.Pod.Pod.Name, "old-%d", &i); err != nil {
				t.Fatal(err)
			}
			alone = append(alone, i)
		}
		a, b := x.harm(got), x.harm(alone)
		if slices.Compare(a[:], b[:]) > 0 && e.Status == framework.Success {
			t.Fatalf("victims %v in %s, but %v in %s harm less", got, at, alone, other)
		}
	})
}

// The rack that each rule chooses for equal pods follows from the room and the use of each.
func TestBestRackAgreesWithArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type rackUse struct {
			name                    string
			room, cpu, used, memory int
			fill                    int64
		}
		var nodes []*api.Node
		var pods []*api.Pod
		uses := map[string]*rackUse{}
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			r := rapid.SampledFrom([]string{"r0", "r1", "r2"}).Draw(t, "rack")
			size, used := rapid.IntRange(1, 4).Draw(t, "size"), 0
			nodes = append(nodes, api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(size), "8Gi").Labels(rack, r).Obj())
			for k := range rapid.IntRange(0, size).Draw(t, "used") {
				pods = append(pods, api.MakePod(fmt.Sprintf("old-%d-%d", i, k)).Requests("1", "1Gi").Node(fmt.Sprint("n", i)).Obj())
				used++
			}
			u := uses[r]
			if u == nil {
				u = &rackUse{name: r}
				uses[r] = u
			}
			u.room, u.cpu, u.used, u.memory = u.room+size-used, u.cpu+size, u.used+used, u.memory+8
		}
		s := cluster(nodes, pods...)
		n := rapid.IntRange(1, 6).Draw(t, "pods")
		g := &gang.Group{Name: "g", Pods: workers(s, n, "1"), Topology: []gang.Level{{Key: rack}}}
		for _, choice := range []gang.Choice{gang.BestFit, gang.LeastFree, gang.MostPacked} {
			var best *rackUse
			for _, u := range uses {
				u.fill = (int64(u.used)*100/int64(u.cpu) + int64(u.used)*100/int64(u.memory)) / 2
				if u.room < n {
					continue
				}
				better := func(a, b *rackUse) bool {
					size, fill := cmp.Compare(a.room, b.room), cmp.Compare(b.fill, a.fill)
					if choice == gang.MostPacked {
						size, fill = fill, size
					}
					return cmp.Or(size, fill, cmp.Compare(a.name, b.name)) < 0
				}
				if best == nil || better(u, best) {
					best = u
				}
			}
			out, err := placer(gang.Rules{Choice: choice}).Try(s, g)
			if err != nil || (out.Status == gang.Placed) != (best != nil) {
				t.Fatalf("%v: Try = %+v, %v, want placed %t", choice, out, err, best != nil)
			}
			if best != nil && out.Domain[0].Value != best.name {
				t.Fatalf("%v: Try takes %v, want %+v", choice, out.Domain, *best)
			}
		}
	})
}

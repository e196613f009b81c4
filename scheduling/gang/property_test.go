package gang_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// drawCluster draws nodes in blocks and racks, with some pods on them. Racks of different
// blocks share names, and some nodes lack a label.
func drawCluster(t *rapid.T, most int) *framework.Snapshot {
	var nodes []*api.Node
	for i := range rapid.IntRange(1, most).Draw(t, "nodes") {
		name := fmt.Sprintf("n%d", i)
		n := api.MakeNode(name, rapid.SampledFrom([]string{"2", "3", "4"}).Draw(t, "cpu"), "16Gi").Labels(api.LabelHostname, name)
		if rapid.IntRange(0, 9).Draw(t, "labels") > 0 {
			n = n.Labels(block, rapid.SampledFrom([]string{"b0", "b1"}).Draw(t, "block"), rack, rapid.SampledFrom([]string{"r0", "r1", "r2"}).Draw(t, "rack"))
		}
		if rapid.IntRange(0, 5).Draw(t, "gpu") == 0 {
			n = n.Resource("example.com/gpu", "2")
		}
		if rapid.IntRange(0, 7).Draw(t, "taint") == 0 {
			n = n.Taint("dedicated:NoSchedule")
		}
		if rapid.IntRange(0, 7).Draw(t, "cordon") == 0 {
			n = n.Unschedulable()
		}
		nodes = append(nodes, n.Obj())
	}
	var pods []*api.Pod
	for i := range rapid.IntRange(0, 2*len(nodes)).Draw(t, "running") {
		node := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "node")]
		pods = append(pods, api.MakePod(fmt.Sprintf("old-%d", i)).Labels("app", "old").Requests(rapid.SampledFrom([]string{"500m", "1"}).Draw(t, "used"), "1Gi").Node(node.Name).Obj())
	}
	return cluster(nodes, pods...)
}

// drawPod draws a pod of a group.
func drawPod(t *rapid.T, s *framework.Snapshot, name string) *framework.PodInfo {
	p := api.MakePod(name).Labels("app", "gang").Requests(rapid.SampledFrom([]string{"500m", "1", "2"}).Draw(t, "cpu"), "1Gi")
	switch rapid.IntRange(0, 9).Draw(t, "extra") {
	case 0:
		p = p.HostPort(80)
	case 1:
		p = p.PodAntiAffinity(api.LabelHostname, "app=gang")
	case 2:
		p = p.Tolerates("dedicated:NoSchedule")
	case 3:
		p = p.Request("example.com/gpu", "1")
	case 4:
		p = p.Spread(1, rack, api.DoNotSchedule, "app=gang")
	case 5:
		p = p.PodAffinity(block, "app=gang")
	}
	return info(s, p.Obj())
}

// drawGroup draws a group of equal or mixed pods.
func drawGroup(t *rapid.T, s *framework.Snapshot, most int, levels []gang.Level) *gang.Group {
	g := &gang.Group{Namespace: "default", Name: "g", Topology: levels}
	unit := 1
	for _, l := range levels {
		unit = max(unit, l.Slice)
	}
	n := unit * rapid.IntRange(1, max(1, most/unit)).Draw(t, "units")
	alike := rapid.Bool().Draw(t, "alike")
	for i := range n {
		if alike && i > 0 {
			p, err := g.Pods[0].Named(fmt.Sprintf("m-%d", i))
			if err != nil {
				t.Fatal(err)
			}
			g.Pods = append(g.Pods, p)
			continue
		}
		g.Pods = append(g.Pods, drawPod(t, s, fmt.Sprintf("m-%d", i)))
	}
	g.Min = unit * rapid.IntRange(0, n/unit).Draw(t, "min")
	return g
}

// drawLevels draws levels that the rules know.
func drawLevels(t *rapid.T, choice gang.Choice) []gang.Level {
	if choice == gang.Kubernetes137 {
		return rapid.SampledFrom([][]gang.Level{nil, {{Key: rack}}, {{Key: block}}}).Draw(t, "levels")
	}
	slice := rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "slice")
	return rapid.SampledFrom([][]gang.Level{
		nil,
		{{Key: block}},
		{{Key: block}, {Key: rack, Mode: gang.Preferred}},
		{{Key: block}, {Key: rack, Slice: slice}},
		{{Key: block, Slice: slice}, {Key: rack}},
		{{Key: block, Mode: gang.Preferred, Slice: 2 * slice}, {Key: rack, Mode: gang.Preferred, Slice: slice}},
		{{Key: block, Mode: gang.Preferred, Slice: slice}},
		{{Key: block, Mode: gang.Counted}, {Key: rack, Mode: gang.Counted, Slice: slice}},
		{{Key: block, Slice: 2 * slice}, {Key: rack, Mode: gang.Preferred, Slice: slice}},
		{{Key: api.LabelHostname, Mode: gang.Counted, Slice: slice}},
	}).Draw(t, "levels")
}

func drawRules(t *rapid.T) gang.Rules {
	return gang.Rules{
		Choice: rapid.SampledFrom([]gang.Choice{gang.Kubernetes137, gang.BestFit, gang.MostPacked, gang.LeastFree}).Draw(t, "choice"),
		Order:  rapid.SampledFrom([]gang.Order{gang.AsGiven, gang.LargestFirst, gang.Both}).Draw(t, "order"),
		Exact:  rapid.Bool().Draw(t, "exact"), Search: rapid.SampledFrom([]int{0, 0, 30, 300}).Draw(t, "search"),
		Detailed: rapid.Bool().Draw(t, "detailed"), Seed: uint64(rapid.IntRange(0, 3).Draw(t, "seed")),
	}
}

// check fails unless the outcome keeps the contract.
func checkOutcome(t *rapid.T, s *framework.Snapshot, g *gang.Group, out *gang.Outcome) {
	least := g.Min
	if least == 0 {
		least = len(g.Pods)
	}
	if len(out.Placed)+len(out.Left) != len(g.Pods) {
		t.Fatalf("%d pods placed and %d left of %d", len(out.Placed), len(out.Left), len(g.Pods))
	}
	if out.Status != gang.Placed {
		if len(out.Placed) != 0 || out.Text == "" || strings.TrimRight(out.Text, " ;:,") != out.Text {
			t.Fatalf("%v with %d pods placed, text %q", out.Status, len(out.Placed), out.Text)
		}
		return
	}
	if len(out.Placed) < least {
		t.Fatalf("Placed with %d of %d pods", len(out.Placed), least)
	}
	// Replayed on a fork, every pod passes every filter at its turn.
	fork := s.Fork()
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range out.Placed {
		f, err := sched.Filtering(fork, g.Pods[at.Index()])
		if err != nil {
			t.Fatal(err)
		}
		if v, err := f.Node(fork.Node(at.Node)); err != nil || !v.Status.IsSuccess() {
			t.Fatalf("%s does not pass on %s at its turn: %v, %v", at.Pod, at.Node, v, err)
		}
		if err := f.Place(g.Pods[at.Index()], fork.Node(at.Node)); err != nil {
			t.Fatal(err)
		}
	}
	// One domain for each Required level, and for each slice.
	node := make(map[int]string)
	for _, at := range out.Placed {
		node[at.Index()] = at.Node
	}
	for l, level := range g.Topology {
		path := func(i int) string {
			text := ""
			for _, k := range g.Topology[:l+1] {
				text += "/" + s.Node(node[i]).Node.Labels[k.Key]
			}
			return text
		}
		seen := map[int]string{}
		for i := 0; level.Slice > 0 && i < len(g.Pods); i += level.Slice {
			stand := 0
			for k := i; k < i+level.Slice; k++ {
				if _, ok := node[k]; ok {
					stand++
				}
			}
			if stand > 0 && stand < level.Slice {
				t.Fatalf("%d of %d pods of slice %d of %s are placed", stand, level.Slice, i/level.Slice, level.Key)
			}
		}
		for i := range g.Pods {
			if _, ok := node[i]; !ok {
				continue
			}
			if _, ok := s.Node(node[i]).Node.Labels[level.Key]; !ok && (level.Mode == gang.Required || level.Slice > 0) {
				t.Fatalf("pod %d is on %s, which has no label %s", i, node[i], level.Key)
			}
			if level.Mode == gang.Required {
				if other, ok := seen[-1]; ok && other != path(i) {
					t.Fatalf("pods are in %s and %s of %s", other, path(i), level.Key)
				}
				seen[-1] = path(i)
			}
			if level.Slice > 0 {
				if other, ok := seen[i/level.Slice]; ok && other != path(i) {
					t.Fatalf("slice %d is in %s and %s of %s", i/level.Slice, other, path(i), level.Key)
				}
				seen[i/level.Slice] = path(i)
			}
		}
	}
}

func outcomeText(o *gang.Outcome) string {
	return fmt.Sprint(o.Status, o.Text, o.Domain, o.Placed, o.TiedDomains, o.Proved)
}

// The contract of Place and Try, on random clusters and groups, under Verify.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t, 12)
		rules := drawRules(t)
		g := drawGroup(t, s, 8, drawLevels(t, rules.Choice))
		p := placer(rules)
		before := imageOf(s)
		position := p.Scheduler().Position()
		tried, err := p.Try(s, g)
		if err != nil {
			t.Fatal(err)
		}
		unchanged(t, s, before, "Try")
		if p.Scheduler().Position() != position {
			t.Fatal("Try has used up the scheduler's position")
		}
		checkOutcome(t, s, g, tried)
		fork := s.Fork()
		for name, again := range map[string]func() (*gang.Outcome, error){
			"again":          func() (*gang.Outcome, error) { return p.Try(s, g) },
			"on a fork":      func() (*gang.Outcome, error) { return p.Fork().Try(fork, g) },
			"by a new one":   func() (*gang.Outcome, error) { return placer(rules).Try(s, g) },
			"without caches": func() (*gang.Outcome, error) { return plain(rules).Try(s, g) },
		} {
			out, err := again()
			if err != nil {
				t.Fatal(err)
			}
			if outcomeText(out) != outcomeText(tried) {
				t.Fatalf("Try %s = %s, want %s", name, outcomeText(out), outcomeText(tried))
			}
		}
		placed, err := p.Place(s, g)
		if err != nil {
			t.Fatal(err)
		}
		if outcomeText(placed) != outcomeText(tried) {
			t.Fatalf("Place = %s, want %s", outcomeText(placed), outcomeText(tried))
		}
		for i := len(placed.Placed) - 1; i >= 0; i-- {
			at := placed.Placed[i]
			if err := p.Scheduler().Release(s, g.Pods[at.Index()], at.Node); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range s.All() {
			for _, q := range n.Pods {
				if q.Pod.Labels["app"] == "gang" {
					t.Fatalf("pod %s is still on %s", q.Pod.Key(), n.Name())
				}
			}
		}
		if g.Min > 1 && tried.Status == gang.Placed && rules.Choice == gang.Kubernetes137 {
			less := *g
			less.Min--
			if out, err := p.Try(s, &less); err != nil || out.Status != gang.Placed {
				t.Fatalf("with a minimum of %d it is placed, with %d it is not: %v, %v", g.Min, less.Min, out, err)
			}
		}
	})
}

// plain is a placer without kept answers.
func plain(rules gang.Rules) *gang.Placer {
	profile := scheduling.Kubernetes137()
	profile.Cache.Off = true
	return placerOf(profile, rules)
}

// A group of one pod with the rules of Kubernetes137 goes where the pod would go.
func TestOnePod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t, 10)
		pod := drawPod(t, s, "one")
		p := placer(gang.Rules{})
		want, wantErr := p.Scheduler().Schedule(s, pod)
		out, err := p.Try(s, &gang.Group{Name: "g", Pods: []*framework.PodInfo{pod}})
		if err != nil {
			t.Fatal(err)
		}
		var fit *scheduling.FitError
		switch {
		case errors.As(wantErr, &fit):
			if out.Status != gang.Short || out.Left[0].Err.Error() != wantErr.Error() {
				t.Fatalf("Try = %v, %v, want %v", out.Status, out.Left, wantErr)
			}
		case wantErr != nil:
			t.Fatal(wantErr)
		case out.Status != gang.Placed || out.Placed[0].Node != want.Node:
			t.Fatalf("Try = %+v, want node %s", out, want.Node)
		}
	})
}

// After a preemption every pod of the group fits on its node, all victims are of lower
// priority, and under the own rule none of them can return.
func TestPreemptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t, 6)
		var pods []*framework.PodInfo
		for i := range rapid.IntRange(1, 4).Draw(t, "pods") {
			pods = append(pods, info(s, api.MakePod(fmt.Sprintf("m-%d", i)).Priority(10).Labels("app", "gang").Requests(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "cpu"), "1Gi").Obj()))
		}
		choice := rapid.SampledFrom([]gang.Choice{gang.Kubernetes137, gang.BestFit}).Draw(t, "choice")
		g := &gang.Group{Name: "g", Pods: pods, Priority: 10}
		if rapid.Bool().Draw(t, "topology") {
			g.Topology = []gang.Level{{Key: rack}}
		}
		p := placer(gang.Rules{Choice: choice})
		before := imageOf(s)
		e, err := p.Preempt(s, g)
		if err != nil {
			t.Fatal(err)
		}
		if before.changed(s) {
			t.Fatal("Preempt has changed the snapshot")
		}
		if e.Status != framework.Success {
			return
		}
		victims := e.Victims()
		stand := func(back int) bool {
			fork := s.Fork()
			for i, v := range victims {
				if v.Pod.Priority >= 10 {
					t.Fatalf("victim %s has priority %d", v.Pod.Pod.Key(), v.Pod.Priority)
				}
				if i == back {
					continue
				}
				if err := fork.RemovePod(v.Pod, v.Node); err != nil {
					t.Fatal(err)
				}
			}
			for _, at := range e.Nominated {
				f, err := p.Scheduler().Filtering(fork, pods[at.Index()])
				if err != nil {
					t.Fatal(err)
				}
				if v, err := f.Node(fork.Node(at.Node)); err != nil || !v.Status.IsSuccess() {
					return false
				}
				if err := fork.AddPod(pods[at.Index()], at.Node); err != nil {
					t.Fatal(err)
				}
			}
			return true
		}
		if !stand(-1) {
			t.Fatalf("without its %d victims the group does not stand on %v", len(victims), e.Nominated)
		}
		for i := range victims {
			if choice == gang.BestFit && stand(i) {
				t.Fatalf("victim %s could stay", victims[i].Pod.Pod.Key())
			}
		}
	})
}

// Trials on forks come to the same as trials one after the other, with any number of
// workers, and also if earlier groups were placed between.
func TestWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t, 12)
		one := gang.Rules{Detailed: rapid.Bool().Draw(t, "detailed"), Draw: rapid.Bool().Draw(t, "draw"), Seed: uint64(rapid.IntRange(0, 3).Draw(t, "seed"))}
		many := one
		many.Workers = rapid.IntRange(2, 5).Draw(t, "workers")
		fork := s.Fork()
		p, q := placer(one), placer(many)
		for k := range 3 {
			g := drawGroup(t, s, 6, []gang.Level{{Key: rapid.SampledFrom([]string{rack, block, api.LabelHostname}).Draw(t, "key")}})
			for i, pod := range g.Pods {
				named, err := pod.Named(fmt.Sprintf("k%d-%d", k, i))
				if err != nil {
					t.Fatal(err)
				}
				g.Pods[i] = named
			}
			want, err := p.Place(s, g)
			if err != nil {
				t.Fatal(err)
			}
			got, err := q.Place(fork, g)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := outcomeText(got)+trialsText(got), outcomeText(want)+trialsText(want); a != b {
				t.Fatalf("with %d workers: %s\nwith one: %s", many.Workers, a, b)
			}
		}
		if a, b := s.Len(), fork.Len(); a != b {
			t.Fatalf("%d nodes, want %d", b, a)
		}
	})
}

func trialsText(o *gang.Outcome) (text string) {
	for _, t := range o.Trials {
		text += fmt.Sprint("; ", t.Name(), t.Succeeded, t.Pods, t.Text, t.Placed, t.Left, t.Scores, t.Total)
	}
	return text
}

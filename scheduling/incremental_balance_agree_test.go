package scheduling_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
)

// mixture makes pods and nodes for TestBalanceAgrees: pods that come one, two, twelve or two
// hundred times, and others that all are alike. Some have long keys, which differ at their end.
type mixture struct {
	*rand.Rand
	nodes, group int
}

func (m *mixture) node(i int) *api.Node {
	b := api.MakeNode(fmt.Sprint("n", i), fmt.Sprint(2+m.IntN(4)), "16Gi").Labels("zone", fmt.Sprint(m.IntN(3)))
	if m.IntN(5) == 0 {
		b = b.Taint("k:PreferNoSchedule")
	}
	if m.IntN(4) == 0 {
		b = b.Taint("t:NoSchedule")
	}
	return b.Obj()
}

func (m *mixture) pod(serial int) *api.Pod {
	of := serial / m.group
	dice := rand.New(rand.NewPCG(uint64(of), 5)) // equal for all pods of the group
	memory, cpu := 1_000_000+of, "100m"
	switch dice.IntN(10) {
	case 0, 1:
		memory = 5_000_000
	case 2:
		cpu = "100" // fits nowhere
	}
	b := api.MakePod(fmt.Sprint("p", serial)).Requests(cpu, fmt.Sprint(memory)).Labels("app", fmt.Sprint(of%2))
	if long := []int{0, 0, 0, 2, 15, 70, 900}[dice.IntN(7)]; long > 0 {
		var list []string
		for i := range long {
			list = append(list, fmt.Sprint("long", i))
		}
		b = b.Tolerates(append(list, []string{"t", "k", "u"}[dice.IntN(3)])...)
	}
	switch dice.IntN(8) {
	case 0:
		b = b.NodeSelector("zone", fmt.Sprint(dice.IntN(4)))
	case 1:
		b = b.Spread(1, "zone", api.DoNotSchedule, "app=0")
	case 2:
		b = b.Spread(1, "zone", api.ScheduleAnyway, "app=1")
	case 3:
		p := b.Obj()
		var terms []api.NodeSelectorTerm
		for range 1 + dice.IntN(28) {
			terms = append(terms, api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{fmt.Sprint("n", dice.IntN(m.nodes))}}}})
		}
		p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: terms}}}
		return p
	}
	return b.Obj()
}

// TestBalanceAgrees compares decisions, positions and errors with those of the reference path
// while pods step aside and come back, which a scheduler that verifies does not do.
func TestBalanceAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector, which finds nothing in one goroutine")
	}
	rules := []scheduling.TieRule{scheduling.Heap, scheduling.Reservoir, scheduling.First, scheduling.ByName, scheduling.Random}
	var hits, bypassed uint64
	for seed := range uint64(effort.Of(8, 40)) {
		m := &mixture{Rand: rand.New(rand.NewPCG(seed, 17))}
		m.nodes, m.group = []int{7, 20, 150, 400}[m.IntN(4)], []int{1, 2, 12, 200}[m.IntN(4)]
		profile := scheduling.Kubernetes137()
		profile.TieRule, profile.Seed = rules[m.IntN(len(rules))], seed
		profile.Percentage = []int{0, 0, scheduling.Adaptive, 5, 30}[m.IntN(5)]
		kept := build(t, profile)
		if seed%2 == 0 {
			scheduling.BeginLate(kept)
		}
		profile.Cache.Off = true
		plain := build(t, profile)
		snap := framework.NewSnapshot(framework.Arrival)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range m.nodes {
			must(snap.AddNode(m.node(i)))
		}
		var failed, placed []*framework.PodInfo
		where := map[*framework.PodInfo]string{}
		for step := range 2000 {
			k := m.IntN(20)
			switch {
			case step%400 == 399:
				hits, bypassed = hits+kept.Stats().Hits, bypassed+kept.Stats().Bypassed
				kept, plain = kept.Fork(), plain.Fork()
				continue
			case k == 0:
				must(snap.UpdateNode(m.node(m.IntN(m.nodes))))
				continue
			case step%300 == 299: // other classes
				if step%600 == 299 {
					must(framework.Put(snap, &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "s"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "0"}}}))
				} else {
					framework.Delete[api.Service](snap, "default/s")
				}
				continue
			case k <= 4 && len(placed) > m.nodes:
				must(snap.RemovePod(placed[0], where[placed[0]]))
				placed = placed[1:]
				continue
			}
			pod := podInfo(t, snap, m.pod(step))
			if k == 5 && len(failed) > 0 {
				i := m.IntN(len(failed))
				pod = failed[i]
				failed = slices.Delete(failed, i, i+1)
			}
			schedule := (*scheduling.Scheduler).Schedule
			if k > 16 {
				var nodes []*framework.NodeInfo
				for i := m.IntN(3); i < snap.Len(); i += 1 + m.IntN(4) {
					nodes = append(nodes, snap.At(i))
				}
				set, err := scheduling.NewNodeSet(snap, nodes)
				must(err)
				schedule = func(s *scheduling.Scheduler, snap *framework.Snapshot, pod *framework.PodInfo) (scheduling.Decision, error) {
					return s.ScheduleWithin(snap, pod, set)
				}
			}
			got, gotErr := schedule(kept, snap, pod)
			want, wantErr := schedule(plain, snap, pod)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || got.Node != want.Node || got.Score != want.Score || got.TiedNodes != want.TiedNodes ||
				got.Feasible != want.Feasible || got.Evaluated != want.Evaluated || kept.Position() != plain.Position() {
				t.Fatalf("seed %d, step %d: %+v, %v; want %+v, %v", seed, step, got, gotErr, want, wantErr)
			}
			switch {
			case gotErr != nil:
				failed = append(failed, pod)
			case m.IntN(2) == 0:
				must(snap.AddPod(pod, got.Node))
				placed, where[pod] = append(placed, pod), got.Node
			}
		}
		hits, bypassed = hits+kept.Stats().Hits, bypassed+kept.Stats().Bypassed
	}
	if hits < 100 || bypassed < 1000 {
		t.Errorf("%d hits and %d bypassed, want many of both", hits, bypassed)
	}
}

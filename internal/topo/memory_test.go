package topo

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// TestUnusedBindingsAreGivenUp: what a user has asked for once goes, after some time in
// which others go on asking for what they asked for before.
func TestUnusedBindingsAreGivenUp(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	tables := Of(s)
	kept := info(t, s, spread(api.DoNotSchedule, zone))
	use := func() { tables.Hard(kept, HardRules(kept)) }
	use()
	for i := range 200 {
		p := hermit(fmt.Sprint("h", i), fmt.Sprint("key-", i))
		p.Spec.TopologySpreadConstraints = spread(api.ScheduleAnyway, fmt.Sprint("spread-", i)).Spec.TopologySpreadConstraints
		q := info(t, s, p)
		tables.Affinity(q)
		tables.Soft(q, SoftRules(q), true)
		if err := s.RemovePod(add(t, s, p, "a"), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(tables.affinities) + len(tables.spreads); got != 401 {
		t.Fatalf("%d bindings, want 401", got)
	}
	for range lookupsKept + 3*weighEvery {
		use()
	}
	counters, keys := 0, 0
	for _, c := range tables.counters {
		counters += int(number(c != nil))
	}
	for _, k := range tables.keys {
		keys += int(number(k != nil))
	}
	if len(tables.affinities) != 0 || len(tables.spreads) != 1 || counters != 1 || keys > keysMost+1 || tables.termCount != 0 || len(tables.divisions) > divisionsMost {
		t.Errorf("%d affinities, %d spreads, %d counters, %d keys and %d terms stay, want 0, 1, 1, at most %d, and 0",
			len(tables.affinities), len(tables.spreads), counters, keys, tables.termCount, keysMost+1)
	}
	if want := sizeOf(HardRules(kept).text); tables.held != want {
		t.Errorf("%d bytes are held, want %d", tables.held, want)
	}
	checkTables(t, tables)
}

// TestMovesGiveUpBindings: what is not used is given up after few lookups, if many pods move between
// them, as in trials of preemption: each counts in all that is kept. What is used stays.
func TestMovesGiveUpBindings(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	tables := Of(s)
	mover := add(t, s, web("mover"), "a")
	kept := info(t, s, spread(api.DoNotSchedule, zone))
	use := func(moves int) {
		tables.Hard(kept, HardRules(kept))
		m := s.Begin()
		for range moves / 2 {
			if err := errors.Join(s.RemovePod(mover, "a"), s.AddPod(mover, "a")); err != nil {
				t.Fatal(err)
			}
		}
		s.Rollback(m)
	}
	costly := func() (n int) {
		for _, x := range tables.spreads {
			n += int(number(len(x.ids) == heavyCounters))
		}
		return n
	}
	many := web("many")
	for i := range heavyCounters {
		many.Spec.TopologySpreadConstraints = append(many.Spec.TopologySpreadConstraints, spread(api.DoNotSchedule, fmt.Sprint("key-", i)).Spec.TopologySpreadConstraints...)
	}
	q := info(t, s, many)
	ask := func() { tables.Hard(q, HardRules(q)) }
	ask()
	if costly() != 1 {
		t.Fatalf("%d spreads with %d counters, want 1", costly(), heavyCounters)
	}
	const each = movesKept / heavyCounters / 32 // a rollback moves the pods back, too
	for i := range recent {
		use(each)
		if i < 15 && costly() == 0 {
			t.Fatalf("given up after %d moves", i*each)
		}
	}
	use(2)
	if costly() != 0 {
		t.Errorf("kept after %d moves", recent*each)
	}
	if len(tables.spreads) != 1 {
		t.Errorf("%d spreads, want the one that is used", len(tables.spreads))
	}
	ask()
	for range 3 * recent {
		use(each)
		ask()
	}
	if costly() != 1 {
		t.Error("given up, although it is used")
	}
	checkTables(t, tables)
}

// TestLargePodsAreNotKept: the tables know pods long after they are gone, but not more of
// them than selectors see; and texts of selectors have a bound.
func TestLargePodsAreNotKept(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	if err := framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "all", Namespace: "default"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}); err != nil {
		t.Fatal(err)
	}
	tables := Of(s)
	before := inUse()
	const size = 1 << 18
	pods := effort.Of(200, 400)
	for i := range pods {
		name := fmt.Sprint("h", i)
		p := hermit(name, zone)
		p.Spec.TopologySpreadConstraints = spread(api.ScheduleAnyway, fmt.Sprint("key-", i)).Spec.TopologySpreadConstraints
		p.Annotations = map[string]string{"note": strings.Repeat("x", size)}
		q := info(t, s, p)
		tables.Affinity(q)
		tables.Soft(q, SoftRules(q), true)

		// The labels and the toleration are part of what is kept.
		large := web("l" + name)
		large.Labels = map[string]string{"app": "web", "large": name + strings.Repeat("x", size)}
		l := info(t, s, large)
		rules := DefaultsOf(s, l, systemHard, api.DoNotSchedule)
		tables.Hard(l, rules)
		tables.Affinity(l)
		for _, x := range []*api.Pod{p, large} {
			if err := s.RemovePod(add(t, s, x, "a"), "a"); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkTables(t, tables)
	used := int(inUse()) - int(before)
	if most := 80 << 20; used > most {
		t.Errorf("%d MB stay of %d pods of %d KB, want at most %d", used>>20, 2*pods, size>>10, most>>20)
	}
	runtime.KeepAlive(s)
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestManyTerms resolves pods with thousands of terms and constraints, each with a topology
// key of its own: memory grows linearly with the pod, also if there are many nodes.
func TestManyTerms(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 2000 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "4Gi").Labels(zone, "y").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, web("some"), "n0")
	tables := Of(s)
	cost := func(terms int) int {
		p := web("many")
		p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{}}
		for i := range terms {
			key := fmt.Sprint("key-", terms, "-", i)
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				api.PodAffinityTerm{TopologyKey: key, LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: key, Operator: api.LabelSelectorOpDoesNotExist}}}})
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, spread(api.DoNotSchedule, key).Spec.TopologySpreadConstraints...)
		}
		q := info(t, s, p)
		before := inUse()
		tables.Affinity(q)
		tables.Hard(q, HardRules(q))
		return int(inUse()) - int(before)
	}
	cost(10)
	for _, terms := range []int{500, 1000}[:effort.Of(1, 2)] {
		if bytes := cost(terms); bytes > 8000*terms {
			t.Errorf("%d terms and constraints keep %d bytes, %d each", terms, bytes, bytes/terms)
		}
	}
	checkTables(t, tables)
	runtime.KeepAlive(s)
}

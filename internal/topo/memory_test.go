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

// TestMovesGiveUpBindings: a binding that is not used is given up with its counters when these have
// counted many pods, on nodes or in trials of preemption. What a plugin of the cycle has looked up stays.
func TestMovesGiveUpBindings(t *testing.T) {
	const counters = 64
	node := []string{"a"}
	for i := range counters {
		node = append(node, fmt.Sprint("key-", i), "", fmt.Sprint("used-", i), "")
	}
	s := on(t, node)
	tables := Of(s)
	mover := add(t, s, web("mover"), "a")
	move := func() {
		t.Helper()
		for range stepsBetween/counters/2 + 1 {
			if err := errors.Join(s.RemovePod(mover, "a"), s.AddPod(mover, "a")); err != nil {
				t.Fatal(err)
			}
		}
	}
	many, used := web("many"), web("used")
	for i := range counters {
		many.Spec.TopologySpreadConstraints = append(many.Spec.TopologySpreadConstraints, spread(api.DoNotSchedule, fmt.Sprint("key-", i)).Spec.TopologySpreadConstraints...)
		used.Spec.TopologySpreadConstraints = append(used.Spec.TopologySpreadConstraints, spread(api.DoNotSchedule, fmt.Sprint("used-", i)).Spec.TopologySpreadConstraints...)
	}
	p, q := info(t, s, many), info(t, s, used)
	counting := func() int { return len(tables.classes[tables.classOf(mover)].counters) }

	unused := tables.Hard(p, HardRules(p))
	move()
	if unused.Dropped() || counting() != counters {
		t.Fatalf("given up although it was used since the last look: %d counters", counting())
	}
	move()
	if !unused.Dropped() || counting() != 0 {
		t.Errorf("kept: %d counters count", counting())
	}
	checkTables(t, tables)

	unused = tables.Hard(p, HardRules(p))
	var c framework.Cycle
	c.Reset(q, s, 0, 0)
	kept := In(&c).Hard(q, HardRules(q))
	for range 4 {
		DropUnused(&c)
		mark := s.Begin()
		move()
		s.Rollback(mark)
	}
	if !unused.Dropped() || kept.Dropped() || counting() != counters {
		t.Errorf("after trials %d counters count, want the %d that are in use", counting(), counters)
	}
	f := s.Fork()
	if n := len(Of(f).classes[Of(f).classOf(mover)].counters); n != counters {
		t.Fatalf("%d counters count in a fork, want %d", n, counters)
	}
	var trial framework.Cycle
	trial.Reset(q, f, 0, 0)
	for i := range stepsBetween/counters + 2 {
		change := f.RemovePod
		if i%2 == 1 {
			change = f.AddPod
		}
		if err := change(mover, "a"); err != nil {
			t.Fatal(err)
		}
	}
	DropUnused(&trial)
	if n := len(Of(f).classes[Of(f).classOf(mover)].counters); n != 0 {
		t.Errorf("%d counters count in a fork that uses none", n)
	}
	checkTables(t, Of(f))

	c.Reset(q, s, 1, 0)
	if DropUnused(&c); !kept.Dropped() || counting() != 0 {
		t.Errorf("in the next cycle %d counters count", counting())
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

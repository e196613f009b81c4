package topo

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
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
	for range usual.lookupsKept() + 3*usual.weighEvery {
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
// counted many pods, on nodes or in trials of preemption. What a plugin of the cycle has looked up
// stays, unless it has counted very often.
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
		for range usual.stepsBetween/counters/2 + 1 {
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
	counting := func() int { return len(tables.classes[tables.classOf(mover)].queries) }

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
	DropUnused(&c)
	mark := s.Begin()
	move()
	s.Rollback(mark)
	if !unused.Dropped() || kept.Dropped() || counting() != counters {
		t.Errorf("after trials %d counters count, want the %d that are in use", counting(), counters)
	}
	unused = tables.Hard(p, HardRules(p)) // before the next cycle
	c.Reset(q, s, 0, 0)
	kept = In(&c).Hard(q, HardRules(q))
	mark = s.Begin() // a trial of anybody else
	move()
	move()
	s.Rollback(mark)
	if !unused.Dropped() || kept.Dropped() || counting() != counters {
		t.Errorf("after other trials %d counters count, want the %d that are in use", counting(), counters)
	}
	checkTables(t, tables)
	f := s.Fork()
	if n := len(Of(f).classes[Of(f).classOf(mover)].queries); n != counters {
		t.Fatalf("%d counters count in a fork, want %d", n, counters)
	}
	var trial framework.Cycle
	trial.Reset(q, f, 0, 0)
	for i := range usual.stepsBetween/counters + 2 {
		change := f.RemovePod
		if i%2 == 1 {
			change = f.AddPod
		}
		if err := change(mover, "a"); err != nil {
			t.Fatal(err)
		}
	}
	DropUnused(&trial)
	if n := len(Of(f).classes[Of(f).classOf(mover)].queries); n != 0 {
		t.Errorf("%d counters count in a fork that uses none", n)
	}
	checkTables(t, Of(f))

	c.Reset(q, s, 1, 0)
	if DropUnused(&c); !kept.Dropped() || counting() != 0 {
		t.Errorf("in the next cycle %d counters count", counting())
	}
	checkTables(t, tables)

	kept = In(&c).Hard(q, HardRules(q))
	mark = s.Begin() // and one that goes on: the last cycle may be over
	for range 4 {
		move()
	}
	s.Rollback(mark)
	if !kept.Dropped() || counting() != 0 {
		t.Errorf("after long trials %d counters count, want none", counting())
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

// near makes a pod that prefers to be near pods with a label of the key "a", in as many terms that differ.
func near(t testing.TB, s *framework.Snapshot, name string, terms int) *framework.PodInfo {
	t.Helper()
	return preferring(t, s, name, terms, func(i int) []api.LabelSelectorRequirement {
		return []api.LabelSelectorRequirement{
			{Key: "a", Operator: api.LabelSelectorOpExists},
			{Key: "b", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint(name, i)}},
		}
	})
}

// TestBindingsAreBounded: what is kept of pods with large terms of their own is bounded in bytes, however few they are.
func TestBindingsAreBounded(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	add(t, s, web("there"), "a")
	tables := Of(s)
	tables.limits.bindingBytes = 1 << 20
	one, most := 0, 0
	for i := range 300 {
		tables.Affinity(near(t, s, fmt.Sprint("near", i), 50))
		if i == 0 {
			one = tables.held
		}
		most = max(most, tables.held)
	}
	if bound := tables.limits.bindingBytes + (int(usual.recent)+1)*one*5/4; most > bound { // later names are longer
		t.Errorf("bindings had %d bytes, want at most %d", most, bound)
	}
	if most < tables.limits.bindingBytes {
		t.Errorf("bindings had %d bytes, too few to meet the bound", most)
	}
	checkTables(t, tables)
}

// TestListsHaveABound: the lists of counters of all classes are forgotten before they take much memory, and what
// counters count stays right.
func TestListsHaveABound(t *testing.T) {
	const pods, terms, most = 60, 20, 200
	s := ownLabels(t, 10, pods)
	x := Of(s)
	x.limits.pairs = most
	var counts []Count
	for h := range 5 {
		a := x.Affinity(near(t, s, fmt.Sprint("near", h), terms))
		for _, w := range a.Prefer {
			counts = append(counts, w.Count)
		}
		if x.pairs > most {
			t.Fatalf("classes list %d counters, want %d at most", x.pairs, most)
		}
	}
	for i, p := range slices.Clone(s.At(0).Pods) {
		if err := s.RemovePod(p, s.At(0).Name()); err != nil {
			t.Fatal(err)
		}
		for _, c := range counts {
			if got := c.Total(); got != int64(pods-1-i) {
				t.Fatalf("%d pods are counted, want %d", got, pods-1-i)
			}
		}
		if x.pairs > most+5*terms {
			t.Errorf("classes list %d counters, want %d at most besides those of one class", x.pairs, most)
		}
		checkTables(t, x)
	}
}

// TestLargeBindingsAreNotKept: counters of a few pods with many terms may take much memory. Those that no cycle can hold
// go at once.
func TestLargeBindingsAreNotKept(t *testing.T) {
	const nodes, pods, terms, budget = 500, 30, 250, 4 << 20
	s := framework.NewSnapshot(framework.Arrival)
	for i := range nodes {
		name := fmt.Sprint("n", i)
		if err := s.AddNode(api.MakeNode(name, "1", "1Gi").Labels(api.LabelHostname, name).Obj()); err != nil {
			t.Fatal(err)
		}
		add(t, s, api.MakePod(fmt.Sprint("p", i)).Labels("a", "x").Obj(), name)
	}
	x := Of(s)
	x.limits.budget = budget
	one := 0
	var asked []*Affinity
	shares := near(t, s, "near0", 1) // a term of the first one
	for h := range pods {
		a := x.Affinity(near(t, s, fmt.Sprint("near", h), terms))
		asked = append(asked, a)
		if got := x.Affinity(shares).Prefer[0].Total(); got != nodes {
			t.Fatalf("a term of two pods counts %d pods, want %d", got, nodes)
		}
		for i, a := range asked[max(0, len(asked)-largeKept):] {
			if a.Dropped() {
				t.Fatalf("pod %d: the one %d pods before was given up", h, min(h, largeKept-1)-i)
			}
		}
		bytes := 0
		for _, c := range x.counters {
			if c != nil {
				bytes += c.bytes()
			}
		}
		if one == 0 {
			one = bytes
		}
		if most := budget*3/2 + (largeKept+1)*one; bytes > most {
			t.Fatalf("counters take %d bytes after %d pods, want %d at most", bytes, h+1, most)
		}
		if len(a.Prefer) != terms || a.Prefer[0].Total() != nodes {
			t.Fatalf("pod %d: %d terms count, want %d", h, len(a.Prefer), terms)
		}
	}
	if want := pods * one; want < 2*budget {
		t.Errorf("all counters would take %d bytes: too few for this test", want)
	}
	checkTables(t, x)
}

// TestCyclesKeepTheirSpreads: while a cycle goes on, what it has looked up of spread constraints stays, also if
// it looks up ever new affinities then, as preemption may. Two cycles later it may go.
func TestCyclesKeepTheirSpreads(t *testing.T) {
	for _, large := range []bool{false, true} {
		s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
		add(t, s, api.MakePod("w").Labels("app", "web", "a", "x").Obj(), "a")
		x := Of(s)
		x.limits.budget = 0 // memory is always short
		cycle := func(name string) (*framework.Cycle, *Spread) {
			p := web(name)
			for range 4 { // so that it is a large one here
				more := spread(api.DoNotSchedule, zone).Spec.TopologySpreadConstraints
				more[0].LabelSelector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
					{Key: "app", Operator: api.LabelSelectorOpIn, Values: []string{"web", fmt.Sprint(name, len(p.Spec.TopologySpreadConstraints))}},
				}}
				p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, more...)
			}
			q, c := info(t, s, p), new(framework.Cycle)
			c.Reset(q, s, 0, 0)
			return c, In(c).Hard(q, HardRules(q))
		}
		others := func() {
			for i := range 2*usual.weighEvery + 200 {
				if a := x.Affinity(near(t, s, fmt.Sprint("near", i), 1+3*int(number(large)))); a == nil {
					t.Fatal("no affinity")
				}
				if large {
					x.dropLarge()
				}
			}
		}
		_, first := cycle("first")
		if others(); first.Dropped() || first.Counts[0].At(s.Node("a")) != 1 {
			t.Errorf("large %t: given up while the cycle goes on: %t", large, first.Dropped())
		}
		_, second := cycle("second")
		others()
		_, third := cycle("third")
		if others(); !first.Dropped() || second.Dropped() || third.Dropped() {
			t.Errorf("large %t: after three cycles, given up: %t, %t, %t; want only the first", large, first.Dropped(), second.Dropped(), third.Dropped())
		}
		if again := first.Renewed(); again.Dropped() || again == first || again.Counts[0].At(s.Node("a")) != 1 || again.Renewed() != again {
			t.Error("one that was given up is not looked up again")
		}
		checkTables(t, x)
	}
}

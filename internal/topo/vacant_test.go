package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// of makes a pod of an app that spreads, and keeps away from, its own app.
func of(name, app string) *api.Pod {
	p := api.MakePod(name).Labels("app", app).Obj()
	own := &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
	p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: api.LabelHostname, LabelSelector: own}},
	}}
	p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: own},
	}
	return p
}

// keyOf is the text of all class keys of a pod.
func keyOf(s *framework.Snapshot, p *framework.PodInfo) string {
	b := AppendAffinityKey(nil, s, p)
	return string(Of(s).Hard(p, HardRules(p)).AppendKey(b, HardRules(p)))
}

// TestVacant follows pods whose selectors match nobody: they have one class, until a pod
// comes that one of them selects.
func TestVacant(t *testing.T) {
	s := on(t, []string{"a", zone, "y", api.LabelHostname, "a"}, []string{"b", zone, "z", api.LabelHostname, "b"})
	first, second := info(t, s, of("first", "one")), info(t, s, of("second", "two"))
	if keyOf(s, first) != keyOf(s, second) {
		t.Fatal("the keys differ, but neither pod selects anybody")
	}
	if counters := len(Of(s).counters); counters != 2 {
		t.Errorf("%d counters, want two of nobody", counters)
	}
	if !NoRequired(s, first) || !NoPreferred(s, first) {
		t.Error("NoRequired or NoPreferred = false, want true: no term matches a pod")
	}
	version := KeyVersion(s)
	hard, affinity := Of(s).Hard(first, HardRules(first)), Of(s).Affinity(first)
	seen := hard.HardVersion()
	add(t, s, of("third", "three"), "a")
	if KeyVersion(s) == version {
		t.Error("KeyVersion stays, although a pod came that selectors may match")
	}
	keyOf(s, first)
	version = KeyVersion(s)
	add(t, s, of("fourth", "one"), "a")
	if KeyVersion(s) == version {
		t.Error("KeyVersion stays, although a pod came that is selected")
	}
	hard.Meet()
	affinity = affinity.Renewed(first)
	if n := hard.Counts[0].Total(); n != 1 || len(affinity.Repel) != 1 || affinity.Repel[0].Total() != 1 {
		t.Errorf("%d pods count, %d terms repel, want 1 of each", n, len(affinity.Repel))
	}
	if now := hard.HardVersion(); now <= seen || hard.HardChanged(seen, func(int) {}) {
		t.Errorf("version %d after %d: the changes are said to be known, which they are not", now, seen)
	}
	if keyOf(s, first) == keyOf(s, second) || NoRequired(s, first) {
		t.Error("the pods have one class, although the first selects a pod")
	}
	checkTables(t, Of(s))
}

// TestVacantAgain: when the pods have left and bindings were given up, a selector may be
// vacant again. No version of the counts may look like one before.
func TestVacantAgain(t *testing.T) {
	s := on(t, []string{"a", zone, "y", api.LabelHostname, "a"})
	tables := Of(s)
	p := info(t, s, of("first", "one"))
	known := add(t, s, of("other", "one"), "a")
	hard, bars := tables.Hard(p, HardRules(p)).HardVersion(), tables.Affinity(p).FilterVersion()
	if err := s.RemovePod(known, "a"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 * usual.emptyClasses { // classes without pods are given up
		if err := s.RemovePod(add(t, s, of("x", fmt.Sprint("x", i)), "a"), "a"); err != nil {
			t.Fatal(err)
		}
	}
	tables.tick += 2 * usual.recent
	tables.evict(tables.bindings()) // half of the two
	tables.evict(tables.bindings())
	tables.sweep(0, tables.tick+1)
	again, affinity := tables.Hard(p, HardRules(p)), tables.Affinity(p)
	if !again.found.vacant || !affinity.found.vacant {
		t.Fatal("the selectors are not vacant, although nobody is there")
	}
	if v := again.HardVersion(); v <= hard || again.HardChanged(hard, func(int) {}) {
		t.Errorf("HardVersion = %d after %d, or changes since are said to be known", v, hard)
	}
	if v := affinity.FilterVersion(); v <= bars || affinity.FilterChanged(bars, func(int) {}) {
		t.Errorf("FilterVersion = %d after %d, or changes since are said to be known", v, bars)
	}
	checkTables(t, tables)
}

// TestNobodyIsVacantBesideNominations: a nominated pod counts in what-ifs, but is not on a
// node, so its labels are not known.
func TestNobodyIsVacantBesideNominations(t *testing.T) {
	s := on(t, []string{"a", zone, "y", api.LabelHostname, "a"})
	add(t, s, of("other", "two"), "a")
	first, second := info(t, s, of("first", "one")), info(t, s, of("second", "three"))
	version := KeyVersion(s)
	if keyOf(s, first) != keyOf(s, second) {
		t.Fatal("the keys differ, but neither pod selects anybody")
	}
	if err := s.Nominate(second, "a", ""); err != nil {
		t.Fatal(err)
	}
	if KeyVersion(s) == version || keyOf(s, first) == keyOf(s, second) || NoRequired(s, first) {
		t.Error("pods with selectors of their own have one class, although a nominated pod may be selected")
	}
	s.ClearNomination(second, "a")
	version = KeyVersion(s)
	if keyOf(s, first) == "" || version == 0 {
		t.Error("no keys after the nomination")
	}
	checkTables(t, Of(s))
}

// TestTopologyKeysAreGivenUp spreads pods by ever new topology keys.
func TestTopologyKeysAreGivenUp(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	tables := Of(s)
	kept := info(t, s, spread(api.DoNotSchedule, zone))
	for i := range 6 * usual.weighEvery {
		p := info(t, s, spread(api.DoNotSchedule, fmt.Sprint("key-", i), zone))
		tables.Hard(p, HardRules(p))
		tables.Hard(kept, HardRules(kept))
		if i%1500 == 0 {
			checkTables(t, tables)
			if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "4Gi").Labels(zone, "y").Obj()); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkTables(t, tables)
	if most := usual.bindings + int(usual.weighEvery) + keysMost; len(tables.keys) > most {
		t.Errorf("%d topology keys, want at most %d", len(tables.keys), most)
	}
	if d := tables.Hard(kept, HardRules(kept)).Counts[0].Domains(); d != 2 {
		t.Errorf("%d zones, want 2", d)
	}
}

// TestVacantBesideOthers: a selector that is vacant again shares a counter that others have
// had all along. Its version must not fall to that of theirs.
func TestVacantBesideOthers(t *testing.T) {
	s := on(t, []string{"a", zone, "y", api.LabelHostname, "a"})
	tables := Of(s)
	other := info(t, s, of("second", "two"))
	tables.Hard(other, HardRules(other)) // the counter of nobody is there before all others
	tables.Affinity(other)
	p := info(t, s, of("first", "one"))
	known := add(t, s, of("other", "one"), "a")
	hard, bars := tables.Hard(p, HardRules(p)).HardVersion(), tables.Affinity(p).FilterVersion()
	if err := s.RemovePod(known, "a"); err != nil {
		t.Fatal(err)
	}
	for i := range 5 * usual.emptyClasses { // classes without pods are given up
		if err := s.RemovePod(add(t, s, of("x", fmt.Sprint("x", i)), "a"), "a"); err != nil {
			t.Fatal(err)
		}
	}
	tables.tick += 2 * usual.recent
	tables.Hard(other, HardRules(other))
	tables.Affinity(other)
	tables.evict(tables.bindings()) // the older half
	tables.sweep(0, tables.tick+1)
	again, affinity := tables.Hard(p, HardRules(p)), tables.Affinity(p)
	if !again.found.vacant || !affinity.found.vacant {
		t.Fatal("the selectors are not vacant, although nobody is there")
	}
	if v := again.HardVersion(); v <= hard || again.HardChanged(hard, func(int) {}) {
		t.Errorf("HardVersion = %d after %d, or changes since are said to be known", v, hard)
	}
	if v := affinity.FilterVersion(); v <= bars || affinity.FilterChanged(bars, func(int) {}) {
		t.Errorf("FilterVersion = %d after %d, or changes since are said to be known", v, bars)
	}
	checkTables(t, tables)
}

package topo

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// crowd puts n pods on the node, each with a preferred term that matches every pod without
// its number.
func crowd(t *testing.T, s *framework.Snapshot, n int, node string) (pods []*framework.PodInfo) {
	t.Helper()
	for i := range n {
		p := api.MakePod(fmt.Sprint("h", i)).Obj()
		p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{Weight: 2, PodAffinityTerm: api.PodAffinityTerm{
				TopologyKey: zone, NamespaceSelector: &api.LabelSelector{},
				LabelSelector: &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{
					{Key: "h", Operator: api.LabelSelectorOpNotIn, Values: []string{fmt.Sprint(i)}},
				}},
			}}},
		}}
		pods = append(pods, add(t, s, p, node))
	}
	return pods
}

// TestManyTermsInKeys: many terms of others take a few bytes of a class key, which still
// tells which terms match the pod, in forks too.
func TestManyTermsInKeys(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	crowd(t, s, 3000, "a")
	key := func(s *framework.Snapshot, name string, labels ...string) string {
		return string(AppendAffinityKey(nil, s, info(t, s, api.MakePod(name).Labels(labels...).Obj())))
	}
	one, like, other := key(s, "one", "app", "x"), key(s, "like", "app", "y"), key(s, "other", "h", "7")
	if len(one) > 100 {
		t.Errorf("the key has %d bytes, want at most 100", len(one))
	}
	if one != like {
		t.Error("the keys of pods differ that the same terms match")
	}
	if one == other {
		t.Error("the keys are equal, but a term matches only one of the pods")
	}
	if f := s.Fork(); key(f, "one", "app", "x") != one {
		t.Error("the key is another one in a fork")
	}
	checkTables(t, Of(s))
}

// TestTermSetIsShared: pods that the same terms match share a set, which goes with them.
func TestTermSetIsShared(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	crowd(t, s, usual.termsFew+1, "a")
	tables := Of(s)
	one := tables.Affinity(info(t, s, api.MakePod("one").Labels("app", "x").Obj()))
	like := tables.Affinity(info(t, s, api.MakePod("like").Labels("app", "y").Obj()))
	few := tables.Affinity(info(t, s, api.MakePod("few").Labels("h", "7").Obj()))
	if one.Others == nil || one.Others != like.Others || len(one.Prefer) != 0 {
		t.Errorf("sets %p and %p beside %d terms, want one set", one.Others, like.Others, len(one.Prefer))
	}
	if few.Others != nil || len(few.Prefer) != usual.termsFew {
		t.Errorf("set %p and %d terms, want no set", few.Others, len(few.Prefer))
	}
	tables.tick += 2 * usual.recent
	for range 3 {
		tables.evict(tables.bindings())
	}
	if len(tables.termSets) != 0 || tables.termLog.log.Bytes() != 0 {
		t.Errorf("%d sets and %d bytes of their changes stay, want none", len(tables.termSets), tables.termLog.log.Bytes())
	}
}

// TestTermSetFollows: a set that has missed more changes than are known counts anew, and
// says that it does not know them.
func TestTermSetFollows(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	terms := int64(usual.termsFew)
	pods := crowd(t, s, usual.termsFew+1, "a")
	a := Of(s).Affinity(info(t, s, api.MakePod("one").Obj()))
	move := func(from, to string) {
		t.Helper()
		if err := s.RemovePod(pods[0], from); err != nil {
			t.Fatal(err)
		}
		if err := s.AddPod(pods[0], to); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, wantA, wantB int64) {
		t.Helper()
		if x, y := a.Others.Preference(s.Node("a"), 1), a.Others.Preference(s.Node("b"), 1); x != wantA || y != wantB {
			t.Errorf("%s: preferences %d and %d, want %d and %d", what, x, y, wantA, wantB)
		}
	}
	check("at first", 2*(terms+1), 0)
	seen := a.ScoreVersion(true)
	move("a", "b")
	check("after a move", 2*terms, 2)
	dirty := map[int]int{}
	if !a.ScoreChanged(true, seen, func(slot int) { dirty[slot]++ }) || dirty[s.Node("a").Slot()] != 1 || dirty[s.Node("b").Slot()] != 1 {
		t.Errorf("changes of %v, want both nodes once", dirty)
	}
	for range 3000 {
		move("b", "a")
		move("a", "b")
	}
	check("after many moves", 2*terms, 2)
	if a.ScoreChanged(true, seen, func(int) {}) {
		t.Error("all changes are said to be known")
	}
	checkTables(t, Of(s))
}

// TestTermSetKnowsItsCounters: a term that comes later may have the number of one that is gone.
func TestTermSetKnowsItsCounters(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	crowd(t, s, usual.termsFew+1, "a")
	x := Of(s).Affinity(info(t, s, api.MakePod("one").Obj())).Others
	for id, c := range Of(s).counters {
		if c == nil || c.term == nil {
			continue
		}
		if !x.has(&termEvent{id: int32(id), born: x.made}) {
			t.Errorf("term %d is not in the set", id)
		}
		if x.has(&termEvent{id: int32(id), born: x.made + 1}) {
			t.Errorf("a term that came after the set is in it by the number %d", id)
		}
	}
}

// TestTermSetsAreBounded: pods with terms that match almost everybody, each another set, do
// not keep memory for each pod and each term.
func TestTermSetsAreBounded(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	terms := effort.Of(1000, 3000)
	crowd(t, s, terms, "a")
	tables := Of(s)
	tables.limits.setBytes = effort.Of(1<<18, 1<<20)
	most := 0
	for i := range terms {
		tables.Affinity(info(t, s, api.MakePod(fmt.Sprint("p", i)).Labels("h", fmt.Sprint(i)).Obj()))
		most = max(most, tables.setBytes)
	}
	if bound := tables.limits.setBytes + 2<<10; most > bound {
		t.Errorf("sets had %d bytes, want at most %d", most, bound)
	}
	if most < tables.limits.setBytes {
		t.Errorf("sets had %d bytes, too few to meet the bound", most)
	}
	checkTables(t, tables)
}

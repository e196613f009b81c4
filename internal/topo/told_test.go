package topo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// Small cases that TestTables seldom meets.

const zone = api.LabelTopologyZone

// on makes a snapshot with nodes that have these labels; each list begins with the
// node's name.
func on(t *testing.T, nodes ...[]string) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for _, n := range nodes {
		if err := s.AddNode(api.MakeNode(n[0], "4", "4Gi").Labels(n[1:]...).Obj()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func info(t *testing.T, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	t.Helper()
	i, err := s.NewPodInfo(p)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func add(t *testing.T, s *framework.Snapshot, p *api.Pod, node string) *framework.PodInfo {
	t.Helper()
	i := info(t, s, p)
	if err := s.AddPod(i, node); err != nil {
		t.Fatal(err)
	}
	return i
}

func web(name string) *api.Pod { return api.MakePod(name).Labels("app", "web").Obj() }

var selectsWeb = &api.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// hermit makes a pod that keeps web pods away.
func hermit(name, key string) *api.Pod {
	p := api.MakePod(name).Obj()
	p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: key, LabelSelector: selectsWeb}},
	}}
	return p
}

// spread makes a web pod with constraints of the action.
func spread(action api.UnsatisfiableConstraintAction, keys ...string) *api.Pod {
	p := web("spread")
	for _, key := range keys {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, api.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: action, LabelSelector: selectsWeb,
		})
	}
	return p
}

// TestLabelAppears moves a node between the domain of the empty value and none.
func TestLabelAppears(t *testing.T) {
	s := on(t, []string{"a", zone, ""}, []string{"b"})
	p := info(t, s, spread(api.DoNotSchedule, zone))
	count := Of(s).Hard(p, HardRules(p)).Counts[0]
	for i, labels := range []map[string]string{{}, {zone: ""}, {}} {
		n := *s.Node("a").Node
		n.Labels = labels
		if err := s.UpdateNode(&n); err != nil {
			t.Fatal(err)
		}
		_, want := labels[zone]
		if got := count.Domain(s.Node("a")) >= 0; got != want {
			t.Errorf("step %d: in a domain = %t, want %t", i, got, want)
		}
	}
}

// TestNamespaceRenewsAnswers: the labels of a namespace decide which pods a term selects, so
// no answer from before they changed is brought up to date node by node.
func TestNamespaceRenewsAnswers(t *testing.T) {
	s := on(t, []string{"a", zone, "z"}, []string{"b", zone, "z"})
	pod := hermit("hermit", zone)
	terms := pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	terms[0].NamespaceSelector = &api.LabelSelector{MatchLabels: map[string]string{"team": "x"}}
	p := info(t, s, pod)
	a := Of(s).Affinity(p)
	version := a.FilterVersion()
	namespace := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "default", Labels: map[string]string{"team": "x"}}}
	if err := framework.Put(s, namespace); err != nil {
		t.Fatal(err)
	}
	if a = Of(s).Affinity(p); a.FilterChanged(version, func(int) {}) || a.FilterVersion() <= version {
		t.Errorf("the version is %d after the namespace changed, want more than %d, and unknown changes", a.FilterVersion(), version)
	}
}

// TestEmptyDomainStays adds and removes the last node of the empty value while
// nodes without the label count there.
func TestEmptyDomainStays(t *testing.T) {
	s := on(t, []string{"a", zone, ""}, []string{"b"})
	add(t, s, web("1"), "b")
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	count := Of(s).Soft(p, SoftRules(p), false).Counts[0]
	if err := s.RemoveNode("a"); err != nil {
		t.Fatal(err)
	}
	for i, value := range []string{"x", ""} {
		name := fmt.Sprint("c", i)
		if err := s.AddNode(api.MakeNode(name, "4", "4Gi").Labels(zone, value).Obj()); err != nil {
			t.Fatal(err)
		}
		if got, want := count.At(s.Node(name)), int64(i); got != want {
			t.Errorf("count of zone %q = %d, want %d", value, got, want)
		}
	}
}

// TestSweepKeepsTerms sweeps while a pod with a term is on a node without a domain,
// and then moves the node into one.
func TestSweepKeepsTerms(t *testing.T) {
	s := on(t, []string{"a"}, []string{"b", zone, "z"})
	add(t, s, hermit("1", zone), "a")
	p := info(t, s, web("new"))
	if a := Of(s).Affinity(p); len(a.Barred) != 1 || a.Bars() {
		t.Fatalf("%d terms bar the pod, want one that counts nobody", len(a.Barred))
	}
	Of(s).sweep(0, Of(s).tick+1)
	if a := Of(s).Affinity(p); len(a.Barred) != 1 {
		t.Fatalf("after a sweep %d terms bar the pod, want 1", len(a.Barred))
	}
	n := *s.Node("a").Node
	n.Labels = map[string]string{zone: "z"}
	if err := s.UpdateNode(&n); err != nil {
		t.Fatal(err)
	}
	if a := Of(s).Affinity(p); !a.Bars() || a.Barred[0].At(s.Node("b")) != 1 {
		t.Error("the term bars nobody from zone z, want it to")
	}
}

// TestSweepForgets sweeps the counter of a term after its last pod is gone: earlier
// answers must not count as known.
func TestSweepForgets(t *testing.T) {
	s := on(t, []string{"a", zone, "z"}, []string{"b", zone, "z"})
	last := add(t, s, hermit("1", zone), "a")
	add(t, s, hermit("2", api.LabelHostname), "b")
	p := info(t, s, web("new"))
	before := Of(s).Affinity(p).FilterVersion()
	if err := s.RemovePod(last, "a"); err != nil {
		t.Fatal(err)
	}
	Of(s).sweep(0, Of(s).tick+1)
	a := Of(s).Affinity(p)
	dirty := map[int]bool{}
	told := a.FilterChanged(before, func(slot int) { dirty[slot] = true })
	if a.FilterVersion() == before || told && len(dirty) < 2 {
		t.Errorf("FilterChanged(%d) = %t with %d slots at version %d, want both or false", before, told, len(dirty), a.FilterVersion())
	}
}

// TestTermGoesBesideVacantSelector drops a term that kept a pod away. The pod's own term matches nobody, so
// its counts are resolved again then.
func TestTermGoesBesideVacantSelector(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	guard := add(t, s, hermit("guard", zone), "a")
	add(t, s, hermit("other guard", api.LabelHostname), "b") // so that terms still mention the pod's label
	pod := web("asks")
	pod.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{
			TopologyKey: zone, LabelSelector: &api.LabelSelector{MatchLabels: map[string]string{"app": "nobody"}},
		}},
	}}
	p, tables := info(t, s, pod), Of(s)
	since := tables.Affinity(p).FilterVersion()
	if err := s.RemovePod(guard, "a"); err != nil {
		t.Fatal(err)
	}
	tables.sweep(0, tables.tick+1)
	a := tables.Affinity(p)
	if len(a.Barred) != 1 {
		t.Fatalf("%d terms bar the pod, want the one that stays", len(a.Barred))
	}
	var dirty []int
	if a.FilterVersion() == since || a.FilterChanged(since, func(slot int) { dirty = append(dirty, slot) }) && !slices.Contains(dirty, s.Node("a").Slot()) {
		t.Errorf("version %d, then %d: nobody says that the pod may go to a now, only to %v", since, a.FilterVersion(), dirty)
	}
}

// TestEvictedBindingForgets makes a binding again after a term that it had counted is
// gone: answers of the earlier binding must not count as known.
func TestEvictedBindingForgets(t *testing.T) {
	s := on(t, []string{"a", zone, "z"}, []string{"b", zone, "z"})
	last := add(t, s, hermit("1", zone), "a")
	add(t, s, hermit("2", api.LabelHostname), "b")
	p := info(t, s, web("new"))
	before := Of(s).Affinity(p).FilterVersion()
	if err := s.RemovePod(last, "a"); err != nil {
		t.Fatal(err)
	}
	tables := Of(s)
	tables.tick += 2 * usual.recent
	tables.evict(tables.bindings())
	tables.sweep(0, tables.tick+1)
	a := tables.Affinity(p)
	if len(a.Barred) != 1 || len(tables.free) != 1 {
		t.Fatalf("%d terms bar the pod and %d counters are free, want 1 of each", len(a.Barred), len(tables.free))
	}
	if a.FilterVersion() == before || a.FilterChanged(before, func(int) {}) {
		t.Errorf("version %d, as before, or said to be told from it", a.FilterVersion())
	}
}

// TestTermTakesPlace drops a term and makes another one with its index, while a
// binding looks at neither.
func TestTermTakesPlace(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	last := add(t, s, hermit("1", zone), "a")
	p := info(t, s, web("new"))
	tables := Of(s)
	a := tables.Affinity(p)
	before, old := a.FilterVersion(), a.Barred[0].id
	if err := s.RemovePod(last, "a"); err != nil {
		t.Fatal(err)
	}
	tables.sweep(0, tables.tick+1)
	add(t, s, hermit("2", api.LabelHostname), "b")
	a = tables.Affinity(p)
	if len(a.Barred) != 1 || a.Barred[0].id != old {
		t.Fatalf("%v bar the pod, want the one counter %d", a.Barred, old)
	}
	if a.FilterVersion() == before || a.FilterChanged(before, func(int) {}) {
		t.Errorf("version %d, as before, or said to be told from it", a.FilterVersion())
	}
}

// TestUnusedTwice queues a counter twice before its index belongs to another one.
func TestUnusedTwice(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	p := info(t, s, spread(api.DoNotSchedule, zone))
	tables := Of(s)
	tables.Hard(p, HardRules(p))
	tables.tick += 2 * usual.recent
	tables.evict(tables.bindings())
	tables.weigh()
	tables.unused[1].at = tables.tick + 5
	tables.sweep(0, tables.tick+1)
	if len(tables.free) != 1 || len(tables.unused) != 1 {
		t.Fatalf("%d counters are free and %d queued, want 1 of each", len(tables.free), len(tables.unused))
	}
	add(t, s, hermit("1", zone), "a")
	tables.sweep(0, tables.tick+10)
	checkTables(t, tables)
}

// TestNothingStays lets pods with selectors of their own come and go. It goes on with
// a fork from time to time. What is kept must not grow.
func TestNothingStays(t *testing.T) {
	s := on(t, []string{"a", zone, "y", "disk", "ssd"}, []string{"b", zone, "z", "disk", "ssd"})
	type placed struct {
		pod  *framework.PodInfo
		node string
	}
	present := make([]placed, 20)
	for i := range effort.Of(4_000, 12_000) {
		name := fmt.Sprint("app", i)
		if i%7 == 0 {
			name = "common"
		}
		own := &api.LabelSelector{MatchLabels: map[string]string{"app": name, "tier": "front"}}
		pod := api.MakePod(fmt.Sprint(i)).Labels("app", name, "tier", "front").Obj()
		if i%3 == 0 {
			pod.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{TopologyKey: zone, LabelSelector: own}},
			}}
		}
		pod.Spec.NodeSelector = map[string]string{"disk": "ssd", name: "x"}
		pod.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: api.DoNotSchedule, LabelSelector: own},
			{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: api.ScheduleAnyway, LabelSelector: own},
		}
		p := info(t, s, pod)
		mark := s.Begin()
		at := &present[i%len(present)]
		if at.pod != nil {
			if err := s.RemovePod(at.pod, at.node); err != nil {
				t.Fatal(err)
			}
		}
		if i%5 == 0 { // the change is only tried at first
			if at.pod != nil {
				add(t, s, pod, "a")
			}
			s.Rollback(mark)
			if at.pod != nil {
				if err := s.RemovePod(at.pod, at.node); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			s.Commit(mark)
		}
		tables := Of(s)
		tables.Affinity(p)
		tables.Hard(p, HardRules(p))
		tables.Soft(p, SoftRules(p), true)
		*at = placed{p, []string{"a", "b"}[i%2]}
		if err := s.AddPod(p, at.node); err != nil {
			t.Fatal(err)
		}
		if i%250 == 0 {
			DefaultsOf(s, p, systemHard, api.DoNotSchedule)
			checkTables(t, tables)
			s = s.Fork()
		}
	}
	tables := Of(s)
	for _, tt := range []struct {
		what       string
		most, have int
	}{
		{"bindings", usual.bindings + 1, len(tables.affinities) + len(tables.spreads)},
		{"counters", 2*usual.bindings + 3*usual.emptyClasses, len(tables.counters)},
		{"classes", len(present) + usual.emptyClasses + 2*int(usual.recent), len(tables.classes)},
		{"sets of nodes", 2*usual.bindings + 3*usual.emptyClasses, len(tables.nodeSets)},
		{"queued counters", usual.bindings + 3*int(usual.recent), len(tables.unused)},
		{"queued classes", len(present) + usual.emptyClasses + 2*int(usual.recent), len(tables.empty)},
	} {
		if tt.have > tt.most {
			t.Errorf("%d %s, want at most %d", tt.have, tt.what, tt.most)
		}
	}
}

// TestStandby lets pods come and go while nobody asks for anything.
func TestStandby(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	p := info(t, s, spread(api.DoNotSchedule, zone))
	tables := Of(s)
	tables.Hard(p, HardRules(p))
	for i := range 4000 {
		pod := hermit(fmt.Sprint(i), zone)
		if i%2 == 0 {
			pod = web(fmt.Sprint(i))
		}
		pod.Labels = map[string]string{"app": "web", "own": pod.Name}
		if i%2 == 1 {
			pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector = &api.LabelSelector{MatchLabels: pod.Labels}
		}
		if err := s.RemovePod(add(t, s, pod, "a"), "a"); err != nil {
			t.Fatal(err)
		}
	}
	checkTables(t, tables)
	if most := 5*usual.emptyClasses + 2*int(usual.recent); len(tables.classes) > most || len(tables.counters) > most {
		t.Errorf("%d classes and %d counters stay, want at most %d of each", len(tables.classes), len(tables.counters), most)
	}
}

// TestClassesStayInATransaction: pods that are taken away in a trial, and put back, make no class or term anew, however
// many they are and however much is asked meanwhile.
func TestClassesStayInATransaction(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	tables := Of(s)
	var pods []*framework.PodInfo
	for i := range 2 * usual.emptyClasses {
		pod := hermit(fmt.Sprint(i), zone)
		pod.Labels = map[string]string{"own": pod.Name}
		pods = append(pods, add(t, s, pod, "a"))
	}
	Of(s) // counts from now on
	terms, classes, mark := tables.termVersion, len(tables.classes), s.Begin()
	for _, p := range pods {
		if err := s.RemovePod(p, "a"); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 * usual.weighEvery {
		tables.lookup()
	}
	for _, p := range pods[1:] {
		if err := s.AddPod(p, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if tables.termVersion != terms || len(tables.classes) != classes {
		t.Errorf("terms of version %d and %d classes, want %d and %d as before", tables.termVersion, len(tables.classes), terms, classes)
	}
	s.Commit(mark)
	for _, p := range pods[1:] {
		if err := s.RemovePod(p, "a"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 * usual.weighEvery {
		tables.lookup()
	}
	checkTables(t, tables)
	if live := len(tables.classes) - len(tables.freeClasses); live > usual.emptyClasses {
		t.Errorf("%d classes stay after the transaction, want at most %d", live, usual.emptyClasses)
	}
}

// TestClassesOfTrialsGo: what is tried in transactions and taken back leaves no classes and terms without bound, whether
// anything is looked up inside of a trial or never.
func TestClassesOfTrialsGo(t *testing.T) {
	for _, lookups := range []int{0, 3} {
		s := on(t, []string{"a", zone, "y"})
		add(t, s, hermit("there", zone), "a")
		tables := Of(s)
		bound := 4*usual.emptyClasses + int(usual.recent) + 2
		for i := range 2 * bound {
			mark := s.Begin()
			pod := hermit(fmt.Sprint(i), zone)
			pod.Labels = map[string]string{"own": pod.Name}
			add(t, s, pod, "a")
			for range lookups {
				tables.lookup()
			}
			s.Rollback(mark)
			if live := len(tables.classes) - len(tables.freeClasses); live > bound {
				t.Fatalf("%d classes after %d trials with %d lookups, want at most %d", live, i, lookups, bound)
			}
		}
		if live := tables.termCount; live > bound {
			t.Errorf("%d terms stay", live)
		}
		checkTables(t, tables)
	}
}

// TestSizes distinguishes lists of sizes, also with very many of them, and after
// their counters were evicted.
func TestSizes(t *testing.T) {
	s := on(t, []string{"a", zone, "z"})
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	soft := func() *Spread { return Of(s).Soft(p, SoftRules(p), true) }
	first := soft().Sized([]int{1})
	for i := range sizesLimit + 1 {
		version := soft().Sized([]int{i + 2})
		if version == first || soft().SoftChanged(first, version, func(int) {}) {
			t.Fatalf("size %d has version %d, as has size 1, or is said to be told from %d", i+2, version, first)
		}
	}
	again := soft().Sized([]int{7})
	// Another binding holds the counters, so they stay.
	other := spread(api.ScheduleAnyway, zone)
	other.Spec.Tolerations = []api.Toleration{{Operator: api.TolerationOpExists}}
	other.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = new(api.NodeInclusionPolicyIgnore)
	other.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = new(api.NodeInclusionPolicyIgnore)
	q := info(t, s, other)
	old := soft()
	tables := Of(s)
	if tables.Soft(q, SoftRules(q), true) == old || len(old.usage.ids) != 1 {
		t.Fatal("the other pod has the same binding, want another one of the same counter")
	}
	tables.tick += 2 * usual.recent
	tables.Soft(q, SoftRules(q), true)
	tables.evict(tables.bindings())
	made := soft()
	if made == old {
		t.Fatal("nothing was given up")
	}
	for _, size := range []int{8, 7, 9} {
		version := made.Sized([]int{size})
		if version == again || made.SoftChanged(again, version, func(int) {}) {
			t.Errorf("size %d of a new binding has version %d, or is said to be told from %d", size, version, again)
		}
	}
}

// TestLongHistory changes counts more often than the history remembers.
func TestLongHistory(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	add(t, s, web("zeroth"), "b")
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	soft := Of(s).Soft(p, SoftRules(p), true)
	before := soft.Sized([]int{2})
	add(t, s, web("first"), "b")
	known := soft.Sized([]int{2})
	for range usual.changes {
		i := add(t, s, web("1"), "a")
		if err := s.RemovePod(i, "a"); err != nil {
			t.Fatal(err)
		}
	}
	now := soft.Sized([]int{2})
	for _, since := range []uint64{before, known} {
		if soft.SoftChanged(since, now, func(int) {}) {
			t.Errorf("SoftChanged(%d) = true, want false: it is forgotten", since)
		}
	}
	if !soft.SoftChanged(now, now, func(int) {}) {
		t.Error("SoftChanged of the present version = false, want true")
	}
}

// TestForksHaveHistories changes counts on both sides of a fork.
func TestForksHaveHistories(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	for i := range 5 { // so that the list of events has spare capacity
		add(t, s, web(fmt.Sprint(i)), "a")
	}
	soft := Of(s).Soft(p, SoftRules(p), true)
	add(t, s, web("in front"), "a")
	before := soft.Sized([]int{2})
	f := s.Fork()
	forked := Of(f).Soft(p, SoftRules(p), true)
	since := forked.Sized([]int{2})
	add(t, f, web("of the fork"), "b")
	add(t, s, web("of the other"), "a")
	if forked.SoftChanged(before, forked.Sized([]int{2}), func(int) {}) {
		t.Error("the fork tells of changes before it was made")
	}
	for _, c := range forked.Counts {
		if got := len(Of(f).counters[c.id].log.log.Entries()); got > 1+historyTail {
			t.Errorf("a counter of the fork remembers %d changes, want its own and the last ones before", got)
		}
	}
	for _, tt := range []struct {
		name  string
		of    *framework.Snapshot
		soft  *Spread
		since uint64
		node  string
	}{{"fork", f, forked, since, "b"}, {"other", s, soft, before, "a"}} {
		var dirty []string
		told := tt.soft.SoftChanged(tt.since, tt.soft.Sized([]int{2}), func(slot int) { dirty = append(dirty, tt.of.AtSlot(slot).Name()) })
		if !told || len(dirty) != 1 || dirty[0] != tt.node {
			t.Errorf("%s: SoftChanged named %q, %t, want %q", tt.name, dirty, told, tt.node)
		}
	}
}

// TestOwnersChange makes a service select other pods, and then the earlier ones
// again.
func TestOwnersChange(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	add(t, s, api.MakePod("1").Labels("tier", "front").Obj(), "a")
	add(t, s, web("2"), "b")
	p := info(t, s, api.MakePod("new").Labels("app", "web", "tier", "front").Obj())
	hard := func(key, value string) *Spread {
		service := &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: "default"}}
		service.Spec.Selector = map[string]string{key: value}
		if err := framework.Put(s, service); err != nil {
			t.Fatal(err)
		}
		return Of(s).Hard(p, DefaultsOf(s, p, systemHard, api.DoNotSchedule))
	}
	hard("tier", "front")
	hard("app", "web")
	version := hard("tier", "front").HardVersion()
	for range 3 {
		for _, label := range [][2]string{{"app", "web"}, {"tier", "front"}} {
			now := hard(label[0], label[1])
			if now.HardVersion() == version || now.HardChanged(version, func(int) {}) {
				t.Errorf("with %s=%s: version %d, as before, or said to be told from it", label[0], label[1], now.HardVersion())
			}
			version = now.HardVersion()
		}
	}
}

// TestPreparedGroups separates nodes with and without a label if a scorer ignores
// nodes without it, even if it does not read the label's value.
func TestPreparedGroups(t *testing.T) {
	s := on(t, []string{"a", zone, "z", api.LabelHostname, "a"}, []string{"b", zone, "z"}, []string{"c", zone, "z", api.LabelHostname, "c"})
	p := info(t, s, spread(api.ScheduleAnyway, zone, api.LabelHostname))
	n := *s.Node("b").Node
	n.Labels = map[string]string{zone: "z"}
	if err := s.UpdateNode(&n); err != nil {
		t.Fatal(err)
	}
	g := Of(s).Soft(p, SoftRules(p), true).SoftGroups()
	of := func(name string) int32 { return g.Of[s.Node(name).Slot()] }
	if !g.Prepared || g.Count != 2 || of("a") == of("b") || of("a") != of("c") {
		t.Errorf("SoftGroups() = %d groups, %v, want two, of b and of the others", g.Count, g.Of)
	}
}

// TestSelects checks which pods a rule selects and counts.
func TestSelects(t *testing.T) {
	s := on(t)
	leaving := web("leaving")
	leaving.DeletionTimestamp = new(s.Now())
	all := spread(api.DoNotSchedule, zone)
	all.Spec.TopologySpreadConstraints[0].LabelSelector = &api.LabelSelector{}
	for _, tt := range []struct {
		name              string
		rule, pod         *api.Pod
		selected, counted bool
	}{
		{"like", spread(api.DoNotSchedule, zone), web("1"), true, true},
		{"another", spread(api.DoNotSchedule, zone), api.MakePod("1").Obj(), false, false},
		{"terminating", spread(api.DoNotSchedule, zone), leaving, true, false},
		{"asks for nothing", all, web("1"), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule := HardRules(info(t, s, tt.rule)).List[0]
			if selected, counted := rule.Selects(info(t, s, tt.pod)); selected != tt.selected || counted != tt.counted {
				t.Errorf("Selects() = %t, %t, want %t, %t", selected, counted, tt.selected, tt.counted)
			}
		})
	}
}

// TestLeastChangesInBetween: if the least count has changed since a version, all nodes may
// have other answers, although the last change left it as it was.
func TestLeastChangesInBetween(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	p := info(t, s, spread(api.DoNotSchedule, zone))
	add(t, s, web("1"), "a")
	hard := Of(s).Hard(p, HardRules(p))
	since := hard.HardVersion()
	add(t, s, web("2"), "b") // zone z had none
	between := hard.HardVersion()
	add(t, s, web("3"), "a")
	if hard.HardChanged(since, func(int) {}) {
		t.Error("HardChanged() = true from where the least count was 0, want false: it is 1 now")
	}
	var dirty []string
	if ok := hard.HardChanged(between, func(slot int) { dirty = append(dirty, s.AtSlot(slot).Name()) }); !ok || len(dirty) != 1 || dirty[0] != "a" {
		t.Errorf("HardChanged() names %q, %t from where the least count was 1, want a", dirty, ok)
	}
}

// TestSoftGroupsOfOtherSizes: other sizes change the score of every group, and a change of a
// count that of its group.
func TestSoftGroupsOfOtherSizes(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	add(t, s, web("0"), "a")
	soft := Of(s).Soft(p, SoftRules(p), true)
	two, three := soft.Sized([]int{2}), soft.Sized([]int{3})
	if soft.SoftGroupsChanged(two, three, func(int) {}) || soft.SoftExceptionsChanged(two, three, nil, func(int) {}) {
		t.Error("changes are told from other sizes, want all groups and exceptions to be asked")
	}
	add(t, s, web("1"), "b")
	var dirty []int
	if ok := soft.SoftGroupsChanged(two, soft.Sized([]int{2}), func(group int) { dirty = append(dirty, group) }); !ok || len(dirty) != 1 || dirty[0] != int(soft.SoftGroups().Of[s.Node("b").Slot()]) {
		t.Errorf("SoftGroupsChanged() names the groups %v, %t, want that of b", dirty, ok)
	}
}

// TestSizesAreRemembered: the sizes of the domains are known for nodes seen before, until
// the nodes' labels change.
func TestSizesAreRemembered(t *testing.T) {
	s := on(t, []string{"a", zone, "y"}, []string{"b", zone, "z"})
	p := info(t, s, spread(api.ScheduleAnyway, zone))
	soft := Of(s).Soft(p, SoftRules(p), true)
	soft.RememberSized(7, soft.Sized([]int{2}))
	if sizes, version, ok := soft.SizedFor(7); !ok || len(sizes) != 1 || sizes[0] != 2 || version != soft.Sized([]int{2}) {
		t.Errorf("SizedFor(7) = %v, %d, %t, want [2] with its version", sizes, version, ok)
	}
	if _, _, ok := soft.SizedFor(8); ok {
		t.Error("SizedFor(8) is known, want not: only the nodes 7 were seen")
	}
	if err := s.UpdateNode(api.MakeNode("b", "4", "4Gi").Labels(zone, "y").Obj()); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := soft.SizedFor(7); ok {
		t.Error("SizedFor(7) is known after a node moved to another zone, want not")
	}
}

// TestHistoryDropsItsOlderHalf: what a full history has dropped is not told.
func TestHistoryDropsItsOlderHalf(t *testing.T) {
	h := newHistory[event](0, usual.changes)
	for at := range uint64(usual.changes + 1) {
		h.add(at+1, event{})
	}
	dropped := uint64(usual.changes) / 2
	if events, ok := h.since(dropped - 1); ok {
		t.Errorf("since(%d) = %d events, want none to be told: that of %d is dropped", dropped-1, len(events), dropped)
	}
	if events, ok := h.since(dropped); !ok || len(events) != int(dropped)+1 {
		t.Errorf("since(%d) = %d events, %t, want %d", dropped, len(events), ok, int(dropped)+1)
	}
}

// TestKeyVersionFollowsServices: the keys of pods may be others after the services have
// changed, which default constraints follow.
func TestKeyVersionFollowsServices(t *testing.T) {
	s := on(t, []string{"a", zone, "y"})
	before := KeyVersion(s)
	if now := KeyVersion(s); now != before {
		t.Errorf("KeyVersion() = %d, want %d: nothing has changed", now, before)
	}
	if err := framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: "default"}}); err != nil {
		t.Fatal(err)
	}
	if now := KeyVersion(s); now == before {
		t.Errorf("KeyVersion() = %d after a service came, want another", now)
	}
}

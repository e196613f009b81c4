package engine

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestForksOfLivePlugins: what a tracker of one snapshot says is not taken for what a
// tracker of another one says, although their versions are equal.
func TestForksOfLivePlugins(t *testing.T) {
	for _, live := range []int{zoneGate, nodeGate, podGate, zoneScorer, nodeScorer, listScorer, objectScorer, zoneGate | nodeScorer, allLive} {
		m := newMachine(20)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.live = live
		for i := range 4 {
			m.ask(t, 0, i, 1000)
		}
		m.fork()
		m.fork()
		for i := range 40 {
			m.use([]int{0, 1, 0, 2, 1, 2, 2}[i%7])
			m.ask(t, 0, 0, 1000)
			if i%3 > 0 {
				continue
			}
			for k := range m.snaps { // as many changes everywhere, but others
				m.use(k)
				n := m.snap.At((i + 5*k) % m.snap.Len()).Name()
				m.closed[n], m.bias[n] = !m.closed[n], int64(i+k)%9
				m.bias[fmt.Sprint("z", k)] = int64(i) % 9
				m.log = append(m.log, n)
				m.zone = fmt.Sprint("z", (i+k)%3)
				m.flips++
			}
		}
		if m.engine.stats.Hits < 30 {
			t.Errorf("live %b: %+v, want hits", live, m.engine.stats)
		}
	}
}

// asked counts the calls of a machine's kept plugins.
func (m *machine) asked(f func()) int {
	m.calls = 0
	f()
	return m.calls
}

// TestForkCostsWhatDiffers: going to a fork, to a sibling and back asks plugins about
// the nodes that differ, and no others, and keeps trees.
func TestForkCostsWhatDiffers(t *testing.T) {
	m := newMachine(500)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 20 {
		m.quiet(t, 2)
	}
	c := m.engine.classes["2"]
	if c.state != sharing && c.state != idle {
		t.Fatalf("the class is %s, want one that shares", c.state)
	}
	once := m.asked(func() { m.addPod("n9"); m.quiet(t, 2) })
	for range 3 {
		m.fork()
	}
	for i, step := range []struct{ snapshot, differ int }{{1, 0}, {1, 2}, {2, 4}, {0, 2}, {3, 0}, {3, 5}, {2, 7}, {0, 2}, {1, 2}} {
		if i == 1 || i == 5 {
			for k := range step.differ {
				m.addPod(fmt.Sprint("n", 20*i+k))
			}
		}
		if i == 2 { // its own changes, and those of the one before
			m.use(2)
			m.addPod("n77")
			m.addPod("n78")
		}
		calls := m.asked(func() {
			m.use(step.snapshot)
			m.quiet(t, 2)
		})
		// Many at once are asked plugin by plugin, with as many calls.
		if most := once * (step.differ + 1); calls > most {
			t.Errorf("step %d: %d calls of plugins, want at most %d for %d nodes that differ", i, calls, most, step.differ)
		}
		if !c.shares() {
			t.Errorf("step %d: the class is %s, want one that shares", i, c.state)
		}
	}
	// A fork with a node more costs the node: rows keep their scores.
	m.fork()
	m.use(4)
	m.serial++
	m.check(m.snap.AddNode(m.node(fmt.Sprint("n", m.serial), 3)))
	calls := m.asked(func() { m.quiet(t, 2) })
	if most := once * 16; calls > most {
		t.Errorf("a new node: %d calls of plugins, want at most %d", calls, most)
	}
}

// TestRollbackCostsWhatItTouched: after a rollback only the nodes that the transaction
// touched are asked about, and none if no decision saw them otherwise.
func TestRollbackCostsWhatItTouched(t *testing.T) {
	m := newMachine(500)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 2)
	}
	once := m.asked(func() { m.addPod("n9"); m.quiet(t, 2) })
	for _, ask := range []bool{false, true} {
		mark := m.snap.Begin()
		for k := range 5 {
			m.addPod(fmt.Sprint("n", 20+k))
		}
		if ask {
			m.quiet(t, 2)
		}
		m.snap.Rollback(mark)
		calls, most := m.asked(func() { m.quiet(t, 2) }), 0
		if ask {
			most = 5 * once
		}
		if calls > most {
			t.Errorf("asked in between %t: %d calls of plugins, want at most %d", ask, calls, most)
		}
	}
}

// addPod adds a pod to a node.
func (m *machine) addPod(node string) {
	m.serial += 2
	p, err := m.snap.NewPodInfo(m.pod(m.serial, 0))
	m.check(err)
	m.check(m.snap.AddPod(p, node))
}

// quiet asks the engine without checks, which would ask plugins too, and places nothing.
func (m *machine) quiet(t *testing.T, class int) {
	t.Helper()
	p, err := m.snap.NewPodInfo(m.pod(1, class))
	m.check(err)
	var cycle framework.Cycle
	cycle.Reset(p, m.snap, 0, 0)
	m.engine.Find(&Query{Snapshot: m.snap, Cycle: &cycle, Key: fmt.Sprint(class), Want: 1000})
	if f := m.engine.TakeFault(); f != nil {
		t.Fatalf("%s\n%s", f, f.Stack)
	}
	if m.stale != "" {
		t.Fatalf("plugin %s was asked about another snapshot than it is bound to", m.stale)
	}
}

// startFrom returns an engine that starts from what another one keeps.
func startFrom(first *Engine, source Source) *Engine {
	e := New(source, first.fixed)
	e.StartFrom(first)
	return e
}

// TestCloneStartsFromAnswers: a clone asks plugins about nodes that differ only, and what
// it does is nothing to the engine that it was made of.
func TestCloneStartsFromAnswers(t *testing.T) {
	m := newMachine(500)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 20 {
		m.quiet(t, 2)
		m.quiet(t, 0)
	}
	first := m.engine
	before := first.stats
	once := m.asked(func() { m.addPod("n9"); m.quiet(t, 2) })
	m.fork()
	m.use(1)
	m.engine = startFrom(first, m)
	m.addPod("n20")
	// A column of class 2 asks its scorer for the normalized score of two values.
	if calls := m.asked(func() { m.quiet(t, 2) }); calls > once+2 || m.engine.stats.Hits != 1 {
		t.Errorf("%d calls of plugins, %+v; want at most %d, and a hit", calls, m.engine.stats, once+2)
	}
	m.ask(t, 2, 0, 1000)
	m.ask(t, 0, 0, 1000)
	m.use(0)
	m.engine = first
	m.ask(t, 2, 0, 1000)
	m.ask(t, 0, 0, 1000)
	if got := first.stats.Hits - before.Hits; got != 3 {
		t.Errorf("%d hits of the engine that was cloned, want 3", got)
	}
}

// counting is a source with a kept scorer that reads objects: it counts services.
type counting struct{ *machine }

func (x counting) Kept() (filters, scorers framework.Reads) {
	return readsPods, readsNode | framework.ReadsObjects
}

func (x counting) BindKeptFilters(*framework.Cycle) ([]Filter, bool) { return nil, true }

func (x counting) BindKeptScorers(*framework.Cycle, Feasible) ([]Scorer, bool) {
	s := plugin{m: x.machine, name: "counting", bound: x.snap, score: x.score}
	return []Scorer{{At: 0, Scorer: s, Reads: readsNode | framework.ReadsObjects, Weight: 1}}, true
}

func (x counting) score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return int64(len(framework.List[api.Service](x.snap))) + int64(n.Slot()%3)
}

// TestForksOfObjects: kept scores that read objects are renewed in a snapshot with other
// objects, also in one whose objects are older.
func TestForksOfObjects(t *testing.T) {
	m := newMachine(20)
	source := counting{m}
	m.engine = New(source, DefaultBudget)
	m.fork()
	for i, snapshot := range []int{0, 0, 1, 0, 1, 1, 0} {
		m.use(snapshot)
		if i%2 == 1 {
			service := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", i), Namespace: "default"}}
			m.check(framework.Put(m.snap, service))
		}
		m.totals(t, i, source.score)
		m.totals(t, i, source.score)
	}
	if hits := m.engine.stats.Hits; hits < 10 {
		t.Errorf("%d hits, want 10 or more", hits)
	}
}

// TestCloneHasMemoryOfItsOwn: what a clone finds of a node that changed in its fork does not
// show in the engine that it was cloned from, whose node is as before.
func TestCloneHasMemoryOfItsOwn(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 0)
		m.quiet(t, 2)
	}
	first := m.engine
	second := startFrom(first, m)
	m.fork()
	for i := range 8 {
		m.use(1)
		m.engine = second
		m.check(m.snap.UpdateNode(m.node("n5", i))) // of another level and zone each time
		m.ask(t, 0, 0, 1000)
		m.ask(t, 2, 0, 1000)
		m.use(0)
		m.engine = first
		m.addPod("n5") // its verdict and score as a node stand
		m.ask(t, 0, 0, 1000)
		m.ask(t, 2, 0, 1000)
	}
	if a, b := first.stats.Hits, second.stats.Hits; a < 16 || b < 16 {
		t.Errorf("%d and %d hits, want 16 or more", a, b)
	}
}

// TestEnginesShareACopy: engines that start from another one share the copies that it made for
// the first of them, and it copies only what it has used since.
func TestEnginesShareACopy(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 0)
		m.quiet(t, 2)
	}
	first := m.engine
	a := startFrom(first, m)
	runtime.GC() // must not cost the copies
	b := startFrom(first, m)
	if a.inherited != b.inherited {
		t.Error("an engine that was not used in between made another copy")
	}
	m.quiet(t, 2)
	if first.bequeathed != nil || first.classes["2"].base.copy != nil || first.classes["0"].base.copy == nil {
		t.Error("what has been used since is kept for others, or what has not is given up")
	}
	c := startFrom(first, m)
	for key, was := range a.inherited.bases {
		used := first.bases[key] == first.classes["2"].base
		if copied := c.inherited.bases[key] != was; copied != used {
			t.Errorf("base %q was copied: %t; used in between: %t", key, copied, used)
		}
	}
	if len(a.inherited.bases) < 2 {
		t.Fatalf("%d bases, want 2 or more", len(a.inherited.bases))
	}
	// What it has inherited, and not been asked for, goes on to those that start from it.
	m.engine = startFrom(c, m)
	hits := m.engine.stats.Hits
	m.quiet(t, 0)
	m.quiet(t, 2)
	if got := m.engine.stats.Hits - hits; got != 2 {
		t.Errorf("%d hits of an engine that started from one that started from another, want 2", got)
	}
}

// TestInheritedAnswersAreNear: an engine says how many nodes differ from those that an inherited class
// is about, and does not keep it for other nodes or objects.
func TestInheritedAnswersAreNear(t *testing.T) {
	m := newMachine(50)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 2)
	}
	e := startFrom(m.engine, m)
	m.fork()
	m.fork()
	m.fork()
	m.use(1)
	for i := range 3 {
		m.addPod(fmt.Sprint("n", 2+15*i))
	}
	if n, ok := e.Keeps(m.snap, "2"); n != 3 || !ok {
		t.Errorf("Keeps = %d, %t for three nodes that differ, want 3, true", n, ok)
	}
	if _, ok := e.Keeps(m.snap, "0"); ok {
		t.Error("a class is kept that nobody has asked for")
	}
	m.use(2)
	m.check(m.snap.AddNode(m.node("more", 3)))
	if _, ok := e.Keeps(m.snap, "2"); ok {
		t.Error("a class is kept for a snapshot with a node more")
	}
	m.use(3)
	m.check(framework.Put(m.snap, &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: "default"}}))
	if _, ok := e.Keeps(m.snap, "2"); ok {
		t.Error("a class is kept for a snapshot with other objects")
	}
	if e.KeepsNone() || !New(m, 0).KeepsNone() {
		t.Error("an engine that has inherited a class keeps none, or a new one keeps some")
	}
}

// TestInheritanceIsGivenUp: a plugin that panics costs what is inherited, too, since nothing that
// it may have answered is trusted; and without room nothing is inherited.
func TestInheritanceIsGivenUp(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 0)
		m.quiet(t, 2)
	}
	first := m.engine
	m.engine = startFrom(first, m)
	m.explode = "room"
	m.addPod("n3")
	m.quiet(t, 0)
	m.explode = ""
	if m.engine.inherited != nil {
		t.Error("an engine inherits after a plugin has panicked")
	}
	m.engine = startFrom(first, m)
	m.engine.fixed, m.engine.budget, m.engine.typical = 1000, 1000, 2000
	m.quiet(t, 2)
	if s := m.engine.stats; s.Hits > 0 {
		t.Errorf("%+v, want no hits without room", s)
	}
}

// TestLegaciesAreBounded: of what an engine has inherited itself, it hands on what was used last, as far
// as there is room, with the classes of these bases.
func TestLegaciesAreBounded(t *testing.T) {
	old := &legacy{bases: map[string]*base{}, classes: map[string]legacyClass{}}
	for i := range 10 {
		key := fmt.Sprint(i)
		old.bases[key] = &base{used: uint64(i), bytes: 100}
		old.classes["c"+key] = legacyClass{base: key, used: uint64(i)}
	}
	old.bases["5"].bytes = 1000
	own := &base{used: 20}
	l := &legacy{bases: map[string]*base{"9": own}, classes: map[string]legacyClass{}}
	l.takeOver(old, 350)
	for i := range 10 {
		key := fmt.Sprint(i)
		want := i >= 6 // there is room for three, besides the one that is there
		if _, ok := l.classes["c"+key]; (l.bases[key] != nil) != want || ok != want {
			t.Errorf("base %s: handed on %t, with its class %t, want %t", key, l.bases[key] != nil, ok, want)
		}
	}
	if l.bases["9"] != own {
		t.Error("a base of the engine itself is not handed on")
	}
	many := &legacy{bases: map[string]*base{"b": {}}, classes: map[string]legacyClass{}}
	for i := range legacyClasses + 100 {
		many.classes[fmt.Sprint(i)] = legacyClass{base: "b", used: uint64(i)}
	}
	l = &legacy{bases: map[string]*base{}, classes: map[string]legacyClass{}}
	l.takeOver(many, 1000)
	_, first := l.classes["99"]
	_, last := l.classes["100"]
	if len(l.classes) != legacyClasses || first || !last {
		t.Errorf("%d classes are handed on, one used long ago %t, a later one %t", len(l.classes), first, last)
	}
}

// TestCopiesKnowTheirUse: copies for others say how large they are and when they were used.
func TestCopiesKnowTheirUse(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	for range 3 {
		m.quiet(t, 0)
		m.quiet(t, 2)
	}
	for key, b := range startFrom(m.engine, m).inherited.bases {
		if of := m.engine.bases[key]; b.used != of.used || b.used == 0 || b.bytes != b.size() || b.bytes < 100 {
			t.Errorf("base %q: used %d, %d bytes; want %d, %d", key, b.used, b.bytes, of.used, b.size())
		}
	}
}

// TestQuestionsToLivePluginsCount: what live plugins are asked counts among what the engine evaluates,
// and among what the next decision about the class may cost.
func TestQuestionsToLivePluginsCount(t *testing.T) {
	for live, least := range map[int]int{0: 0, listScorer: 30} {
		m := newMachine(100)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.live = live
		for range 4 {
			m.quiet(t, 2)
		}
		before := m.engine.Evaluated()
		m.quiet(t, 2)
		n, ok := m.engine.Keeps(m.snap, "2")
		if evaluated := int(m.engine.Evaluated()-before) / 2; !ok || n < least || evaluated < least || least == 0 && n+evaluated > 0 {
			t.Errorf("live %b: %d evaluated, a change of %d, kept %t; want at least %d", live, evaluated, n, ok, least)
		}
	}
}

// TestHeirsHaveMemoryOfTheirOwn: two engines that start from one, and the one itself, go on in turn, each
// in a fork of its own where the same nodes have changed in other ways.
func TestHeirsHaveMemoryOfTheirOwn(t *testing.T) {
	for _, live := range []int{0, zoneGate | zoneScorer, nodeGate | nodeScorer} {
		m := newMachine(40)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.live = live
		for range 3 {
			m.quiet(t, 0)
			m.quiet(t, 2)
			m.quiet(t, 4)
		}
		engines := []*Engine{m.engine, startFrom(m.engine, m), startFrom(m.engine, m)}
		m.fork()
		m.fork()
		if a, b := engines[0], engines[1]; b.inherited.tracker == a.tracker || len(a.divisions.list) == 0 || &a.divisions.list[0] == &b.divisions.list[0] {
			t.Error("two engines share a tracker or a list of divisions")
		}
		for i := range 12 {
			for k := range engines {
				m.use(k)
				m.engine = engines[k]
				for node := range 3 {
					m.check(m.snap.UpdateNode(m.node(fmt.Sprint("n", 4+node), 7*k+5*i+node)))
					m.addPod(fmt.Sprint("n", 10+5*k+node))
				}
				m.ask(t, 0, 0, 1000)
				m.ask(t, 2, 0, 1000)
				m.ask(t, 0, 4, 1000)
			}
		}
		for k, e := range engines {
			if e.stats.Hits < 24 {
				t.Errorf("live %b: engine %d: %+v, want hits", live, k, e.stats)
			}
		}
	}
}

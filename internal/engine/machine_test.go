package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/proof/enough"
	"pgregory.net/rapid"
)

// The machine drives an engine with a source of small plugins, one of each kind that
// the engine treats in its own way, and compares each view with what the same plugins
// say about every node.

// machine is a cluster, its forks, and what the plugins read besides.
type machine struct {
	snaps   []*framework.Snapshot
	snap    *framework.Snapshot // the one in use
	engine  *Engine
	refs    map[string]*Ref
	serial  int
	byName  bool // ask for the tie rule by name, not for Heap
	uniform bool // nodes have one level, but for those that change
	spread  int  // number of zones

	*outside
	outsides []*outside // of snaps

	live int // which live plugins take part, see bits below
	// reserved has the places of the filters that override what is known of nodes.
	reserved map[string]int
	zones    map[uint64]incremental.Groups // by NodeSet
	explode  string                        // name of a plugin that panics
	stale    string                        // name of a plugin that was asked although it is bound to another snapshot
	wrong    string                        // what plugins were shown wrongly: a panic would be taken for theirs
	fail     string                        // name of a filter that returns an error
	calls    int                           // of plugins
	filters  []Filter
	scorers  []Scorer
}

// outside is what live plugins read besides a node and its pods. Each snapshot has its
// own, and versions of two snapshots may be equal although they differ.
type outside struct {
	zone   string          // that the zone gate shuts
	closed map[string]bool // nodes that the node gate shuts
	log    []string        // names of nodes whose closed or bias changed
	flips  uint64          // counts changes of zone
	bias   map[string]int64

	odd    map[string]int64 // by node: what makes it an exception; by zone: what its nodes have
	oddLog []string         // names of nodes and zones whose odd changed
}

func (x *outside) clone() *outside {
	return &outside{x.zone, maps.Clone(x.closed), slices.Clone(x.log), x.flips, maps.Clone(x.bias), maps.Clone(x.odd), slices.Clone(x.oddLog)}
}

// fork adds a fork of the snapshot in use.
func (m *machine) fork() {
	m.snaps, m.outsides = append(m.snaps, m.snap.Fork()), append(m.outsides, m.outside.clone())
}

// use uses another snapshot.
func (m *machine) use(i int) { m.snap, m.outside = m.snaps[i], m.outsides[i] }

// The live plugins, as bits of machine.live.
const (
	zoneGate = 1 << iota
	nodeGate
	podGate
	zoneScorer
	nodeScorer
	listScorer
	objectScorer
	oddScorer
	oddestScorer
	allLive = 1<<iota - 1
)

func newMachine(nodes int) *machine {
	m := &machine{
		snap: framework.NewSnapshot(framework.Arrival), refs: map[string]*Ref{}, reserved: map[string]int{}, zones: map[uint64]incremental.Groups{},
		outside: &outside{closed: map[string]bool{}, bias: map[string]int64{}, odd: map[string]int64{}}, spread: 3,
	}
	m.snaps, m.outsides = []*framework.Snapshot{m.snap}, []*outside{m.outside}
	m.snap.SetNow(time.Unix(1_700_000_000, 0))
	m.engine = New(m, DefaultBudget)
	m.grow(nodes)
	return m
}

// grow adds nodes.
func (m *machine) grow(nodes int) {
	for range nodes {
		m.serial++
		m.check(m.snap.AddNode(m.node(fmt.Sprint("n", m.serial), m.serial%35)))
	}
}

func (m *machine) check(err error) {
	if err != nil {
		panic(err)
	}
}

// pod makes a pod of a class.
func (m *machine) pod(i, class int) *api.Pod {
	return api.MakePod(fmt.Sprint("p", i)).UID(api.UID(fmt.Sprint(i))).Labels("class", fmt.Sprint(class)).Obj()
}

// likedKind is the kind of a node that one scorer prefers.
const likedKind = 39

// node makes a node whose labels say what plugins read of it.
func (m *machine) node(name string, k int) *api.Node {
	level := k % 4
	if m.uniform && k < 35 {
		level = 2
	}
	return api.MakeNode(name, "8", "8Gi").Zone(fmt.Sprint("z", k%m.spread)).
		Labels("level", fmt.Sprint(level), "tired", fmt.Sprint(k%7*20), "liked", fmt.Sprint(k == likedKind)).Obj()
}

func level(n *framework.NodeInfo) int64 {
	x, _ := strconv.ParseInt(n.Node.Labels["level"], 10, 64)
	return x
}

// tiredUntil is when the node is no longer tired.
func tiredUntil(n *framework.NodeInfo) time.Time {
	x, _ := strconv.ParseInt(n.Node.Labels["tired"], 10, 64)
	return time.Unix(1_700_000_000+x, 0)
}

// groups divides the nodes by zone, and nodes without one are of the last group.
func (m *machine) groups() incremental.Groups {
	g, ok := m.zones[m.snap.NodeSet()]
	if !ok {
		g = incremental.Groups{Of: make([]int32, m.snap.SlotLimit()), Count: m.spread}
		for _, n := range m.snap.All() {
			g.Of[n.Slot()] = int32(n.Node.Labels[api.LabelTopologyZone][1] - '0')
		}
		m.zones[m.snap.NodeSet()] = g
	}
	return g
}

// plugin is everything that a bound plugin may be. The parts that are set answer.
type plugin struct {
	m      *machine
	name   string
	bound  *framework.Snapshot
	filter func(p *framework.PodInfo, n *framework.NodeInfo) bool
	score  func(p *framework.PodInfo, n *framework.NodeInfo) int64
}

func (x plugin) tick() {
	x.m.calls++
	if x.bound != x.m.snap {
		x.m.stale = x.name
	}
	if x.m.explode == x.name {
		panic("boom")
	}
}

func (x plugin) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	x.tick()
	switch {
	case x.m.fail == x.name:
		return framework.AsStatus(errors.New("failed"))
	case x.filter(p, n):
		return framework.Status{}
	}
	return framework.UnschedulableStatus(framework.Text(x.name))
}

func (x plugin) Score(p *framework.PodInfo, n *framework.NodeInfo) int64 {
	x.tick()
	return x.score(p, n)
}

// The upgrades, each as a type of its own, as plugins have them or not.
type (
	expiring  struct{ plugin }
	grouped   struct{ plugin }
	flipping  struct{ grouped }
	tracking  struct{ plugin }
	ranged    struct{ plugin }
	excluding struct {
		ranged
		tracking
	}
	listed struct{ plugin }
	keyed  struct{ plugin }
)

func (x expiring) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) time.Time {
	x.tick()
	if t := tiredUntil(n); t.After(x.m.snap.Now()) {
		return t
	}
	return time.Time{}
}

func (x grouped) Groups() incremental.Groups { return x.m.groups() }

// A flipping filter treats zones alike and counts how often that changes.
func (x flipping) Version() uint64 {
	x.tick()
	return x.m.flips + 1
}

func (x flipping) Changed(uint64, func(slot int)) bool { return false }

func (x tracking) Version() uint64 {
	x.tick()
	return uint64(len(x.m.log)) + 1
}

func (x tracking) Changed(since uint64, dirty func(slot int)) bool {
	for _, name := range x.m.log[since-1:] {
		if n := x.m.snap.Node(name); n != nil {
			dirty(n.Slot())
		}
	}
	dirty(-1) // slots of no node do no harm
	dirty(x.m.snap.SlotLimit())
	return true
}

func (x ranged) NormalizeScore(raw, low, high int64) int64 {
	x.tick()
	if high == low {
		return 50
	}
	return 100 * (raw - low) / (high - low)
}

// AppendNodeKey has all that scores of single nodes are made of.
func (x keyed) AppendNodeKey(b []byte, _ *framework.PodInfo, n *framework.NodeInfo) []byte {
	return strconv.AppendInt(strconv.AppendInt(b, level(n), 10), pods(n), 10)
}

func (x excluding) Excludes(n *framework.NodeInfo) bool {
	x.ranged.tick()
	return level(n) == 3
}

func (x listed) NormalizeScores(_ []*framework.NodeInfo, scores []int64) {
	x.tick()
	most := int64(1)
	for _, s := range scores {
		most = max(most, s)
	}
	for i := range scores {
		scores[i] = 100 * scores[i] / most
	}
}

// odds is a scorer whose scores are by zone, but for nodes that are odd.
type odds struct{ ranged }

func (x odds) Groups() incremental.Groups {
	g := x.m.groups()
	g.Prepared = true
	return g
}

func (x odds) Version() uint64 { return uint64(len(x.m.oddLog)) + 1 }

func (x odds) Changed(uint64, func(slot int)) bool { return false }

func (x odds) GroupScore(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	x.tick()
	return 4 * x.m.odd[n.Node.Labels[api.LabelTopologyZone]]
}

func (x odds) Excludes(n *framework.NodeInfo) bool {
	return x.m.odd[n.Node.Labels[api.LabelTopologyZone]] == 3
}

func (x odds) Exceptions(visit func(slot int)) {
	x.tick()
	for _, n := range x.m.snap.All() {
		if x.m.odd[n.Name()] != 0 {
			visit(n.Slot())
		}
	}
}

func (x odds) ExceptionsChanged(since uint64, known []int32, visit func(slot int)) bool {
	x.tick()
	for _, name := range x.m.oddLog[since-1:] {
		if n := x.m.snap.Node(name); n != nil {
			visit(n.Slot())
			continue
		}
		for _, slot := range known {
			if n := x.m.snap.AtSlot(int(slot)); n != nil && n.Node.Labels[api.LabelTopologyZone] == name {
				visit(int(slot))
			}
		}
	}
	return len(x.m.oddLog)%11 != 10
}

// oddest is another such scorer, which the same nodes are exceptions to.
type oddest struct{ odds }

func (x oddest) GroupScore(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	x.tick()
	return 2 * x.m.odd[n.Node.Labels[api.LabelTopologyZone]]
}

// index is the class of a pod, which decides what it demands.
func index(p *framework.PodInfo) int {
	i, _ := strconv.Atoi(p.Pod.Labels["class"])
	return i
}

// takesPart reports whether a scorer takes part for the pod. Classes of the second base
// have one that normalizes, and gives most nodes the same score, so that they can share
// the tree of the base.
func takesPart(p *framework.PodInfo, scorer int) bool {
	return scorer < 2 || scorer == 4 || index(p) < 2
}

func pods(n *framework.NodeInfo) int64 { return int64(len(n.Pods)) }

const (
	readsNode = framework.ReadsNode
	readsPods = framework.ReadsNode | framework.ReadsPods
)

// boundFilters lists all filters; the first three are not live.
func (m *machine) boundFilters() []Filter {
	filter := func(name string, f func(*framework.PodInfo, *framework.NodeInfo) bool) plugin {
		return plugin{m: m, name: name, bound: m.snap, filter: f}
	}
	return []Filter{
		{At: 0, Filter: filter("level", func(p *framework.PodInfo, n *framework.NodeInfo) bool { return level(n) >= int64(index(p)/2%2) }), Reads: readsNode},
		{At: 1, Filter: filter("room", func(p *framework.PodInfo, n *framework.NodeInfo) bool { return pods(n) < int64(2+index(p)/2) }), Reads: readsPods},
		{At: 3, Filter: expiring{filter("tired", func(_ *framework.PodInfo, n *framework.NodeInfo) bool { return !tiredUntil(n).After(m.snap.Now()) })}, Reads: readsNode | framework.ReadsTime},
		{At: 2, Filter: flipping{grouped{filter("zone", func(_ *framework.PodInfo, n *framework.NodeInfo) bool {
			return n.Node.Labels[api.LabelTopologyZone] != m.zone
		})}}, Reads: readsNode | framework.ReadsDomain},
		{At: 4, Filter: tracking{filter("closed", func(_ *framework.PodInfo, n *framework.NodeInfo) bool { return !m.closed[n.Name()] })}, Reads: readsNode | framework.ReadsDomain},
		{At: 5, Filter: tracking{filter("crowded", func(p *framework.PodInfo, n *framework.NodeInfo) bool { return pods(n) != 1 || index(p) != 2 })}, Reads: readsPods | framework.ReadsDomain},
	}
}

// boundScorers lists all scorers; the first five are not live.
func (m *machine) boundScorers() []Scorer {
	scorer := func(name string, f func(*framework.PodInfo, *framework.NodeInfo) int64) plugin {
		return plugin{m: m, name: name, bound: m.snap, score: f}
	}
	base := ranged{scorer("packed", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) * level(n) })}
	list := listed{scorer("listed", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return level(n) })}
	zone := groupedScorer{ranged{scorer("zones", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		return m.bias[n.Node.Labels[api.LabelTopologyZone]]
	})}}
	biased := scorer("biased", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return m.bias[n.Name()] })
	node := excludingScorer{excluding{ranged{biased}, tracking{biased}}, biased}
	liked := ranged{scorer("liked", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		return map[string]int64{"true": 7}[n.Node.Labels["liked"]]
	})}
	live := listed{scorer("live", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return pods(n) + m.bias[n.Name()] })}
	objects := ranged{scorer("objects", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		return (level(n) + int64(len(framework.List[api.Service](m.snap)))) % 4
	})}
	odd := odds{ranged{scorer("odd", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		return 4*m.odd[n.Node.Labels[api.LabelTopologyZone]] + m.odd[n.Name()]
	})}}
	most := oddest{odds{ranged{scorer("oddest", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
		return 2*m.odd[n.Node.Labels[api.LabelTopologyZone]] - m.odd[n.Name()]
	})}}}
	domain := readsPods | framework.ReadsDomain | framework.ReadsFeasible
	full := keyed{scorer("full", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return 9 * pods(n) })}
	return []Scorer{
		{At: 0, Scorer: scorer("flat", func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return 10 * level(n) }), Reads: readsNode, Weight: 1},
		{At: 1, Scorer: full, Keys: full, Reads: readsPods, Weight: 2},
		{At: 2, Scorer: base, Keys: keyed(base), ByRange: base, Reads: readsPods, Weight: 3},
		{At: 3, Scorer: list, ByNodes: list, Reads: readsNode, Weight: 1},
		{At: 4, Scorer: liked, ByRange: liked, Reads: readsNode, Weight: 1},
		{At: 5, Scorer: zone, ByRange: zone, Except: zone, Reads: domain, Weight: 2},
		{At: 6, Scorer: node, ByRange: node, Except: node, Reads: readsNode | framework.ReadsDomain, Weight: 1},
		{At: 7, Scorer: live, ByNodes: live, Reads: domain, Weight: 1},
		{At: 8, Scorer: objects, ByRange: objects, Reads: readsNode | framework.ReadsFeasible | framework.ReadsObjects, Weight: 2},
		{At: 9, Scorer: odd, ByRange: odd, Except: odd, Reads: domain, Weight: 2},
		{At: 10, Scorer: most, ByRange: most, Except: most, Reads: domain, Weight: 1},
	}
}

type groupedScorer struct{ ranged }

// excludingScorer chooses among the methods that its parts share.
type excludingScorer struct {
	excluding
	scorer plugin
}

func (x excludingScorer) Score(p *framework.PodInfo, n *framework.NodeInfo) int64 {
	return x.scorer.Score(p, n)
}

func (x groupedScorer) Groups() incremental.Groups { return x.m.groups() }

// Excludes leaves whole zones out of the range, whatever their scores are.
func (x groupedScorer) Excludes(n *framework.NodeInfo) bool {
	x.tick()
	return x.m.bias[n.Node.Labels[api.LabelTopologyZone]]%7 == 6
}

func (m *machine) BaseKey(p *framework.PodInfo) string { return fmt.Sprint(index(p) / 2) }
func (m *machine) Live() (filters, scorers bool)       { return true, true }
func (m *machine) Idle(*framework.Cycle) (filters, scorers bool) {
	const gates = zoneGate | nodeGate | podGate
	return m.live&gates == 0 && m.serial%2 == 0, m.live&^gates == 0 && m.serial%3 > 0
}

func (m *machine) Kept() (filters, scorers framework.Reads) {
	return readsPods | framework.ReadsTime, readsPods
}

func (m *machine) BindKeptFilters(*framework.Cycle) ([]Filter, bool) {
	m.filters = append(m.filters[:0], m.boundFilters()[:3]...)
	return m.filters, true
}

func (m *machine) BindLiveFilters(*framework.Cycle) ([]Filter, bool) {
	m.filters = m.filters[:0]
	for i, f := range m.boundFilters() {
		if i >= 3 && m.live&(zoneGate<<(i-3)) != 0 {
			m.filters = append(m.filters, f)
		}
	}
	return m.filters, true
}

func (m *machine) BindKeptScorers(c *framework.Cycle, feasible Feasible) ([]Scorer, bool) {
	return m.bindScorers(feasible, func(i int) bool { return i < 5 && takesPart(c.Pod, i) })
}

func (m *machine) BindLiveScorers(_ *framework.Cycle, feasible Feasible) ([]Scorer, bool) {
	return m.bindScorers(feasible, func(i int) bool { return i >= 5 && m.live&(zoneScorer<<(i-5)) != 0 })
}

// bindScorers binds some of the scorers, and looks at the feasible nodes in every way.
func (m *machine) bindScorers(feasible Feasible, some func(i int) bool) ([]Scorer, bool) {
	m.scorers = m.scorers[:0]
	if m.explode == "PreScore" {
		return nil, false
	}
	if n := len(feasible.List()); n != feasible.Groups(5).Len() {
		m.wrong = fmt.Sprintf("List has %d nodes, Groups %d", n, feasible.Groups(5).Len())
	}
	shown := 0
	feasible.Groups(5).Each(func(_ *framework.NodeInfo, nodes int) { shown += nodes })
	if shown != feasible.Groups(5).Len() {
		m.wrong = fmt.Sprintf("Each shows %d nodes, want %d", shown, feasible.Groups(5).Len())
	}
	for i, s := range m.boundScorers() {
		if some(i) {
			m.scorers = append(m.scorers, s)
		}
	}
	return m.scorers, true
}

// want is what plugins say about the nodes of one search.
type want struct {
	reasons   map[string]int // place of the filter that rejects a node, by name
	feasible  []*framework.NodeInfo
	totals    []int64
	evaluated int
	start     int
}

// overrides lists the nodes that are reserved.
func (m *machine) overrides() (list []Override) {
	for slot := range m.snap.SlotLimit() {
		if n := m.snap.AtSlot(slot); n != nil {
			if at, ok := m.reserved[n.Name()]; ok {
				list = append(list, Override{slot, at, framework.UnschedulableStatus(framework.Text("reserved"))})
			}
		}
	}
	return list
}

// search asks every plugin about every node, as the reference path does.
func (m *machine) search(p *framework.PodInfo, start, limit int) want {
	w := want{reasons: map[string]int{}, start: start}
	filters := m.boundFilters()
	n := m.snap.Len()
	for i := range n {
		node := m.snap.At((start + i) % n)
		first := maxPlace
		for k, f := range filters {
			if k < 3 || m.live&(zoneGate<<(k-3)) != 0 {
				if !f.Filter.Filter(p, node).IsSuccess() {
					first = min(first, f.At)
				}
			}
		}
		if at, ok := m.reserved[node.Name()]; ok {
			first = at
		}
		if first == maxPlace {
			if len(w.feasible) == limit {
				break
			}
			w.feasible = append(w.feasible, node)
		} else {
			w.reasons[node.Name()] = first
		}
		w.evaluated++
	}
	m.score(p, &w)
	return w
}

// score finds the totals of the feasible nodes.
func (m *machine) score(p *framework.PodInfo, w *want) {
	w.totals = make([]int64, len(w.feasible))
	for k, s := range m.boundScorers() {
		if k < 5 && takesPart(p, k) || k >= 5 && m.live&(zoneScorer<<(k-5)) != 0 {
			m.addScores(p, s, w)
		}
	}
}

// narrow leaves some of the feasible nodes in a view, in another order, and compares.
func (m *machine) narrow(t fataler, v *View, w want, p *framework.PodInfo) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(m.serial), 0))
	left := want{}
	var slots []int
	for _, i := range r.Perm(len(w.feasible))[:2+r.IntN(len(w.feasible)-1)] {
		left.feasible = append(left.feasible, w.feasible[i])
		slots = append(slots, w.feasible[i].Slot())
	}
	m.score(p, &left)
	totals, ok := v.TotalsAmong(slots, nil)
	if !ok || !slices.Equal(totals, left.totals) {
		t.Fatalf("TotalsAmong(%v) = %v, %t, want %v", slots, totals, ok, left.totals)
	}
	if !v.narrow(slots) {
		t.Fatalf("narrow(%v) fails", slots)
	}
	m.compareTotals(t, v, left)
}

func (m *machine) addScores(p *framework.PodInfo, s Scorer, w *want) {
	raw := make([]int64, len(w.feasible))
	low, high := int64(1<<60), int64(-1<<60)
	for i, n := range w.feasible {
		raw[i] = s.Scorer.Score(p, n)
		if s.Except == nil || !s.Except.Excludes(n) {
			low, high = min(low, raw[i]), max(high, raw[i])
		}
	}
	switch {
	case s.ByNodes != nil:
		s.ByNodes.NormalizeScores(w.feasible, raw)
	case s.ByRange != nil:
		for i, n := range w.feasible {
			if s.Except != nil && s.Except.Excludes(n) {
				raw[i] = 0
			} else {
				raw[i] = s.ByRange.NormalizeScore(raw[i], low, high)
			}
		}
	}
	for i, x := range raw {
		w.totals[i] += x * s.Weight
	}
}

// ask asks the engine about a pod of a class, and compares. It returns a node to place
// the pod on, nil if there is none.
func (m *machine) ask(t fataler, class, start, limit int) *framework.NodeInfo {
	t.Helper()
	m.serial++
	key := fmt.Sprint(class)
	p, err := m.snap.NewPodInfo(m.pod(m.serial, class))
	m.check(err)
	if m.refs[key] == nil {
		m.refs[key] = new(Ref)
	}
	var cycle framework.Cycle
	cycle.Reset(p, m.snap, 0, 0)
	v, ok := m.engine.Find(&Query{
		Snapshot: m.snap, Cycle: &cycle, Key: key, Ref: m.refs[key], Start: start, Want: limit, Overrides: m.overrides(),
	})
	if f := m.engine.TakeFault(); f != nil {
		t.Fatalf("%s\n%s", f, f.Stack)
	}
	if m.wrong != "" {
		t.Fatalf("%s", m.wrong)
	}
	if !ok {
		return nil
	}
	m.engine.CheckInvariants()
	if f := m.engine.TakeFault(); f != nil {
		t.Fatalf("%s", f)
	}
	if m.stale != "" {
		t.Fatalf("plugin %s was asked about another snapshot than it is bound to", m.stale)
	}
	w := m.search(p, start%m.snap.Len(), limit)
	m.compare(t, v, w)
	if len(w.feasible) == 0 {
		return nil
	}
	if len(w.feasible) > 1 && m.serial%3 == 0 {
		m.narrow(t, v, w, p)
	}
	m.check(m.snap.AddPodAt(p, w.feasible[0]))
	return w.feasible[0]
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (m *machine) compare(t fataler, v *View, w want) {
	t.Helper()
	if v.Feasible != len(w.feasible) || v.Evaluated != w.evaluated {
		t.Fatalf("%d feasible nodes of %d, want %d of %d", v.Feasible, v.Evaluated, len(w.feasible), w.evaluated)
	}
	for name, at := range w.reasons {
		place, _ := v.Place(m.snap.Node(name).Slot())
		if got := v.State(place); got.Feasible || got.At != at {
			t.Fatalf("node %s is %+v, want a rejection by filter %d", name, got, at)
		}
	}
	if len(w.feasible) == 0 {
		return
	}
	if got := v.First(); got != w.feasible[0] {
		t.Fatalf("First() = %s, want %s", got.Name(), w.feasible[0].Name())
	}
	for i, n := range v.Nodes() {
		if n != w.feasible[i] {
			t.Fatalf("Nodes()[%d] = %s, want %s", i, n.Name(), w.feasible[i].Name())
		}
	}
	for place := range m.snap.Len() {
		if got, want := v.Visits(place), (place-w.start+m.snap.Len())%m.snap.Len() < w.evaluated; got != want {
			t.Fatalf("Visits(%d) = %t, want %t", place, got, want)
		}
	}
	if len(w.feasible) > 1 {
		m.compareTotals(t, v, w)
	}
}

// compareTotals compares totals and each rule's choice.
func (m *machine) compareTotals(t fataler, v *View, w want) {
	t.Helper()
	best, i := best{total: -1}, 0
	for _, x := range w.totals {
		best.add(int32(x), 1)
	}
	v.Totals(func(n *framework.NodeInfo, total int64) bool {
		if n != w.feasible[i] || total != w.totals[i] {
			t.Fatalf("total %d of node %s = %d, want %d of %s", i, n.Name(), total, w.totals[i], w.feasible[i].Name())
		}
		i++
		return true
	})
	if total, tied := v.Best(); total != int64(best.total) || tied != int(best.count) {
		t.Fatalf("Best() = %d, %d, want %+v", total, tied, best)
	}
	k, heap := 0, heapRoot(w.totals)
	for i, x := range w.totals {
		if x == int64(best.total) {
			if got := v.Tied(k); got != w.feasible[i] {
				t.Fatalf("Tied(%d) = %s, want %s", k, got.Name(), w.feasible[i].Name())
			}
			k++
		}
	}
	if m.byName {
		if got, want := v.ByName(), leastName(w, int64(best.total)); got != want {
			t.Fatalf("ByName() = %s, want %s", got.Name(), want.Name())
		}
	} else if got := v.Heap(); got != w.feasible[heap] {
		t.Fatalf("Heap() = %s, want %s", got.Name(), w.feasible[heap].Name())
	}
	if len(v.explicit) == 0 {
		if got := v.heapByLevels(); got != w.feasible[heap] {
			t.Fatalf("heapByLevels() = %s, want %s", got.Name(), w.feasible[heap].Name())
		}
	}
}

// leastName is the best node with the smallest name.
func leastName(w want, most int64) (least *framework.NodeInfo) {
	for i, n := range w.feasible {
		if w.totals[i] == most && (least == nil || n.Name() < least.Name()) {
			least = n
		}
	}
	return least
}

// heapRoot is the first of the highest totals in pre-order of the implicit heap.
func heapRoot(totals []int64) int {
	most := totals[0]
	for _, x := range totals {
		most = max(most, x)
	}
	var walk func(i int) int
	walk = func(i int) int {
		if i >= len(totals) {
			return -1
		}
		if totals[i] == most {
			return i
		}
		if found := walk(2*i + 1); found >= 0 {
			return found
		}
		return walk(2*i + 2)
	}
	return walk(0)
}

// TestMachine lets rapid choose what happens to a cluster.
func TestMachine(t *testing.T) {
	seen := map[string]int{}
	want := map[string]int{
		"answers": 1, "samples": 1, "shared answers": 1, "idle nodes": 1, "nodes no longer tired": 1,
		"rows that stand alike": 1, "exceptions to two scorers": 1, "scores by key": 1,
	}
	enough.Check(t, seen, want, func(t *rapid.T) {
		m := newMachine(0)
		m.byName, m.uniform = rapid.Bool().Draw(t, "by name"), rapid.Bool().Draw(t, "even")
		m.spread = rapid.SampledFrom([]int{3, 3, 1}).Draw(t, "zones")
		m.grow(rapid.SampledFrom([]int{2, 9, 40, 90}).Draw(t, "nodes"))
		anyNode := func(t *rapid.T) *framework.NodeInfo {
			return m.snap.At(rapid.IntRange(0, m.snap.Len()-1).Draw(t, "node"))
		}
		hits := uint64(0)
		count := func() {
			v := &m.engine.view
			if m.engine.stats.Hits == hits || v.class == nil {
				return
			}
			hits = m.engine.stats.Hits
			seen["answers"]++
			if len(v.explicit) > 0 {
				seen["samples"]++
			}
			if v.class.shares() {
				seen["shared answers"]++
			}
			if a := &m.engine.lists.byKey; len(a.first) > 0 && len(a.first) < m.snap.Len() {
				seen["scores by key"]++
			}
			if v.class.state == idle {
				seen["idle nodes"]++
			}
			if r := &v.class.base.rows; r.uniform && r.uniformScore > 0 {
				seen["rows that stand alike"]++
			}
			if len(v.class.columns.excepting) > 1 {
				seen["exceptions to two scorers"]++
			}
		}
		ask := func(t *rapid.T) {
			class, start := rapid.IntRange(0, 3).Draw(t, "class"), rapid.IntRange(0, 200).Draw(t, "start")
			limit := rapid.SampledFrom([]int{1000, 1000, 1000, 1, 2, 5, 30}).Draw(t, "want")
			for range rapid.SampledFrom([]int{1, 1, 3, 12}).Draw(t, "times") {
				m.ask(t, class, start, limit)
				count()
			}
		}
		later := func(t *rapid.T) {
			was := m.snap.Now()
			m.snap.SetNow(was.Add(time.Duration(rapid.IntRange(-30, 60).Draw(t, "seconds")) * time.Second))
			for _, n := range m.snap.All() {
				if tiredUntil(n).After(was) && !tiredUntil(n).After(m.snap.Now()) {
					seen["nodes no longer tired"]++
				}
			}
		}
		closeOne := func(t *rapid.T) {
			n := anyNode(t).Name()
			m.closed[n] = !m.closed[n]
			m.log = append(m.log, n)
		}
		m.live = rapid.SampledFrom([]int{0, nodeGate, podGate, objectScorer, nodeGate | nodeScorer, zoneGate | nodeScorer, oddScorer, oddScorer | zoneGate, oddScorer | oddestScorer, allLive}).Draw(t, "live at first")
		engines := []*Engine{m.engine} // each goes on, whatever the others do that started from it
		steps := map[string]func(*rapid.T){
			"ask": ask, "ask again": ask, "ask once more": ask,
			"share": func(t *rapid.T) {
				if m.live = 0; rapid.IntRange(0, 2).Draw(t, "no time") == 0 {
					m.snap.SetNow(m.snap.Now().Add(time.Hour))
				}
				for range 12 {
					if n := m.ask(t, 2, 0, 1000); n != nil && n.Slot()%2 == 0 {
						n = m.snap.AtSlot(n.Slot())
						m.check(m.snap.RemovePodAt(n.Pods[len(n.Pods)-1], n))
					}
					count()
				}
			},
			"service": func(*rapid.T) {
				m.serial++
				m.check(framework.Put(m.snap, &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", m.serial), Namespace: "default"}}))
			},
			"node is liked": func(t *rapid.T) { m.check(m.snap.UpdateNode(m.node(anyNode(t).Name(), likedKind))) },
			"fill": func(t *rapid.T) {
				n := anyNode(t)
				for range 4 {
					p, err := m.snap.NewPodInfo(api.MakePod(fmt.Sprint("full", m.serial)).UID(api.UID(fmt.Sprint("f", m.serial))).Obj())
					m.check(err)
					m.serial++
					m.check(m.snap.AddPodAt(p, m.snap.Node(n.Name())))
				}
			},
			"live": func(t *rapid.T) {
				m.live = rapid.SampledFrom([]int{0, 0, zoneGate, zoneGate | nodeScorer, zoneGate | nodeScorer, zoneGate | zoneScorer, nodeGate, podGate, podGate | nodeScorer, nodeScorer, listScorer, objectScorer, objectScorer, oddScorer, oddScorer, oddScorer | zoneScorer | zoneGate, oddScorer | nodeGate, oddScorer | oddestScorer, allLive}).Draw(t, "live")
			},
			"zone": func(t *rapid.T) {
				m.zone = rapid.SampledFrom([]string{"", "z0", "z1", "z2"}).Draw(t, "zone")
				m.flips++
			},
			"close": closeOne, "close another": closeOne,
			"reserve": func(t *rapid.T) {
				if len(m.reserved) > 4 {
					clear(m.reserved)
					return
				}
				m.reserved[anyNode(t).Name()] = rapid.IntRange(0, 5).Draw(t, "filter")
			},
			"bias": func(t *rapid.T) {
				n := anyNode(t)
				m.log = append(m.log, n.Name())
				m.bias[n.Name()] = rapid.Int64Range(0, 9).Draw(t, "bias")
				m.bias[n.Node.Labels[api.LabelTopologyZone]] = rapid.Int64Range(0, 9).Draw(t, "zone's")
			},
			"odd": func(t *rapid.T) {
				n := anyNode(t)
				name := rapid.SampledFrom([]string{n.Name(), n.Name(), n.Name(), n.Node.Labels[api.LabelTopologyZone]}).Draw(t, "name")
				m.odd[name] = rapid.Int64Range(-5, 6).Draw(t, "odd")
				m.oddLog = append(m.oddLog, name)
			},
			"pods leave": func(t *rapid.T) {
				for range 5 {
					if n := anyNode(t); len(n.Pods) > 0 {
						m.check(m.snap.RemovePodAt(n.Pods[0], n))
					}
				}
			},
			"node comes": func(*rapid.T) {
				m.serial++
				m.check(m.snap.AddNode(m.node(fmt.Sprint("n", m.serial), m.serial%35)))
			},
			"node goes": func(t *rapid.T) {
				if m.snap.Len() > 1 {
					m.check(m.snap.RemoveNode(anyNode(t).Name()))
				}
			},
			"node changes": func(t *rapid.T) {
				m.check(m.snap.UpdateNode(m.node(anyNode(t).Name(), rapid.IntRange(0, 40).Draw(t, "kind"))))
			},
			"time": later, "time again": later,
			"fork": func(t *rapid.T) {
				if len(m.snaps) < 6 {
					m.fork()
				}
				m.use(rapid.IntRange(0, len(m.snaps)-1).Draw(t, "fork"))
			},
			"clone": func(t *rapid.T) {
				clone := startFrom(m.engine, m)
				clone.stats.Hits = m.engine.stats.Hits
				if len(engines) < 4 {
					engines = append(engines, clone)
				} else {
					engines[rapid.IntRange(0, 3).Draw(t, "engine")] = clone
				}
				m.engine = clone
			},
			"engine": func(t *rapid.T) { m.engine = rapid.SampledFrom(engines).Draw(t, "engine") },
			"use":    func(t *rapid.T) { m.use(rapid.IntRange(0, len(m.snaps)-1).Draw(t, "fork")) },
			"what if": func(t *rapid.T) {
				mark := m.snap.Begin()
				ask(t)
				if rapid.Bool().Draw(t, "ask again") {
					ask(t)
				}
				m.snap.Rollback(mark)
			},
			"budget": func(t *rapid.T) {
				m.engine.fixed = rapid.SampledFrom([]int{DefaultBudget, 20_000}).Draw(t, "budget")
				m.engine.budget = m.engine.fixed
			},
		}
		t.Repeat(steps)
	})
}

// TestPluginPanics: a plugin that panics costs its class, and is no fault.
func TestPluginPanics(t *testing.T) {
	for _, name := range []string{"level", "room", "zone", "closed", "flat", "full", "packed", "listed", "zones", "biased", "live", "PreScore"} {
		m := newMachine(20)
		m.live = allLive
		m.snap.SetNow(m.snap.Now().Add(time.Hour)) // no node is tired
		for i := range 6 {
			if m.ask(t, 0, i, 1000); i >= 1 && m.engine.stats.Hits+m.engine.stats.Misses != uint64(i) {
				t.Fatalf("%s: decision %d was not answered: %+v", name, i, m.engine.stats)
			}
		}
		m.explode = name
		// What fails is asked again: the nodes' rows, the gates and the columns.
		m.check(m.snap.UpdateNode(m.node(m.snap.At(0).Name(), 5)))
		for _, n := range m.snap.All() {
			m.log = append(m.log, n.Name())
		}
		before := m.engine.stats
		if n := m.ask(t, 0, 0, 1000); n != nil {
			t.Errorf("%s: the panic was not noticed", name)
		}
		if s := m.engine.stats; s.Faults != 0 || s.Bypassed != before.Bypassed+1 || len(m.engine.classes) != 0 {
			t.Errorf("%s: %+v with %d classes, want no fault, one more bypass and no class", name, s, len(m.engine.classes))
		}
		m.explode = ""
		for i := range 300 {
			m.ask(t, 0, i, 1000)
			if i%4 == 0 {
				for _, n := range m.snap.All() {
					for len(n.Pods) > 0 {
						m.check(m.snap.RemovePodAt(n.Pods[0], n))
						n = m.snap.Node(n.Name())
					}
				}
			}
		}
		if m.engine.stats.Hits == before.Hits {
			t.Errorf("%s: nothing was answered afterwards", name)
		}
	}
}

// TestFault: a panic of the engine itself is a fault, and what was kept is forgotten.
func TestFault(t *testing.T) {
	for name, plant := range map[string]func(c *class){
		"tree":    func(c *class) { c.totals.tree.Release() },
		"reasons": func(c *class) { c.base.reasons.list = nil },
		"rows":    func(c *class) { c.base.rows.order.Place = nil },
		"tracker": func(c *class) { c.base.tracker = nil },
	} {
		m := newMachine(20)
		m.live = nodeGate
		for i := range 3 {
			m.ask(t, 0, i, 1000)
		}
		plant(m.engine.classes["0"])
		var cycle framework.Cycle
		p, err := m.snap.NewPodInfo(api.MakePod("p").Labels("class", "0").Obj())
		m.check(err)
		cycle.Reset(p, m.snap, 0, 0)
		m.check(m.snap.AddPodAt(p, m.snap.At(3)))
		if _, ok := m.engine.Find(&Query{Snapshot: m.snap, Cycle: &cycle, Key: "0", Want: 1000}); ok {
			t.Errorf("%s: the query was answered", name)
		}
		if f := m.engine.TakeFault(); f == nil || f.Stack == "" || m.engine.stats.Faults != 1 || len(m.engine.classes) != 0 {
			t.Errorf("%s: fault %v, %+v with %d classes, want a fault and no class", name, f, m.engine.stats, len(m.engine.classes))
		}
		if m.engine.TakeFault() != nil {
			t.Errorf("%s: the fault was not taken", name)
		}
		for i := range 3 {
			m.ask(t, 0, i, 1000)
		}
	}
}

// TestOrigins: snapshots of different origins in turn are never mixed up.
func TestOrigins(t *testing.T) {
	a, b := newMachine(9), newMachine(9)
	// The nodes differ, but their generations are equal.
	for i := range 9 {
		a.check(a.snap.UpdateNode(a.node(fmt.Sprint("n", i+1), 2)))
		b.check(b.snap.UpdateNode(b.node(fmt.Sprint("n", i+1), 3*i)))
	}
	one := a.engine
	b.engine = one
	for i := range 12 {
		m := a
		if i%4 > 1 {
			m = b
		}
		one.source = m
		for range 3 + i { // fewer than turnAfter at first
			m.ask(t, 0, i, 1000)
		}
	}
	if s := one.stats; s.Hits == 0 || s.Faults > 0 {
		t.Errorf("%+v, want hits and no faults", s)
	}
}

// TestTurns: an engine that is asked about two origins in turn keeps what it has of one, and
// turns to the other if that is asked about several times in a row: more often after turns that did not pay.
func TestTurns(t *testing.T) {
	origins := [2]*machine{newMachine(9), newMachine(9)}
	one := origins[0].engine
	origins[1].engine = one
	// ask asks about an origin so often, and returns how many answers there are.
	ask := func(origin, times int) int {
		m := origins[origin]
		one.source = m
		before := one.stats.Hits + one.stats.Misses
		m.askOften(t, 0, times)
		return int(one.stats.Hits + one.stats.Misses - before)
	}
	if n := ask(0, 2+turnPays); n != turnPays+1 { // the first pod of a base has no answer, the second is a miss
		t.Fatalf("%d answers, want %d", n, turnPays+1)
	}
	for range 10 {
		if here, there := ask(0, 1), ask(1, turnAfter-1); here != 1 || there != 0 {
			t.Fatalf("%d answers about the origin, %d about the other, want 1 and 0", here, there)
		}
	}
	if n := ask(1, 2+turnPays); n != turnPays+1 {
		t.Fatalf("%d answers after turning, want %d", n, turnPays+1)
	}
	for k, after := range []int{4, 8, 16, 32, 32} {
		if n := ask(k%2, after+2); n != 2 {
			t.Fatalf("turn %d: %d answers, want 2, after %d questions", k, n, after)
		}
	}
	if n := ask(1, 32+1+turnPays); n != turnPays+1 {
		t.Fatalf("%d answers, want %d", n, turnPays+1)
	}
	if n := ask(0, turnAfter+2); n != 2 {
		t.Fatalf("%d answers after a turn that has paid, want 2", n)
	}
	for range awayMost { // each about an origin of its own
		m := newMachine(9)
		m.engine, one.source = one, m
		m.askOften(t, 0, 1)
	}
	if one.schema == origins[0].snap.Schema() {
		t.Error("the engine keeps what is about an origin that nobody asks about any more")
	}
}

// TestKept: what the caller keeps holds until a reason changes.
func TestKept(t *testing.T) {
	m := newMachine(9)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = nodeGate
	for range 4 {
		m.ask(t, 0, 0, 1000) // two pods fill the first node
	}
	v := &m.engine.view
	v.Keep("a list of reasons")
	if m.ask(t, 0, 0, 1000); v.Kept() != "a list of reasons" {
		t.Errorf("Kept() = %v after a decision that changed no reason", v.Kept())
	}
	m.closed["n5"] = true
	m.log = append(m.log, "n5")
	if m.ask(t, 0, 0, 1000); v.Kept() != nil {
		t.Errorf("Kept() = %v after a node was rejected for another reason", v.Kept())
	}
}

// TestReopenedGroups: a tracked scorer is asked about the nodes of a group that was shut
// by a gate which no longer takes part.
func TestReopenedGroups(t *testing.T) {
	m := newMachine(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live, m.zone = zoneGate|nodeScorer, "z1"
	for range 3 {
		m.ask(t, 0, 0, 1000)
	}
	m.live = nodeScorer
	m.ask(t, 0, 0, 1000)
	if n := len(m.search(m.engine.view.class.ask.cycle.Pod, 0, 1000).feasible); n < 8 {
		t.Fatalf("%d feasible nodes, want those of all zones", n)
	}
}

// TestObjects: a scorer that reads objects is asked again if they change.
func TestObjects(t *testing.T) {
	m := newMachine(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = objectScorer
	for i := range 9 {
		m.ask(t, 0, 0, 1000)
		if i%3 == 2 {
			m.check(framework.Put(m.snap, &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("s", i), Namespace: "default"}}))
		}
	}
}

// TestLikedNodeIsFree: a class that shares gets a tree and counts of its own if a node
// becomes feasible that is unlike the others.
func TestLikedNodeIsFree(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.check(m.snap.UpdateNode(m.node("n7", likedKind)))
	fill := func(name string) {
		for len(m.snap.Node(name).Pods) < 3 {
			m.serial++
			p, err := m.snap.NewPodInfo(api.MakePod(fmt.Sprint("full", m.serial)).UID(api.UID(fmt.Sprint("f", m.serial))).Obj())
			m.check(err)
			m.check(m.snap.AddPodAt(p, m.snap.Node(name)))
		}
	}
	fill("n7")
	ask := func(times int) {
		for range times {
			if n := m.ask(t, 2, 0, 1000); n != nil {
				n = m.snap.AtSlot(n.Slot())
				m.check(m.snap.RemovePodAt(n.Pods[len(n.Pods)-1], n))
			}
		}
	}
	ask(15)
	c := m.engine.view.class
	if !c.shares() {
		t.Fatalf("the class is %s, want one that shares", c.state)
	}
	fill("n9")
	fill("n10")
	ask(2)
	n := m.snap.Node("n7")
	m.check(m.snap.RemovePodAt(n.Pods[0], n))
	ask(1)
	if c.shares() || len(c.columns.varying) != 1 {
		t.Errorf("the class is %s with columns %v that tell nodes apart, want a tree of its own and one", c.state, c.columns.varying)
	}
}

// askOften asks about pods of a class that leave at once.
func (m *machine) askOften(t *testing.T, class, times int) {
	t.Helper()
	for range times {
		if n := m.ask(t, class, 0, 1000); n != nil {
			n = m.snap.AtSlot(n.Slot())
			m.check(m.snap.RemovePodAt(n.Pods[len(n.Pods)-1], n))
		}
	}
}

// fill leaves no room for pods of any class on a node.
func (m *machine) fill(name string) {
	for len(m.snap.Node(name).Pods) < 3 {
		m.addPod(name)
	}
}

// TestNodesFillWhileSharing: a class that has known several raw scores, and shares since all
// feasible nodes have one, forgets the scores of nodes that are full.
func TestNodesFillWhileSharing(t *testing.T) {
	m := newMachine(20)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.check(m.snap.UpdateNode(m.node("n7", likedKind)))
	m.check(m.snap.UpdateNode(m.node("n8", likedKind)))
	m.askOften(t, 2, 4)
	c := m.engine.view.class
	if c.shares() {
		t.Fatalf("the class is %s, want one with its own tree", c.state)
	}
	m.fill("n7")
	m.fill("n8")
	m.askOften(t, 2, shareAfter+2)
	if values := c.columns.of(4).scores.(*valueScores); !c.shares() || values.spread != manyRaw {
		t.Fatalf("the class is %s, and its column is %s, want one that shares and has buckets", c.state, values)
	}
	for _, n := range m.snap.All() {
		m.fill(n.Name())
		m.askOften(t, 2, 1)
	}
	for _, name := range []string{"n7", "n8"} {
		n := m.snap.Node(name)
		m.check(m.snap.RemovePodAt(n.Pods[0], n))
	}
	m.askOften(t, 2, 1)
}

// TestKeptWhileSharing: what the caller of a class that shares keeps holds until a reason
// changes, also of a node that stays rejected.
func TestKeptWhileSharing(t *testing.T) {
	m := newMachine(9)
	m.snap.SetNow(m.snap.Now().Add(50 * time.Second)) // n3 is still tired
	m.askOften(t, 2, 12)
	v := &m.engine.view
	place, _ := v.Place(m.snap.Node("n3").Slot())
	if s := v.State(place); !v.class.shares() || s.At != 3 {
		t.Fatalf("the class is %s and n3 is %+v, want one that shares and a node that filter 3 rejects", v.class.state, s)
	}
	v.Keep("a list of reasons")
	if m.askOften(t, 2, 1); v.Kept() != "a list of reasons" {
		t.Errorf("Kept() = %v after a decision that changed no reason", v.Kept())
	}
	m.fill("n3")
	if m.askOften(t, 2, 1); v.Kept() != nil || !v.class.shares() {
		t.Errorf("Kept() = %v in state %s after a node was rejected for another reason", v.Kept(), v.class.state)
	}
}

// TestGroupHasNodesAgain: the scores of a group count again as soon as one of its nodes is
// feasible, although no score has changed.
func TestGroupHasNodesAgain(t *testing.T) {
	for _, class := range []int{0, 2} {
		m := newMachine(0)
		m.uniform = true
		m.grow(6)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.live = oddScorer
		for zone, x := range []int64{6, 1, 2} {
			m.odd[fmt.Sprint("z", zone)] = x
		}
		m.odd["n4"], m.oddLog = 1, []string{"n4"}
		m.askOften(t, class, 3)
		m.fill("n3")
		m.fill("n6") // all of zone z0
		m.askOften(t, class, 2)
		for range 3 {
			n := m.snap.Node("n6")
			m.check(m.snap.RemovePodAt(n.Pods[0], n))
		}
		m.askOften(t, class, 2)
		if n := m.engine.view.AllFeasible(); n != 5 || m.engine.stats.Hits < 4 {
			t.Errorf("class %d: %d feasible nodes, %+v, want 5 and hits", class, n, m.engine.stats)
		}
	}
}

// TestExceptionsComeBack: a class that shares the rows' tree follows exceptions to a single
// group as soon as their scorer takes part again.
func TestExceptionsComeBack(t *testing.T) {
	m := newMachine(0)
	m.uniform, m.spread = true, 1
	m.grow(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = oddScorer
	m.odd["n3"], m.odd["n5"], m.oddLog = 5, -4, []string{"n3", "n5"}
	for _, live := range []int{oddScorer, 0, oddScorer} {
		m.live = live
		m.askOften(t, 2, 12)
		c := m.engine.view.class
		if !c.shares() || (c.grouping != nil) != (live != 0) {
			t.Errorf("live %b: the class is %s with the grouping %v, want one that shares, and a grouping for exceptions", live, c.state, c.grouping)
		}
	}
}

// TestShutGroupOpensInAFork: a group that was shut is open at once in a fork where another
// one is shut.
func TestShutGroupOpensInAFork(t *testing.T) {
	m := newMachine(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live, m.zone = zoneGate, "z1"
	m.askOften(t, 2, 12)
	if c := m.engine.view.class; !c.shares() || c.groups.division.count != 3 {
		t.Fatalf("the class is %s with %d groups, want one that shares, and 3", c.state, c.groups.division.count)
	}
	m.fork()
	m.use(1)
	m.zone = "z2"
	m.flips++
	before := m.engine.stats.Hits
	m.askOften(t, 2, 1)
	if s := m.engine.stats; s.Hits != before+1 {
		t.Errorf("%+v, want a hit", s)
	}
}

// TestGateFails: a gate that fails costs its class, which sits out some decisions. Another
// class of the base stays.
func TestGateFails(t *testing.T) {
	m := newMachine(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = nodeGate
	for range 3 {
		m.ask(t, 0, 0, 1000)
		m.ask(t, 1, 0, 1000)
	}
	m.fail = "closed"
	m.log = append(m.log, "n9")
	before := m.engine.stats
	if n := m.ask(t, 0, 0, 1000); n != nil || m.engine.barred["0"] != barFor || len(m.engine.classes) != 1 {
		t.Errorf("chose %v, barred for %d decisions, %d classes, want nil, %d and 1", n, m.engine.barred["0"], len(m.engine.classes), barFor)
	}
	m.fail = ""
	if calls := m.asked(func() { m.quiet(t, 0) }); calls != 0 || m.engine.barred["0"] != barFor-1 {
		t.Errorf("%d calls of plugins while the class is barred for %d, want none for %d", calls, m.engine.barred["0"], barFor-1)
	}
	m.ask(t, 1, 0, 1000)
	if s := m.engine.stats; s.Bypassed != before.Bypassed+2 || s.Hits != before.Hits+1 || s.Faults != 0 {
		t.Errorf("%+v after %+v, want two bypasses and a hit more", s, before)
	}
}

// evenMachine makes a machine whose nodes have one level, with a class of the second base that
// has seen them.
func evenMachine(t *testing.T, live int) *machine {
	t.Helper()
	m := newMachine(0)
	m.uniform = true
	m.grow(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = live
	m.askOften(t, 2, 12)
	if r := &m.engine.view.class.base.rows; !r.uniform || r.uniformScore == 0 {
		t.Fatalf("rows are uniform: %t, with the score %d, want a score above 0", r.uniform, r.uniformScore)
	}
	return m
}

// TestCloneOfUniformRows: a clone knows the score that all nodes have as far as no pods
// are read.
func TestCloneOfUniformRows(t *testing.T) {
	m := evenMachine(t, 0)
	m.fork()
	m.use(1)
	m.engine = startFrom(m.engine, m)
	m.addPod("n5")
	m.askOften(t, 2, 2)
	if s := m.engine.stats; s.Hits != 2 {
		t.Errorf("%+v, want two hits", s)
	}
}

// TestUnlikeNodeComes: rows are not uniform any more once a node comes that a filter
// rejects which reads no pods, nor is that forgotten when its pods change.
func TestUnlikeNodeComes(t *testing.T) {
	m := evenMachine(t, 0)
	m.check(m.snap.AddNode(m.node("unlike", 36))) // level 0
	m.askOften(t, 2, 2)
	m.addPod("unlike")
	m.askOften(t, 2, 2)
	if n := m.engine.view.AllFeasible(); n != 12 {
		t.Errorf("%d nodes are feasible, want 12 of 13", n)
	}
}

// TestExceptionsToTwoScorers: what two scorers say of one exception adds up.
func TestExceptionsToTwoScorers(t *testing.T) {
	m := evenMachine(t, oddScorer|oddestScorer)
	for i, x := range []int64{6, -5, 3} {
		name := fmt.Sprint("n", i+1)
		m.odd[name], m.oddLog = x, append(m.oddLog, name)
		m.askOften(t, 2, 3)
	}
	if c := m.engine.view.class; !c.shares() || len(c.columns.excepting) != 2 {
		t.Errorf("the class is %s with %d columns of exceptions, want one that shares, and 2", c.state, len(c.columns.excepting))
	}
}

// TestManyExceptionsFallBehind: of nodes with different totals, the best ones are exceptions
// that fall far behind their group, more than are written one after the other.
func TestManyExceptionsFallBehind(t *testing.T) {
	const class, fall = 10, raiseRounds + 1
	m := newMachine(0)
	m.uniform = true
	m.grow(24)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = oddScorer
	for i := range fall {
		name := fmt.Sprint("n", 20-i)
		for range 2 + i {
			m.addPod(name)
		}
		m.odd[name], m.oddLog = -5, append(m.oddLog, name)
	}
	for range 12 {
		m.quiet(t, class)
	}
	before := m.engine.stats.Hits
	m.ask(t, class, 0, 1000)
	c := m.engine.view.class
	if m.engine.stats.Hits != before+1 || !c.shares() || c.grouping == nil || len(c.grouping.list) != fall {
		t.Errorf("the class is %s with the grouping %+v, want a hit of one that shares, with %d exceptions written", c.state, c.grouping, fall)
	}
}

// TestHeapOfSample: the heap of a sample has its nodes only, although the totals are those
// of the tree.
func TestHeapOfSample(t *testing.T) {
	m := evenMachine(t, 0)
	m.addPod("n12")
	m.addPod("n12") // has the best total of all
	samples := 0
	for range 6 {
		m.ask(t, 2, 0, 3)
		if v := &m.engine.view; v.Feasible < v.all && len(v.explicit) == 0 {
			samples++
		}
	}
	if samples < 3 {
		t.Errorf("%d samples with totals of the tree, want 3 or more", samples)
	}
}

// TestNamesOfOtherNodes: the tie rule by name sorts the nodes again when one has taken the
// place of another.
func TestNamesOfOtherNodes(t *testing.T) {
	m := evenMachine(t, 0)
	m.byName = true
	m.askOften(t, 2, 12)
	m.check(m.snap.RemoveNode("n1"))
	m.check(m.snap.AddNode(m.node("a", 5)))
	m.askOften(t, 2, 12)
	if v := &m.engine.view; v.names.order != m.engine.order {
		t.Error("names are those of another order, want the tree to be laid out by name")
	}
}

// TestOverridesEnd: a node that was overridden is feasible again at once, also if another
// one is overridden in its place.
func TestOverridesEnd(t *testing.T) {
	for _, class := range []int{0, 2} {
		m := newMachine(12)
		m.snap.SetNow(m.snap.Now().Add(time.Hour))
		m.askOften(t, class, 12)
		for i := range 8 {
			clear(m.reserved)
			if i%4 != 3 {
				m.reserved[fmt.Sprint("n", 2+i%2)] = 1
			}
			m.askOften(t, class, 2)
		}
	}
}

// TestOverrideLikeAnotherReason: nodes with an override are counted with those that a filter
// rejects for the same reason.
func TestOverrideLikeAnotherReason(t *testing.T) {
	m := newMachine(12)
	m.snap.SetNow(m.snap.Now().Add(time.Hour))
	m.live = nodeGate
	m.closed["n5"], m.log = true, append(m.log, "n5")
	m.quiet(t, 0)
	m.quiet(t, 0)
	p, err := m.snap.NewPodInfo(m.pod(1, 0))
	m.check(err)
	var cycle framework.Cycle
	cycle.Reset(p, m.snap, 0, 0)
	closed := framework.UnschedulableStatus(framework.Text("closed"))
	overrides := []Override{{m.snap.Node("n2").Slot(), 4, closed}, {m.snap.Node("n7").Slot(), 4, closed}}
	v, ok := m.engine.Find(&Query{Snapshot: m.snap, Cycle: &cycle, Key: "0", Want: 1000, Overrides: overrides})
	if !ok {
		t.Fatal("Find takes the reference path")
	}
	if list := v.Rejections(); len(list) != 1 || list[0].At != 4 || list[0].Nodes != 3 {
		t.Errorf("Rejections() = %+v, want one of 3 nodes by filter 4", list)
	}
}

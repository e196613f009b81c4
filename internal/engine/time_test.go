package engine

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestTimeGoesBackAfterAllDeadlines: an earlier time renews what depends on time also if
// no deadline is left.
func TestTimeGoesBackAfterAllDeadlines(t *testing.T) {
	m := newMachine(20)
	began := m.snap.Now()
	for i, after := range []time.Duration{0, 0, time.Hour, time.Hour, 0, time.Minute, 0} {
		m.snap.SetNow(began.Add(after))
		m.ask(t, 0, 0, 1000)
		m.quiet(t, 0) // sees the pod that was placed, so no node changes with the time
		if b := m.engine.bases["0"]; i > 1 && after == time.Hour && (b == nil || b.due.some()) {
			t.Fatal("there are deadlines after an hour, want none")
		}
	}
	if hits := m.engine.stats.Hits; hits < 10 {
		t.Errorf("%d hits, want 10 or more", hits)
	}
}

// minutes is a source with a kept scorer that reads the time, and no such filter: a node
// has another score in each minute.
type minutes struct{ *machine }

func (x minutes) Kept() (filters, scorers framework.Reads) {
	return readsPods, readsPods | framework.ReadsTime
}

func (x minutes) BindKeptFilters(*framework.Cycle) ([]Filter, bool) { return nil, true }

func (x minutes) BindKeptScorers(*framework.Cycle, Feasible) ([]Scorer, bool) {
	s := minutely{plugin{m: x.machine, name: "minutely", bound: x.snap, score: x.score}}
	none := func(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }
	before, after := yearly{plugin{m: x.machine, name: "before", bound: x.snap, score: none}}, yearly{plugin{m: x.machine, name: "after", bound: x.snap, score: none}}
	reads := readsPods | framework.ReadsTime
	return []Scorer{{At: 0, Scorer: before, Reads: reads, Weight: 1}, {At: 1, Scorer: s, Reads: reads, Weight: 1}, {At: 2, Scorer: after, Reads: reads, Weight: 1}}, true
}

// yearly is a scorer whose answers hold longer than those of others.
type yearly struct{ plugin }

func (x yearly) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	x.tick()
	return x.m.snap.Now().AddDate(1, 0, 0)
}

func (x minutes) score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return (int64(x.snap.Now().Minute()) + int64(n.Slot())) % 10
}

type minutely struct{ plugin }

func (x minutely) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	x.tick()
	return x.m.snap.Now().Truncate(time.Minute).Add(time.Minute)
}

// TestForkKeepsDeadlinesOfScorers: scores that hold up to a time are renewed in a fork
// again and again, although no filter reads the time.
func TestForkKeepsDeadlinesOfScorers(t *testing.T) {
	m := newMachine(20)
	source := minutes{m}
	m.engine = New(source, DefaultBudget)
	for i := range 12 {
		if i == 4 || i == 8 {
			m.fork()
			m.use(len(m.snaps) - 1)
		}
		m.snap.SetNow(m.snap.Now().Add(time.Minute))
		m.totals(t, i, source.score)
	}
	if hits := m.engine.stats.Hits; hits < 10 {
		t.Errorf("%d hits, want 10 or more", hits)
	}
}

// totals asks the engine about a pod that fits every node, and compares the totals.
func (m *machine) totals(t *testing.T, decision int, score func(*framework.PodInfo, *framework.NodeInfo) int64) {
	t.Helper()
	p, err := m.snap.NewPodInfo(m.pod(decision, 0))
	m.check(err)
	var cycle framework.Cycle
	cycle.Reset(p, m.snap, 0, 0)
	v, ok := m.engine.Find(&Query{Snapshot: m.snap, Cycle: &cycle, Key: "0", Want: 1000})
	if f := m.engine.TakeFault(); f != nil {
		t.Fatalf("%s\n%s", f, f.Stack)
	}
	if !ok {
		return
	}
	v.Totals(func(n *framework.NodeInfo, total int64) bool {
		if want := score(p, n); total != want {
			t.Fatalf("decision %d: node %s has the total %d, want %d", decision, n.Name(), total, want)
		}
		return true
	})
	m.engine.CheckInvariants()
	if f := m.engine.TakeFault(); f != nil {
		t.Fatalf("decision %d: %s", decision, f)
	}
}

// warming is a source with a kept scorer that reads pods and the time: it counts the pods
// of a node that are still warming up.
type warming struct{ *machine }

func (x warming) Kept() (filters, scorers framework.Reads) {
	return readsPods, readsPods | framework.ReadsTime
}

func (x warming) BindKeptFilters(*framework.Cycle) ([]Filter, bool) { return nil, true }

func (x warming) BindKeptScorers(*framework.Cycle, Feasible) ([]Scorer, bool) {
	s := warm{plugin{m: x.machine, name: "warm", bound: x.snap, score: x.score}}
	return []Scorer{{At: 0, Scorer: s, Reads: readsPods | framework.ReadsTime, Weight: 1}}, true
}

func (x warming) score(_ *framework.PodInfo, n *framework.NodeInfo) (count int64) {
	for _, p := range n.Pods {
		if warmUntil(p).After(x.snap.Now()) {
			count++
		}
	}
	return count
}

// warmUntil is when a pod has warmed up.
func warmUntil(p *framework.PodInfo) time.Time {
	seconds, _ := strconv.ParseInt(p.Pod.Labels["warm"], 10, 64)
	return time.Unix(seconds, 0)
}

type warm struct{ plugin }

// ValidUntil is when the next pod of the node has warmed up.
func (x warm) ValidUntil(_ *framework.PodInfo, n *framework.NodeInfo) (until time.Time) {
	x.tick()
	for _, p := range n.Pods {
		if end := warmUntil(p); end.After(x.m.snap.Now()) {
			until = sooner(until, end)
		}
	}
	return until
}

// TestDeadlinesFollowPods: pods that come to a node bring its deadline forward, whether few
// nodes change between two decisions or many.
func TestDeadlinesFollowPods(t *testing.T) {
	m, r := newMachine(20), rand.New(rand.NewPCG(3, 7))
	source := warming{m}
	m.engine = New(source, DefaultBudget)
	for i := range 200 {
		for k := range r.IntN(3 * few) {
			until := m.snap.Now().Add(time.Duration(1+r.IntN(20)) * time.Minute)
			pod := api.MakePod(fmt.Sprint("warm-", i, "-", k)).Labels("warm", fmt.Sprint(until.Unix())).Obj()
			p, err := m.snap.NewPodInfo(pod)
			m.check(err)
			m.check(m.snap.AddPodAt(p, m.snap.At(r.IntN(m.snap.Len()))))
		}
		m.totals(t, i, source.score)
		m.snap.SetNow(m.snap.Now().Add(time.Duration(r.IntN(120)) * time.Second))
		m.totals(t, i, source.score)
	}
	if hits := m.engine.stats.Hits; hits < 300 {
		t.Errorf("%d hits, want 300 or more", hits)
	}
}

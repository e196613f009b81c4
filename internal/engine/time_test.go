package engine

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
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
	return []Scorer{{At: 0, Scorer: s, Reads: readsPods | framework.ReadsTime, Weight: 1}}, true
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
			m.turn(len(m.snaps) - 1)
		}
		m.snap.SetNow(m.snap.Now().Add(time.Minute))
		p, err := m.snap.NewPodInfo(m.pod(i, 0))
		m.check(err)
		var cycle framework.Cycle
		cycle.Reset(p, m.snap, 0, 0)
		v, ok := m.engine.Find(&Query{Snapshot: m.snap, Cycle: &cycle, Key: "0", Want: 1000})
		if f := m.engine.TakeFault(); f != nil {
			t.Fatalf("%s\n%s", f, f.Stack)
		}
		if !ok {
			continue
		}
		v.Totals(func(n *framework.NodeInfo, total int64) bool {
			if want := source.score(p, n); total != want {
				t.Fatalf("decision %d: node %s has the total %d, want %d", i, n.Name(), total, want)
			}
			return true
		})
	}
	if hits := m.engine.stats.Hits; hits < 10 {
		t.Errorf("%d hits, want 10 or more", hits)
	}
}

package preemption

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
	"pgregory.net/rapid"
)

// TestBestOf checks that stored merits choose the same candidate as the criteria.
func TestBestOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := framework.NewSnapshot(framework.Arrival)
		var candidates []*Candidate
		var answers []*answer
		for i := range rapid.IntRange(1, 12).Draw(t, "candidates") {
			c := &Candidate{Node: fmt.Sprint(i), Violations: rapid.IntRange(0, 1).Draw(t, "violations")}
			for range rapid.IntRange(1, 3).Draw(t, "victims") {
				b := api.MakePod("p").Priority(rapid.Int32Range(0, 1).Draw(t, "priority"))
				if s := rapid.Int64Range(-1, 2).Draw(t, "start"); s >= 0 {
					b = b.Started(time.Unix(s, 0))
				}
				info, err := snap.NewPodInfo(b.Obj())
				if err != nil {
					t.Fatal(err)
				}
				c.Victims = append(c.Victims, framework.Victim{Pod: info})
			}
			candidates, answers = append(candidates, c), append(answers, answerOf(c))
		}
		if got, want := bestOf(answers).candidate, Choose(candidates, Criteria()); got != want {
			t.Errorf("bestOf = %s, want %s", got.Node, want.Node)
		}
	})
}

// TestMemoryIsBounded checks that the byte count is right, and that classes not used
// lately are evicted.
func TestMemoryIsBounded(t *testing.T) {
	var m memory
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 100 {
		if err := s.AddNode(api.MakeNode(fmt.Sprint(i), "1", "1Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		sum := 0
		for key, c := range m.classes {
			held := 0
			for i := range c.rows {
				held += c.rows[i].bytes()
			}
			if c.held != held || c.key != key {
				t.Fatalf("class %q holds %d bytes, want %d; its key is %q", key, c.held, held, c.key)
			}
			sum += c.bytes
		}
		if m.bytes != sum {
			t.Fatalf("bytes = %d, want %d", m.bytes, sum)
		}
	}
	ask := func(class string, victims int) {
		t.Helper()
		m.of(class)
		m.begin(s)
		list := make([]framework.Victim, victims)
		for i := range s.Len() {
			m.keep(s.At(i), &answer{guards: 1, candidate: &Candidate{Victims: list}})
		}
		m.end(s)
		check()
	}
	ask("first", 1)
	ask("second", 1)
	ask("first", 9)
	m.of("first")
	if c := m.class; !c.rows[0].fresh || len(c.rows[0].candidate.Victims) != 9 {
		t.Errorf("the answers of the class that was asked about last are forgotten")
	}
	for allowed := range int32(3) {
		if err := framework.Put(s, protect("default", "web", allowed)); err != nil {
			t.Fatal(err)
		}
		ask("first", 9)
	}
	m.of("first")
	if m.begin(s); m.class.rows[0].candidate == nil {
		t.Errorf("the answers are forgotten although no budget changed")
	}
	if err := framework.Put(s, protect("default", "web", 5)); err != nil {
		t.Fatal(err)
	}
	m.begin(s)
	if m.end(s); m.class.rows[0].candidate != nil {
		t.Errorf("the answers are kept although their budget changed")
	}
	check()
	for i := range 2 * classesMost {
		ask(fmt.Sprint(i), 1)
		ask("first", 1)
	}
	if n := len(m.classes); n != classesMost || m.classes["first"] == nil || m.classes["second"] != nil {
		t.Errorf("%d classes, first %v, second %v; want %d, the first among them", n, m.classes["first"] != nil, m.classes["second"] != nil, classesMost)
	}
	ask("large", memoryMost/100/16/2)
	ask("larger", memoryMost/100/16)
	if n := len(m.classes); n != 1 || m.classes["larger"] == nil {
		t.Errorf("%d classes, want only the one that holds more than all may", n)
	}
	ask("first", 1)
	if n := len(m.classes); n != 1 || m.classes["first"] == nil {
		t.Errorf("%d classes, want the one that was used last", n)
	}
}

// TestMemoryCountsAttemptsThatFail checks that the results of an attempt that ended
// early are counted, too.
func TestMemoryCountsAttemptsThatFail(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("p").Priority(5).Obj())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var runs runner.DryRuns
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	c.Filters = new(noFilters)
	runs.Begin("class", c.Pod, c.Filters)
	c.Runner().DryRuns = &runs
	_, status := DefaultPreemption{}.PostFilter(ctx, &c, noVerdicts{})
	m := runs.Kept.(*memory)
	if status.Code() != framework.Error || m.bytes < len(m.class.rows) || m.bytes == 0 {
		t.Errorf("status %v, %d bytes for %d rows; want an error, and more", status, m.bytes, len(m.class.rows))
	}
}

type noFilters struct{ framework.FilterUpdater }

type noVerdicts struct{}

func (noVerdicts) Verdict(*framework.NodeInfo) (string, framework.Status) {
	return "test", framework.UnschedulableStatus("no")
}

//go:build full

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
		if err := m.check(); err != nil {
			t.Fatal(err)
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

// TestChecksFindFaults plants a fault in each thing that the checks find anew.
func TestChecksFindFaults(t *testing.T) {
	refused := framework.UnschedulableStatus("no")
	for name, plant := range map[string]func(m *memory, known *row){
		"bytes of all":      func(m *memory, _ *row) { m.bytes++ },
		"bytes held":        func(m *memory, _ *row) { m.class.held-- },
		"key":               func(m *memory, _ *row) { m.class.key = "other" },
		"merits":            func(_ *memory, known *row) { known.merits[3]++ },
		"violates":          func(_ *memory, known *row) { known.violates = !known.violates },
		"violations":        func(_ *memory, known *row) { known.candidate.Violations++ },
		"both":              func(_ *memory, known *row) { known.refused = &refused },
		"neither":           func(_ *memory, known *row) { known.answer = answer{} },
		"refusal by budget": func(_ *memory, known *row) { known.answer = answer{refused: &refused, guards: 2} },
		"another victim":    func(_ *memory, known *row) { known.candidate.Victims[0].Pod = nil },
		"generation":        func(_ *memory, known *row) { known.generation++ },
		"another snapshot":  func(m *memory, _ *row) { m.class.schema = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			if err := s.AddNode(api.MakeNode("n", "1", "1Gi").Obj()); err != nil {
				t.Fatal(err)
			}
			pod := func(name string, priority int32) *framework.PodInfo {
				info, err := s.NewPodInfo(api.MakePod(name).Requests("1", "").Priority(priority).Obj())
				if err != nil {
					t.Fatal(err)
				}
				return info
			}
			if err := s.AddPod(pod("victim", 0), "n"); err != nil {
				t.Fatal(err)
			}
			var c framework.Cycle
			c.Reset(pod("p", 5), s, 0, 0)
			c.Filters = alone{}
			var m memory
			r := &run{cycle: &c, memory: m.of("class")}
			m.begin(s)
			if a := r.ask(s.At(0).Slot()); a.candidate == nil {
				t.Fatalf("no candidate: %v", a.refused)
			}
			m.end(s)
			known := &m.class.rows[s.At(0).Slot()]
			if err := r.checkMemory(); err != nil {
				t.Fatal(err)
			}
			if name == "another victim" {
				known.candidate.Victims[0].Pod = pod("other", 0)
			} else {
				plant(&m, known)
			}
			if err := r.checkMemory(); err == nil {
				t.Error("checkMemory() finds nothing")
			}
		})
	}
}

// alone lets a pod pass on a node without pods.
type alone struct{}

func (alone) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if len(n.Pods) > 0 {
		return framework.UnschedulableStatus("not alone")
	}
	return framework.Status{}
}

func (alone) Fork() framework.FilterUpdater { return alone{} }

func (alone) AddPod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (alone) RemovePod(*framework.Cycle, *framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
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

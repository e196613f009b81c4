package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// modelReports is the order of reports, as plainly as can be.
type modelReports struct {
	lines map[string][]*pod
	turns []string // namespaces, in the order of their turns
}

func (m *modelReports) line(p *pod) {
	namespace := p.info.Pod.Namespace
	if m.lines[namespace] = append(m.lines[namespace], p); len(m.lines[namespace]) == 1 {
		m.turns = append(m.turns, namespace)
	}
}

func (m *modelReports) forget(p *pod) {
	namespace := p.info.Pod.Namespace
	if !slices.Contains(m.lines[namespace], p) {
		return
	}
	m.lines[namespace] = slices.DeleteFunc(m.lines[namespace], func(x *pod) bool { return x == p })
	if len(m.lines[namespace]) == 0 {
		m.turns = slices.DeleteFunc(m.turns, func(x string) bool { return x == namespace })
	}
}

func (m *modelReports) next() *pod {
	for len(m.turns) > 0 {
		namespace := m.turns[0]
		p := m.lines[namespace][0]
		m.forget(p)
		if p.host != nil {
			continue
		}
		if len(m.lines[namespace]) > 0 {
			m.turns = append(m.turns[1:], namespace)
		}
		return p
	}
	return nil
}

// Reports come, are forgotten, become untrue and are taken in any order, as in the model.
func TestReportsAsModel(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		q, model := newReports(), modelReports{lines: map[string][]*pod{}}
		var pods []*pod
		for i := range 40 {
			pods = append(pods, &pod{info: &framework.PodInfo{Pod: api.MakePod(fmt.Sprint("p", i)).Namespace(fmt.Sprint("n", random.IntN(4))).Obj()}})
		}
		take := func() bool {
			got, _ := q.next()
			if want := model.next(); got != want {
				t.Fatalf("seed %d: the next report is about %v, want %v", seed, got, want)
			}
			return got != nil
		}
		for range 500 {
			switch p := pods[random.IntN(len(pods))]; random.IntN(6) {
			case 0, 1, 2:
				if _, waits := q.waiting[p]; !waits {
					p.host = nil
					q.line(p)
					model.line(p)
				}
				q.waiting[p] = Report{Reason: api.PodReasonUnschedulable}
			case 3:
				q.forget(p)
				model.forget(p)
			case 4:
				p.host = &host{} // so the report is no longer true
			default:
				take()
			}
		}
		for take() {
		}
		if q.lines.Len()+len(q.of)+len(q.places)+len(q.waiting) > 0 {
			t.Fatalf("seed %d: %d lines of %d namespaces, %d places and %d reports are left, want none", seed, q.lines.Len(), len(q.of), len(q.places), len(q.waiting))
		}
	}
}

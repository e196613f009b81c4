package simulate

import (
	"time"

	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// A journal turns what a scheduler does into decisions: bindings, evictions, and the first
// failure of a pod since it came or was bound. Runs and recorders share it.
type journal struct {
	stuck map[string]bool // pods whose failure is told
	tell  func(d *Decision)
}

func newJournal(tell func(d *Decision)) journal {
	return journal{stuck: map[string]bool{}, tell: tell}
}

// attempt tells what became of an attempt.
func (j *journal) attempt(a *lifecycle.Attempt, at time.Duration) {
	pod := a.Pod.Pod.Key()
	switch {
	case a.Cycle != nil: // of a group; its bindings come as attempts of their own
		for _, r := range a.Cycle.Pods {
			if a.State == lifecycle.Failed || r.Node == "" {
				j.failed(r.Pod.Pod.Key(), at, func() string { return r.Message })
			}
		}
	case a.State == lifecycle.Bound:
		delete(j.stuck, pod)
		j.tell(&Decision{At: at, Pod: pod, Node: a.Decision.Node})
	case a.State == lifecycle.Failed && a.Err != nil:
		j.failed(pod, at, a.Err.Error)
	}
}

func (j *journal) failed(pod string, at time.Duration, message func() string) {
	if j.stuck[pod] {
		return
	}
	if text := message(); text != "" {
		j.stuck[pod] = true
		j.tell(&Decision{At: at, Pod: pod, Message: text})
	}
}

// evicting tells of a victim that has to leave.
func (j *journal) evicting(e lifecycle.Eviction, at time.Duration) {
	j.tell(&Decision{At: at, Pod: e.Victim.Key(), Node: e.Node, Evicted: true})
}

// gone forgets a pod.
func (j *journal) gone(pod string) { delete(j.stuck, pod) }

// A moment counts what a scheduler has done at one time: attempts and evictions. So an
// event can say between which of them it happened.
type moment struct {
	at    time.Duration
	count int
	total int // at all times
}

// step counts something that was done now.
func (m *moment) step(now time.Duration) {
	if now != m.at {
		m.at, m.count = now, 0
	}
	m.count++
	m.total++
}

// done is how much was done now.
func (m *moment) done(now time.Duration) int {
	if now != m.at {
		return 0
	}
	return m.count
}

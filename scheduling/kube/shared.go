package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// countsAge is how old counts in the metrics may be, and how long a request waits for them.
const countsAge = time.Second

// sharedCounts asks the scheduling goroutine for counts, on behalf of any number of clients.
// One question at a time is under way and the others wait for its answer, which is good for
// countsAge. So clients cost the scheduling goroutine no more than one count in that time.
type sharedCounts struct {
	ask func(context.Context) (lifecycle.Counts, error)

	mu   sync.Mutex
	last *countsQuestion // nil before the first
}

// A countsQuestion has its answer once done is closed.
type countsQuestion struct {
	asked  time.Time
	done   chan struct{}
	counts lifecycle.Counts
	err    error
}

// serves reports whether the answer is good for a client of now. One that is still to come
// is. After a failure the next client asks again.
func (q *countsQuestion) serves(now time.Time) bool {
	select {
	case <-q.done:
		return q.err == nil && now.Sub(q.asked) < countsAge
	default:
		return true
	}
}

// get returns counts that are at most countsAge old. It waits until ctx is done for the
// answer to a question of others, and no longer than countsAge for one of its own.
func (s *sharedCounts) get(ctx context.Context) (lifecycle.Counts, error) {
	s.mu.Lock()
	q, now := s.last, time.Now()
	if q == nil || !q.serves(now) {
		q = &countsQuestion{asked: now, done: make(chan struct{}), err: errors.New("kube: no counts")}
		s.last = q
		s.mu.Unlock()
		s.answer(ctx, q)
		return q.counts, q.err
	}
	s.mu.Unlock()
	select {
	case <-q.done:
		return q.counts, q.err
	case <-ctx.Done():
		return lifecycle.Counts{}, context.Cause(ctx)
	}
}

// answer asks q. Its client may go away meanwhile: others wait for the same answer.
func (s *sharedCounts) answer(ctx context.Context, q *countsQuestion) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countsAge)
	defer cancel()
	defer close(q.done) // also after a panic
	q.counts, q.err = s.ask(ctx)
}

//go:build full

package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/queueing"
)

// TestMonotonic: the end of a backoff has the monotonic reading of the clock. Without it the
// end moved away from the timers by as much as the machine's clock was set: set forward by an
// hour, a pod whose binding had failed was not tried again for an hour.
func TestMonotonic(t *testing.T) {
	q := &Queue{start: time.Now()}
	q.options.Now = time.Now
	it := &Item{QueuedPod: queueing.QueuedPod{Timestamp: time.Now()}, Errors: 1}
	for what, at := range map[string]time.Time{"now": q.truncate(time.Now()), "the end of the backoff": q.expiration(it)} {
		if !strings.Contains(at.String(), " m=") {
			t.Errorf("%s is %v, without a monotonic reading", what, at)
		}
	}
	now := time.Now()
	if got, want := q.truncate(now), now.Truncate(time.Second); !got.Round(0).Equal(want) {
		t.Errorf("%v is cut to %v, want %v", now, got, want)
	}
	if got, want := it.expires, q.truncate(it.Timestamp.Add(time.Second)).Sub(q.start); got != want {
		t.Errorf("the backoff ends after %v, want %v", got, want)
	}
}

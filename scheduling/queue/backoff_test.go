package queue_test

import (
	"math"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

// TestBackoffTables checks the tables that were measured with the real scheduler's
// formula.
func TestBackoffTables(t *testing.T) {
	for _, tt := range []struct {
		name    string
		backoff queue.Backoff
		pods    int
		seconds []float64
	}{
		{"one pod", queue.Backoff{}, 1, []float64{1, 2, 4, 8, 10, 10, 10, 10}},
		{"group of 4", queue.Backoff{}, 4, []float64{1, 2, 4, 8, 16, 20, 20, 20}},
		{"group of 100", queue.Backoff{}, 100, []float64{1, 2, 4, 8, 16, 32, 64, 100}},
		{"other bounds", queue.Backoff{Initial: 3 * time.Second, Max: 5 * time.Second}, 1, []float64{3, 5, 5}},
		{"equal bounds", queue.Backoff{Initial: 7 * time.Second, Max: 7 * time.Second}, 1, []float64{7, 7}},
		{"none", queue.Backoff{Max: -1}, 1, []float64{0, 0, 0}},
		{"group of 2", queue.Backoff{}, 2, []float64{1, 2, 4, 8, 14.142135623}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []float64
			for i := range tt.seconds {
				got = append(got, tt.backoff.Duration(i+1, tt.pods).Seconds())
			}
			if diff := cmp.Diff(tt.seconds, got); diff != "" {
				t.Errorf("Duration (-want +got):\n%s", diff)
			}
		})
	}
	if d := (queue.Backoff{}).Duration(0, 1); d != 0 {
		t.Errorf("Duration(0, 1) = %v, want 0", d)
	}
	for _, failures := range []int{64, 65, math.MaxInt} {
		if d := (queue.Backoff{}).Duration(failures, 1); d != 10*time.Second {
			t.Errorf("Duration(%d, 1) = %v, want 10s", failures, d)
		}
	}
	longest := queue.Backoff{Initial: 1, Max: math.MaxInt64}
	if d := longest.Duration(math.MaxInt, 1000); d != math.MaxInt64 {
		t.Errorf("Duration(MaxInt, 1000) = %d, want %d", d, int64(math.MaxInt64))
	}
}

// TestBackoffIsServed lets a pod fail repeatedly with an error and checks when it is
// ready: a backoff ends with the second after the one in which it expires.
func TestBackoffIsServed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		full    bool
		offset  time.Duration // of the failures within a second
		seconds []float64     // after the failure
	}{
		{"whole seconds", false, 0, []float64{2, 3, 5, 9, 11, 11}},
		{"within a second", false, 400 * time.Millisecond, []float64{1.6, 2.6, 4.6, 8.6, 10.6, 10.6}},
		{"full backoff", true, 400 * time.Millisecond, []float64{1, 2, 4, 8, 10, 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, queue.Config{FullBackoff: tt.full})
			it := r.add("p", 0)
			for _, want := range tt.seconds {
				r.now = r.now.Truncate(time.Second).Add(time.Second + tt.offset)
				if r.Pop() != it {
					t.Fatal("the pod is not ready")
				}
				failed := r.now
				r.Requeue(r.ctx, it, nil, queue.Rejectors{})
				at, ok := r.NextFlush()
				if !ok || at.Sub(failed).Seconds() != want {
					t.Fatalf("NextFlush() = %v after the failure (%t), want %v s", at.Sub(failed), ok, want)
				}
				r.now = at.Add(-time.Nanosecond)
				r.Flush(r.ctx)
				if got := r.pop(); got != "" {
					t.Fatalf("Pop() = %q before the backoff ends", got)
				}
				r.now = at
				r.Flush(r.ctx)
				r.depth(queue.Length{Active: 1})
			}
		})
	}
}

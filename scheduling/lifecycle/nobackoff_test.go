package lifecycle_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// TestErrorsDoNotStopTheClock: a pod whose attempts end with errors is tried
// repeatedly while virtual time passes, whatever the backoff is.
func TestErrorsDoNotStopTheClock(t *testing.T) {
	for _, tt := range []struct {
		name        string
		backoff     queue.Backoff
		full        bool
		least, most int
	}{
		{"none", queue.Backoff{Max: queue.NoBackoff}, false, 5, 61},
		{"none, to the end", queue.Backoff{Max: queue.NoBackoff}, true, 5, 61},
		{"the longest", queue.Backoff{Max: math.MaxInt64}, false, 4, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			attempts := 0
			w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{{}}, Backoff: tt.backoff, FullBackoff: tt.full}, lifecycle.NewHandle())
			ctx, cancel := context.WithCancel(w.ctx)
			defer cancel()
			w.refuse = func(*api.Pod, string) error {
				if attempts++; attempts > 100 {
					cancel()
				}
				return errors.New("no")
			}
			w.nodes(api.MakeNode("n", "4", "8Gi"))
			w.pods(api.MakePod("p"))
			if err := w.d.Simulate(ctx, w.clock, epoch.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if attempts < tt.least || attempts > tt.most {
				t.Errorf("%d attempts in a minute, want %d to %d", attempts, tt.least, tt.most)
			}
		})
	}
}

package scenarios

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestAPIServerKilled kills the API server while pods are bound and brings it back. The
// scheduler goes on by itself.
func TestAPIServerKilled(t *testing.T) {
	s := begin(t)
	n, kills := size(600, 5000), size(1, 3)
	s.nodes(200)
	s.pods(n, objects.Mixed)
	p := s.start()
	for i := range kills {
		s.someBound((i + 1) * n / (kills + 4))
		cluster.KillAPIServer()
		time.Sleep(time.Second)
		s.ok(cluster.StartAPIServer(s.ctx))
	}
	if v := s.bound(n); v.Binds != n {
		t.Errorf("%d bindings of %d pods", v.Binds, n)
	}
	// What comes after is seen as well: the watches stand again.
	s.pods(20, func(i int) *v1.Pod { return objects.Mixed(n + i) })
	s.bound(n + 20)
	select {
	case <-p.Ended():
		t.Errorf("the scheduler ended")
	default:
	}
}

package scenarios

import (
	"sync"
	"testing"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestKill ends the scheduler with kill -9 in the middle of its work, again and again.
func TestKill(t *testing.T) {
	s := begin(t)
	n, kills := size(500, 5000), size(2, 8)
	s.nodes(200)
	var creating sync.WaitGroup
	creating.Go(func() {
		if err := objects.CreatePods(s.ctx, s.client, n, objects.Mixed); err != nil {
			t.Error(err)
		}
	})
	defer creating.Wait()
	for i := range kills {
		p := s.start()
		s.someBound((i + 1) * n / (kills + 2))
		p.Kill()
	}
	creating.Wait()
	s.start()
	if v := s.bound(n); v.Binds != n {
		t.Errorf("%d bindings of %d pods", v.Binds, n)
	}
}

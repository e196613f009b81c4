package scenarios

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// leading asks for leader election.
func leading(c *controlplane.Scheduler) { c.LeaderElect = true }

// TestLeaderChange runs two schedulers. The one that leads is killed, and the other takes
// over; that one ends in order, and a third takes over at once. Nothing is bound twice.
func TestLeaderChange(t *testing.T) {
	s := begin(t)
	n := size(300, 3000)
	s.nodes(100)
	first := s.start(leading)
	s.eventually("the first leads", func() bool { return s.holder() != "" })
	one := s.holder()
	second := s.start(leading)
	s.pods(n, objects.Mixed)
	s.someBound(n / 4)
	first.Kill()
	killed := time.Now()
	s.pods(10, objectsAfter(n)) // the first may have bound all that there were
	s.bound(n + 10)
	two := s.holder()
	if two == one {
		t.Errorf("%s still leads", two)
	}
	t.Logf("all bound %.1f s after the leader was killed; a lease lasts 15 s", time.Since(killed).Seconds())

	s.start(leading)
	time.Sleep(time.Second) // it has asked and waits
	s.pods(10, objectsAfter(n+10))
	s.bound(n + 20)
	if h := s.holder(); h != two {
		t.Errorf("%s leads and %s has not ended", h, two)
	}
	ended := time.Now()
	s.stop(second)
	s.pods(10, objectsAfter(n+20))
	v := s.bound(n + 30)
	t.Logf("the third bound pods %.1f s after the second ended", v.Binding.Last.Sub(ended).Seconds())
	if v.Binds != n+30 {
		t.Errorf("%d bindings of %d pods", v.Binds, n+30)
	}
	if h := s.holder(); h == two || h == one {
		t.Errorf("%s leads and has ended", h)
	}
}

// holder is who leads, by the lease, or "".
func (s *scenario) holder() string {
	lease, err := s.client.CoordinationV1().Leases("kube-system").Get(s.ctx, program().Name(), metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

package scenarios

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestMixed binds pods of seven shapes, each exactly once.
func TestMixed(t *testing.T) {
	s := begin(t)
	n := size(700, 5000)
	s.nodes(500)
	p := s.start()
	s.pods(n, objects.Mixed)
	v := s.bound(n)
	if v.Binds != n || v.Deleted != 0 {
		t.Errorf("%d bindings and %d deletions for %d pods", v.Binds, v.Deleted, n)
	}
	usage, err := p.Usage()
	s.ok(err)
	t.Logf("%d pods in %.1f s, %.2f s of CPU", n, v.Binding.Length().Seconds(), usage.CPU.Seconds())
	s.stop(p)
}

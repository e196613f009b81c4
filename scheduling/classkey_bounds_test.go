//go:build full

package scheduling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestClassKeyBounds decides about pods with keys of some size: up to 16 KiB they have a
// class, and what is kept of a class is short.
func TestClassKeyBounds(t *testing.T) {
	s, _ := numbered(t, 3)
	sched, err := New(Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		size, classes int
	}{{100, 1}, {15 << 10, 2}, {17 << 10, 2}} {
		p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", tt.size)).Toleration(api.Toleration{Key: strings.Repeat("x", tt.size), Operator: api.TolerationOpExists}).Requests("1", "1Gi").Obj())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := sched.Schedule(s, p); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(sched.incremental.classes); n != tt.classes {
			t.Errorf("with a key of more than %d bytes there are %d classes, want %d", tt.size, n, tt.classes)
		}
	}
	for key := range sched.incremental.classes {
		if len(key) > 512 {
			t.Errorf("a key of %d bytes is kept, want at most 512", len(key))
		}
	}
}

//go:build full

package soak

import "testing"

// TestTenants checks that a hostile user keeps no innocent pod from its place, that
// memory is given back, and that placing pods takes as many allocations afterwards as
// without one. The command soak with -tenants checks the rates, too.
func TestTenants(t *testing.T) {
	phases, err := Tenants(6)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range phases {
		if p.Late > 0 {
			t.Errorf("phase %s: %d innocent pods were not placed at once", p.Name, p.Late)
		}
		if p.Heap > phases[0].Heap+16<<20 {
			t.Errorf("phase %s leaves %d bytes in use, %d were before", p.Name, p.Heap, phases[0].Heap)
		}
	}
	if a := phases[len(phases)-1].Allocations; a < 0.99 || a > 1.01 {
		t.Errorf("after the hostile user, rounds take %.3f times the allocations of rounds without one, want 1", a)
	}
}

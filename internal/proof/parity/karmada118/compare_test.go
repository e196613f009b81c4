package karmada118_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada118"
)

// A quick check; cmd/compare runs as many cases as you like.
func TestCompare(t *testing.T) {
	live.Quiet()
	kinds, err := karmada118.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(1000) {
		if kind, o := live.Case(kinds, 3, n); o.Mismatch != "" {
			t.Errorf("case %d of seed 3, %s: %s", n, kind, o.Mismatch)
		}
	}
}

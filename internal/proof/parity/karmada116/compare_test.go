package karmada116_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/parity/karmada116"
)

// A quick check; cmd/compare runs as many cases as you like.
func TestCompare(t *testing.T) {
	v := karmada116.Version()
	for n := range uint64(1600) {
		if kind, o := v.Case(3, n); o.Mismatch != "" {
			t.Errorf("case %d of seed 3, %s: %s", n, kind, o.Mismatch)
		}
	}
}

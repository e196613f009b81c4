package api_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

func TestCompareResourceVersions(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		order int
		ok    bool
	}{
		{"1", "1", 0, true},
		{"9", "10", -1, true},
		{"10", "9", 1, true},
		{"123", "124", -1, true},
		{"340282366920938463463374607431768211456", "340282366920938463463374607431768211455", 1, true}, // beyond 64 bits
		{"", "1", 0, false},
		{"1", "", 0, false},
		{"01", "1", 0, false},
		{"0", "1", 0, false},
		{"1", "x", 0, false},
		{"-1", "1", 0, false},
		{"1 ", "1", 0, false},
	} {
		if order, ok := api.CompareResourceVersions(tt.a, tt.b); order != tt.order || ok != tt.ok {
			t.Errorf("CompareResourceVersions(%q, %q) = %d, %t, want %d, %t", tt.a, tt.b, order, ok, tt.order, tt.ok)
		}
	}
}

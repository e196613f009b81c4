package config_test

import (
	"math"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/config"
)

func TestBackoffSaturates(t *testing.T) {
	const centuries = time.Duration(math.MaxInt64)
	for _, tt := range []struct {
		initial, most         int64
		wantInitial, wantMost time.Duration
	}{
		{1, 10, time.Second, 10 * time.Second},
		{9223372036, 9223372036, 9223372036 * time.Second, 9223372036 * time.Second},
		{9223372036, 9223372037, 9223372036 * time.Second, centuries},
		{10000000000, math.MaxInt64, centuries, centuries},
		{-1, math.MinInt64, -time.Second, math.MinInt64},
	} {
		c := config.Configuration{PodInitialBackoffSeconds: tt.initial, PodMaxBackoffSeconds: tt.most}
		if initial, most := c.Backoff(); initial != tt.wantInitial || most != tt.wantMost {
			t.Errorf("Backoff of %d and %d s = %v, %v, want %v, %v", tt.initial, tt.most, initial, most, tt.wantInitial, tt.wantMost)
		}
	}
}

package config_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/config"
)

func TestBindTimeout(t *testing.T) {
	const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: a\n"
	const own = "  pluginConfig:\n  - name: VolumeBinding\n    args: {bindTimeoutSeconds: 7}\n"
	const off = "  plugins:\n    multiPoint: {disabled: [{name: VolumeBinding}]}\n"
	for _, tt := range []struct {
		name, file string
		want       time.Duration
	}{
		{"the default", head, 10 * time.Minute},
		{"its own", head + own, 7 * time.Second},
		{"of a plugin that is off", head + own + off, 10 * time.Minute},
	} {
		c, err := config.Load([]byte(tt.file), config.LoadConfig{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := c.Profiles[0].BindTimeout(); got != tt.want {
			t.Errorf("%s: BindTimeout() = %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := (config.Profile{}).BindTimeout(); got != 10*time.Minute {
		t.Errorf("without a file: BindTimeout() = %v, want 10m", got)
	}
}

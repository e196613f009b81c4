//go:build full

package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestProfilesBound counts the profiles that a text of some size may have.
func TestProfilesBound(t *testing.T) {
	text := func(profiles, size int) []byte {
		b := []byte(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[`)
		for i := range profiles {
			b = fmt.Appendf(b, `{"schedulerName":"a%d"},`, i)
		}
		b = append(b[:len(b)-1], "]}"...)
		return append(b, strings.Repeat(" ", size-len(b))...)
	}
	for _, tt := range []struct {
		profiles, size int
		want           string
	}{
		{131, 8 << 10, ""},
		{132, 8 << 10, ""},
		{133, 8 << 10, "line 1: profiles[132]: more than 132 elements in a text of 8192 bytes"},
		{150, 50 << 8, ""},
		{151, 50 << 8, "line 1: profiles[150]: more than 150 elements in a text of 12800 bytes"},
	} {
		_, err := config.Load(text(tt.profiles, tt.size), config.LoadConfig{})
		if got := fmt.Sprint(err); tt.want != "" && got != tt.want || tt.want == "" && err != nil {
			t.Errorf("%d profiles in %d bytes: %s, want %q", tt.profiles, tt.size, got, tt.want)
		}
	}
}

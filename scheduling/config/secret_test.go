//go:build !noextenders

package config_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// TestErrorsHideSecrets: the password of an extender's URL is in no error.
func TestErrorsHideSecrets(t *testing.T) {
	c, err := config.Load([]byte(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: "https://user:secret@host/x"
  filterVerb: f
  enableHTTPS: true
  tlsConfig: {caFile: /nowhere/ca.pem}
`), config.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Build(config.BuildConfig{})
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "https://user:xxxxx@host/x: ") {
		t.Errorf("error %v", err)
	}
}

//go:build full

package input

import (
	"strings"
	"testing"
)

func podWith(annotations string) string {
	return "{kind: Pod, apiVersion: v1, metadata: {name: p, annotations: {" + annotations + "}}, spec: {containers: [{name: c}]}}"
}

// TestTimed checks which pods make a cluster timed.
func TestTimed(t *testing.T) {
	for text, want := range map[string]bool{
		podWith("other: x"):                             false,
		podWith("berth-sched.github.io/arrival: 1m"):    true,
		podWith("berth-sched.github.io/run-time: 0s"):   true,
		podWith("berth-sched.github.io/run-time: soon"): true,
		openBTable: false,
		workloadYAML("apps/v1", "Deployment", "replicas: 1"): false,
	} {
		var c Cluster
		if err := c.Read("f", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if got := c.Timed(); got != want {
			t.Errorf("Timed() of %q = %v, want %v", text, got, want)
		}
	}
}

//go:build full

package main

import (
	"strings"
	"testing"
)

// A pod that arguments name twice is placed once.
func TestPodNamedTwice(t *testing.T) {
	const pods = `{"kind": "List", "apiVersion": "v1", "items": [
		{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "10"}}},
		{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p1", "namespace": "default"}, "spec": {"containers": [{"name": "c"}]}},
		{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p2", "namespace": "default"}, "spec": {"containers": [{"name": "c"}]}}]}`
	status, out, stderr := berthWith(pods, "place", "-q", "p2", "p1", "default/p2", "pod/p1")
	if status != 0 || stderr != "" || !strings.Contains(out, "2 of 2") {
		t.Errorf("status %d, %s%s; want 2 of 2 pods", status, out, stderr)
	}
}

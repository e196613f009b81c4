//go:build full

package main

import (
	"fmt"
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

// TestWorkloadsOfOneName: their replicas have equal names, and all count.
func TestWorkloadsOfOneName(t *testing.T) {
	const workload = `{"kind": "%s", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 2,
		"selector": {"matchLabels": {"app": "%s"}}, "template": {"metadata": {"labels": {"app": "%[2]s"}},
		"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "%s"}}}]}}}}`
	cluster := `{"kind": "List", "apiVersion": "v1", "items": [
		{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "10"}}},
		` + fmt.Sprintf(workload, "Deployment", "a", "1") + "," + fmt.Sprintf(workload, "StatefulSet", "b", "3") + "]}"
	_, out, stderr := berthWith(cluster, "place", "-q", "-replicas", "2", "deployment/web", "statefulset/web", "deploy/web")
	if stderr != "" || !strings.Contains(out, "2 of 4") {
		t.Errorf("%s%s; want 2 of 4 pods", out, stderr)
	}
}

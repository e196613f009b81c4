//go:build full

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// terminating is a cluster with workloads that are being deleted.
const terminating = `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {replicas: 4, selector: {}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {selector: {}, template: {spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}}
`

// Workloads that are being deleted stand for no pods, but one may ask about more of them.
func TestTerminatingWorkloads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(terminating), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"place"}, "no pods wait"},
		{[]string{"place", "deployment/web", "ds/agent"}, "no pods wait"},
		{[]string{"place", "deployment/web", "-replicas", "5"}, "5 of 5 pods fit"},
		{[]string{"headroom", "deployment/web"}, "8 more of pod default/web fit"},
		{[]string{"explain", "ds/agent"}, "pod default/agent goes to n1"},
		{[]string{"simulate", "-controllers"}, "0s simulated: 0 pods"},
	} {
		status, stdout, stderr := berth(append(tt.args, "-f", file)...)
		if status != 0 || !strings.HasPrefix(stdout, tt.want) {
			first, _, _ := strings.Cut(stdout, "\n")
			t.Errorf("%v: status %d, %s%s, want %q", tt.args, status, first, stderr, tt.want)
		}
	}
}

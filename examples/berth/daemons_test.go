//go:build full

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// daemons is a cluster whose DaemonSet takes 3 of the 8 CPUs of a node, and with three pods that wait.
const daemons = `
apiVersion: v1
kind: Node
metadata: {name: n0}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {priorityClassName: system-node-critical, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-a, namespace: kube-system, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, controller: true}]}
spec: {nodeName: n0, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default}
spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: default}
spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: c, namespace: default}
spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
`

// New nodes run the pods of DaemonSets, each of them once.
func TestDaemonsOfNewNodes(t *testing.T) {
	dir := t.TempDir()
	file, trace := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "trace.jsonl")
	if err := os.WriteFile(file, []byte(daemons), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := berth("simulate", "-f", file, "-record", trace); status != 1 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	const typ = "t:cpu=8,memory=32Gi"
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"nodes-needed", "-f", file, "-type", typ}, "2 nodes for 2; 3 of 3 pods fit then"},
		{[]string{"nodes-needed", "-f", file, "-like", "n0"}, "2 nodes for 2; 3 of 3 pods fit then"},
		{[]string{"simulate", "-f", file, "-type", typ}, "6 pods, 3 bound, 0 evicted, 0 wait at the end; 2 nodes added"},
		{[]string{"simulate", "-f", file, "-like", "n0", "-controllers"}, "6 pods, 3 bound, 0 evicted, 0 wait at the end; 2 nodes added"},
		{[]string{"simulate", "-f", file, "-type", typ, "-controllers"}, "6 pods, 5 bound, 0 evicted, 0 wait at the end; 2 nodes added"},
		{[]string{"simulate", "-trace", trace, "-type", typ}, "6 pods, 3 bound, 0 evicted, 0 wait at the end; 2 nodes added"},
	} {
		status, stdout, stderr := berth(tt.args...)
		if first, _, _ := strings.Cut(stdout, "\n"); status != 0 || !strings.HasSuffix(first, tt.want) {
			t.Errorf("%v: status %d, %s%s, want %q", tt.args, status, first, stderr, tt.want)
		}
	}
}

//go:build full

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDumps asks about what dumps of real clusters hold: a pod on a node that has gone, a Deployment without
// its ReplicaSets, a cordoned node as a pattern, a node with the name of a new one, pods with gates.
func TestDumps(t *testing.T) {
	pod := func(name, node, more string) string {
		if node != "" {
			node = `"nodeName": "` + node + `", `
		}
		return `{"kind": "Pod", "metadata": {"namespace": "d", "name": "` + name + `"` + more + `}, "spec": {` + node + `"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}`
	}
	node := func(name, spec string) string {
		return `{"kind": "Node", "metadata": {"name": "` + name + `"}, "spec": {` + spec + `}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}}`
	}
	web := `, "labels": {"pod-template-hash": "5"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5", "controller": true}]`
	deployment := `{"kind": "Deployment", "metadata": {"namespace": "d", "name": "web"}, "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}}}}`
	agent := `, "ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": true}]`
	agents := `{"kind": "DaemonSet", "metadata": {"namespace": "d", "name": "agent"}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}`
	cordon := `"unschedulable": true, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]`
	gated := strings.Replace(pod("gated", "", ""), `"containers"`, `"schedulingGates": [{"name": "g"}], "containers"`, 1)
	for _, test := range []struct {
		items  []string
		args   string
		status int
		want   string
	}{
		{[]string{node("n", ""), pod("stray", "gone", ""), pod("p", "", "")}, "simulate -validate warn", 0, "1 bound"},
		{[]string{node("n", ""), deployment, pod("web-5-a", "n", web)}, "place", 0, "no pods wait"},
		{[]string{node("n", ""), node("m", ""), deployment, pod("web-5-a", "n", web), pod("web-5-b", "", web)}, "place -n d deployment/web", 0, "1 of 1 pods fit"},
		{[]string{node("n", cordon), pod("p", "", "")}, "nodes-needed -like n", 0, "1 node for 1; 1 of 1 pods fit then"},
		{[]string{node("n-0", ""), node("n", ""), pod("a", "n", ""), pod("b", "n-0", ""), pod("p", "", "")}, "nodes-needed -like n", 0, "1 node for 1; 1 of 1 pods fit then"},
		{[]string{node("n", cordon), node("m", ""), agents, pod("agent-x", "m", agent)}, "place -n d ds/agent", 0, "1 of 1 pods fit"},
		{[]string{node("n", cordon), node("m", ""), agents}, "place -n d ds/agent", 0, "2 of 2 pods fit"},
		{[]string{node("n", cordon), agents}, "why-not -n d ds/agent n", 0, "pod d/agent goes to n"},
		{[]string{node("n", ""), gated, pod("p", "", "")}, "place", 1, "d/gated: remove its scheduling gates"},
		{[]string{node("n", ""), gated}, "explain d/gated", 0, "it waits for its scheduling gates to be removed: g"},
	} {
		file := filepath.Join(t.TempDir(), "dump.json")
		if err := os.WriteFile(file, []byte(`{"kind": "List", "items": [`+strings.Join(test.items, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := berth(append(strings.Fields(test.args), "-f", file, "-q")...)
		if status != test.status || !strings.Contains(stdout, test.want) {
			t.Errorf("%s: status %d, %q, %s; want %d and %q", test.args, status, stderr, stdout, test.status, test.want)
		}
	}
}

// TestReplayOfRuns: what a run did with controllers, an autoscaler or an end is in the file that it records.
func TestReplayOfRuns(t *testing.T) {
	for _, args := range []string{
		"-f testdata/cluster.yaml -controllers -until 1h",
		"-f testdata/cluster.yaml -until 10m",
		"-f testdata/timed.yaml -controllers -clock",
		"-f testdata/timed.yaml -type extra:cpu=16,memory=64Gi,max=2",
		"-f testdata/timed.yaml -until 3h",
	} {
		file := filepath.Join(t.TempDir(), "run.jsonl")
		if status, _, stderr := berth(append(strings.Fields("simulate -q "+args), "-record", file)...); status > 1 || stderr != "" {
			t.Fatalf("%s: status %d, %s", args, status, stderr)
		}
		if status, stdout, stderr := berth("replay", "-q", file); status != 0 {
			t.Errorf("%s: replay: status %d, %s%.1000s", args, status, stderr, stdout)
		}
	}
}

//go:build full

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

// cluster has a half-full node, an empty one, and one that is full by the extender's
// data.
const cluster = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: half}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: empty}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: full}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: half, containers: [{name: c, resources: {requests: {cpu: "2", memory: 4Gi}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: full, containers: [{name: c, resources: {requests: {cpu: "4", memory: 4Gi}}}]}}
`

// start runs the program and returns the configuration that it prints. When the test
// ends, the program has stopped without an error.
func start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append(args, "-listen", "127.0.0.1:0"), w)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
	var text strings.Builder
	buffer := make([]byte, 1024)
	for !strings.Contains(text.String(), "httpTimeout") {
		n, err := r.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			t.Fatalf("it printed %q: %v", text.String(), err)
		}
	}
	return text.String()
}

// place places a pod with the default profile and the extenders of a file. Its nodes
// have the right size, but none of the pods that the extender knows.
func place(t *testing.T, file string) (*scheduling.Explanation, string) {
	t.Helper()
	c, err := config.Load([]byte(file), config.LoadConfig{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduling.New(built.Profiles[0])
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"half", "empty", "full"} {
		cpu := "4"
		if name == "half" {
			cpu = "2" // so that it is the last choice here
		}
		if err := snap.AddNode(api.MakeNode(name, cpu, "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	pod, err := snap.NewPodInfo(api.MakePod("web").Requests("1", "2Gi").Obj())
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Place(snap, pod)
	if err != nil {
		t.Fatal(err)
	}
	return s.ExplainDecision(snap, pod, d), d.Node
}

// TestClient schedules with the configuration that the program prints. The extender
// rejects the full node. Its scores outweigh the others, so the pod goes to the node
// to pack.
func TestClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, []byte(cluster), 0o600); err != nil {
		t.Fatal(err)
	}
	asking := start(t, "-nodes", file)
	e, node := place(t, asking)
	if node != "half" {
		t.Errorf("asking the extender: %s, want half", node)
	}
	for _, n := range e.Nodes {
		if n.Node == "full" && (n.Verdict != scheduling.VerdictRejected || fmt.Sprint(n.Reasons) != "[Insufficient cpu]") {
			t.Errorf("node full: %s, %v, want rejected with Insufficient cpu", n.Verdict, n.Reasons)
		}
	}
	alone, _, _ := strings.Cut(asking, "extenders:")
	if _, node := place(t, alone); node == "half" {
		t.Errorf("without the extender: %s too, so that the test shows nothing", node)
	}
}

// TestSample serves the sample.
func TestSample(t *testing.T) {
	text := start(t)
	if !strings.HasPrefix(text, "# 40 nodes of sample.") {
		t.Errorf("it printed %q", text)
	}
	_, rest, _ := strings.Cut(text, "urlPrefix: ")
	prefix, _, _ := strings.Cut(rest, "\n")
	answer, err := http.Post(prefix+"/filter", "application/json", strings.NewReader(`{"Pod": {"metadata": {"name": "p"}}, "NodeNames": ["general-00", "nowhere"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(body), `"general-00"`) || !strings.Contains(string(body), "nowhere") {
		t.Errorf("the answer is %s, %v", body, err)
	}
}

func TestErrors(t *testing.T) {
	for _, args := range [][]string{{"-nodes", "none.yaml"}, {"-listen", "nowhere:port"}, {"-bogus"}} {
		if err := run(context.Background(), args, io.Discard); err == nil {
			t.Errorf("run(%q): no error", args)
		}
	}
}

//go:build full

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// times matches the parts that differ from run to run.
var times = regexp.MustCompile(`in [0-9.]+(µs|ms|s), [0-9]+ pods`)

// output runs the program and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, err strings.Builder
	if e := run(args, &out, &err); e != nil {
		t.Fatalf("simulate %v: %v", args, e)
	}
	if err.Len() > 0 {
		t.Errorf("simulate %v wrote %q to standard error, want nothing within a second", args, err.String())
	}
	return times.ReplaceAllString(out.String(), "in TIME, RATE pods")
}

// timed lets pods of two profiles come and go, and one preempt two others.
var timed = []string{"-nodes", "testdata/nodes.yaml", "-pods", "testdata/timed.yaml", "-config", "testdata/scheduler.yaml"}

// TestOutput compares the output with files in testdata.
func TestOutput(t *testing.T) {
	small := []string{"-nodes", "testdata/nodes.yaml", "-pods", "testdata/pods.yaml"}
	tests := []struct {
		file string
		args []string
	}{
		{"sample.txt", nil},
		{"small.txt", small},
		{"small.json", append(small, "-o", "json", "-seed", "7")},
		{"small-1.18.txt", append(small, "-profile", "1.18")},
		{"small-1.34.txt", append(small, "-profile", "1.34")},
		{"small-1.37.txt", append(small, "-profile", "1.37")},
		{"openb.txt", []string{"-nodes", "testdata/openb_nodes.csv", "-pods", "testdata/openb_pods.csv"}},
		{"kubectl.txt", []string{"-nodes", "../../framework/api/testdata/nodes.json", "-pods", "../../framework/api/testdata/pods.json"}},
		{"nodes-only.txt", []string{"-nodes", "testdata/nodes.yaml"}},
		{"config.txt", append(small, "-config", "testdata/scheduler.yaml")},
		{"timed.txt", timed},
		{"timed.json", append(timed, "-o", "json", "-seed", "7")},
		{"clock.json", append(small, "-o", "json", "-clock", "-profile", "1.34")},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			got := output(t, test.args...)
			name := filepath.Join("testdata", test.file)
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("output differs from %s (-want +got); -update accepts it:\n%s", name, diff)
			}
		})
	}
}

// TestJSON checks that the sample gives the same bytes for the same seed, other
// placements for another one, and that every pod is in one of the lists.
func TestJSON(t *testing.T) {
	first := output(t, "-o", "json", "-seed", "3")
	if again := output(t, "-o", "json", "-seed", "3"); again != first {
		t.Errorf("two runs with seed 3 differ")
	}
	if other := output(t, "-o", "json", "-seed", "4"); strings.Replace(other, `"seed":4`, `"seed":3`, 1) == first {
		t.Errorf("seeds 3 and 4 give the same placements")
	}
	var r report
	if err := json.Unmarshal([]byte(first), &r); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range r.Placements {
		seen[p.Pod] = p.Node != ""
	}
	for _, p := range r.Unschedulable {
		seen[p.Pod] = strings.HasPrefix(p.Message, "0/40 nodes are available: ")
	}
	for pod, ok := range seen {
		if !ok {
			t.Errorf("pod %s has no node, or no reason", pod)
		}
	}
	if len(seen) != 408 || len(r.Placements)+len(r.Unschedulable) != 408 || r.Seed != 3 || r.Nodes != 40 || r.Running != 160 {
		t.Errorf("%d pods in the lists, %d of them different; seed %d, %d nodes, %d pods running; want 408, 408, 3, 40, 160",
			len(r.Placements)+len(r.Unschedulable), len(seen), r.Seed, r.Nodes, r.Running)
	}
}

// TestClock checks a run that you can work out by hand: a node with room for one pod
// at a time, and two pods that arrive together and run for ten minutes.
func TestClock(t *testing.T) {
	cluster := filepath.Join(t.TempDir(), "cluster.yaml")
	text := `
{kind: Node, apiVersion: v1, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}}
---
kind: Job
apiVersion: batch/v1
metadata: {name: j}
spec:
  parallelism: 2
  template:
    metadata: {annotations: {berth-sched.github.io/arrival: 1h, berth-sched.github.io/run-time: 10m}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
`
	if err := os.WriteFile(cluster, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(output(t, "-nodes", cluster, "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	want := report{
		Placements: []placement{
			{Pod: "default/j-0", Node: "n1", At: new(3600.0), Waited: new(0.0)},
			{Pod: "default/j-1", Node: "n1", At: new(4200.0), Waited: new(600.0)},
		},
		Unschedulable: []rejection{}, Seed: 1, Profile: "kube-scheduler 1.37", Tie: "Random", Nodes: 1,
		Clock: &timing{
			Simulated: 4800, Waited: waits{Mean: 300, P95: 0, Longest: 600, Pod: "default/j-1"},
			Peak: []peak{{"cpu", 0.75, 3600}, {"memory", 0, 0}},
		},
	}
	if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(report{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestTable uses the times of a table: every pod is placed, and ends.
func TestTable(t *testing.T) {
	var out, stderr strings.Builder // a loaded machine may show progress
	args := []string{"-nodes", "testdata/openb_nodes.csv", "-pods", "testdata/openb_pods.csv", "-clock", "-o", "json"}
	if err := run(args, &out, &stderr); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Placements) != 5 || len(r.Unschedulable) != 0 || r.Clock == nil || r.Clock.Simulated != 12902960 {
		t.Errorf("%d placements, %d unschedulable, clock %+v; want 5, 0 and 12902960 s", len(r.Placements), len(r.Unschedulable), r.Clock)
	}
}

// TestLoadAware configures Koordinator's plugin, and gives it the NodeMetrics of the
// cluster. The first pod goes to the idle node. The second goes there too, although
// the first is there, but the third does not.
func TestLoadAware(t *testing.T) {
	dir := t.TempDir()
	cluster, scheduler := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "scheduler.yaml")
	for file, text := range map[string]string{cluster: `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: busy}, status: {allocatable: {cpu: "10", memory: 10Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: idle}, status: {allocatable: {cpu: "10", memory: 10Gi, pods: "10"}}}
- apiVersion: slo.koordinator.sh/v1alpha1
  kind: NodeMetric
  metadata: {name: busy}
  status: {updateTime: "2030-01-01T00:00:00Z", nodeMetric: {nodeUsage: {resources: {cpu: "3", memory: 1Gi}}}}
- apiVersion: slo.koordinator.sh/v1alpha1
  kind: NodeMetric
  metadata: {name: idle}
  status: {updateTime: "2030-01-01T00:00:00Z", nodeMetric: {nodeUsage: {resources: {cpu: 100m, memory: 1Gi}}}}
- {apiVersion: v1, kind: Pod, metadata: {name: p0}, spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: p1}, spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: p2}, spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}}
`, scheduler: `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    filter: {enabled: [{name: LoadAwareScheduling}]}
    reserve: {enabled: [{name: LoadAwareScheduling}]}
    score: {disabled: [{name: "*"}], enabled: [{name: LoadAwareScheduling}]}
`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var r report
	if err := json.Unmarshal([]byte(output(t, "-nodes", cluster, "-config", scheduler, "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	// A pod is expected to use 85 % of 2 cores, so the use of node idle goes from
	// 0.1 to 1.8, then to 3.5.
	want := []placement{{Pod: "default/p0", Node: "idle"}, {Pod: "default/p1", Node: "idle"}, {Pod: "default/p2", Node: "busy"}}
	if diff := cmp.Diff(want, r.Placements); diff != "" {
		t.Errorf("placements (-want +got):\n%s\nunschedulable: %v", diff, r.Unschedulable)
	}
}

// TestConfigProblems checks that every problem of a file has a line of its own.
func TestConfigProblems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparalelism: 3\nprofiles: [{schedulerName: 5}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr strings.Builder
	err := run([]string{"-config", file}, &out, &stderr)
	var problems *config.Error
	want := "line 3: unknown field \"paralelism\"\nline 4: profiles[0].schedulerName: got the number 5, want a string"
	if !errors.As(err, &problems) || err.Error() != want || out.Len() > 0 {
		t.Errorf("error %v, output %q; want\n%s", err, out.String(), want)
	}
}

// TestLongBackoff checks that the longest backoff a file can ask for does not
// overflow.
func TestLongBackoff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npodMaxBackoffSeconds: 10000000000\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := rulesOf("", file, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := (queue.Backoff{Initial: time.Second, Max: math.MaxInt64}); r.backoff != want {
		t.Errorf("backoff = %+v, want %+v", r.backoff, want)
	}
}

// TestEmptyLists checks that lists without elements are lists in JSON.
func TestEmptyLists(t *testing.T) {
	got := output(t, "-nodes", "testdata/nodes.yaml", "-o", "json")
	if want := `{"placements":[],"unschedulable":[],"seed":1,`; !strings.HasPrefix(got, want) {
		t.Errorf("output = %s, want it to begin with %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	text := "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {requests: {memory: lots}}}]}\n"
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	late := filepath.Join(t.TempDir(), "late.yaml")
	text = "kind: Pod\nmetadata: {name: p, annotations: {berth-sched.github.io/arrival: late}}\nspec: {containers: [{name: c}]}\n"
	if err := os.WriteFile(late, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want []string
	}{
		{[]string{"-pods", bad}, []string{bad, "pod default/p", "spec.containers[0].resources.requests[memory]", `"lots"`}},
		{[]string{"-nodes", "testdata/none.json"}, []string{"testdata/none.json"}},
		{[]string{"-o", "xml"}, []string{"-o", `"xml"`, "table or json"}},
		{[]string{"-profile", "1.2"}, []string{"-profile", `"1.2"`, "1.18, 1.34 or 1.37"}},
		{[]string{"-config", "testdata/none.yaml"}, []string{"testdata/none.yaml"}},
		{[]string{"-clock", "-pods", late}, []string{late, "pod default/p", "berth-sched.github.io/arrival", `"late"`, "seconds"}},
		{[]string{"-seed", "-1"}, []string{"-seed", `"-1"`}},
		{[]string{"-bogus"}, []string{"-bogus"}},
		{[]string{"nodes.json"}, []string{`"nodes.json"`, "-nodes"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			var out, stderr strings.Builder
			err := run(test.args, &out, &stderr)
			if err == nil {
				t.Fatalf("no error, want one with %q", test.want)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %s", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") || out.Len() > 0 || stderr.Len() > 0 {
				t.Errorf("error %q, output %q, %q; want one line and nothing else", err, out.String(), stderr.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out, stderr strings.Builder
	if err := run([]string{"-h"}, &out, &stderr); err != flag.ErrHelp || !strings.Contains(stderr.String(), "-profile version") {
		t.Errorf("error %v, help %q; want flag.ErrHelp and the flags", err, stderr.String())
	}
}

//go:build full

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// output runs the program and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, err strings.Builder
	if e := run(args, &out, &err); e != nil {
		t.Fatalf("simulate %v: %v", args, e)
	}
	for line := range strings.Lines(err.String()) { // on a slow machine there is progress
		if !strings.HasSuffix(line, " simulated\n") {
			t.Errorf("simulate %v wrote %q to standard error, want nothing but progress", args, line)
		}
	}
	return out.String()
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
// placements for another one, and that every pod has a node or a reason.
func TestJSON(t *testing.T) {
	first := output(t, "-o", "json", "-seed", "3")
	if again := output(t, "-o", "json", "-seed", "3"); again != first {
		t.Errorf("two runs with seed 3 differ")
	}
	if other := output(t, "-o", "json", "-seed", "4"); strings.Replace(other, `"seed":4`, `"seed":3`, 1) == first {
		t.Errorf("seeds 3 and 4 give the same placements")
	}
	r := result(t, "-o", "json", "-seed", "3")
	running := 0
	for _, p := range r.Pods {
		if p.Running {
			running++
		} else if (p.Node == "") != strings.Contains(p.Message, "nodes are available: ") {
			t.Errorf("pod %s has no node, or no reason: %+v", p.Pod, p)
		}
	}
	if len(r.Pods) != 568 || running != 160 {
		t.Errorf("%d pods, %d of them ran; want 568 and 160", len(r.Pods), running)
	}
}

// result runs the program and reads its JSON.
func result(t *testing.T, args ...string) (r simulate.Result) {
	t.Helper()
	if err := json.Unmarshal([]byte(output(t, args...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
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
	r := result(t, "-nodes", cluster, "-o", "json")
	var waits []float64
	for _, p := range r.Pods {
		waits = append(waits, p.Waited)
	}
	if diff := cmp.Diff([]float64{0, 600}, waits); diff != "" || r.Simulated != 4800 || r.Waits[0].Mean != 300 || r.Peaks[0].Utilization != 0.75 {
		t.Errorf("%+v; waits (-want +got):\n%s", r, diff)
	}
}

// TestTable uses the times of a table: every pod is placed, and ends.
func TestTable(t *testing.T) {
	r := result(t, "-nodes", "testdata/openb_nodes.csv", "-pods", "testdata/openb_pods.csv", "-clock", "-o", "json")
	ended := 0
	for _, p := range r.Pods {
		if p.Completed {
			ended++
		}
	}
	if ended != 5 || r.Waiting != 0 || r.Simulated != 12902960 {
		t.Errorf("%d pods ended, %d wait, %g s; want 5, 0 and 12902960 s", ended, r.Waiting, r.Simulated)
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
	// A pod is expected to use 85 % of 2 cores, so the use of node idle goes from
	// 0.1 to 1.8, then to 3.5.
	var got []string
	for _, p := range result(t, "-nodes", cluster, "-config", scheduler, "-o", "json").Pods {
		got = append(got, p.Node)
	}
	if diff := cmp.Diff([]string{"idle", "idle", "busy"}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
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
	r, err := input.RulesOf("", file, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := (queue.Backoff{Initial: time.Second, Max: math.MaxInt64}); r.Backoff != want {
		t.Errorf("backoff = %+v, want %+v", r.Backoff, want)
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

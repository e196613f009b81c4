package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// output runs the command and returns what it prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatalf("bench %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func TestJSON(t *testing.T) {
	text := output(t, "-nodes", "120", "-pods", "30", "-workloads", "basic,nodeaffinity", "-budget", "50ms", "-o", "json")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one per workload:\n%s", len(lines), text)
	}
	for _, text := range lines {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Nodes != 120 || l.DifferingChoices == nil || *l.DifferingChoices != 0 || l.Compared != 60 {
			t.Errorf("line %s, want 120 nodes, 0 of 60 differing", text)
		}
		for name, x := range map[string]*float64{
			"berth": l.Berth, "plain": l.BerthPlain, "sampled": l.KubeSampled, "all": l.KubeAll, "batched": l.KubeBatched,
			"ratio": l.RatioAll,
		} {
			if x == nil || *x <= 0 {
				t.Errorf("%s: %s is absent or zero in %s", l.Workload, name, text)
			}
		}
		if l.KubeAllPods < leastPods || l.KubeAllPods > 30 {
			t.Errorf("%s: %d pods timed, want %d to 30", l.Workload, l.KubeAllPods, leastPods)
		}
	}
}

func TestTable(t *testing.T) {
	text := output(t, "-nodes", "50", "-workloads", "basic", "-budget", "10ms", "-berth-only")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "berth/sampled") || strings.Count(lines[1], " -") != 8 {
		t.Errorf("want a heading and a line with dashes for all that was not measured:\n%s", text)
	}
}

func TestDevices(t *testing.T) {
	text := output(t, "-nodes", "40", "-workloads", "devices", "-compare", "60", "-budget", "1ms", "-o", "json")
	var l deviceLine
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	if l.Differing != 0 || l.Compared != 60 || l.KubePods < leastPods || l.BerthPods < 300 || l.Sampled <= 0 || l.All <= 0 || l.Berth <= l.Sampled {
		t.Errorf("line %s, want 0 of 60 differing, at least 300 and %d pods, and berth ahead", text, leastPods)
	}
}

func TestPreemption(t *testing.T) {
	text := output(t, "-nodes", "60", "-workloads", "preemption", "-budget", "1ms", "-o", "json")
	var l preemptionLine
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	if l.Nodes != 60 || l.Pods != 600 || l.Compared != 10 || l.Differing != 0 || l.RatioPost <= 0 || l.RatioAttempt <= 0 {
		t.Errorf("line %s, want 60 nodes, 600 pods, 10 attempts compared, none differing", text)
	}
}

func TestShapes(t *testing.T) {
	names := []string{
		"equal-heap", "deployments", "statefulset", "job", "bare", "distinct", "terms", "daemonset", "overload",
		"rollout", "rolloutspread", "cron", "namespaces", "gpupool", "defaultspread", "unschedulable",
	}
	text := output(t, "-nodes", "120", "-pods", "40", "-compare", "40", "-workloads", strings.Join(names, ","), "-budget", "50ms", "-o", "json")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(names), text)
	}
	for i, text := range lines {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Workload != names[i] || l.Nodes != 120 || l.DifferingChoices == nil || *l.DifferingChoices != 0 || l.Compared != 80 {
			t.Errorf("line %s, want 120 nodes, 0 of 80 differing", text)
		}
		for name, x := range map[string]*float64{"berth": l.Berth, "plain": l.BerthPlain, "sampled": l.KubeSampled, "all": l.KubeAll, "ratio": l.RatioAll} {
			if x == nil || *x <= 0 {
				t.Errorf("%s: %s is absent or zero in %s", l.Workload, name, text)
			}
		}
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-nodes 0", "-nodes"},
		{"-o yaml", "-o"},
		{"-workloads basic,web", "no workload"},
		{"basic", "flags only"},
		{"-workloads preemption -berth-only", "is a comparison"},
		{"-workloads devices -berth-only", "is a comparison"},
		{"-workloads fork", "no counterpart"},
		{"-workloads openb -openb .", "openb"},
	} {
		t.Run(c.args, func(t *testing.T) {
			err := run(strings.Fields(c.args), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

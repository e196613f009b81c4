//go:build full

package shapes_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/shapes"
	"github.com/berth-sched/berth/scheduling"
)

// trace returns the trace that the repository has, a few rows of the real one.
func trace(t *testing.T) shapes.Trace {
	t.Helper()
	trace, err := shapes.ReadOpenB("../../../examples/berth/testdata")
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestPathsAgree makes every decision of every shape on both paths in a small cluster,
// and measures the shape.
func TestPathsAgree(t *testing.T) {
	for _, s := range shapes.All(trace(t)) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			came, err := shapes.Verify(s, 40, effort.Of(40, 400))
			if err != nil {
				t.Error(err)
			}
			if came < 5 {
				t.Errorf("%d pods came", came)
			}
			if s.Name == "openb" {
				return // these few rows are over before the first pod is timed
			}
			pods := effort.Of(120, 1000)
			f, err := shapes.Measure(s, shapes.Config{Nodes: 40, Pods: pods, Budget: time.Minute, Verified: 1})
			if err != nil {
				t.Error(err)
			}
			if f.Pods != pods || f.ReferencePods != pods || f.Verified < 5 {
				t.Errorf("%+v: want %d pods timed on each path, and a sample compared", f, pods)
			}
		})
	}
}

// TestPodsAreFresh checks that a pod is a function of its index, and a new object each
// time.
func TestPodsAreFresh(t *testing.T) {
	for _, s := range shapes.All(trace(t)) {
		names := map[string]int{}
		for i := range 5 {
			a, b := s.Pod(i, 40), s.Pod(i, 40)
			if diff := cmp.Diff(a, b); diff != "" || a == b {
				t.Errorf("%s: pod %d twice, one object: %v (-first +second):\n%s", s.Name, i, a == b, diff)
			}
			names[a.Namespace+"/"+a.Name] = i
		}
		if len(names) != 5 {
			t.Errorf("%s: five pods have the names %v", s.Name, names)
		}
	}
}

// TestMeasure checks the figures of a shape with departures, and their JSON.
func TestMeasure(t *testing.T) {
	s, err := shapes.Parse(shapes.All(shapes.Trace{}), "rollout")
	if err != nil {
		t.Fatal(err)
	}
	f, err := shapes.Measure(s, shapes.Config{Nodes: 30, Pods: 100, Budget: time.Second, Verified: 10})
	if err != nil {
		t.Fatal(err)
	}
	if f.Pods != 100 || f.ReferencePods != 100 || f.Verified < 20 || f.Hits+f.Misses+f.Bypassed != 100 {
		t.Errorf("%+v: want 100 timed pods on each path, all counted, and a sample verified", f)
	}
	if f.USPerPod <= 0 || f.ReferenceUSPerPod <= 0 || f.Ratio <= 0 || f.AllocsPerPod <= 0 || f.BytesPerNode <= 0 {
		t.Errorf("%+v: want figures above 0", f)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shape", "nodes", "us_per_pod", "reference_us_per_pod", "ratio", "hits", "misses", "bypassed", "allocs_per_pod", "bytes_per_node"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s lacks %s", text, name)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("more fields: %v", fields)
	}
}

// TestLong checks that all pods come, and that memory stays while templates come and go.
func TestLong(t *testing.T) {
	s, err := shapes.Parse(shapes.All(shapes.Trace{}), "terms")
	if err != nil {
		t.Fatal(err)
	}
	var list []shapes.Stretch
	if err := shapes.Long(s, 20, 6300, 1000, func(x shapes.Stretch) { list = append(list, x) }); err != nil {
		t.Fatal(err)
	}
	if len(list) != 7 || list[6].Came != 6300 || list[6].HitShare < 0.9 {
		t.Errorf("%+v: want seven stretches of 6300 pods, and hits", list)
	}
	if first, last := list[2], list[6]; last.KeptMB > 1.5*first.KeptMB+0.1 {
		t.Errorf("the cache holds %.2f MiB, after %.2f in the third stretch", last.KeptMB, first.KeptMB)
	}
}

// TestTrace checks the order of a trace: pods come by time, and leave after they came.
func TestTrace(t *testing.T) {
	trace := trace(t)
	s, err := shapes.Parse(shapes.All(trace), "openb")
	if err != nil {
		t.Fatal(err)
	}
	gone := map[int]bool{}
	for i := range trace.Len() {
		for _, j := range s.Leaving(i, 0) {
			if j >= i || gone[j] {
				t.Errorf("pod %d leaves before pod %d, left before: %v", j, i, gone[j])
			}
			gone[j] = true
		}
	}
	if s.Pod(trace.Len(), 0) != nil || s.Pod(trace.Len()-1, 0) == nil {
		t.Errorf("pod %d is not the last", trace.Len()-1)
	}
}

// TestWorld follows pods that come and leave, and pods that fit nowhere.
func TestWorld(t *testing.T) {
	all := shapes.All(shapes.Trace{})
	for _, name := range []string{"cron", "unschedulable"} {
		s, err := shapes.Parse(all, name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := shapes.Open(&s, 2, scheduling.CacheConfig{})
		if err != nil {
			t.Fatal(err)
		}
		before, number, nowhere := 0, s.First(2), 0
		for _, n := range w.Snapshot.All() {
			before += len(n.Pods)
		}
		for _, a := range w.Make(30) {
			if err := w.Come(a); err != nil {
				t.Fatal(err)
			}
			p, n := w.Snapshot.Pod(a.Pod.Key())
			switch at := w.Node(number); {
			case at == "" && p == nil:
				nowhere++
			case at == "" || p == nil || n.Name() != at:
				t.Errorf("%s: pod %d is on %q, but in the snapshot: %v", name, number, at, p)
			}
			number++
		}
		after := 0
		for _, n := range w.Snapshot.All() {
			after += len(n.Pods)
		}
		want, fail := before, 0 // for each that comes one leaves
		if name == "unschedulable" {
			want, fail = before+27, 3
		}
		if after != want || nowhere != fail {
			t.Errorf("%s: %d pods after %d, %d nowhere; want %d, %d", name, after, before, nowhere, want, fail)
		}
	}
}

// TestPlain names the shapes that need more than a default profile and pods to place.
func TestPlain(t *testing.T) {
	var more []string
	for _, s := range shapes.All(shapes.Trace{}) {
		if !s.Plain() {
			more = append(more, s.Name)
		}
	}
	if diff := cmp.Diff([]string{"equal-first", "equal-random", "fork", "forkpool", "clusters", "nominated", "nominations", "named", "extender", "claims", "expiring", "unscoped"}, more); diff != "" {
		t.Errorf("shapes that are not plain (-want +got):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	if _, err := shapes.Parse(shapes.All(shapes.Trace{}), "web"); err == nil || !strings.Contains(err.Error(), "equal-first") {
		t.Errorf("Parse(web): error %v, want one that lists the names", err)
	}
	if _, err := shapes.ReadOpenB(t.TempDir()); err == nil {
		t.Error("ReadOpenB of an empty directory: no error")
	}
}

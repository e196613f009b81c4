//go:build full

package framework_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/dump"
)

// BenchmarkLoad reads a cluster as kubectl prints it, fills in defaults, and makes a
// snapshot. Beside it, in turn with it, encoding/json only decodes the same bytes into
// the same types: "x-json" is how many times as long that takes, and "B/pod" the memory
// that objects, PodInfos and snapshot keep for each pod. With BERTH_LONG set, the cluster
// has 5,000 nodes and 150,000 pods.
func BenchmarkLoad(b *testing.B) {
	size := 1
	if os.Getenv("BERTH_LONG") != "" {
		size = 25
	}
	for _, managed := range []bool{false, true} {
		c := dump.Config{Nodes: 200 * size, Pods: 6000 * size, ManagedFields: managed}
		nodes, pods := c.NodeList(), c.PodList()
		b.Run(fmt.Sprintf("managedFields=%v", managed), func(b *testing.B) {
			b.SetBytes(int64(len(nodes) + len(pods)))
			var theirs, ours spent
			for b.Loop() {
				theirs.on(func() any { return standardDecode(b, nodes, pods) })
				ours.on(func() any { return loadCluster(b, nodes, pods) })
			}
			each := float64(b.N * c.Pods)
			b.ReportMetric(theirs.time.Seconds()/ours.time.Seconds(), "x-json")
			b.ReportMetric(ours.time.Seconds()*1e6/each, "us/pod")
			b.ReportMetric(float64(ours.allocs)/each, "allocs/pod")
			b.ReportMetric(float64(theirs.allocs)/each, "json-allocs/pod")
			b.ReportMetric(float64(ours.kept)/each, "B/pod")
			b.ReportMetric(float64(theirs.kept)/each, "json-B/pod")
		})
	}
}

// TestLoadAllocations bounds what a pod of a real cluster costs, from the text to the
// snapshot. Most of it are the parts that no other pod has: names, containers, volumes,
// conditions. With more pods to a node and to a template it is less: see BenchmarkLoad.
func TestLoadAllocations(t *testing.T) {
	c := dump.Config{Nodes: 20, Pods: 1000, ManagedFields: true}
	nodes, pods := c.NodeList(), c.PodList()
	var ours spent
	ours.on(func() any { return loadCluster(t, nodes, pods) })
	runtime.KeepAlive(nodes)
	runtime.KeepAlive(pods)
	t.Logf("%.1f allocations, %.0f bytes a pod", float64(ours.allocs)/float64(c.Pods), float64(ours.kept)/float64(c.Pods))
	if got := float64(ours.allocs) / float64(c.Pods); got > 28 {
		t.Errorf("%.1f allocations a pod, want at most 28", got)
	}
	if got := float64(ours.kept) / float64(c.Pods); got > 4<<10 {
		t.Errorf("%.0f bytes a pod, want at most 4 KiB", got)
	}
}

// spent is what runs of a function took.
type spent struct {
	time         time.Duration
	allocs, kept uint64
}

// on adds a run of f. Kept is the memory that its result needs.
func (s *spent) on(f func() any) {
	var before, after, later runtime.MemStats
	runtime.GC()
	runtime.GC() // empties pools
	runtime.ReadMemStats(&before)
	begin := time.Now()
	result := f()
	s.time += time.Since(begin)
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.ReadMemStats(&later)
	runtime.KeepAlive(result)
	s.allocs += after.Mallocs - before.Mallocs
	s.kept += later.HeapAlloc - before.HeapAlloc
}

// standardDecode reads both lists with encoding/json.
func standardDecode(t testing.TB, nodes, pods []byte) any {
	t.Helper()
	var n struct{ Items []*api.Node }
	var p struct{ Items []*api.Pod }
	must(t, json.Unmarshal(nodes, &n))
	must(t, json.Unmarshal(pods, &p))
	return [...]any{n, p}
}

// loadCluster makes a snapshot of both lists.
func loadCluster(t testing.TB, nodes, pods []byte) any {
	t.Helper()
	var o api.Objects
	must(t, o.Decode(nodes))
	must(t, o.Decode(pods))
	must(t, o.Default())
	s, pending, err := framework.SnapshotOf(&o, framework.ZoneInterleaved)
	must(t, err)
	return [...]any{&o, s, pending}
}

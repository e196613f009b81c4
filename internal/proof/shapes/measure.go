package shapes

import (
	"fmt"
	"runtime"
	"time"

	"github.com/berth-sched/berth/scheduling"
)

// A Config says how a shape is measured.
type Config struct {
	// Nodes is the size of the cluster.
	Nodes int
	// Pods is how many pods are timed on each path at most, after [Warm] untimed ones.
	Pods int
	// Budget ends the measurement of a path, but not before LeastPods.
	Budget time.Duration
	// Verified is how many pods come to a scheduler that verifies each decision.
	Verified int
}

const (
	// Warm is how many pods come before the first that is timed.
	Warm = 200
	// leastPods is how many pods are timed regardless of the budget.
	leastPods = 20
	// batchMost bounds how many pods are made, and timed, at once.
	batchMost = 512
)

// Figures are what was measured of a shape, as the command shapes prints them.
type Figures struct {
	Shape string `json:"shape"`
	// Nodes is the size of the cluster.
	Nodes int `json:"nodes"`
	// USPerPod is the time of a pod in microseconds, ReferenceUSPerPod that of a pod
	// without the incremental path, and Ratio how many times that is.
	USPerPod          float64 `json:"us_per_pod"`
	ReferenceUSPerPod float64 `json:"reference_us_per_pod"`
	Ratio             float64 `json:"ratio"`
	// Hits, Misses and Bypassed are those of [scheduling.Stats], of the timed pods. A pod
	// that fits nowhere counts again when PostFilter asks.
	Hits     uint64 `json:"hits"`
	Misses   uint64 `json:"misses"`
	Bypassed uint64 `json:"bypassed"`
	// AllocsPerPod counts heap objects, those of the pod's info among them.
	AllocsPerPod float64 `json:"allocs_per_pod"`
	// BytesPerNode is the memory of the kept answers at the end.
	BytesPerNode float64 `json:"bytes_per_node"`

	// Pods and ReferencePods are how many pods were timed.
	Pods          int `json:"-"`
	ReferencePods int `json:"-"`
	// Verified counts decisions that were made on both paths and compared.
	Verified int `json:"-"`
}

// Measure brings the pods of the shape to three new clusters: one with the incremental
// path, one without it, and one with a scheduler that verifies. A difference between the
// paths is an error.
func Measure(s Shape, c Config) (Figures, error) {
	f := Figures{Shape: s.Name}
	fast, err := run(&s, c, scheduling.CacheConfig{})
	if err != nil {
		return f, fmt.Errorf("%s: %w", s.Name, err)
	}
	slow, err := run(&s, c, scheduling.CacheConfig{Off: true})
	if err != nil {
		return f, fmt.Errorf("%s, reference path: %w", s.Name, err)
	}
	verified, err := Verify(s, c.Nodes, c.Verified)
	if err != nil {
		return f, err
	}
	f.Nodes = fast.nodes
	f.USPerPod, f.ReferenceUSPerPod = fast.perPod(), slow.perPod()
	f.Ratio = f.ReferenceUSPerPod / f.USPerPod
	f.Hits, f.Misses, f.Bypassed = fast.stats.Hits, fast.stats.Misses, fast.stats.Bypassed
	f.AllocsPerPod = float64(fast.allocs) / float64(fast.pods)
	f.BytesPerNode = float64(fast.stats.Bytes) / float64(fast.nodes)
	f.Pods, f.ReferencePods, f.Verified = fast.pods, slow.pods, fast.verified+slow.verified+verified
	return f, nil
}

// Verify brings pods of the shape to a scheduler that makes each decision on both paths,
// and returns how many came.
func Verify(s Shape, nodes, pods int) (int, error) {
	w, err := Open(&s, nodes, scheduling.CacheConfig{Verify: true})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.Name, err)
	}
	came := 0
	for _, a := range w.make(pods) {
		if err := w.come(a); err != nil {
			return came, fmt.Errorf("%s: pod %s: %w", s.Name, a.pod.Name, err)
		}
		came++
	}
	return came, nil
}

// A timing is what was measured of one path.
type timing struct {
	nodes    int
	pods     int
	took     time.Duration
	allocs   uint64
	verified int
	stats    scheduling.Stats
}

func (t *timing) perPod() float64 { return float64(t.took.Nanoseconds()) / 1000 / float64(t.pods) }

// run measures one path. The pods come in batches, because one takes hardly longer than
// reading the clock. After each batch one more pod comes, whose decision is compared and
// not timed.
func run(s *Shape, c Config, cache scheduling.CacheConfig) (timing, error) {
	w, err := Open(s, c.Nodes, cache)
	if err != nil {
		return timing{}, err
	}
	t := timing{nodes: w.Snapshot.Len()}
	if err := w.all(w.make(min(Warm, c.Pods))); err != nil {
		return t, err
	}
	runtime.GC()
	size := 4
	for t.pods < c.Pods && (t.took < c.Budget || t.pods < leastPods) {
		batch := w.make(min(size, c.Pods-t.pods))
		if len(batch) == 0 {
			break
		}
		stats, allocs, start := w.Scheduler.Stats(), mallocs(), time.Now()
		if err := w.all(batch); err != nil {
			return t, err
		}
		t.took += time.Since(start)
		t.allocs += mallocs() - allocs
		t.pods += len(batch)
		t.count(stats, w.Scheduler.Stats())
		w.compared = true
		if err := w.all(w.make(1)); err != nil {
			return t, err
		}
		w.compared, size = false, min(2*size, batchMost)
	}
	if t.pods == 0 {
		return t, fmt.Errorf("there are at most %d pods, so none is timed", w.next)
	}
	t.verified = w.verified
	return t, nil
}

// count adds what the scheduler did between two moments.
func (t *timing) count(from, to scheduling.Stats) {
	t.stats.Hits += to.Hits - from.Hits
	t.stats.Misses += to.Misses - from.Misses
	t.stats.Bypassed += to.Bypassed - from.Bypassed
	t.stats.Bytes = to.Bytes
}

// all lets pods come.
func (w *World) all(list []arrival) error {
	for _, a := range list {
		if err := w.come(a); err != nil {
			return err
		}
	}
	return nil
}

// mallocs returns the number of heap objects allocated so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

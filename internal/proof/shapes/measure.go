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
	// batchMost bounds how many pods are made, and timed, at once: so few that their
	// objects are in a cache of the processor, as they are after decoding.
	batchMost = 64
	// stretchMost bounds how many pods are timed before a decision is compared.
	stretchMost = 1024
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
	fast, err := Time(s, c, scheduling.CacheConfig{})
	if err != nil {
		return f, fmt.Errorf("%s: %w", s.Name, err)
	}
	slow, err := Time(s, c, scheduling.CacheConfig{Off: true})
	if err != nil {
		return f, fmt.Errorf("%s, reference path: %w", s.Name, err)
	}
	verified, err := Verify(s, c.Nodes, c.Verified)
	if err != nil {
		return f, err
	}
	f.Nodes = fast.Nodes
	f.USPerPod, f.ReferenceUSPerPod = fast.perPod(), slow.perPod()
	f.Ratio = f.ReferenceUSPerPod / f.USPerPod
	f.Hits, f.Misses, f.Bypassed = fast.Stats.Hits, fast.Stats.Misses, fast.Stats.Bypassed
	f.AllocsPerPod = fast.AllocsPerPod()
	f.BytesPerNode = float64(fast.Stats.Bytes) / float64(fast.Nodes)
	f.Pods, f.ReferencePods, f.Verified = fast.Pods, slow.Pods, fast.Compared+slow.Compared+verified
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
	for _, a := range w.Make(pods) {
		if err := w.Come(a); err != nil {
			return came, fmt.Errorf("%s: pod %s: %w", s.Name, a.Pod.Name, err)
		}
		came++
	}
	return came, nil
}

// A Timing is what was measured of one path.
type Timing struct {
	// Nodes is the size of the cluster, Pods how many pods were timed, in all for Took.
	Nodes, Pods int
	Took        time.Duration
	// Compared is how many further decisions were compared with the reference path.
	Compared int
	// Stats counts what the scheduler did in this time; Bytes is its memory at the end.
	Stats scheduling.Stats

	counted int    // pods whose allocations were counted
	allocs  uint64 // their heap objects
}

// AllocsPerPod is the number of heap objects that a pod takes, 0 if none was counted.
func (t *Timing) AllocsPerPod() float64 { return float64(t.allocs) / float64(max(t.counted, 1)) }

func (t *Timing) perPod() float64 { return perPod(t.Took, t.Pods) }

// perPod is the time of one of the pods in microseconds.
func perPod(took time.Duration, pods int) float64 {
	return float64(took.Nanoseconds()) / 1000 / float64(pods)
}

// Time measures one path. The pods come in batches, because one takes hardly longer than
// reading the clock. After each stretch of batches one more pod comes, whose decision is
// compared. The garbage of that is collected, and a batch comes whose allocations are
// counted. Neither is timed, so what is timed is what placing pods costs by itself.
func Time(s Shape, c Config, cache scheduling.CacheConfig) (Timing, error) {
	w, err := Open(&s, c.Nodes, cache)
	if err != nil {
		return Timing{}, err
	}
	t := Timing{Nodes: w.Snapshot.Len()}
	if err := w.all(w.Make(min(Warm, c.Pods))); err != nil {
		return t, err
	}
	more := func() bool { return t.Pods < c.Pods && (t.Took < c.Budget || t.Pods < leastPods) }
	for size := 4; more(); size = min(2*size, stretchMost) {
		if err := w.count(&t, min(size, batchMost)); err != nil {
			return t, err
		}
		for end := t.Pods + size; t.Pods < end && more(); {
			batch := w.Make(min(batchMost, end-t.Pods, c.Pods-t.Pods))
			if len(batch) == 0 {
				return t, t.none(w)
			}
			if err := w.time(&t, batch); err != nil {
				return t, err
			}
		}
		w.compared = true
		if err := w.all(w.Make(1)); err != nil {
			return t, err
		}
		w.compared = false
		t.Compared = w.verified
	}
	return t, t.none(w)
}

// none is an error if no pod was timed.
func (t *Timing) none(w *World) error {
	if t.Pods > 0 {
		return nil
	}
	return fmt.Errorf("there are at most %d pods, so none is timed", w.next)
}

// count lets pods come whose allocations are counted. Counting stops the world, which would
// be felt in the time of a batch.
func (w *World) count(t *Timing, pods int) error {
	batch := w.Make(pods)
	runtime.GC()
	allocs := mallocs()
	if err := w.all(batch); err != nil {
		return err
	}
	t.allocs += mallocs() - allocs
	t.counted += len(batch)
	return nil
}

// time lets a batch of pods come.
func (w *World) time(t *Timing, batch []Arrival) error {
	stats, start := w.Scheduler.Stats(), time.Now()
	if err := w.all(batch); err != nil {
		return err
	}
	t.Took += time.Since(start)
	t.Pods += len(batch)
	now := w.Scheduler.Stats()
	t.Stats.Hits += now.Hits - stats.Hits
	t.Stats.Misses += now.Misses - stats.Misses
	t.Stats.Bypassed += now.Bypassed - stats.Bypassed
	t.Stats.Bytes = now.Bytes
	return nil
}

// all lets pods come.
func (w *World) all(list []Arrival) error {
	for _, a := range list {
		if err := w.Come(a); err != nil {
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

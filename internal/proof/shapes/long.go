package shapes

import (
	"math"
	"runtime"
	"time"

	"github.com/berth-sched/berth/scheduling"
)

// A Stretch is what was measured of some placements in a row.
type Stretch struct {
	Shape    string  `json:"shape"`
	Nodes    int     `json:"nodes"`
	Came     int     `json:"came"` // pods so far
	USPerPod float64 `json:"us_per_pod"`
	// LeastUSPerPod is USPerPod of the fastest of the batches in which the pods come: other
	// work on the machine disturbs it least.
	LeastUSPerPod float64 `json:"least_us_per_pod"`
	AllocsPerPod  float64 `json:"allocs_per_pod"` // heap objects
	HeapMB        float64 `json:"heap_mb"`        // live at the end of the stretch
	KeptMB        float64 `json:"kept_mb"`        // of it, what the cache of the scheduler counts
	HitShare      float64 `json:"hits_of1"`       // share of the pods whose class was kept
}

// longBatch bounds how many pods of Long are made, and timed, at once.
const longBatch = 512

// Long brings pods of a shape to one cluster, stretch by stretch, as a scheduler meets
// them that runs for months, and calls report after each. Pods have to leave: a shape
// without [Shape.Present] fills the cluster.
func Long(s Shape, nodes, pods, stretch int, report func(Stretch)) error {
	w, err := Open(&s, nodes, scheduling.CacheConfig{})
	if err != nil {
		return err
	}
	for came := 0; came < pods; {
		count := min(stretch, pods-came)
		x := Stretch{Shape: s.Name, Nodes: w.Snapshot.Len(), Came: came + count, LeastUSPerPod: math.Inf(1)}
		before, took, allocs := w.Scheduler.Stats(), time.Duration(0), uint64(0)
		for left := count; left > 0; {
			batch := w.Make(min(left, longBatch))
			if len(batch) == 0 {
				return nil
			}
			made, start := mallocs(), time.Now()
			if err := w.all(batch); err != nil {
				return err
			}
			d := time.Since(start)
			allocs += mallocs() - made
			took += d
			if len(batch) == min(longBatch, count) {
				x.LeastUSPerPod = min(x.LeastUSPerPod, perPod(d, len(batch)))
			}
			left -= len(batch)
		}
		came += count
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := w.Scheduler.Stats()
		x.USPerPod, x.AllocsPerPod = perPod(took, count), float64(allocs)/float64(count)
		x.HeapMB, x.KeptMB = float64(m.HeapAlloc)/(1<<20), float64(now.Bytes)/(1<<20)
		x.HitShare = float64(now.Hits-before.Hits) / float64(count)
		report(x)
	}
	return nil
}

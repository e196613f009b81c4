package shapes

import (
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
	HeapMB   float64 `json:"heap_mb"`  // live at the end of the stretch
	KeptMB   float64 `json:"kept_mb"`  // of it, what the cache of the scheduler counts
	HitShare float64 `json:"hits_of1"` // share of the pods whose class was kept
}

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
		before, took := w.Scheduler.Stats(), time.Duration(0)
		for left := count; left > 0; {
			batch := w.Make(min(left, batchMost))
			if len(batch) == 0 {
				return nil
			}
			start := time.Now()
			if err := w.all(batch); err != nil {
				return err
			}
			took += time.Since(start)
			left -= len(batch)
		}
		came += count
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := w.Scheduler.Stats()
		report(Stretch{
			Shape: s.Name, Nodes: w.Snapshot.Len(), Came: came, USPerPod: float64(took.Nanoseconds()) / 1000 / float64(count),
			HeapMB: float64(m.HeapAlloc) / (1 << 20), KeptMB: float64(now.Bytes) / (1 << 20),
			HitShare: float64(now.Hits-before.Hits) / float64(count),
		})
	}
	return nil
}

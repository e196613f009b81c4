package main

import (
	"runtime"
	"time"

	"github.com/berth-sched/berth/internal/proof/gen/workload"
)

// A job is what one column measures of one workload.
type job struct {
	kind  workload.Kind
	nodes int
	pods  int // at most this many are placed
	// budget ends the measurement early, but not before leastPods.
	budget time.Duration
	seed   uint64 // of berth's random tie rule
}

// leastPods is how many pods are timed whatever the budget.
const leastPods = 20

// A runner is one column: one scheduler in one configuration.
type runner interface {
	// measure times a job on a new cluster.
	measure(j job) (figures, error)

	// choices places the job's pods on a new cluster, always the same way, and
	// returns their nodes.
	choices(j job) ([]string, error)
}

// figures are what a runner measured.
type figures struct {
	pods   int // timed
	took   time.Duration
	allocs uint64 // heap objects allocated in that time
}

// rate returns pods per second.
func (f figures) rate() float64 { return float64(f.pods) / f.took.Seconds() }

// allocsPerPod returns the mean number of allocations.
func (f figures) allocsPerPod() float64 { return float64(f.allocs) / float64(f.pods) }

// mallocs returns the number of heap objects allocated so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

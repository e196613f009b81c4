package main

import (
	"runtime"
	"time"

	"github.com/berth-sched/berth/internal/proof/gen/workload"
)

// A job is the measurement of one workload in one column.
type job struct {
	kind  workload.Kind
	nodes int
	pods  int // the most pods to place
	// budget ends the measurement early, but not before leastPods.
	budget time.Duration
	seed   uint64 // of berth's random tie rule
}

// leastPods is how many pods are timed regardless of the budget.
const leastPods = 20

// A runner is one column: one scheduler in one configuration.
type runner interface {
	// measure times a job on a new cluster.
	measure(j job) (figures, error)

	// choices places the job's pods on a new cluster, always the same way, and
	// returns their nodes.
	choices(j job) ([]string, error)
}

// figures holds the results of a runner.
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

package simulate

import (
	"errors"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A Config says what to simulate.
type Config struct {
	// Profiles are the scheduler's profiles; a pod chooses one by spec.schedulerName.
	// If there is only one, it takes all pods.
	Profiles []scheduling.Profile
	// Trace is what happens from outside. It is not changed; its decisions are not
	// looked at.
	Trace *Trace
	// Seed is the seed of profiles whose own seed is 0.
	Seed uint64
	// Until ends the run after so long; 0 means when nothing more can happen.
	Until time.Duration

	// Groups, if not nil, are the rules by which pods of groups are placed; see
	// lifecycle.Config.
	Groups *gang.Rules
	// Handle, Backoff, Order and MaxUnschedulable are those of [lifecycle.Config].
	Handle           *lifecycle.Handle
	Backoff          queue.Backoff
	Order            framework.NodeOrder
	MaxUnschedulable time.Duration

	// Autoscaler adds and removes nodes; nil means that nobody does.
	Autoscaler *Autoscaler
	// NoControllers leaves the pods of workloads alone: nobody makes them again, and a
	// pod that is evicted waits again itself.
	NoControllers bool
	// Usage is what a pod really uses when it has run for so long. If it is set, every
	// node reports a NodeMetric each ReportEvery.
	Usage func(pod *api.Pod, running time.Duration) resource.List
	// ReportEvery is the time between two reports of a node; 0 means a minute.
	ReportEvery time.Duration

	// SampleEvery is the time between two samples of Result.Series; 0 means an hour,
	// a negative time none. Beyond 10,000 samples the time doubles, again and again.
	SampleEvery time.Duration
	// Recorder, if not nil, records the run: what the scheduler sees and decides, with the
	// pods that controllers make and the nodes of the autoscaler. It must be new, with the
	// start of the trace; close it afterwards. [Trace.Write] writes the causes alone.
	Recorder *Recorder
	// Progress is called every thousand attempts, and at the end; nil means nobody
	// looks. It must not change anything.
	Progress func(Progress)
	// Busiest gets the cluster as it was when the largest share of some resource was
	// requested; nil means nobody looks. It is called at the end.
	Busiest func(s *framework.Snapshot)
}

// A Progress is how far a run has come.
type Progress struct {
	// Now is the time since the start of the trace.
	Now time.Duration
	// Attempts and Bound count attempts and bindings so far, Waiting the pods without a
	// node.
	Attempts, Bound, Waiting int
}

func (c *Config) check() error {
	switch {
	case c.Trace == nil:
		return &api.InvalidError{Object: "config", Field: "trace", Err: errors.New("is nil")}
	case c.Until < 0:
		return &api.InvalidError{Object: "config", Field: "until", Value: c.Until.String(), Err: errors.New("must not be negative")}
	case c.ReportEvery < 0:
		return &api.InvalidError{Object: "config", Field: "reportEvery", Value: c.ReportEvery.String(), Err: errors.New("must not be negative")}
	}
	if err := c.Trace.check(); err != nil {
		return err
	}
	return c.Autoscaler.check()
}

package openb

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A Config says what to run.
type Config struct {
	Policy Policy
	// Tie is the tie rule; "" means [FixedOrder].
	Tie Tie
	// Seed decides the order of pods and nodes.
	Seed int64
	// Cache says how the scheduler keeps answers.
	Cache scheduling.CacheConfig
}

// Columns is how many columns the tables have: GPUs asked for, from 0 to 130 percent of
// all.
const Columns = 131

// A Series is what a run gives: by percent of the GPUs asked for.
type Series struct {
	// Allocation is the part of the GPUs that is given out, in percent, rounded to two
	// digits.
	Allocation [Columns]float64
	// Fragmentation is the part that is fragmented, in percent, rounded to two digits.
	Fragmentation [Columns]float64
	// Ratio is the part of the free GPUs that is fragmented, in percent.
	Ratio [Columns]float64
	// Placed and Dropped count the pods.
	Placed, Dropped int
	// Bypassed counts the decisions that the incremental path could not make.
	Bypassed uint64
}

// Run places the pods of a trace one by one and takes the figures.
func Run(t *Trace, c Config) (*Series, error) {
	r, err := Prepare(t, c)
	if err != nil {
		return nil, err
	}
	m := newMeter(t, r)
	series := new(Series)
	for i := range r.Len() {
		d, err := r.Place(i)
		var unfit *scheduling.FitError
		switch {
		case err == nil:
			series.Placed++
		case errors.As(err, &unfit):
			series.Dropped++
		default:
			return nil, fmt.Errorf("%s, seed %d, pod %d of %d: %w", c.Policy, c.Seed, i, r.Len(), err)
		}
		m.take(r.Demand(i), d.Node, err == nil)
	}
	m.fill(series)
	series.Bypassed = r.sched.Stats().Bypassed
	return series, nil
}

// A Prepared run has its cluster, its scheduler, and its pods in their order.
type Prepared struct {
	trace    *Trace
	sequence Sequence
	snapshot *framework.Snapshot
	sched    *scheduling.Scheduler
	gpus     *devices.GPUs
	pods     []*framework.PodInfo
}

// Prepare makes all that a run needs before the first decision.
func Prepare(t *Trace, c Config) (*Prepared, error) {
	w, err := devices.NewWorkload(t.Typical)
	if err != nil {
		return nil, err
	}
	p, gpus := profile(c, w)
	r := &Prepared{trace: t, sequence: t.SequenceOf(c.Seed), snapshot: framework.NewSnapshot(framework.Arrival), gpus: gpus}
	if r.sched, err = scheduling.New(p); err != nil {
		return nil, err
	}
	byRank := make([]*api.Node, len(t.Nodes))
	for i, rank := range r.sequence.Rank {
		byRank[rank] = t.Nodes[i]
	}
	for _, n := range byRank {
		if err := r.snapshot.AddNode(n); err != nil {
			return nil, err
		}
	}
	for i, at := range r.sequence.Arrivals {
		pod := *t.Pods[at]
		pod.Name += "-" + strconv.Itoa(i) // it may come again
		info, err := r.snapshot.NewPodInfo(&pod)
		if err != nil {
			return nil, err
		}
		if _, err := gpus.Request(info); err != nil { // read with the pod, not in its decision
			return nil, err
		}
		r.pods = append(r.pods, info)
	}
	return r, nil
}

// Len is how many pods come.
func (r *Prepared) Len() int { return len(r.pods) }

// Demand is what pod i asks for.
func (r *Prepared) Demand(i int) devices.Demand { return r.trace.Demands[r.sequence.Arrivals[i]] }

// Place places pod i; the error is a [*scheduling.FitError] if it fits nowhere.
func (r *Prepared) Place(i int) (scheduling.Decision, error) {
	return r.sched.Place(r.snapshot, r.pods[i])
}

// Check compares the GPUs that are given out with the pods on the nodes.
func (r *Prepared) Check() error {
	return errors.Join(r.gpus.Check(r.snapshot), r.snapshot.Check())
}

// Explain explains where pod i would go now.
func (r *Prepared) Explain(i int) *scheduling.Explanation {
	return r.sched.Explain(r.snapshot, r.pods[i])
}

// meter takes the figures after each pod.
type meter struct {
	run           *Prepared
	milli         float64 // all GPUs
	arrived, used int64
	fragmentation []float64 // by node
	place         map[string]int

	rows [Columns]struct{ allocation, fragmentation, ratio []float64 }
}

func newMeter(t *Trace, r *Prepared) *meter {
	m := &meter{run: r, milli: float64(t.Milli), place: map[string]int{}}
	for i, n := range t.Nodes {
		m.place[n.Name] = i
		m.fragmentation = append(m.fragmentation, m.of(n.Name))
	}
	return m
}

func (m *meter) of(node string) float64 {
	return devices.Fragmentation(m.run.gpus.Free(m.run.snapshot, m.run.snapshot.Node(node)), m.run.trace.Typical)
}

// take adds the row of a pod.
func (m *meter) take(d devices.Demand, node string, placed bool) {
	m.arrived += d.GPU.Total()
	if placed {
		m.used += d.GPU.Total()
		m.fragmentation[m.place[node]] = m.of(node)
	}
	sum := 0.0
	for _, f := range m.fragmentation {
		sum += f
	}
	gpus := m.milli / 1000
	column := math.RoundToEven(float64(m.arrived) / gpus / 10)
	if column >= Columns {
		return
	}
	row := &m.rows[int(column)]
	row.allocation = append(row.allocation, round(float64(m.used)/gpus/10))
	row.fragmentation = append(row.fragmentation, round(sum))
	if idle := m.milli - float64(m.used); idle > 0 {
		row.ratio = append(row.ratio, round(100*sum/idle))
	} else {
		row.ratio = append(row.ratio, 0)
	}
}

// fill computes the columns. A column without rows, as small clusters have them, repeats the
// one before.
func (m *meter) fill(s *Series) {
	for c := range m.rows {
		row := &m.rows[c]
		if len(row.ratio) == 0 {
			if c > 0 {
				s.Allocation[c], s.Fragmentation[c], s.Ratio[c] = s.Allocation[c-1], s.Fragmentation[c-1], s.Ratio[c-1]
			}
			continue
		}
		s.Allocation[c] = round(mean(row.allocation))
		s.Fragmentation[c] = round(100 * mean(row.fragmentation) / 1000 / (m.milli / 1000))
		s.Ratio[c] = mean(row.ratio)
	}
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A timing is the part of a report that a clock adds. Times are in seconds.
type timing struct {
	// Simulated is the time from the beginning to the last event.
	Simulated float64 `json:"simulatedSeconds"`
	// Waited says how long pods waited until they were bound. For preempted pods it
	// is the sum of all waits.
	Waited waits `json:"waited"`
	// Peak says when pods requested the largest share of each resource of all nodes.
	Peak []peak `json:"peak"`
}

type waits struct {
	Mean    float64 `json:"mean"`
	Median  float64 `json:"median"`
	P95     float64 `json:"p95"`
	Longest float64 `json:"longest"`
	Pod     string  `json:"pod,omitempty"` // the one that waited longest
}

type peak struct {
	Resource    resource.Name `json:"resource"`
	Utilization float64       `json:"utilization"` // 1 is everything
	At          float64       `json:"at"`
}

func newTiming(w *world, placed []*life, begin time.Time) *timing {
	t := &timing{Simulated: w.last.Sub(begin).Seconds(), Peak: w.use.peaks()}
	list := make([]float64, len(placed))
	for i, l := range placed {
		list[i] = l.waited.Seconds()
		t.Waited.Mean += list[i] / float64(len(placed))
		if list[i] > t.Waited.Longest || i == 0 {
			t.Waited.Longest, t.Waited.Pod = list[i], l.info.Pod.Key()
		}
	}
	if slices.Sort(list); len(list) > 0 {
		t.Waited.Median, t.Waited.P95 = list[(len(list)-1)/2], list[(len(list)-1)*95/100]
	}
	return t
}

func (t *timing) write(w io.Writer) {
	fmt.Fprintf(w, "time     %s simulated\n", text(t.Simulated))
	fmt.Fprintf(w, "waited   %s on average, half of the pods at most %s, 95%% at most %s, the longest %s",
		text(t.Waited.Mean), text(t.Waited.Median), text(t.Waited.P95), text(t.Waited.Longest))
	if t.Waited.Longest > 0 {
		fmt.Fprintf(w, " (%s)", t.Waited.Pod)
	}
	var peaks []string
	for _, p := range t.Peak {
		peaks = append(peaks, fmt.Sprintf("%s %.1f%% after %s", p.Resource, 100*p.Utilization, text(p.At)))
	}
	fmt.Fprintf(w, "\npeak     %s\n", strings.Join(peaks, ", "))
}

// text writes seconds for people.
func text(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

// usage tracks how much pods request of the nodes' total.
type usage struct {
	begin time.Time
	names []resource.Name
	total []int64
	used  []int64
	most  []int64
	at    []time.Time

	busiest float64 // the greatest share of any resource
}

func newUsage(snap *framework.Snapshot, begin time.Time) *usage {
	n := snap.Schema().Len()
	u := &usage{begin: begin, total: make([]int64, n), used: make([]int64, n), most: make([]int64, n), at: make([]time.Time, n)}
	for i := range n {
		u.names = append(u.names, snap.Schema().Name(i))
		for _, node := range snap.All() {
			u.total[i] += node.Allocatable.At(i)
		}
	}
	return u
}

// add counts a pod that begins to run (times 1) or ends (times -1). It reports
// whether the greatest share of any resource has reached a new maximum.
func (u *usage) add(pod *framework.PodInfo, times int64, now time.Time) (busiest bool) {
	for i := range u.used {
		u.used[i] += times * pod.Requests.At(i)
		if u.used[i] > u.most[i] {
			u.most[i], u.at[i] = u.used[i], now
		}
		if share := float64(u.used[i]) / float64(max(u.total[i], 1)); share > u.busiest {
			u.busiest, busiest = share, true
		}
	}
	return busiest
}

// peaks lists cpu, memory, and the other requested resources.
func (u *usage) peaks() []peak {
	list := []peak{}
	for i, name := range u.names {
		if u.total[i] == 0 || u.most[i] == 0 && i != resource.IndexCPU && i != resource.IndexMemory {
			continue
		}
		p := peak{Resource: name, Utilization: float64(u.most[i]) / float64(u.total[i])}
		if u.most[i] > 0 {
			p.At = u.at[i].Sub(u.begin).Seconds()
		}
		list = append(list, p)
	}
	return list
}

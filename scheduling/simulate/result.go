package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
)

// A Result is what came of a run. All times are in seconds since the start of the
// trace. Its JSON form is stable.
type Result struct {
	// Simulated is the time of the last event.
	Simulated float64 `json:"simulatedSeconds"`
	// Pods holds the history of every pod, in the order of arrival.
	Pods []PodHistory `json:"pods"`
	// Waits say how long pods of each priority waited until they were bound, the highest
	// priority first; the first entry, without a priority, is about all pods.
	Waits []Waits `json:"waits"`
	// Evictions counts preempted pods, NodesAdded the nodes that the autoscaler added.
	Evictions  int `json:"evictions"`
	NodesAdded int `json:"nodesAdded,omitempty"`
	// Waiting counts pods that have no node at the end.
	Waiting int `json:"waiting"`
	// Peaks say when the largest share of each resource was requested.
	Peaks []Peak `json:"peaks"`
	// Series are samples of the cluster, in the order of time. If a run takes more than
	// 10,000, every second one is left out, as often as needed. The last one is always there,
	// and so are the first ones with the most nodes, running pods, waiting pods, CPU, Memory
	// and Fragmented.
	Series []Sample `json:"series"`
	// Decisions are all bindings, evictions, and first failures, in their order. They
	// are not part of the JSON form; write them with a trace.
	Decisions []Decision `json:"-"`
}

// A PodHistory is what became of one pod.
type PodHistory struct {
	// Pod is "namespace/name", Owner the workload that made it, as "Deployment web".
	Pod      string `json:"pod"`
	Owner    string `json:"owner,omitempty"`
	Priority int32  `json:"priority"`
	// Running is set if the pod ran from the beginning.
	Running bool    `json:"running,omitempty"`
	Arrived float64 `json:"arrived"`
	// Bound is when it was bound the last time, Node where; nil and "" if it waits.
	Bound *float64 `json:"bound,omitempty"`
	Node  string   `json:"node,omitempty"`
	// Order is the place of its last binding among all bindings, from 1.
	Order int `json:"order,omitempty"`
	// Waited is the sum of its waits, also of one that lasts at the end.
	Waited float64 `json:"waited"`
	// Ended is when it ended, nil if it has not; Completed whether it had run to its end.
	Ended     *float64 `json:"ended,omitempty"`
	Completed bool     `json:"completed,omitempty"`
	// Evictions counts how often it had to leave a node, Attempts the attempts to place
	// it.
	Evictions int `json:"evictions,omitempty"`
	Attempts  int `json:"attempts,omitempty"`
	// Message says why it waits.
	Message string `json:"message,omitempty"`
}

// Waits summarize how long pods waited, in seconds. Percentiles are of the pods sorted
// by their waits: the value that so many percent do not exceed.
type Waits struct {
	// Priority is the priority of the pods; nil for all.
	Priority *int32  `json:"priority,omitempty"`
	Pods     int     `json:"pods"`
	Mean     float64 `json:"mean"`
	P50      float64 `json:"p50"`
	P95      float64 `json:"p95"`
	P99      float64 `json:"p99"`
	Longest  float64 `json:"longest"`
	// Pod is the one that waited longest; the first by arrival if there are several.
	Pod string `json:"pod,omitempty"`
}

// A Peak is the largest share of a resource that was requested, and since when.
type Peak struct {
	Resource    resource.Name `json:"resource"`
	Utilization float64       `json:"utilization"` // 1 is everything
	At          float64       `json:"at"`
}

// A Sample is the cluster at one moment.
type Sample struct {
	At      float64 `json:"at"`
	Nodes   int     `json:"nodes"`
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
	// CPU and Memory are what pods request, as shares of what is allocatable, from 0 to
	// 1.
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
	// Fragmented is the share of the allocatable CPU that is free on nodes with less
	// than a mean pod's request of CPU or memory left.
	Fragmented float64 `json:"fragmented"`
	// Queue counts the pods in each part of the queue.
	Queue queue.Length `json:"queue"`
}

func seconds(d time.Duration) float64 { return d.Seconds() }

// finish makes the result.
func (w *world) finish() (*Result, error) {
	r := w.result
	r.Simulated, r.Waiting = seconds(w.last.Sub(w.begin)), w.waiting
	r.Pods = make([]PodHistory, len(w.lives))
	for i, l := range w.lives {
		if l.Ended == nil && l.node == nil {
			w.catchUp(l)
			l.Waited = seconds(l.waited + max(0, w.over().Sub(l.since)))
		}
		r.Pods[i] = l.PodHistory
		if p := &r.Pods[i]; l.Ended == nil && l.node == nil && p.Message == "" {
			p.Message = w.untried(l)
		}
	}
	r.Waits = waitsOf(r.Pods)
	r.Peaks = w.series.peaks(w)
	r.Series = w.series.samples.all()
	if w.config.Progress != nil {
		w.config.Progress(w.progress())
	}
	if w.config.Busiest != nil {
		w.look()
		w.config.Busiest(w.busiest)
	}
	return r, nil
}

// over is when the run is over: when something last happened, or when it had to end.
func (w *world) over() time.Time {
	if until := w.config.Until; until > 0 {
		return w.begin.Add(until)
	}
	return w.last
}

// untried says why the scheduler never tried a pod.
func (w *world) untried(l *life) string {
	if len(l.pod.Spec.SchedulingGates) > 0 {
		return "Scheduling is blocked due to non-empty scheduling gates"
	}
	var names []string
	for i := range w.config.Profiles {
		names = append(names, cmp.Or(w.config.Profiles[i].Name, scheduling.DefaultName))
	}
	if name := l.pod.Spec.SchedulerName; len(names) > 1 && !slices.Contains(names, name) {
		return fmt.Sprintf("no profile is called %q: there are %s", name, strings.Join(names, ", "))
	}
	return ""
}

// waitsOf summarizes the waits of the pods that were bound.
func waitsOf(pods []PodHistory) []Waits {
	var all []*PodHistory
	groups := map[int32][]*PodHistory{}
	for i := range pods {
		if p := &pods[i]; p.Bound != nil {
			all = append(all, p)
			groups[p.Priority] = append(groups[p.Priority], p)
		}
	}
	list := []Waits{summary(all)}
	priorities := make([]int32, 0, len(groups))
	for priority := range groups {
		priorities = append(priorities, priority)
	}
	slices.SortFunc(priorities, func(a, b int32) int { return cmp.Compare(b, a) })
	for _, priority := range priorities {
		w := summary(groups[priority])
		w.Priority = &priority
		list = append(list, w)
	}
	return list
}

func summary(pods []*PodHistory) Waits {
	w := Waits{Pods: len(pods)}
	if len(pods) == 0 {
		return w
	}
	slices.SortStableFunc(pods, func(a, b *PodHistory) int { return cmp.Compare(a.Waited, b.Waited) })
	sum := 0.0
	for _, p := range pods {
		sum += p.Waited
	}
	at := func(percent int) float64 { return pods[max(0, (len(pods)*percent+99)/100-1)].Waited }
	w.Mean, w.P50, w.P95, w.P99 = sum/float64(len(pods)), at(50), at(95), at(99)
	w.Longest = pods[len(pods)-1].Waited
	first := slices.IndexFunc(pods, func(p *PodHistory) bool { return p.Waited == w.Longest })
	w.Pod = pods[first].Pod
	return w
}

// share is a part of a whole, from 0 to 1; 0 of nothing.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return math.Max(0, part/whole)
}

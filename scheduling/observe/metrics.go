package observe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// Metrics counts under kube-scheduler's names, for Prometheus:
//
//	scheduler_schedule_attempts_total                       by profile and result
//	scheduler_scheduling_attempt_duration_seconds           by profile and result
//	scheduler_scheduling_algorithm_duration_seconds         the decision alone
//	scheduler_binding_duration_seconds                      of bound pods, from the decision on
//	scheduler_framework_extension_point_duration_seconds    by point, profile and status
//	scheduler_pod_scheduling_sli_duration_seconds           of bound pods, by attempts
//	scheduler_pod_scheduling_attempts                       of bound pods
//	scheduler_podgroup_schedule_attempts_total,
//	scheduler_podgroup_scheduling_attempt_duration_seconds  the same of pod groups
//	scheduler_preemption_attempts_total, scheduler_preemption_victims
//	scheduler_pending_pods                                  by part of the queue
//
// Names, labels and buckets are kube-scheduler's. An attempt that binds lasts until the pod
// is bound, one that fails until that is decided. Make it with [NewMetrics].
//
// Source: kube-scheduler 1.37, metrics. scheduler_binding_duration_seconds is that of
// releases before 1.23.
//
// Differs: the extension points PreFilter, Filter, PreScore and Score.
// Original: kube-scheduler measures each of them.
// Here: scheduler_scheduling_algorithm_duration_seconds has them together.
// Why: a decision from kept answers does not go through them one by one.
type Metrics struct {
	algorithm, binding, attempts, victims *Histogram

	mu          sync.Mutex
	results     map[string]uint64     // by labels
	durations   map[string]*Histogram // by labels
	groups      map[string]*Histogram // attempts of pod groups, by labels
	sli         map[string]*Histogram // by labels
	points      map[pointKey]*Histogram
	preemptions uint64
	queue       queue.Length
}

// NewMetrics returns metrics that have counted nothing.
func NewMetrics() *Metrics {
	return &Metrics{
		algorithm: NewHistogram(attemptBounds()...), binding: NewHistogram(attemptBounds()...),
		attempts: NewHistogram(exponential(1, 2, 5)...), victims: NewHistogram(exponential(1, 2, 7)...),
		results: map[string]uint64{}, durations: map[string]*Histogram{}, groups: map[string]*Histogram{}, sli: map[string]*Histogram{}, points: map[pointKey]*Histogram{},
	}
}

// Attempt implements [lifecycle.Observer].
func (m *Metrics) Attempt(a *lifecycle.Attempt) {
	if isOfGroup(a) {
		m.group(a)
		return
	}
	result, took := "scheduled", a.Ended.Sub(a.Started)
	if a.State != lifecycle.Bound {
		took = a.Decided.Sub(a.Started)
		if result = "error"; rejected(a.Err) {
			result = "unschedulable"
		}
	}
	labels := attemptLabels(a, result)
	m.mu.Lock()
	m.results[labels]++
	h := histogramOf(m.durations, labels, attemptBounds())
	m.mu.Unlock()
	h.seconds(took)
	if len(a.Victims) > 0 {
		m.victims.Observe(float64(len(a.Victims)))
	}
	if a.State == lifecycle.Bound {
		m.attempts.Observe(float64(a.Number))
		m.binding.seconds(a.Ended.Sub(a.Decided))
		m.observeSLI(a)
	}
}

// observeSLI counts the time since the pod was first ready for an attempt.
func (m *Metrics) observeSLI(a *lifecycle.Attempt) {
	if a.InitialAttempt.IsZero() {
		return
	}
	attempts := strconv.Itoa(a.Number)
	if a.Number >= 15 {
		attempts = "15+"
	}
	m.mu.Lock()
	h := histogramOf(m.sli, "attempts="+strconv.Quote(attempts), exponential(0.01, 2, 20))
	m.mu.Unlock()
	h.seconds(a.Ended.Sub(a.InitialAttempt))
}

// group counts an attempt for a pod group. Its pods count one by one when they are bound.
func (m *Metrics) group(a *lifecycle.Attempt) {
	m.mu.Lock()
	h := histogramOf(m.groups, attemptLabels(a, groupResult(a)), attemptBounds())
	m.mu.Unlock()
	h.seconds(a.Decided.Sub(a.Started))
}

func attemptLabels(a *lifecycle.Attempt, result string) string {
	return "profile=" + strconv.Quote(a.Profile) + ",result=" + strconv.Quote(result)
}

// rejected reports whether an attempt failed because no node fits.
func rejected(err error) bool {
	var fit *scheduling.FitError
	return errors.As(err, &fit) || errors.Is(err, scheduling.ErrNoNodes)
}

// Point implements [lifecycle.PointObserver].
func (m *Metrics) Point(t lifecycle.PointTiming) {
	point := t.Point
	switch point {
	case lifecycle.StepSchedule:
		m.algorithm.seconds(t.Duration)
		return
	case lifecycle.StepAssume:
		point = "Reserve"
	}
	status := t.Code
	if t.Err != nil {
		if status = framework.Error; rejected(t.Err) {
			status = framework.Unschedulable
		}
	}
	key := pointKey{point, t.Profile, status}
	m.mu.Lock()
	if point == "PostFilter" {
		m.preemptions++
	}
	h := m.points[key]
	if h == nil {
		h = NewHistogram(exponential(0.0001, 2, 12)...)
		m.points[key] = h
	}
	m.mu.Unlock()
	h.seconds(t.Duration)
}

// A pointKey is the labels of an extension point, which every pod passes several times: only
// WriteTo makes text of them.
type pointKey struct {
	point, profile string
	status         framework.Code
}

func (k pointKey) labels() string {
	return "extension_point=" + strconv.Quote(k.point) + ",profile=" + strconv.Quote(k.profile) + ",status=" + strconv.Quote(k.status.String())
}

// Queue implements [lifecycle.QueueObserver].
func (m *Metrics) Queue(d queue.Length) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = d
}

func histogramOf(all map[string]*Histogram, labels string, bounds []float64) *Histogram {
	h := all[labels]
	if h == nil {
		h = NewHistogram(bounds...)
		all[labels] = h
	}
	return h
}

// WriteTo writes all metrics in the text format of Prometheus, always in the same order.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	m.mu.Lock()
	header(&b, "scheduler_schedule_attempts_total", "counter", "Number of attempts to schedule pods, by the result.")
	for _, labels := range slices.Sorted(maps.Keys(m.results)) {
		fmt.Fprintf(&b, "scheduler_schedule_attempts_total{%s} %d\n", labels, m.results[labels])
	}
	header(&b, "scheduler_podgroup_schedule_attempts_total", "counter", "Number of attempts to schedule pod group, by the result.")
	for _, labels := range slices.Sorted(maps.Keys(m.groups)) {
		fmt.Fprintf(&b, "scheduler_podgroup_schedule_attempts_total{%s} %d\n", labels, m.groups[labels].count())
	}
	header(&b, "scheduler_preemption_attempts_total", "counter", "Total preemption attempts in the cluster till now.")
	fmt.Fprintf(&b, "scheduler_preemption_attempts_total %d\n", m.preemptions)
	header(&b, "scheduler_pending_pods", "gauge", "Number of pending pods, by the queue type.")
	for _, part := range []struct {
		name string
		n    int
	}{{"active", m.queue.Active}, {"backoff", m.queue.Backoff}, {"unschedulable", m.queue.Unschedulable}, {"gated", m.queue.Gated}} {
		fmt.Fprintf(&b, "scheduler_pending_pods{queue=%q} %d\n", part.name, part.n)
	}
	durations, sli, groups := maps.Clone(m.durations), maps.Clone(m.sli), maps.Clone(m.groups)
	points := make(map[string]*Histogram, len(m.points))
	for key, h := range m.points {
		points[key.labels()] = h
	}
	m.mu.Unlock()
	for _, f := range []struct {
		name, help string
		by         map[string]*Histogram
	}{
		{"scheduler_scheduling_attempt_duration_seconds", "Scheduling attempt latency in seconds (decision and binding).", durations},
		{"scheduler_scheduling_algorithm_duration_seconds", "Scheduling algorithm latency in seconds.", map[string]*Histogram{"": m.algorithm}},
		{"scheduler_binding_duration_seconds", "Binding latency in seconds.", map[string]*Histogram{"": m.binding}},
		{"scheduler_framework_extension_point_duration_seconds", "Latency for running all plugins of a specific extension point.", points},
		{"scheduler_podgroup_scheduling_attempt_duration_seconds", "Pod group scheduling attempt latency in seconds.", groups},
		{"scheduler_pod_scheduling_sli_duration_seconds", "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.", sli},
		{"scheduler_pod_scheduling_attempts", "Number of attempts to successfully schedule a pod.", map[string]*Histogram{"": m.attempts}},
		{"scheduler_preemption_victims", "Number of selected preemption victims.", map[string]*Histogram{"": m.victims}},
	} {
		header(&b, f.name, "histogram", f.help)
		for _, labels := range slices.Sorted(maps.Keys(f.by)) {
			f.by[labels].expose(&b, f.name, labels)
		}
	}
	return b.WriteTo(w)
}

func header(b *bytes.Buffer, name, kind, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

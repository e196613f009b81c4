package observe_test

import (
	"expvar"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
	"github.com/berth-sched/berth/scheduling/queue"
	"github.com/google/go-cmp/cmp"
)

func ExampleHistogram() {
	h := observe.NewHistogram(0.1, 1)
	for _, v := range []float64{0.05, 0.1, 0.5, 30} {
		h.Observe(v)
	}
	fmt.Println(h)
	// Output: {"count": 4, "sum": 30.65, "buckets": {"0.1": 2, "1": 3, "+Inf": 4}}
}

func ExampleMetrics() {
	m := observe.NewMetrics()
	if err := run(m); err != nil {
		fmt.Println(err)
	}
	var b strings.Builder
	if _, err := m.WriteTo(&b); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "scheduler_schedule_attempts_total") || strings.HasPrefix(line, "scheduler_pending_pods") {
			fmt.Print(line)
		}
	}
	// Output:
	// scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1
	// scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1
	// scheduler_pending_pods{queue="active"} 0
	// scheduler_pending_pods{queue="backoff"} 0
	// scheduler_pending_pods{queue="unschedulable"} 1
	// scheduler_pending_pods{queue="gated"} 0
}

// attempt returns an attempt of 2 s for the decision and, if it binds, 4 s for the binding.
func attempt(state lifecycle.State, err error, victims int) *lifecycle.Attempt {
	start := time.Unix(1000, 0)
	a := &lifecycle.Attempt{Profile: "p", Number: 3, State: state, Err: err, Started: start, Decided: start.Add(2 * time.Second), Ended: start.Add(6 * time.Second)}
	a.InitialAttempt = start.Add(-time.Minute)
	a.Pod = &framework.PodInfo{Pod: api.MakePod("web").Obj()}
	a.Victims = make([]framework.Victim, victims)
	return a
}

// The text is what Prometheus reads: sorted, each histogram cumulative, attempt and
// binding told apart.
func TestMetricsText(t *testing.T) {
	m := observe.NewMetrics()
	m.Attempt(attempt(lifecycle.Bound, nil, 0))
	m.Attempt(attempt(lifecycle.Failed, &scheduling.FitError{}, 2))
	m.Attempt(attempt(lifecycle.Failed, scheduling.ErrNoNodes, 0))
	m.Attempt(attempt(lifecycle.Failed, os.ErrClosed, 0))
	m.Point(lifecycle.PointTiming{Profile: "p", Point: lifecycle.StepSchedule, Duration: time.Second})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: lifecycle.StepAssume, Duration: time.Millisecond})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: "Bind", Err: os.ErrClosed, Duration: time.Second})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: "Permit", Err: &scheduling.FitError{}})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: "PostFilter", Code: framework.Unschedulable})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: "PostFilter", Err: os.ErrClosed})
	m.Point(lifecycle.PointTiming{Profile: "p", Point: "PreBindPreFlight", Code: framework.Skip})
	often := attempt(lifecycle.Bound, nil, 0)
	often.Profile, often.Number = "often", 15
	m.Attempt(often)
	member := attempt(lifecycle.Bound, nil, 0)
	member.Profile, member.Group, member.InitialAttempt, member.Decision.Node = "member", "default/g", time.Time{}, "n"
	m.Attempt(member)
	for _, state := range []lifecycle.State{lifecycle.Binding, lifecycle.Failed, lifecycle.Failed} {
		group := attempt(state, nil, 0)
		group.Group, group.Cycle = "default/g", &gang.Cycle{}
		m.Attempt(group)
	}
	broken := attempt(lifecycle.Failed, os.ErrClosed, 0)
	broken.Group = "default/g"
	m.Attempt(broken)
	m.Queue(queue.Length{Active: 1, Backoff: 2, Unschedulable: 3, Gated: 4})
	var b strings.Builder
	if n, err := m.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo = %d, %v, want %d", n, err, b.Len())
	}
	for _, want := range []string{
		`scheduler_schedule_attempts_total{profile="p",result="error"} 1`,
		`scheduler_schedule_attempts_total{profile="p",result="scheduled"} 1`,
		`scheduler_schedule_attempts_total{profile="p",result="unschedulable"} 2`,
		`scheduler_preemption_attempts_total 2`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="PostFilter",profile="p",status="Unschedulable"} 1`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="PreBindPreFlight",profile="p",status="Skip"} 1`,
		`scheduler_pod_scheduling_sli_duration_seconds_sum{attempts="3"} 66`,
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="3",le="40.96"} 0`,
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="3",le="81.92"} 1`,
		`scheduler_pod_scheduling_sli_duration_seconds_bucket{attempts="3",le="5242.88"} 1`,
		`scheduler_pod_scheduling_sli_duration_seconds_count{attempts="3"} 1`,
		`scheduler_pod_scheduling_sli_duration_seconds_count{attempts="15+"} 1`,
		`scheduler_podgroup_schedule_attempts_total{profile="p",result="scheduled"} 1`,
		`scheduler_podgroup_schedule_attempts_total{profile="p",result="unschedulable"} 2`,
		`scheduler_podgroup_schedule_attempts_total{profile="p",result="error"} 1`,
		`scheduler_podgroup_scheduling_attempt_duration_seconds_sum{profile="p",result="unschedulable"} 4`,
		`scheduler_preemption_victims_sum 2`,
		`scheduler_pending_pods{queue="unschedulable"} 3`,
		`scheduler_scheduling_attempt_duration_seconds_bucket{profile="p",result="scheduled",le="4.096"} 0`,
		`scheduler_scheduling_attempt_duration_seconds_bucket{profile="p",result="scheduled",le="8.192"} 1`,
		`scheduler_scheduling_attempt_duration_seconds_bucket{profile="p",result="scheduled",le="+Inf"} 1`,
		`scheduler_scheduling_attempt_duration_seconds_sum{profile="p",result="unschedulable"} 4`,
		`scheduler_scheduling_algorithm_duration_seconds_sum 1`,
		`scheduler_binding_duration_seconds_sum 12`,
		`scheduler_binding_duration_seconds_count 3`,
		`scheduler_pod_scheduling_attempts_sum 21`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="Reserve",profile="p",status="Success"} 1`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="Bind",profile="p",status="Error"} 1`,
		`scheduler_framework_extension_point_duration_seconds_count{extension_point="Permit",profile="p",status="Unschedulable"} 1`,
		`# TYPE scheduler_scheduling_attempt_duration_seconds histogram`,
	} {
		if !strings.Contains("\n"+b.String(), "\n"+want+"\n") {
			t.Errorf("no line %s in\n%s", want, b.String())
		}
	}
	var again strings.Builder
	if _, err := m.WriteTo(&again); err != nil || again.String() != b.String() {
		t.Error("the text differs the second time")
	}
}

// Values at a bound belong to its bucket; nothing gets lost between goroutines.
func TestHistogram(t *testing.T) {
	h := observe.NewHistogram(2, 1) // in any order
	for _, v := range []float64{-1, 1, 1.5, 2, 3, math.Inf(1), math.NaN()} {
		h.Observe(v)
	}
	want := `{"count": 5, "sum": 6.5, "buckets": {"1": 2, "2": 4, "+Inf": 5}}`
	if diff := cmp.Diff(want, h.String()); diff != "" {
		t.Errorf("histogram (-want +got):\n%s", diff)
	}
	h = observe.NewHistogram()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				h.Observe(1)
			}
		})
	}
	wg.Wait()
	if got, want := h.String(), `{"count": 4000, "sum": 4000, "buckets": {"+Inf": 4000}}`; got != want {
		t.Errorf("histogram %s, want %s", got, want)
	}
}

// Vars tells the decision and the binding apart.
func TestVarsHistograms(t *testing.T) {
	m := new(expvar.Map)
	v := observe.NewVars(m)
	v.Attempt(attempt(lifecycle.Bound, nil, 0))
	v.Attempt(attempt(lifecycle.Failed, os.ErrClosed, 0))
	for name, want := range map[string]string{"decision_times": `{"count": 2, "sum": 4, `, "binding_times": `{"count": 1, "sum": 4, `} {
		if got := m.Get(name).String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s = %s, want it to begin with %s", name, got, want)
		}
	}
}

func BenchmarkHistogram(b *testing.B) {
	h := observe.NewHistogram(0.001, 0.01, 0.1, 1)
	b.ReportAllocs()
	for b.Loop() {
		h.Observe(0.05)
	}
}

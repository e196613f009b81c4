//go:build full

package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A freshRun places pods that were never seen before, each with a claim of its own that was
// never seen before either.
type freshRun struct {
	s     *framework.Snapshot
	sched *scheduling.Scheduler
	made  int // pods
}

// place makes a pod and a claim with the requests, and places the pod; took is what the
// decision with Reserve took. Then the claim is written, and pod and claim go again.
func (r *freshRun) place(b *testing.B, ask api.DeviceClaim) (took time.Duration) {
	b.Helper()
	r.made++
	object, claim := own(fmt.Sprint("fresh-", r.made))
	claim.Spec.Devices = ask
	if err := framework.Put(r.s, claim); err != nil {
		b.Fatal(err)
	}
	pod := info(b, r.s, object)
	start := time.Now()
	d, err := r.sched.Place(r.s, pod)
	took = time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	write(b, r.s, pod)
	if err := r.sched.Release(r.s, pod, d.Node); err != nil {
		b.Fatal(err)
	}
	framework.Delete[api.ResourceClaim](r.s, claim.Key())
	return took
}

// asking returns what a claim with one request asks for.
func asking(request string, count int64) api.DeviceClaim {
	return api.DeviceClaim{Requests: []api.DeviceRequest{{Name: request, Exactly: &api.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
	}}}}
}

func us(d time.Duration, times int) float64 {
	return float64(d.Nanoseconds()) / float64(times) / 1000
}

// enoughRuns is how many operations a benchmark must have for its bound to be looked at.
const enoughRuns = 20

// BenchmarkFreshClaims places pods that each need one device, while 20,000 claims have devices
// of 5,000 nodes. An operation also makes the pod and its claim, writes the claim and takes
// both away; us/decision is the decision with Reserve alone. It fails above 20 us.
func BenchmarkFreshClaims(b *testing.B) {
	s := gpuCluster(b, 5000)
	hold(b, s, 20_000)
	r := freshRun{s: s, sched: build(b, scheduling.Kubernetes137())}
	for range 3 { // the class is known then
		r.place(b, asking("gpu", 1))
	}
	var took time.Duration
	for b.Loop() {
		took += r.place(b, asking("gpu", 1))
	}
	b.ReportMetric(us(took, b.N), "us/decision")
	if x := us(took, b.N); b.N >= enoughRuns && x > 20 {
		b.Errorf("a decision takes %.1f us, want at most 20", x)
	}
}

// mixedCluster returns a cluster of nodes with 16 devices each: every second one is of another
// model, so eight that are alike are not the first eight.
func mixedCluster(tb testing.TB, nodes int) *framework.Snapshot {
	tb.Helper()
	s := gpuCluster(tb, 0)
	for i := range nodes {
		n, slice := gpuNode(fmt.Sprint("n", i))
		devices := slice.Spec.Devices[:0]
		for k := range 16 {
			devices = append(devices, api.Device{
				Name: fmt.Sprint("gpu-", k), Attributes: map[string]api.DeviceAttribute{"model": {StringValue: new([...]string{"a100", "h100"}[k%2])}},
				Capacity: map[string]api.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
			})
		}
		slice.Spec.Devices = devices
		if err := s.AddNode(n); err != nil {
			tb.Fatal(err)
		}
		if err := framework.Put(s, slice); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// BenchmarkFreshAlike places pods that each need eight devices of one model (a claim with
// one request for eight and a matchAttribute), and pods with the same claim without the
// constraint, in turn, on 5,000 nodes with 16 devices of two models. times is what the former
// take of the latter; it fails above 2. With known classes, pods with the same requests came
// before; with new ones, every decision searches all nodes.
func BenchmarkFreshAlike(b *testing.B) {
	for _, class := range []string{"known", "new"} {
		b.Run("class="+class, func(b *testing.B) {
			r := freshRun{s: mixedCluster(b, 5000), sched: build(b, scheduling.Kubernetes137())}
			var plain, alike time.Duration
			pair := func() (plain, alike time.Duration) {
				name := "gpu"
				if class == "new" {
					name = fmt.Sprint("gpu-", r.made)
				}
				ask := asking(name, 8)
				plain = r.place(b, ask)
				ask.Constraints = []api.DeviceConstraint{{MatchAttribute: new("gpu.example.com/model")}}
				return plain, r.place(b, ask)
			}
			for range 3 {
				pair()
			}
			for b.Loop() {
				p, a := pair()
				plain, alike = plain+p, alike+a
			}
			b.ReportMetric(us(plain, b.N), "us/plain")
			b.ReportMetric(us(alike, b.N), "us/alike")
			times := float64(alike) / float64(plain)
			b.ReportMetric(times, "times")
			if b.N >= enoughRuns && times > 2 {
				b.Errorf("eight devices that are alike take %.2f times as long as eight, want at most 2", times)
			}
		})
	}
}

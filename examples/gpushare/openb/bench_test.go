//go:build full

package openb_test

import (
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/scheduling"
)

// BenchmarkPlace places the pods of the trace, in turns of a few thousand, with the
// incremental path and without it. It reports microseconds for each pod on both paths, and
// how many times as fast the incremental path is. An iteration is one pod on both paths. Pods
// are decoded before, with what they ask of GPUs; the first pods of each class are counted.
func BenchmarkPlace(b *testing.B) {
	trace := benchTrace(b)
	for _, policy := range openb.Policies() {
		b.Run("policy="+string(policy), func(b *testing.B) { comparePaths(b, trace, policy) })
	}
}

func benchTrace(b *testing.B) *openb.Trace {
	trace, _ := published(b)
	return trace
}

const turn = 4096 // pods

func comparePaths(b *testing.B, trace *openb.Trace, policy openb.Policy) {
	prepare := func(off bool) *openb.Prepared {
		r, err := openb.Prepare(trace, openb.Config{Policy: policy, Seed: firstSeed, Cache: scheduling.CacheConfig{Off: off}})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	var runs [2]*openb.Prepared
	var spent [2]time.Duration
	next := 0
	for done := 0; done < b.N; done += turn {
		if next == 0 {
			b.StopTimer()
			runs = [2]*openb.Prepared{prepare(false), prepare(true)}
			b.StartTimer()
		}
		until := min(next+turn, runs[0].Len(), next+b.N-done)
		for k, r := range runs {
			start := time.Now()
			for i := next; i < until; i++ {
				if _, err := r.Place(i); err != nil && !errors.As(err, new(*scheduling.FitError)) {
					b.Fatal(err)
				}
			}
			spent[k] += time.Since(start)
		}
		if next = until; next == runs[0].Len() {
			next = 0
		}
	}
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(us(spent[0]), "us/pod")
	b.ReportMetric(us(spent[1]), "us/pod-reference")
	b.ReportMetric(us(spent[1])/us(spent[0]), "x")
	b.ReportMetric(0, "ns/op")
}

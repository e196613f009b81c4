//go:build full

package devices_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/examples/gpushare/devices"
)

// BenchmarkFGDScore scores nodes, and reports how many times as fast that is as the measure
// in its plain form.
func BenchmarkFGDScore(b *testing.B) {
	var typical []devices.Typical
	for i := range int64(35) {
		typical = append(typical, devices.Typical{Demand: asks(1000+250*i, 1, 100+25*i), Weight: 1.0 / 35})
	}
	w, err := devices.NewWorkload(typical)
	if err != nil {
		b.Fatal(err)
	}
	nodes := []devices.Free{
		free(96000, eight...), free(20000, 0, 0, 0, 150, 400, 1000, 1000, 1000), free(7000, 300, 850), free(500, broken...),
	}
	d := asks(2000, 1, 300)
	measure := func(score func(f devices.Free) int64) time.Duration {
		start := time.Now()
		for i := range b.N {
			score(nodes[i%len(nodes)])
		}
		return time.Since(start)
	}
	score := measure(func(f devices.Free) int64 { return devices.FGDScore(f, d, w) })
	plain := measure(func(f devices.Free) int64 { return plainScore(f, d, typical) })
	b.ReportMetric(float64(score.Nanoseconds())/float64(b.N), "ns/score")
	b.ReportMetric(float64(plain)/float64(score), "x")
	b.ReportMetric(0, "ns/op")
}

// plainScore does what a score has to do: the measure for the node as it is, and with each
// GPU in use.
func plainScore(f devices.Free, d devices.Demand, typical []devices.Typical) int64 {
	least := devices.Fragmentation(f, typical)
	for i := range f.GPUs {
		if int64(f.Left[i]) >= d.GPU.Milli {
			least = min(least, devices.Fragmentation(f.Without(d, 1<<i), typical))
		}
	}
	return int64(least)
}

//go:build full

package devices_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/internal/proof/effort"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	effort.Rapid()
	m.Run()
}

// frees draws a node; demands draws a pod.
var (
	frees = rapid.Custom(func(t *rapid.T) devices.Free {
		f := free(rapid.Int64Range(-500, 6000).Draw(t, "cpu"))
		f.GPUs = rapid.IntRange(0, devices.MaxGPUs).Draw(t, "gpus")
		f.Model = rapid.SampledFrom([]string{"", "G2", "T4", "V100"}).Draw(t, "model")
		for i := range f.GPUs {
			f.Left[i] = rapid.SampledFrom([]int32{0, 0, 1, 300, 499, 500, 999, 1000, 1000}).Draw(t, "left")
		}
		return f
	})
	demands = rapid.Custom(func(t *rapid.T) devices.Demand {
		d := asks(rapid.Int64Range(0, 4000).Draw(t, "cpu"), rapid.Int64Range(0, 4).Draw(t, "count"), 0)
		if d.GPU.Count > 0 {
			d.GPU.Milli = rapid.SampledFrom([]int64{1, 300, 500, 501, 999, 1000}).Draw(t, "milli")
			d.GPU.Models = rapid.SampledFrom([]string{"", "", "G2", "T4|V100", "T4|A10|G2"}).Draw(t, "models")
		}
		return d
	})
	workloads = rapid.Custom(func(t *rapid.T) *devices.Workload {
		pods := rapid.SliceOfN(demands, 1, 12).Draw(t, "pods")
		w, err := devices.NewWorkload(devices.TypicalPods(pods, rapid.Float64Range(0.1, 1).Draw(t, "part")))
		if err != nil {
			t.Fatal(err)
		}
		return w
	})
)

// TestChoiceIsBest compares the score of a node, and the GPU that is chosen, with all GPUs.
func TestChoiceIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workloads.Draw(t, "workload")
		for range rapid.IntRange(1, 20).Draw(t, "questions") {
			f, d := frees.Draw(t, "free"), demands.Draw(t, "demand")
			if f.Fits(d.GPU) {
				gpu := devices.LeastFragmentation{Workload: w}.Choose(devices.Spot{Free: f, Demand: d})
				checkBest(t, f, d, w.Typical(), devices.FGDScore(f, d, w), gpu)
			}
		}
	})
}

// checkBest compares the score of a share with the best of all its GPUs.
func checkBest(t *rapid.T, f devices.Free, d devices.Demand, typical []devices.Typical, score int64, gpu int) {
	if score < 0 || score > 100 {
		t.Fatalf("score %d", score)
	}
	if !d.GPU.IsShare() {
		if gpu != -1 {
			t.Fatalf("GPU %d for %v", gpu, d.GPU)
		}
		return
	}
	least := func(i int) float64 { return devices.Fragmentation(f.Without(d, 1<<i), typical) }
	if gpu < 0 || int64(f.Left[gpu]) < d.GPU.Milli {
		t.Fatalf("GPU %d of %v for %v", gpu, f.Left, d.GPU)
	}
	for i := range f.GPUs {
		if int64(f.Left[i]) >= d.GPU.Milli && least(i) < least(gpu)-20 { // a point of the score is 20 or more
			if s := devices.FGDScore(f, d, must(t, typical)); s != score {
				t.Fatalf("GPU %d leaves %v, GPU %d leaves %v", i, least(i), gpu, least(gpu))
			}
		}
	}
}

func must(t *rapid.T, typical []devices.Typical) *devices.Workload {
	w, err := devices.NewWorkload(typical)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFragmentationLaws: it is within what is free, does not depend on the order of GPUs,
// and does not shrink if a pod needs more.
func TestFragmentationLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, typical := frees.Draw(t, "free"), workloads.Draw(t, "workload").Typical()
		got := devices.Fragmentation(f, typical)
		if total := float64(f.Total()); got < 0 || got > total*(1+1e-12) {
			t.Fatalf("Fragmentation = %v of %v", got, total)
		}
		turned := f
		slices.Reverse(turned.Left[:turned.GPUs])
		if again := devices.Fragmentation(turned, typical); again != got {
			t.Fatalf("Fragmentation = %v, turned around %v", got, again)
		}
		more := slices.Clone(typical)
		for i := range more {
			more[i].CPU++
		}
		if grown := devices.Fragmentation(f, more); grown < got-1e-9 {
			t.Fatalf("Fragmentation = %v, and %v if pods ask for more CPU", got, grown)
		}
	})
}

// TestTightest compares the choice with its definition.
func TestTightest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, d := frees.Draw(t, "free"), demands.Draw(t, "demand")
		set := f.Tightest(d.GPU)
		if fits := f.Fitting(d.GPU.Milli) >= d.GPU.Count; !fits && set != 0 || fits && int64(set.Len()) != d.GPU.Count {
			t.Fatalf("Tightest(%v, %v) = %v", f.Left[:f.GPUs], d.GPU, set)
		}
		for i := range f.GPUs {
			for k := range f.GPUs {
				in, out := set.Has(i), !set.Has(k) && int64(f.Left[k]) >= d.GPU.Milli && set != 0
				if in && out && (f.Left[k] < f.Left[i] || f.Left[k] == f.Left[i] && k < i) {
					t.Fatalf("Tightest(%v, %v) = %v has %d in place of %d", f.Left[:f.GPUs], d.GPU, set, i, k)
				}
			}
		}
	})
}

// TestWorkloadIsShared asks one workload from several goroutines (use -race).
func TestWorkloadIsShared(t *testing.T) {
	w, err := devices.NewWorkload([]devices.Typical{{asks(500, 1, 500), 0.5}, {asks(900, 1, 1000), 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range int64(500) {
				f := free(i, 1000, int32(i), 500)
				fresh, err := devices.NewWorkload(w.Typical())
				if err != nil {
					t.Error(err)
					return
				}
				if got, want := devices.FGDScore(f, asks(100, 1, 400), w), devices.FGDScore(f, asks(100, 1, 400), fresh); got != want {
					t.Errorf("FGDScore = %d, want %d", got, want)
				}
			}
		})
	}
	all.Wait()
}

// TestScoreIsPlain compares the score, which a workload finds for all GPUs at once, with the
// formula: to the last bit, because a score that is next to a whole number decides ties.
func TestScoreIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workloads.Draw(t, "workload")
		f, d := frees.Draw(t, "free"), demands.Draw(t, "demand")
		if !f.Fits(d.GPU) {
			return
		}
		typical := w.Typical()
		score := func(s devices.Set) int64 {
			change := devices.Fragmentation(f, typical) - devices.Fragmentation(f.Without(d, s), typical)
			return int64(1 / (1 + math.Exp(-change/1000)) * 100)
		}
		want, wantGPU := score(f.Tightest(d.GPU)), -1
		if d.GPU.IsShare() {
			want = -1
			for i, left := range f.Left[:f.GPUs] {
				if s := score(1 << i); int64(left) >= d.GPU.Milli && s > want {
					want, wantGPU = s, i
				}
			}
		}
		got, gpu := devices.FGDScore(f, d, w), devices.LeastFragmentation{Workload: w}.Choose(devices.Spot{Free: f, Demand: d})
		if got != want || gpu != wantGPU {
			t.Fatalf("FGDScore(%+v, %+v) = %d on GPU %d, want %d on GPU %d", f, d, got, gpu, want, wantGPU)
		}
	})
}

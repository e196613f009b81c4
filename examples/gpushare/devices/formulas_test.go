//go:build full

package devices_test

import (
	"math"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/devices"
)

// free makes a node with so much CPU and so much left of its GPUs.
func free(cpu int64, left ...int32) devices.Free {
	f := devices.Free{CPU: cpu, Model: "G2", GPUs: len(left)}
	copy(f.Left[:], left)
	return f
}

// asks makes a demand.
func asks(cpu, count, milli int64) devices.Demand {
	return devices.Demand{CPU: cpu, GPU: devices.Request{Count: count, Milli: milli}}
}

var (
	broken = []int32{200, 1000, 1000, 500}
	four   = []int32{1000, 1000, 1000, 1000}
	eight  = []int32{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}
)

// TestGpuPacking has the values of the simulator's own unit test.
func TestGpuPacking(t *testing.T) {
	for _, test := range []struct {
		left []int32
		d    devices.Demand
		want int64
	}{
		{broken, asks(0, 2, 1000), 48},
		{four, asks(0, 2, 1000), 29},
		{eight, asks(0, 2, 1000), 25},
		{broken, asks(0, 2, 200), 93},
		{broken, asks(0, 0, 0), 0},
		{broken, asks(0, 3, 1000), 0},
		{[]int32{1000}, asks(0, 1, 300), 32},
		{[]int32{0, 1000}, asks(0, 1, 300), 49},
	} {
		if got := devices.GpuPackingScore(free(0, test.left...), test.d); got != test.want {
			t.Errorf("GpuPackingScore(%v, %v) = %d, want %d", test.left, test.d.GPU, got, test.want)
		}
	}
}

func TestGpuClustering(t *testing.T) {
	share, one, two := asks(0, 1, 300), asks(0, 1, 1000), asks(0, 2, 1000)
	tag := func(d devices.Demand) devices.Tags { return devices.TagOf(d.GPU) }
	for _, test := range []struct {
		left []int32
		tags devices.Tags
		d    devices.Demand
		want int64
	}{
		{eight, 0, share, 25},
		{four, 0, share, 12 + 25},
		{broken, tag(share), share, 16 + 75},
		{broken, tag(share) | tag(two), share, 16 + 50},
		{broken, tag(two), share, 16},
		{broken, tag(two), one, 16},
		{broken, tag(two), two, 16 + 75},
		{broken, tag(two), asks(100, 0, 0), 0},
	} {
		f := free(0, test.left...)
		f.Tags = test.tags
		if got := devices.GpuClusteringScore(f, test.d); got != test.want {
			t.Errorf("GpuClusteringScore(%v, tags %b, %v) = %d, want %d", test.left, test.tags, test.d.GPU, got, test.want)
		}
	}
}

func TestBestFit(t *testing.T) {
	// Left: 64 of 128 cores, 2 of 8 GPUs. 100 * (1 - (0.25 + 0.125)).
	if got := devices.BestFitScore(free(65000, four...), asks(1000, 2, 1000)); got != 62 {
		t.Errorf("BestFitScore = %d, want 62", got)
	}
	for _, test := range [][4]int64{{5, 5, 5, 0}, {5, 5, 8, 0}, {8, 5, 8, 100}, {6, 5, 8, 33}, {-1, -3, 1, 50}} {
		if got := (devices.BestFit{}).NormalizeScore(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("NormalizeScore(%d, %d, %d) = %d, want %d", test[0], test[1], test[2], got, test[3])
		}
	}
}

func TestDotProd(t *testing.T) {
	// (0.5 * 0.5 + 0.5 * 0.25) / 2 = 0.1875.
	if got := devices.DotProdScore(free(64000, four...), asks(64000, 2, 1000)); got != 81 {
		t.Errorf("DotProdScore = %d, want 81", got)
	}
	if got := devices.DotProdScore(free(1<<40, eight...), asks(1<<40, 8, 1000)); got != 0 {
		t.Errorf("DotProdScore beyond the largest node = %d, want 0", got)
	}
}

func TestFragmentation(t *testing.T) {
	half := []devices.Typical{{Demand: asks(6000, 1, 465), Weight: 0.0933}}
	mixed := []devices.Typical{{asks(1000, 1, 500), 0.5}, {asks(1000, 2, 1000), 0.25}, {asks(1000, 0, 0), 0.25}}
	models := []devices.Typical{{devices.Demand{GPU: devices.Request{Count: 1, Milli: 100, Models: "V100|P100"}}, 1}}
	for _, test := range []struct {
		name     string
		free     devices.Free
		workload []devices.Typical
		want     float64
	}{
		{"too little CPU: all is unusable", free(1000, broken...), half, 251.91},
		{"fits: GPUs with too little", free(6000, broken...), half, 18.66},
		{"mixed", free(1000, broken...), mixed, 0.5*200 + 0.25*700 + 0.25*2700},
		{"too few GPUs", free(1000, 1000, 400), mixed, 0.5*400 + 0.25*1400 + 0.25*1400},
		{"another model", free(1000, four...), models, 4000},
		{"no GPU", free(1000), mixed, 0},
	} {
		if got := devices.Fragmentation(test.free, test.workload); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: Fragmentation = %v, want %v", test.name, got, test.want)
		}
	}
}

// TestFGD works a score out by hand. Half of the pods ask for 500, half for a whole GPU.
func TestFGD(t *testing.T) {
	typical := []devices.Typical{{asks(0, 1, 500), 0.5}, {asks(0, 1, 1000), 0.5}}
	w, err := devices.NewWorkload(typical)
	if err != nil {
		t.Fatal(err)
	}
	// GPUs with 500 and 1000 left: F = 0.5*0 + 0.5*500 = 250. With 500 on the first: 0.
	// On the second: 0 + 0.5*1000, as no whole GPU is left, so all is unusable.
	if got := devices.FGDScore(free(0, 500, 1000), asks(0, 1, 500), w); got != 56 { // 100 / (1 + exp(-0.25))
		t.Errorf("FGDScore = %d, want 56", got)
	}
	if got := devices.FGDScore(free(0, 1000), asks(0, 1, 500), w); got != 43 { // F grows from 0 to 250
		t.Errorf("FGDScore = %d, want 43", got)
	}
	spot := devices.Spot{Free: free(0, 1000, 500, 500), Demand: asks(0, 1, 500)}
	if got := (devices.LeastFragmentation{Workload: w}).Choose(spot); got != 1 {
		t.Errorf("GPU %d, want 1: the first of those with 500 left", got)
	}
	if got := (devices.Tightest{}).Choose(spot); got != 1 {
		t.Errorf("the tightest is GPU %d, want 1", got)
	}
}

func TestTypicalPods(t *testing.T) {
	a, b, c, d := asks(1, 1, 500), asks(2, 1, 500), asks(3, 0, 0), asks(4, 2, 1000)
	pods := []devices.Demand{a, b, c, a, b, d, a, a, b, b} // 4 of a and b, one of c and d
	got := devices.TypicalPods(pods, 0.85)
	want := []devices.Typical{{b, 4.0 / 9}, {a, 4.0 / 9}, {d, 1.0 / 9}}
	if len(got) != len(want) {
		t.Fatalf("TypicalPods = %v, want %v", got, want)
	}
	for i := range want {
		if got[i].Demand != want[i].Demand || math.Abs(got[i].Weight-want[i].Weight) > 1e-12 {
			t.Errorf("TypicalPods[%d] = %v, want %v", i, got[i], want[i])
		}
	}
	if got := devices.TypicalPods(nil, 0.95); got != nil {
		t.Errorf("TypicalPods of none = %v", got)
	}
}

func TestNewWorkloadRefuses(t *testing.T) {
	for name, bad := range map[string]devices.Typical{
		"weight": {asks(0, 1, 500), math.NaN()}, "cpu": {asks(-1, 1, 500), 1}, "count": {asks(0, 17, 500), 1},
		"milli": {asks(0, 1, 1001), 1}, "none of one": {asks(0, 1, 0), 1}, "some of none": {asks(0, 0, 5), 1},
	} {
		if _, err := devices.NewWorkload([]devices.Typical{bad}); err == nil {
			t.Errorf("%s: %v is taken", name, bad)
		}
	}
}

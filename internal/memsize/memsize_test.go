package memsize_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/memsize"
)

type part struct {
	Name  string
	Count int64
	Next  *part
}

func TestOf(t *testing.T) {
	if got := memsize.Of[part](nil); got != 0 {
		t.Errorf("nil: %d", got)
	}
	for _, tt := range []struct {
		name string
		of   part
		want int
	}{
		{"nothing", part{}, 32},
		{"string", part{Name: "abcd"}, 36},
		{"pointer", part{Next: &part{Name: "ab"}}, 66},
	} {
		if got := memsize.Of(&tt.of); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	numbers := make([]int32, 3, 10)
	if got := memsize.Of(&numbers); got != 24+40 {
		t.Errorf("slice: %d, want 64", got)
	}
	table := map[string][]string{"a": {"bc"}}
	if got, want := memsize.Of(&table), 8+(16+24+8)+1+16+2; got != want {
		t.Errorf("map: %d, want %d", got, want)
	}
}

// TestOfPods compares the estimate with what pods of several sizes take.
func TestOfPods(t *testing.T) {
	for _, size := range []int{0, 1000, 100_000} {
		const n = 200
		list := make([]*api.Pod, n)
		before := inUse()
		for i := range list {
			list[i] = api.MakePod("p").Labels("app", "a", "note", strings.Repeat("x", size)).Requests("1", "1Gi").Obj()
		}
		took := (int(inUse()) - int(before)) / n
		of := memsize.Of(list[0])
		if of < took*6/10 || of > took*14/10+size {
			t.Errorf("a pod with a label of %d bytes takes %d bytes; the estimate is %d", size, took, of)
		}
		runtime.KeepAlive(list)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

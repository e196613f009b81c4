//go:build full

package scheduling_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// TestClassMemory places large pods, each of a class of its own, and takes them away.
// What a scheduler keeps of them must not grow with their size. It runs in the gate.
func TestClassMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("memory is not measured with -short")
	}
	const pods, size = 400, 200_000
	for name, grow := range map[string]func(b api.PodBuilder, i int) *api.Pod{
		"labels": func(b api.PodBuilder, i int) *api.Pod {
			return b.Labels("app", fmt.Sprint(i), "large", strings.Repeat("x", size)).Obj()
		},
		"annotations": func(b api.PodBuilder, i int) *api.Pod {
			return b.Requests(fmt.Sprint(i+1, "m"), "1Mi").Annotations("note", strings.Repeat("x", size)).Obj()
		},
		"tolerations": func(b api.PodBuilder, i int) *api.Pod {
			p := b.Obj()
			for k := range size / 200 { // the builder would copy the list each time
				p.Spec.Tolerations = append(p.Spec.Tolerations, api.Toleration{Key: fmt.Sprint(i, "-", k), Value: strings.Repeat("y", 200)})
			}
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			for i := range 10 {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Obj()); err != nil {
					t.Fatal(err)
				}
			}
			sched, err := scheduling.New(scheduling.Kubernetes137())
			if err != nil {
				t.Fatal(err)
			}
			before := heapInUse()
			for i := range pods {
				p, err := s.NewPodInfo(grow(api.MakePod(fmt.Sprint("p", i)), i))
				if err != nil {
					t.Fatal(err)
				}
				d, err := sched.Place(s, p)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.RemovePod(p, d.Node); err != nil {
					t.Fatal(err)
				}
			}
			after := heapInUse()
			const most = 16 << 20
			if grown := int64(after) - int64(before); grown > most {
				t.Errorf("%d pods of %d bytes leave %d bytes in use, want at most %d", pods, size, grown, most)
			}
			runtime.KeepAlive(sched)
			runtime.KeepAlive(s)
		})
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package filter_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// BenchmarkChangedSlice places pods with a device on 5,000 nodes with 8 each, after a slice of
// one node has changed, and after nothing has.
func BenchmarkChangedSlice(b *testing.B) {
	const nodes = 5000
	s := framework.NewSnapshot(framework.Arrival)
	if err := errors.Join(framework.Put(s, gpuClass()), framework.Put(s, gpuTemplate(1))); err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		name := fmt.Sprint("n", i)
		if err := errors.Join(s.AddNode(api.MakeNode(name, "8", "32Gi").Obj()), framework.Put(s, gpuSlice(name, 8))); err != nil {
			b.Fatal(err)
		}
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		b.Fatal(err)
	}
	place := func(name string) (*framework.PodInfo, string) {
		p, err := s.NewPodInfo(gpuPod(name, 1))
		if err != nil {
			b.Fatal(err)
		}
		d, err := sched.Place(s, p)
		if err != nil {
			b.Fatal(err)
		}
		return p, d.Node
	}
	for i := range 4 {
		place(fmt.Sprint("warm", i))
	}
	for _, kind := range []string{"slice", "nothing"} {
		b.Run(kind, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if kind == "slice" {
					if err := framework.Put(s, gpuSlice(fmt.Sprint("n", i%nodes), 8)); err != nil {
						b.Fatal(err)
					}
				}
				p, node := place(fmt.Sprint(kind, i))
				if err := s.RemovePod(p, node); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

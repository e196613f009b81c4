package incremental_test

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// twoNodes is a snapshot of two equal nodes, and a pod.
func twoNodes() (*framework.Snapshot, *framework.PodInfo) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, name := range []string{"n1", "n2"} {
		if err := s.AddNode(api.MakeNode(name, "4", "32Gi").Obj()); err != nil {
			panic(err)
		}
	}
	p, err := s.NewPodInfo(api.MakePod("web").Requests("500m", "1Gi").Obj())
	if err != nil {
		panic(err)
	}
	return s, p
}

// fresh is a scorer whose answer changes with time: a new node counts less for
// ten minutes.
type fresh struct{ now time.Time }

func (f fresh) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if f.now.Before(node.Node.CreationTimestamp.Add(10 * time.Minute)) {
		return 0
	}
	return 100
}

func (f fresh) ValidUntil(_ *framework.PodInfo, node *framework.NodeInfo) time.Time {
	if end := node.Node.CreationTimestamp.Add(10 * time.Minute); f.now.Before(end) {
		return end
	}
	return time.Time{} // it never changes again
}

func ExampleExpirer() {
	s, p := twoNodes()
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s.At(0).Node.CreationTimestamp = noon
	var e incremental.Expirer = fresh{noon.Add(time.Minute)}
	fmt.Println(e.ValidUntil(p, s.At(0)).Format(time.TimeOnly))
	fmt.Println(fresh{noon.Add(time.Hour)}.ValidUntil(p, s.At(0)).IsZero())
	// Output:
	// 12:10:00
	// true
}

//go:build full

package framework_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Forks of one snapshot may be used by one goroutine each. What they do here
// is the same, so they must end the same; under the race detector this also
// shows that they share nothing that is written.
func TestForksConcurrently(t *testing.T) {
	s := snapshotOf(t, framework.ZoneInterleaved, manyNames(600)...)
	chargesKey.Of(s)
	pods := make([]*framework.PodInfo, 50)
	for i := range pods {
		p := plainPod(fmt.Sprintf("p%d", i), "cpu", "100m", fmt.Sprintf("example.com/device-%d", i%7), "1")
		p.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: int32(i%5 + 1)}}
		pods[i] = podInfo(t, s, p)
		must(t, s.AddPod(pods[i], fmt.Sprintf("node-%05d", i*7)))
	}
	length := framework.NewPodDerived(func(p *framework.PodInfo) *int { return new(len(p.Pod.Name)) })
	labels := framework.NewNodeDerived(func(n *api.Node) *int { return new(len(n.Labels)) })

	try := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	const forks = 4
	var results [forks][]string
	var wg sync.WaitGroup
	all := [forks]*framework.Snapshot{s}
	for g := 1; g < forks; g++ {
		all[g] = s.Fork()
	}
	for g, f := range all {
		wg.Go(func() {
			for i, p := range pods {
				n := f.At(i * 11 % f.Len())
				m := f.Begin()
				try(f.AddPodAt(p, n))
				chargesKey.Of(f).charge(f, n, int64(*length.Of(p)+*labels.Of(n)))
				if i%3 == 0 {
					f.Rollback(m)
				} else {
					f.Commit(m)
				}
				fresh := plainPod(fmt.Sprintf("q%d", i), fmt.Sprintf("example.com/late-%d", i%3), "1")
				late, err := f.NewPodInfo(fresh)
				try(err)
				try(f.AddPod(late, n.Name()))
				if i%5 == 0 {
					try(f.UpdateNode(plainNode(f.At(i).Name(), api.LabelTopologyZone, fmt.Sprint(i%4))))
					try(f.RemoveNode(f.At(f.Len() - 1).Name()))
					try(f.AddNode(plainNode(fmt.Sprintf("late-%d", i))))
				}
				p.ClassKey(framework.FieldRequests)
			}
			sub := f.Fork()
			try(sub.RemoveNode(sub.At(0).Name()))
			for _, n := range f.All() {
				results[g] = append(results[g], fmt.Sprint(n.Name(), podNames(n), chargesKey.Of(f).sum[n.Slot()]))
			}
		})
	}
	wg.Wait()
	for g := 1; g < forks; g++ {
		for i := range results[0] {
			if results[g][i] != results[0][i] {
				t.Fatalf("fork %d ended with %s in place %d, fork 0 with %s", g, results[g][i], i, results[0][i])
			}
		}
	}
}

// Reading needs no fork, not even for the first look at the order.
func TestReadersConcurrently(t *testing.T) {
	s := snapshotOf(t, framework.ZoneInterleaved, manyNames(300)...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			count := 0
			for i, n := range s.All() {
				if s.At(i) != n || s.Node(n.Name()) != n || s.AtSlot(n.Slot()) != n || sizeOf(s, "x") != 0 {
					t.Errorf("node %d is not itself", i)
				}
				count++
			}
			if count != s.Len() || len(s.Slots()) != count {
				t.Errorf("saw %d of %d nodes", count, s.Len())
			}
			s.Changes(s.Version())
		})
	}
	wg.Wait()
}

func sizeOf(s *framework.Snapshot, image string) int64 {
	size, _ := s.Image(image)
	return size
}

//go:build full

package framework_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func TestPodDerived(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	calls := 0
	length := framework.NewPodDerived(func(p *framework.PodInfo) *int {
		calls++
		n := len(p.Pod.Name)
		return &n
	})
	twice := framework.NewPodDerived(func(p *framework.PodInfo) *int {
		n := 2 * *length.Of(p)
		return &n
	})
	web, db := podInfo(t, s, plainPod("web")), podInfo(t, s, plainPod("db"))
	if got := *twice.Of(web); got != 6 {
		t.Errorf("twice the length of web = %d, want 6", got)
	}
	if got := *length.Of(db); got != 2 {
		t.Errorf("length of db = %d, want 2", got)
	}
	if first, second := length.Of(web), length.Of(web); first != second {
		t.Error("two calls gave two values")
	}
	if calls != 2 {
		t.Errorf("derived %d times for two pods, want 2", calls)
	}
	if got := testing.AllocsPerRun(100, func() { twice.Of(web) }); got != 0 {
		t.Errorf("a second call allocates %v times, want 0", got)
	}
}

// What derives from the node object is shared by forks, stays while pods come
// and go, and is made anew for another object.
func TestNodeDerived(t *testing.T) {
	s := snapshotOf(t, framework.ZoneInterleaved, "n1")
	rank := framework.NewNodeDerived(func(n *api.Node) *string {
		label := n.Labels["rank"]
		return &label
	})
	first := rank.Of(s.Node("n1"))
	fork := s.Fork()
	must(t, fork.AddPod(podInfo(t, s, plainPod("a")), "n1"))
	if rank.Of(fork.Node("n1")) != first {
		t.Error("derived again although the object is the same")
	}
	must(t, fork.UpdateNode(plainNode("n1", "rank", "2")))
	if got := *rank.Of(fork.Node("n1")); got != "2" {
		t.Errorf("rank after the update = %q, want 2", got)
	}
	if got := *rank.Of(s.Node("n1")); got != "" {
		t.Errorf("rank in the other fork = %q, want none", got)
	}
}

// All goroutines get one value, in whichever order they ask.
func TestPodDerivedConcurrently(t *testing.T) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	derivations := make([]*framework.PodDerived[int], 8)
	for i := range derivations {
		derivations[i] = framework.NewPodDerived(func(*framework.PodInfo) *int {
			runtime.Gosched() // so that others come to derive it, too
			v := i
			return &v
		})
	}
	for range 50 {
		p := podInfo(t, s, plainPod("web"))
		var got [4][8]*int
		var wg sync.WaitGroup
		for g := range got {
			wg.Go(func() {
				for i := range derivations {
					k := (i + 2*g) % len(derivations)
					got[g][k] = derivations[k].Of(p)
				}
			})
		}
		wg.Wait()
		for g := range got {
			if got[g] != got[0] {
				t.Fatalf("goroutine %d got other values than goroutine 0", g)
			}
		}
		for i, v := range got[0] {
			if *v != i {
				t.Fatalf("derivation %d gave %d", i, *v)
			}
		}
	}
}

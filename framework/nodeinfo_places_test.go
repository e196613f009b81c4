//go:build full

package framework

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
)

// TestPlacesOfManyPods adds and removes pods of a node with many, some of them twice, in
// transactions and forks: each time the pod leaves that a search finds.
func TestPlacesOfManyPods(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"questions to an index": 100}, func(t *rapid.T) {
		s := NewSnapshot(Arrival)
		if err := s.AddNode(api.MakeNode("n", "1000", "1000Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		var pods []*PodInfo
		for i := range 3 * manyPods {
			b := api.MakePod(fmt.Sprint("p", i))
			if i%2 == 0 {
				b = b.UID(api.UID(fmt.Sprint(i)))
			}
			p, err := s.NewPodInfo(b.Obj())
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, p)
			if i > manyPods {
				continue
			}
			if err := s.AddPod(p, "n"); err != nil {
				t.Fatal(err)
			}
		}
		var marks []Mark
		steps := rapid.IntRange(200, 600).Draw(t, "steps")
		for range steps {
			p := pods[rapid.IntRange(0, len(pods)-1).Draw(t, "pod")]
			switch what := rapid.IntRange(0, 40).Draw(t, "what"); {
			case what < 20:
				if s.Node("n").HasPod(p) && what > 0 {
					break // twice now and then
				}
				if err := s.AddPod(p, "n"); err != nil {
					t.Fatal(err)
				}
			case what < 36:
				if what%2 == 0 { // as of another event
					var err error
					if p, err = s.NewPodInfo(api.Clone(p.Pod)); err != nil {
						t.Fatal(err)
					}
				}
				n := s.Node("n")
				want := n.find(p)
				if n.places != nil && n.places.of != nil {
					seen["questions to an index"]++
					if got := n.findOwn(p); got != want {
						t.Fatalf("findOwn = %d, want %d", got, want)
					}
				}
				if err := s.RemovePod(p, "n"); (err == nil) != (want >= 0) {
					t.Fatalf("%v, and the pod is at %d", err, want)
				}
			case what == 36:
				marks = append(marks, s.Begin())
			case what == 37 && len(marks) > 0:
				s.Rollback(marks[len(marks)-1])
				marks = marks[:len(marks)-1]
			case what == 38 && len(marks) > 0:
				s.Commit(marks[len(marks)-1])
				marks = marks[:len(marks)-1]
			case what == 39 && len(marks) == 0:
				if f := s.Fork(); rapid.Bool().Draw(t, "go on in the fork") {
					s = f
				}
			}
			if err := s.Node("n").checkPlaces(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlacesOfFewPods: a node with as many pods as usual has no index, and one that had many
// gives it up.
func TestPlacesOfFewPods(t *testing.T) {
	s := NewSnapshot(Arrival)
	if err := s.AddNode(api.MakeNode("n", "1000", "1000Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	var pods []*PodInfo
	for i := range 2 * manyPods {
		p, err := s.NewPodInfo(api.MakePod(fmt.Sprint("p", i)).Obj())
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, p)
	}
	again := func(n int) {
		for i := range 100 * manyPods {
			if err := s.RemovePod(pods[i%n], "n"); err != nil {
				t.Fatal(err)
			}
			if err := s.AddPod(pods[i%n], "n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	add := func(from, to int) {
		for _, p := range pods[from:to] {
			if err := s.AddPod(p, "n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(0, manyPods)
	if again(manyPods); s.Node("n").places != nil {
		t.Errorf("%d pods have an index", manyPods)
	}
	add(manyPods, 2*manyPods)
	if again(2 * manyPods); s.Node("n").places == nil || s.Node("n").places.of == nil {
		t.Errorf("%d pods have no index", 2*manyPods)
	}
	for _, p := range pods[:manyPods] {
		if err := s.RemovePod(p, "n"); err != nil {
			t.Fatal(err)
		}
	}
	if s.Node("n").places != nil {
		t.Errorf("%d pods that are left have an index", manyPods)
	}
}

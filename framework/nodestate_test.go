package framework_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
)

// heldKey keeps the names of the pods with devices, in the order of their arrival.
var heldKey = framework.NewNodeStateKey(framework.NodeHooks[[]string]{
	PodAdded: func(held []string, _ *framework.NodeInfo, p *framework.PodInfo) ([]string, bool) {
		if p.Pod.Labels["device"] == "" {
			return held, false
		}
		return append(slices.Clip(held), p.Pod.Name), true
	},
	PodRemoved: func(held []string, _ *framework.NodeInfo, p *framework.PodInfo) ([]string, bool) {
		i := slices.Index(held, p.Pod.Name)
		if i < 0 {
			return held, false
		}
		return slices.Delete(slices.Clone(held), i, i+1), true
	},
})

// markKey follows nothing.
var markKey = framework.NewNodeStateKey(framework.NodeHooks[int]{})

// stateModel is what the two states of a snapshot must be: plain maps by node name,
// copied as a whole. held is nil until someone asks for it.
type stateModel struct {
	held  map[string][]string
	marks map[string]int
}

func (m stateModel) clone() stateModel {
	return stateModel{maps.Clone(m.held), maps.Clone(m.marks)}
}

// heldOf is what the state is when it is made.
func heldOf(s *framework.Snapshot) map[string][]string {
	held := map[string][]string{}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			if p.Pod.Labels["device"] != "" {
				held[n.Name()] = append(held[n.Name()], p.Pod.Name)
			}
		}
	}
	return held
}

// stateWorld is a snapshot with its open transactions.
type stateWorld struct {
	s     *framework.Snapshot
	m     stateModel
	marks []framework.Mark
	saved []stateModel
}

// TestNodeStateModel acts at random on snapshots and on plain maps.
func TestNodeStateModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := framework.NewSnapshot(framework.Arrival)
		worlds := []*stateWorld{{s: first, m: stateModel{marks: map[string]int{}}}}
		var pods []*framework.PodInfo
		for i := range 6 {
			p := plainPod(fmt.Sprint("p", i))
			if i%3 != 0 {
				p.Labels = map[string]string{"device": "1"}
			}
			info, err := first.NewPodInfo(p)
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, info)
		}
		pick := func() *stateWorld { return worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")] }
		node := func(w *stateWorld) *framework.NodeInfo {
			if w.s.Len() == 0 {
				return nil
			}
			return w.s.At(rapid.IntRange(0, w.s.Len()-1).Draw(t, "node"))
		}
		try := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"AddNode": func(t *rapid.T) {
				w, name := pick(), fmt.Sprint("n", rapid.IntRange(0, 9).Draw(t, "name"))
				if len(w.marks) == 0 && w.s.Node(name) == nil {
					try(w.s.AddNode(plainNode(name)))
				}
			},
			"RemoveNode": func(t *rapid.T) {
				w := pick()
				if n := node(w); n != nil && len(w.marks) == 0 {
					try(w.s.RemoveNode(n.Name()))
					delete(w.m.held, n.Name())
					delete(w.m.marks, n.Name())
				}
			},
			"UpdateNode": func(t *rapid.T) {
				w := pick()
				if n := node(w); n != nil && len(w.marks) == 0 {
					try(w.s.UpdateNode(plainNode(n.Name(), "v", "2")))
				}
			},
			"AddPod": func(t *rapid.T) {
				w, p := pick(), rapid.SampledFrom(pods).Draw(t, "pod")
				if n := node(w); n != nil {
					try(w.s.AddPodAt(p, n))
					if w.m.held != nil && p.Pod.Labels["device"] != "" {
						w.m.held[n.Name()] = append(slices.Clip(w.m.held[n.Name()]), p.Pod.Name)
					}
				}
			},
			"RemovePod": func(t *rapid.T) {
				w := pick()
				if n := node(w); n != nil && len(n.Pods) > 0 {
					p := rapid.SampledFrom(n.Pods).Draw(t, "pod")
					try(w.s.RemovePodAt(p, n))
					held := w.m.held[n.Name()]
					if i := slices.Index(held, p.Pod.Name); i >= 0 {
						w.m.held[n.Name()] = slices.Delete(slices.Clone(held), i, i+1)
					}
				}
			},
			"Set": func(t *rapid.T) {
				w, v := pick(), rapid.IntRange(0, 99).Draw(t, "v")
				if n := node(w); n != nil {
					before := n.Generation()
					markKey.Of(w.s).Set(n, v)
					if now := w.s.Node(n.Name()); now.Generation() == before || markKey.Of(w.s).Get(now) != v {
						t.Fatalf("after Set: generation %d, was %d; value %d, want %d", now.Generation(), before, markKey.Of(w.s).Get(now), v)
					}
					w.m.marks[n.Name()] = v
				}
			},
			"Of": func(t *rapid.T) {
				w := pick()
				heldKey.Of(w.s)
				if w.m.held == nil {
					w.m.held = heldOf(w.s)
				}
			},
			"Fork": func(t *rapid.T) {
				if w := pick(); len(worlds) < 4 {
					worlds = append(worlds, &stateWorld{s: w.s.Fork(), m: w.m.clone()})
				}
			},
			"Begin": func(t *rapid.T) {
				w := pick()
				w.marks, w.saved = append(w.marks, w.s.Begin()), append(w.saved, w.m.clone())
			},
			"End": func(t *rapid.T) {
				w := pick()
				if len(w.marks) == 0 {
					return
				}
				i := rapid.IntRange(0, len(w.marks)-1).Draw(t, "depth")
				if rapid.Bool().Draw(t, "commit") {
					w.s.Commit(w.marks[i])
				} else {
					w.s.Rollback(w.marks[i])
					made := w.m.held != nil
					if w.m = w.saved[i]; made && w.m.held == nil {
						w.m.held = heldOf(w.s)
					}
				}
				w.marks, w.saved = w.marks[:i], w.saved[:i]
			},
			"": func(t *rapid.T) {
				for i, w := range worlds {
					for _, n := range w.s.All() {
						if got, want := markKey.Of(w.s).Get(n), w.m.marks[n.Name()]; got != want {
							t.Fatalf("world %d: mark of %s = %d, want %d", i, n.Name(), got, want)
						}
						if w.m.held == nil {
							continue
						}
						if got, want := heldKey.Of(w.s).Get(n), w.m.held[n.Name()]; !slices.Equal(got, want) {
							t.Fatalf("world %d: pods with devices on %s = %v, want %v", i, n.Name(), got, want)
						}
					}
				}
			},
		})
	})
}

// A rollback brings back the generation, too, so that answers kept before hold again.
func TestNodeStateGeneration(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	marks := markKey.Of(s)
	marks.Set(s.Node("n1"), 1)
	before := s.Node("n1").Generation()
	m := s.Begin()
	marks.Set(s.Node("n1"), 2)
	s.Rollback(m)
	if n := s.Node("n1"); n.Generation() != before || marks.Get(n) != 1 {
		t.Errorf("after the rollback: generation %d, value %d, want %d, 1", n.Generation(), marks.Get(n), before)
	}
}

// The hooks run only forward: a rollback restores values.
func TestNodeHooksInRollback(t *testing.T) {
	var calls []string
	key := framework.NewNodeStateKey(framework.NodeHooks[int]{
		PodAdded: func(n int, node *framework.NodeInfo, p *framework.PodInfo) (int, bool) {
			calls = append(calls, fmt.Sprintf("+%s, %d pods", p.Pod.Name, len(node.Pods)))
			return n + 1, true
		},
		PodRemoved: func(n int, node *framework.NodeInfo, p *framework.PodInfo) (int, bool) {
			calls = append(calls, fmt.Sprintf("-%s, %d pods", p.Pod.Name, len(node.Pods)))
			return n - 1, true
		},
	})
	s := snapshotOf(t, framework.Arrival, "n1")
	a, b := podInfo(t, s, plainPod("a")), podInfo(t, s, plainPod("b"))
	must(t, s.AddPod(a, "n1"))
	x := key.Of(s)
	m := s.Begin()
	must(t, s.RemovePod(a, "n1"))
	must(t, s.AddPod(b, "n1"))
	s.Rollback(m)
	want := []string{"+a, 1 pods", "-a, 0 pods", "+b, 1 pods"}
	if diff := cmp.Diff(want, calls); diff != "" || x.Get(s.Node("n1")) != 1 {
		t.Errorf("value %d, want 1; calls (-want +got):\n%s", x.Get(s.Node("n1")), diff)
	}
}

func TestNodeStateSetUnknown(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n1")
	n := s.Node("n1")
	must(t, s.RemoveNode("n1"))
	for _, n := range []*framework.NodeInfo{nil, n} {
		func() {
			defer func() {
				if got, want := recover(), "framework: NodeState.Set: the node is not in the snapshot"; got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			markKey.Of(s).Set(n, 1)
		}()
	}
}

// Placing pods in transactions allocates nothing for the state.
func TestNodeStateAllocations(t *testing.T) {
	count := framework.NewNodeStateKey(framework.NodeHooks[int]{
		PodAdded: func(n int, _ *framework.NodeInfo, _ *framework.PodInfo) (int, bool) { return n + 1, true },
	})
	s := snapshotOf(t, framework.Arrival, "n1")
	p := podInfo(t, s, plainPod("p"))
	x := count.Of(s)
	got := testing.AllocsPerRun(200, func() {
		m := s.Begin()
		if s.AddPod(p, "n1") != nil {
			t.Fatal("refused")
		}
		x.Set(s.Node("n1"), 7)
		s.Rollback(m)
	})
	if got != 0 {
		t.Errorf("a transaction allocates %v times, want 0", got)
	}
}

func BenchmarkNodeState(b *testing.B) {
	s, p := benchSnapshot(b, 5_000)
	count := framework.NewNodeStateKey(framework.NodeHooks[int]{
		PodAdded:   func(n int, _ *framework.NodeInfo, _ *framework.PodInfo) (int, bool) { return n + 1, true },
		PodRemoved: func(n int, _ *framework.NodeInfo, _ *framework.PodInfo) (int, bool) { return n - 1, true },
	})
	b.Run("Get", func(b *testing.B) {
		x, i, sum := count.Of(s), 0, 0
		for b.Loop() {
			i = (i + 7) % 5_000
			sum += x.Get(s.At(i))
		}
		_ = sum
	})
	b.Run("AddRemove", func(b *testing.B) {
		count.Of(s)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			n := s.At(i % 5_000)
			i += 7
			if s.AddPodAt(p, n) != nil || s.RemovePodAt(p, n) != nil {
				b.Fatal("refused")
			}
		}
	})
	b.Run("Fork", func(b *testing.B) {
		count.Of(s)
		b.ReportAllocs()
		for b.Loop() {
			s.Fork()
		}
	})
}

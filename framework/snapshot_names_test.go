//go:build full

package framework_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
	"pgregory.net/rapid"
)

// namedAmounts is a vector with the names of its schema.
func namedAmounts(s *resource.Schema, v resource.Vector) map[resource.Name]int64 {
	m := map[resource.Name]int64{}
	for i, x := range v {
		if x != 0 {
			m[s.Name(i)] = x
		}
	}
	return m
}

// TestNamesAreTakenBack lets nodes and pods with ever new resources come and go, also in
// forks and transactions, with PodInfos that were derived long ago: at every moment, the
// totals by name are those of the objects that are there. A node is refused only if those
// that are there have too many names.
func TestNamesAreTakenBack(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"schemas replaced": 1}, func(t *rapid.T) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		// Most names are of one large node, so that few others fill the schema.
		crowd := resource.List{resource.CPU: resource.Milli(1000)}
		for i := range resource.MaxNames - 3 - 6 {
			crowd[resource.Name(fmt.Sprintf("example.com/crowd-%04d", i))] = resource.New(1, resource.DecimalSI)
		}
		type world struct {
			snap  *framework.Snapshot
			nodes map[string]resource.List
			pods  map[string]map[string]*framework.PodInfo // by node and name
		}
		first := &world{framework.NewSnapshot(framework.Arrival), map[string]resource.List{}, map[string]map[string]*framework.PodInfo{}}
		worlds := []*world{first}
		var infos []*framework.PodInfo // made at any time
		serial := 0
		name := func() resource.Name {
			return resource.Name(fmt.Sprint("example.com/r", rapid.IntRange(0, 40).Draw(t, "name")))
		}
		amounts := func() resource.List {
			l := resource.List{resource.CPU: resource.Milli(int64(rapid.IntRange(0, 3).Draw(t, "cpu")))}
			for range rapid.IntRange(0, 3).Draw(t, "names") {
				l[name()] = resource.New(int64(rapid.IntRange(0, 3).Draw(t, "amount")), resource.DecimalSI)
			}
			return l
		}
		names := func(w *world, more resource.List) int { // of all that is there
			all := map[resource.Name]bool{resource.CPU: true, resource.Memory: true, resource.EphemeralStorage: true}
			note := func(l resource.List) {
				for n := range l {
					all[n] = true
				}
			}
			note(more)
			for node, l := range w.nodes {
				note(l)
				for _, p := range w.pods[node] {
					for n, q := range p.Pod.Spec.Containers[0].Resources.Requests {
						all[n] = all[n] || q.Value() != 0
					}
				}
			}
			n := 0
			for _, used := range all {
				if used {
					n++
				}
			}
			return n
		}
		some := func() *world { return worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")] }
		anyNode := func(w *world) string {
			if len(w.nodes) == 0 {
				t.Skip("no node")
			}
			return rapid.SampledFrom(slices.Sorted(maps.Keys(w.nodes))).Draw(t, "node")
		}
		put := func(w *world, node string, l resource.List) {
			n := plainNode(node)
			n.Status.Allocatable = l
			_, there := w.nodes[node]
			set := w.snap.AddNode
			if there {
				set = w.snap.UpdateNode
			}
			before := w.nodes[node]
			schema := w.snap.Schema()
			err := set(n)
			if w.snap.Schema() != schema {
				seen["schemas replaced"]++
			}
			// The old object of the node is there until it is replaced.
			if most := names(w, l); err != nil && most <= resource.MaxNames {
				t.Fatalf("%s with %d names of %d in all: %v", node, len(l), most, err)
			}
			if err == nil {
				w.nodes[node] = l
			} else if there {
				w.nodes[node] = before
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"crowd": func(*rapid.T) { put(some(), "crowd", crowd) },
			"node":  func(t *rapid.T) { put(some(), fmt.Sprint("n", rapid.IntRange(0, 3).Draw(t, "node")), amounts()) },
			"many": func(t *rapid.T) { // names that go at once
				l := resource.List{}
				for i := range rapid.IntRange(100, 500).Draw(t, "names") {
					l[resource.Name(fmt.Sprintf("example.com/many-%d-%d", serial, i))] = resource.New(1, resource.DecimalSI)
				}
				serial++
				put(some(), "many", l)
			},
			"node goes": func(t *rapid.T) {
				w := some()
				node := anyNode(w)
				must(w.snap.RemoveNode(node))
				delete(w.nodes, node)
				delete(w.pods, node)
			},
			"pod": func(t *rapid.T) {
				p := plainPod(fmt.Sprint("p", len(infos)))
				p.Spec.Containers[0].Resources.Requests = amounts()
				info, err := some().snap.NewPodInfo(p)
				must(err)
				infos = append(infos, info)
			},
			"pod comes": func(t *rapid.T) {
				w := some()
				if len(infos) == 0 {
					t.Skip("no pod")
				}
				p, node := rapid.SampledFrom(infos).Draw(t, "pod"), anyNode(w)
				for _, pods := range w.pods {
					if pods[p.Pod.Name] != nil {
						t.Skip("it is there")
					}
				}
				must(w.snap.AddPod(p, node))
				if w.pods[node] == nil {
					w.pods[node] = map[string]*framework.PodInfo{}
				}
				w.pods[node][p.Pod.Name] = p
			},
			"pod goes": func(t *rapid.T) {
				w := some()
				node := anyNode(w)
				if len(w.pods[node]) == 0 {
					t.Skip("no pod")
				}
				p := w.pods[node][rapid.SampledFrom(slices.Sorted(maps.Keys(w.pods[node]))).Draw(t, "pod")]
				must(w.snap.RemovePod(p, node))
				delete(w.pods[node], p.Pod.Name)
			},
			"fork": func(t *rapid.T) {
				w := some()
				pods := map[string]map[string]*framework.PodInfo{}
				for node, p := range w.pods {
					pods[node] = maps.Clone(p)
				}
				if len(worlds) > 2 {
					worlds = worlds[1:]
				}
				worlds = append(worlds, &world{w.snap.Fork(), maps.Clone(w.nodes), pods})
			},
			"": func(t *rapid.T) {
				for _, w := range worlds {
					schema := w.snap.Schema()
					if schema.Len() > resource.MaxNames+resource.MaxGuests {
						t.Fatalf("the schema has %d names", schema.Len())
					}
					for _, n := range w.snap.All() {
						want, free := map[resource.Name]int64{}, map[resource.Name]int64{}
						for name, q := range w.nodes[n.Name()] {
							if x := q.Value(); x != 0 && name != resource.CPU {
								free[name] = x
							}
						}
						for _, p := range w.pods[n.Name()] {
							for name, q := range p.Pod.Spec.Containers[0].Resources.Requests {
								// What no node has may be left out.
								if _, ok := w.nodes[n.Name()][name]; ok && name != resource.CPU && q.Value() != 0 {
									want[name] += q.Value()
								}
							}
						}
						got, have := namedAmounts(schema, n.Requested), namedAmounts(schema, n.Allocatable)
						delete(have, resource.CPU)
						maps.DeleteFunc(got, func(name resource.Name, _ int64) bool {
							_, ok := w.nodes[n.Name()][name]
							return !ok || name == resource.CPU
						})
						if !maps.Equal(got, want) || !maps.Equal(have, free) {
							t.Fatalf("%s: requested %.300s of %.300s, want %.300s of %.300s", n.Name(), fmt.Sprint(got), fmt.Sprint(have), fmt.Sprint(want), fmt.Sprint(free))
						}
					}
				}
			},
		})
	})
}

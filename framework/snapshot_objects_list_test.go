//go:build full

package framework_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"pgregory.net/rapid"
)

// TestListAfterChanges changes objects between lists, also in forks and transactions that
// are rolled back, and compares each list with a map.
func TestListAfterChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type world struct {
			s    *framework.Snapshot
			have map[string]*api.PodGroup
		}
		worlds := []*world{{framework.NewSnapshot(framework.Arrival), map[string]*api.PodGroup{}}}
		check := func(w *world) {
			list := framework.List[api.PodGroup](w.s)
			want := make([]*api.PodGroup, 0, len(w.have))
			for _, key := range slices.Sorted(maps.Keys(w.have)) {
				want = append(want, w.have[key])
			}
			if !slices.Equal(list, want) {
				t.Fatalf("List = %v, want %v", list, want)
			}
			if got := framework.Any[api.PodGroup](w.s); got != (len(want) > 0) {
				t.Fatalf("Any = %t with %d objects", got, len(want))
			}
			if err := w.s.Check(); err != nil {
				t.Fatal(err)
			}
		}
		change := func(w *world) {
			g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "x", Name: fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))}}
			key := g.Key()
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				framework.Delete[api.PodGroup](w.s, key)
				delete(w.have, key)
				return
			}
			if err := framework.Put(w.s, g); err != nil {
				t.Fatal(err)
			}
			w.have[key] = g
		}
		for range 40 {
			change(worlds[0])
		}
		check(worlds[0])
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				w := rapid.SampledFrom(worlds).Draw(t, "world")
				for range rapid.IntRange(0, 12).Draw(t, "changes") {
					change(w)
				}
				if rapid.Bool().Draw(t, "unseen") {
					if err := w.s.Check(); err != nil {
						t.Fatal(err)
					}
					return
				}
				check(w)
			},
			"fork": func(t *rapid.T) {
				w := rapid.SampledFrom(worlds).Draw(t, "world")
				if len(worlds) < 4 {
					worlds = append(worlds, &world{w.s.Fork(), maps.Clone(w.have)})
				}
			},
			"in vain": func(t *rapid.T) {
				w := rapid.SampledFrom(worlds).Draw(t, "world")
				have, m := maps.Clone(w.have), w.s.Begin()
				for range rapid.IntRange(1, 5).Draw(t, "changes") {
					change(w)
				}
				if rapid.Bool().Draw(t, "look") {
					check(w)
				}
				w.s.Rollback(m)
				w.have = have
			},
		})
		for _, w := range worlds {
			check(w)
		}
	})
}

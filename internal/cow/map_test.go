package cow

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// A fork of a Map is like a copy of a map.
func TestMap(t *testing.T) {
	type side struct {
		got  *Map[int, int]
		want map[int]int
	}
	rapid.Check(t, func(t *rapid.T) {
		first := NewMap[int, int](3)
		sides := []*side{{&first, map[int]int{}}}
		pick := func() *side { return sides[rapid.IntRange(0, len(sides)-1).Draw(t, "side")] }
		key := rapid.IntRange(0, 200)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				s := pick()
				for range rapid.IntRange(1, 80).Draw(t, "times") { // beyond the bound of the top layer
					k, v := key.Draw(t, "k"), rapid.Int().Draw(t, "v")
					s.got.Set(k, v)
					s.want[k] = v
				}
			},
			"remove": func(t *rapid.T) {
				s := pick()
				for range rapid.IntRange(1, 80).Draw(t, "times") {
					k := key.Draw(t, "k")
					s.got.Remove(k)
					delete(s.want, k)
				}
			},
			"fork": func(t *rapid.T) {
				if len(sides) < 5 {
					s := pick()
					f := s.got.Fork()
					sides = append(sides, &side{&f, maps.Clone(s.want)})
				}
			},
			"": func(t *rapid.T) {
				for i, s := range sides {
					all := maps.Collect(s.got.All())
					if !maps.Equal(all, s.want) || s.got.Len() != len(s.want) || s.got.Empty() != (len(s.want) == 0) {
						t.Fatalf("side %d has %v, %d entries, empty %t, want %v", i, all, s.got.Len(), s.got.Empty(), s.want)
					}
					for k := range 201 {
						got, ok := s.got.Get(k)
						if want, known := s.want[k]; got != want || ok != known {
							t.Fatalf("side %d: Get(%d) = %d, %t, want %d, %t", i, k, got, ok, want, known)
						}
					}
					if !s.got.shared && len(s.got.top) > 0 || len(s.got.top) > topMost(len(s.got.base)) {
						t.Fatalf("side %d: %d changes over %d entries, shared %t", i, len(s.got.top), len(s.got.base), s.got.shared)
					}
				}
			},
		})
	})
}

func BenchmarkMap(b *testing.B) {
	m := NewMap[int, int](100_000)
	for i := range 100_000 {
		m.Set(i, i)
	}
	b.Run("fork and ten writes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := m.Fork()
			for i := range 10 {
				f.Set(i, -i)
			}
		}
	})
}

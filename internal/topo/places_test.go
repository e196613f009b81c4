package topo

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Places are like a map from slot to pods, and so are their clones.
func TestPlacesAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := new(owner)
		var s places
		var tally []int32
		want, pods := map[int32]int32{}, 0
		slots := rapid.Int32Range(0, rapid.SampledFrom([]int32{3, 40, 2000}).Draw(t, "slots"))
		for range rapid.IntRange(0, 700).Draw(t, "steps") {
			slot := slots.Draw(t, "slot")
			if want[slot] > 0 && rapid.Bool().Draw(t, "leaves") {
				pods--
				s.add(o, int(slot), -1, pods, &tally)
				if want[slot]--; want[slot] == 0 {
					delete(want, slot)
				}
			} else {
				pods++
				s.add(o, int(slot), 1, pods, &tally)
				want[slot]++
			}
		}
		o = new(owner)
		c := s.clone()
		c.add(o, 7, 1, pods+1, &tally)
		if got := sums(&s); !maps.Equal(got, want) {
			t.Errorf("places are %v, want %v", got, want)
		}
		if s.many == nil && len(s.log) >= 2*pods+movesMore {
			t.Errorf("the log has %d moves of %d pods", len(s.log), pods)
		}
		if i := slices.IndexFunc(tally, func(x int32) bool { return x != 0 }); i >= 0 {
			t.Errorf("the tally of slot %d is left at %d", i, tally[i])
		}
		want[7]++
		if got := sums(&c); !maps.Equal(got, want) {
			t.Errorf("the clone's places are %v, want %v", got, want)
		}
		if s.many == nil {
			s = s.empty()
			s.each(func(slot int, pods int32) { t.Errorf("emptied places have %d pods on slot %d", pods, slot) })
		}
	})
}

// sums are the pods by slot.
func sums(s *places) map[int32]int32 {
	list := map[int32]int32{}
	s.each(func(slot int, pods int32) {
		if list[int32(slot)] += pods; list[int32(slot)] == 0 {
			delete(list, int32(slot))
		}
	})
	return list
}

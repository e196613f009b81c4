package topo

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Places are like a map from slot to pods, and so are their clones.
func TestPlacesAreAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := new(owner)
		var s places
		want := map[int32]int32{}
		slots := rapid.Int32Range(0, rapid.SampledFrom([]int32{3, 40, 2000}).Draw(t, "slots"))
		for range rapid.IntRange(0, 700).Draw(t, "steps") {
			slot := slots.Draw(t, "slot")
			if want[slot] > 0 && rapid.Bool().Draw(t, "leaves") {
				s.add(o, int(slot), -1)
				if want[slot]--; want[slot] == 0 {
					delete(want, slot)
				}
			} else {
				s.add(o, int(slot), 1)
				want[slot]++
			}
		}
		o = new(owner)
		c := s.clone()
		c.add(o, 7, 1)
		got, before := map[int32]int32{}, int32(0)
		s.each(func(slot int, pods int32) {
			if got[int32(slot)] += pods; slot == 7 {
				before = pods
			}
		})
		if !maps.Equal(got, want) {
			t.Errorf("places are %v, want %v", got, want)
		}
		c.each(func(slot int, pods int32) {
			if slot == 7 && pods != before+1 {
				t.Errorf("the clone has %d pods on slot 7, want %d", pods, before+1)
			}
		})
		if s.many == nil {
			s = s.empty()
			s.each(func(slot int, pods int32) { t.Errorf("emptied places have %d pods on slot %d", pods, slot) })
		}
	})
}

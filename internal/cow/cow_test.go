package cow

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A fork of pages is like a copy of a map.
func TestPages(t *testing.T) {
	type side struct {
		pages Pages[int]
		owner *Owner
		want  map[int]int
	}
	rapid.Check(t, func(t *rapid.T) {
		sides := []*side{{owner: new(Owner), want: map[int]int{}}}
		pick := func() *side { return sides[rapid.IntRange(0, len(sides)-1).Draw(t, "side")] }
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				s, i, v := pick(), rapid.IntRange(0, 4*PageSize).Draw(t, "i"), rapid.Int().Draw(t, "v")
				*s.pages.Own(s.owner, i) = v
				s.want[i] = v
			},
			"fork": func(t *rapid.T) {
				if len(sides) < 5 {
					s := pick()
					s.owner = new(Owner)
					sides = append(sides, &side{slices.Clone(s.pages), new(Owner), maps.Clone(s.want)})
				}
			},
			"": func(t *rapid.T) {
				for k, s := range sides {
					for i := range 5*PageSize + 1 {
						if got := s.pages.At(i); got != s.want[i] {
							t.Fatalf("side %d: At(%d) = %d, want %d", k, i, got, s.want[i])
						}
					}
				}
			},
		})
	})
}

func TestPagesBounds(t *testing.T) {
	var p Pages[string]
	*p.Own(new(Owner), PageSize) = "x"
	if p.At(-1) != "" || p.At(0) != "" || p.At(PageSize) != "x" || p.At(2*PageSize) != "" {
		t.Errorf("At = %q, %q, %q, %q", p.At(-1), p.At(0), p.At(PageSize), p.At(2*PageSize))
	}
}

func TestPagesAllocations(t *testing.T) {
	var p Pages[int]
	o := new(Owner)
	*p.Own(o, 7) = 1
	if got := testing.AllocsPerRun(100, func() { *p.Own(o, 9)++ }); got != 0 {
		t.Errorf("writing an owned page allocates %v times, want 0", got)
	}
}

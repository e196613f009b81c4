package topo

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// TestIndex compares an index and its forks with maps. Some sets become large enough
// for a bitmap, and small again.
func TestIndex(t *testing.T) {
	type side struct {
		owner *owner
		index index
		want  map[string]map[int32]bool
	}
	rapid.Check(t, func(t *rapid.T) {
		sides := []*side{{owner: new(owner), want: map[string]map[int32]bool{}}}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				s := rapid.SampledFrom(sides).Draw(t, "side")
				text := rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "text")
				first := rapid.Int32Range(0, 300).Draw(t, "first")
				n := rapid.SampledFrom([]int32{1, 1, 40, 150}).Draw(t, "n")
				step := rapid.SampledFrom([]int32{1, 3, 200}).Draw(t, "step")
				add := rapid.Bool().Draw(t, "add")
				for i := range n {
					id := first + i*step
					if add {
						s.index.add(s.owner, text, id)
						if s.want[text] == nil {
							s.want[text] = map[int32]bool{}
						}
						s.want[text][id] = true
					} else {
						s.index.remove(s.owner, text, id)
						delete(s.want[text], id)
					}
				}
			},
			"fork": func(t *rapid.T) {
				s := rapid.SampledFrom(sides).Draw(t, "side")
				if len(sides) == 4 {
					return
				}
				f := &side{new(owner), s.index, map[string]map[int32]bool{}}
				s.owner = new(owner)
				for text, ids := range s.want {
					f.want[text] = maps.Clone(ids)
				}
				sides = append(sides, f)
			},
			"": func(t *rapid.T) {
				for i, s := range sides {
					for _, text := range []string{"a", "b", ""} {
						want := slices.Sorted(maps.Keys(s.want[text]))
						if got := s.index.appendTo(nil, []byte(text)); !slices.Equal(got, want) || s.index.count([]byte(text)) != len(want) {
							t.Fatalf("side %d: set %q = %v, want %v", i, text, got, want)
						}
					}
				}
			},
		})
	})
}

// TestNeeds reads the required labels back from the keys of selectors.
func TestNeeds(t *testing.T) {
	expression := func(key string, op api.LabelSelectorOperator, values ...string) *api.LabelSelector {
		return &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	for _, tt := range []struct {
		selector *api.LabelSelector
		want     []need
	}{
		{nil, nil},
		{&api.LabelSelector{}, nil},
		{&api.LabelSelector{MatchLabels: map[string]string{"b": "2", "a": ""}}, []need{{"a", []string{""}}, {"b", []string{"2"}}}},
		{expression("a", api.LabelSelectorOpIn, "1", "2"), []need{{"a", []string{"1", "2"}}}},
		{expression("a", api.LabelSelectorOpExists), []need{{"a", nil}}},
		{expression("a", api.LabelSelectorOpNotIn, "1"), nil},
		{expression("a", api.LabelSelectorOpDoesNotExist), nil},
	} {
		s, err := match.NewLabelSelector(tt.selector)
		if err != nil {
			t.Fatal(err)
		}
		if got := needsOf(&s); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
			t.Errorf("needsOf(%+v) = %q, want %q", tt.selector, got, tt.want)
		}
	}
}

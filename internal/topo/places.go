package topo

import (
	"slices"

	"github.com/berth-sched/berth/internal/cow"
)

// places counts the pods of a class by the slot of their node: in a list if there
// are few nodes.
type places struct {
	few  []place
	many pages
}

type place struct{ slot, pods int32 }

// fewMost is how many nodes are searched one by one: that many pods of a template on as
// many nodes cost less than a page for each.
const fewMost = 128

func (s *places) clone() places { return places{slices.Clone(s.few), slices.Clone(s.many)} }

func (s *places) add(o *owner, slot int, by int32) {
	if s.many != nil {
		addAt(&s.many, o, int32(slot), by)
		return
	}
	i := slices.IndexFunc(s.few, func(p place) bool { return p.slot == int32(slot) })
	if i < 0 {
		if len(s.few) == fewMost {
			for _, p := range s.few {
				addAt(&s.many, o, p.slot, p.pods)
			}
			s.few = nil
			addAt(&s.many, o, int32(slot), by)
			return
		}
		s.few = append(s.few, place{int32(slot), by})
		return
	}
	if s.few[i].pods += by; s.few[i].pods == 0 {
		last := len(s.few) - 1
		s.few[i] = s.few[last]
		s.few = s.few[:last]
	}
}

// each calls f for every node with pods of the class.
func (s *places) each(f func(slot int, pods int32)) {
	for _, p := range s.few {
		f(int(p.slot), p.pods)
	}
	for i, page := range s.many {
		if page == nil {
			continue
		}
		for k, pods := range page.Values {
			if pods != 0 {
				f(i*cow.PageSize+k, pods)
			}
		}
	}
}

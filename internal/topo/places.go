package topo

import (
	"slices"

	"github.com/berth-sched/berth/internal/cow"
)

// places counts the pods of a class by the slot of their node: in a table if there
// are few nodes.
//
// Invariant: few is a hash table with open addressing. Its length is a power of two or 0,
// at most half of it is in use, and an entry without pods is empty. From the first choice
// of a slot to its entry, no entry is empty.
type places struct {
	few  []place
	used int // of few
	many pages
}

type place struct{ slot, pods int32 }

// fewMost is how many nodes a table has at most: that many pods of a template on as many
// nodes cost less than a page for each.
const fewMost = 256

func (s *places) clone() places { return places{slices.Clone(s.few), s.used, slices.Clone(s.many)} }

// empty returns places without pods, which take over the memory of s.
func (s *places) empty() places {
	clear(s.few)
	return places{few: s.few}
}

func (s *places) add(o *owner, slot int, by int32) {
	if s.many != nil {
		addAt(&s.many, o, int32(slot), by)
		return
	}
	if 2*s.used >= len(s.few) && !s.grow(o) {
		addAt(&s.many, o, int32(slot), by)
		return
	}
	i := s.find(int32(slot))
	p := &s.few[i]
	if p.pods == 0 {
		s.used++
	}
	p.slot = int32(slot)
	if p.pods += by; p.pods == 0 {
		s.fill(i)
	}
}

// choice is where the entry of a slot is if no other is there.
func (s *places) choice(slot int32) int {
	return int(uint32(slot) * 0x9e3779b1 >> 16 & uint32(len(s.few)-1))
}

// find returns the index of the slot's entry, or of the empty one for it.
func (s *places) find(slot int32) int {
	i := s.choice(slot)
	for s.few[i].pods != 0 && s.few[i].slot != slot {
		i = (i + 1) & (len(s.few) - 1)
	}
	return i
}

// grow doubles the table; false if there are too many nodes, which are in pages then.
func (s *places) grow(o *owner) bool {
	was := s.few
	if s.used < fewMost {
		s.few = make([]place, max(8, 2*len(was)))
		for _, p := range was {
			if p.pods != 0 {
				s.few[s.find(p.slot)] = p
			}
		}
		return true
	}
	s.few, s.used = nil, 0
	for _, p := range was {
		if p.pods != 0 {
			addAt(&s.many, o, p.slot, p.pods)
		}
	}
	return false
}

// fill moves entries into a gap, whose slot has no pods any more, that belong there or
// before it.
func (s *places) fill(gap int) {
	s.used--
	s.few[gap] = place{}
	mask := len(s.few) - 1
	for i := (gap + 1) & mask; s.few[i].pods != 0; i = (i + 1) & mask {
		if (i-s.choice(s.few[i].slot))&mask >= (i-gap)&mask {
			s.few[gap], s.few[i] = s.few[i], place{}
			gap = i
		}
	}
}

// each calls f for every node with pods of the class.
func (s *places) each(f func(slot int, pods int32)) {
	for _, p := range s.few {
		if p.pods != 0 {
			f(int(p.slot), p.pods)
		}
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

package topo

import (
	"slices"

	"github.com/berth-sched/berth/internal/cow"
)

// places are the slots of the nodes on which the pods of a class are: a log of those that
// came and left, or pages if there are many. Pods come and leave all the time, and few are
// ever asked where they are. So a log costs least: only its end is written.
//
// Invariant: each slot is in the log as often as pods came there, less those that left. The
// log has at most twice as many moves as there are pods, and some more.
type places struct {
	log  []move
	many pages
}

// A move is a pod that came to the slot move/2 or, if it is odd, left it.
type move int32

const (
	// fewMost is how many pods of a class are in a log at most: a page for each of their
	// nodes would take more memory.
	fewMost = 512
	// movesMore is by how much the log may exceed twice the number of pods.
	movesMore = 64
)

func (s *places) clone() places { return places{slices.Clone(s.log), slices.Clone(s.many)} }

// empty returns places without pods, which take over the memory of s.
func (s *places) empty() places { return places{log: s.log[:0]} }

// add notes that pods came to a slot or, if by is negative, left it. So many are there now
// in all. tally is memory by slot that is 0 between two calls.
func (s *places) add(o *owner, slot int, by int32, pods int, tally *[]int32) {
	if s.many != nil {
		addAt(&s.many, o, int32(slot), by)
		return
	}
	m := move(slot) << 1
	if by < 0 {
		m, by = m|1, -by
	}
	for range by {
		s.log = append(s.log, m)
	}
	if len(s.log) >= 2*pods+movesMore {
		s.shorten(tally)
	}
	if pods > fewMost {
		was := s.log
		s.log = nil
		for _, m := range was {
			addAt(&s.many, o, m.slot(), m.pods())
		}
	}
}

// slot is where the pod came to or left.
func (m move) slot() int32 { return int32(m >> 1) }

// pods is 1 for a pod that came, and -1 for one that left.
func (m move) pods() int32 { return 1 - int32(m&1)<<1 }

// shorten leaves out pods that came and left again. The tally is 0 for every slot, before
// and after.
func (s *places) shorten(tally *[]int32) {
	for _, m := range s.log {
		slot := int(m.slot())
		if slot >= len(*tally) {
			*tally = append(*tally, make([]int32, slot+1-len(*tally))...)
		}
		(*tally)[slot] += m.pods()
	}
	kept := s.log[:0]
	for _, m := range s.log {
		if left := &(*tally)[m.slot()]; m&1 == 0 && *left > 0 {
			*left--
			kept = append(kept, m)
		}
	}
	s.log = kept
}

// each calls f with slots and how many more pods are there, any number of times for a slot.
func (s *places) each(f func(slot int, pods int32)) {
	for _, m := range s.log {
		f(int(m.slot()), m.pods())
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

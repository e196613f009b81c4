package topo

import (
	"math/bits"
	"slices"
)

// An idSet is a set of small numbers. It is a sorted list while it is small, and
// then a bitmap, so that a change of a large set stays cheap.
type idSet struct {
	owner *owner
	list  []int32
	words []uint64 // not nil: replaces list
	count int
}

// listMost is the largest set that is always a list.
const listMost = 64

// isDense reports whether a set of n numbers up to id is better kept as a bitmap:
// its words take no more memory than the list.
func isDense(n int, id int32) bool { return n > listMost && n > int(id)/32 }

func (s *idSet) clone(o *owner) *idSet {
	return &idSet{owner: o, list: slices.Clone(s.list), words: slices.Clone(s.words), count: s.count}
}

func (s *idSet) add(id int32) {
	if s.words == nil {
		i, found := slices.BinarySearch(s.list, id)
		if found {
			return
		}
		s.list = slices.Insert(s.list, i, id)
		s.count++
		if isDense(s.count, s.list[s.count-1]) {
			list := s.list
			s.list, s.words, s.count = nil, []uint64{}, 0
			for _, id := range list {
				s.add(id)
			}
		}
		return
	}
	for len(s.words) <= int(id)/64 {
		s.words = append(s.words, 0)
	}
	if w, bit := &s.words[id/64], uint64(1)<<(id%64); *w&bit == 0 {
		*w |= bit
		s.count++
	}
}

// remove removes a number of the set. A bitmap becomes a list again when it is much
// smaller than before.
func (s *idSet) remove(id int32) {
	if s.words == nil {
		if i, found := slices.BinarySearch(s.list, id); found {
			s.list = slices.Delete(s.list, i, i+1)
			s.count--
		}
		return
	}
	if int(id)/64 >= len(s.words) || s.words[id/64]>>(id%64)&1 == 0 {
		return
	}
	s.words[id/64] &^= 1 << (id % 64)
	s.count--
	if s.count <= listMost/2 || s.count < len(s.words)/2 {
		s.list, s.words = s.appendTo(make([]int32, 0, s.count)), nil
	}
}

// appendTo appends the numbers in ascending order.
func (s *idSet) appendTo(list []int32) []int32 {
	if s.words == nil {
		return append(list, s.list...)
	}
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			list = append(list, int32(i*64+bits.TrailingZeros64(w)))
		}
	}
	return list
}

// has reports whether the set has a number.
func (s *idSet) has(id int32) bool {
	if s.words == nil {
		_, found := slices.BinarySearch(s.list, id)
		return found
	}
	return int(id)/64 < len(s.words) && s.words[id/64]>>(id%64)&1 != 0
}

// all visits the numbers in ascending order.
func (s *idSet) all(yield func(id int32) bool) {
	for _, id := range s.list {
		if !yield(id) {
			return
		}
	}
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if !yield(int32(i*64 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// newIDSet returns the set of some numbers, which ascend.
func newIDSet(ids []int32) *idSet {
	if n := len(ids); n == 0 || !isDense(n, ids[n-1]) {
		return &idSet{list: slices.Clone(ids), count: n}
	}
	s := &idSet{words: make([]uint64, ids[len(ids)-1]/64+1)}
	for _, id := range ids {
		s.add(id)
	}
	return s
}

func (s *idSet) bytes() int { return 4*cap(s.list) + 8*cap(s.words) }

// An index finds sets of numbers by text. Forks share it.
type index struct{ sets shards[*idSet] }

func (x *index) add(o *owner, text string, id int32) {
	s, ok := x.sets.get(text)
	switch {
	case !ok:
		s = &idSet{owner: o}
		x.sets.set(o, text, s)
	case s.owner != o:
		s = s.clone(o)
		x.sets.set(o, text, s)
	}
	s.add(id)
}

func (x *index) remove(o *owner, text string, id int32) {
	s, ok := x.sets.get(text)
	if !ok {
		return
	}
	if s.count == 1 {
		if one := s.appendTo(nil); one[0] == id {
			x.sets.remove(o, text)
		}
		return
	}
	if s.owner != o {
		s = s.clone(o)
		x.sets.set(o, text, s)
	}
	s.remove(id)
}

// appendTo appends the numbers of a set.
func (x *index) appendTo(list []int32, text []byte) []int32 {
	if s, ok := x.sets.look(text); ok {
		return s.appendTo(list)
	}
	return list
}

func (x *index) count(text []byte) int {
	if s, ok := x.sets.look(text); ok {
		return s.count
	}
	return 0
}

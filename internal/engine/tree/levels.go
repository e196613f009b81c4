package tree

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// levels remember where the levels of heaps of feasible places begin: element 2^i-1 is
// the first of level i, see heap. While few groups are shut and opened in turn, as by a
// hard constraint to spread over zones, the same heaps come again.
//
// Invariant: if kept Levels have the tree's number of flips, places[i] is the place of the
// feasible element 2^i-1, or -1.
type levels struct {
	flips uint64     // counts leaves that became feasible or ceased to be
	kept  []levelsOf // each heap has one place here, by its shut groups
}

// levelsOf are those of the heap for a start and shut groups.
type levelsOf struct {
	flips  uint64
	shut   uint64 // a bit for each group
	start  int
	places [levelsMost]int32
}

// Levels says where the levels of a heap begin.
type Levels struct {
	tree *Tree
	kept *levelsOf
}

const (
	levelsMost       = 20 // of a heap are remembered
	levelsKeptBits   = 9  // of the number of heaps that are, at most
	levelsGroupsMost = 64 // in a tree: for more, nothing is remembered from one call to the next
)

// LevelsOf returns the levels of the heap of all feasible places, which are in order from
// start on around the end. They are valid until a place becomes feasible or ceases to be, a
// group is shut or opened, or LevelsOf is called again.
func (t *Tree) LevelsOf(start int) Levels {
	ls := &t.owner().heaps
	shut := uint64(0)
	for g, is := range t.Shut {
		if is {
			shut |= 1 << g
		}
	}
	if ls.kept == nil {
		ls.kept = make([]levelsOf, 1<<min(t.groups, levelsKeptBits))
	}
	l := &ls.kept[ls.at(shut)]
	if t.groups > levelsGroupsMost || l.flips != ls.flips || l.shut != shut || l.start != start {
		l.flips, l.shut, l.start = ls.flips, shut, start
		for i := range l.places {
			l.places[i] = -1
		}
	}
	return Levels{t, l}
}

// at is where the heap for these shut groups has its place.
func (ls *levels) at(shut uint64) int {
	const mix = 0x9e3779b97f4a7c15
	return int(shut * mix >> (64 - bits.Len(uint(len(ls.kept)-1))))
}

// Place returns the place of the first element of a level. The heap must have so many.
func (l Levels) Place(level int) int {
	if level >= levelsMost {
		return l.find(level)
	}
	place := &l.kept.places[level]
	if *place < 0 {
		*place = int32(l.find(level))
	}
	return int(*place)
}

func (l Levels) find(level int) int {
	k := l.tree.Rank(l.kept.start) + 1<<level - 1
	if all := l.tree.Feasible(); k >= all {
		k -= all
	}
	return l.tree.KthFeasible(k)
}

// bytes is the memory that the levels hold.
func (ls *levels) bytes() int { return cap(ls.kept) * int(unsafe.Sizeof(levelsOf{})) }

// check returns which place is not where the level begins, nil if all are.
func (ls *levels) check(t *Tree) error {
	for i := range ls.kept {
		l := &ls.kept[i]
		if l.flips != ls.flips || t.groups > levelsGroupsMost {
			continue
		}
		rank := 0
		for k := range t.Leaves {
			place := (l.start + k) % len(t.Leaves)
			if t.Leaves[place] < 0 || l.shut>>t.group(place)&1 != 0 {
				continue
			}
			for level, known := range l.places {
				if rank == 1<<level-1 && known >= 0 && int(known) != place {
					return fmt.Errorf("levels: level %d begins at place %d, want %d", level, known, place)
				}
			}
			rank++
		}
	}
	return nil
}

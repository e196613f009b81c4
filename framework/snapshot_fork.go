package framework

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/internal/changelog"
	"github.com/berth-sched/berth/internal/cow"
)

// lineage is shared by a snapshot and all its forks.
type lineage struct {
	touching sync.Map // from the ids of touching extensions that some snapshot has made to their origins
}

// reserved are the generations that belong to some snapshot: those up to it. All snapshots
// of the process share it, so that who keeps answers by generation cannot take those about
// one snapshot for answers about another.
var reserved atomic.Uint64

// generations are the numbers that one snapshot has reserved and not used yet: above
// last, up to end. Reserving many at once avoids a locked instruction per change, which
// would wait for all earlier writes.
type generations struct{ last, end uint64 }

const generationsAtOnce = 1 << 10

// newGeneration returns a number above 0 that no snapshot has used.
func (s *Snapshot) newGeneration() uint64 {
	g := &s.generations
	if g.last == g.end {
		g.end = reserved.Add(generationsAtOnce)
		g.last = g.end - generationsAtOnce
	}
	g.last++
	return g.last
}

// NewVersion returns a number above 0 that no other call on any snapshot returns. Extensions
// use it to tell states apart, also across forks. The number itself is not the same on
// every run: compare it, and nothing else.
func (s *Snapshot) NewVersion() uint64 {
	s.must()
	return s.newGeneration()
}

// owner marks what a snapshot may write to; everything else is shared with a
// fork and copied first.
type owner = cow.Owner

const chunkSize = 32

// chunk holds the nodes of chunkSize neighbouring slots: a fork copies the
// list of chunks, not the nodes. A what-if copies the chunks of the nodes that it changes, so
// they are small.
//
// Invariant: all chunks of a lineage that have the same number in runs have the same
// nodes, of the same generations, in that run of slots.
type chunk struct {
	owner *owner
	nodes [chunkSize]*NodeInfo
	runs  [chunkSize / RunSize]uint64
}

// Fork returns an independent copy: changes of one do not show in the other. It costs
// O(N/32) for N nodes, and the Fork of each extension. Later changes on either side
// copy what they touch; the first change of the set of nodes costs O(N).
//
// A fork has no open transaction and its own Version. If s has open transactions, the
// fork keeps their changes for good. If an extension panics, the fork is broken; see [ErrBroken]. Fork
// changes s, so it must not run beside other uses of s.
func (s *Snapshot) Fork() *Snapshot {
	s.must()
	s.startChange()
	f := &Snapshot{
		now: s.now, lineage: s.lineage, schema: s.schema, owner: new(owner),
		chunks: slices.Clone(s.chunks), free: s.free,
		tree: s.tree, names: s.names, images: s.images, nodeSet: s.nodeSet,
		tables: s.tables, objects: s.objects, affine: s.affine, priorities: s.priorities.clone(), nominations: s.nominations, nominated: s.nominated,
		strict: s.strict, broken: s.broken, views: maps.Clone(s.views), journal: changelog.New[int](journalLimit),
	}
	s.owner = new(owner) // from now on s shares what it holds, too
	s.endChange()
	f.extensions = make([]extension, 0, len(s.extensions))
	f.podWatchers = make([]PodWatcher, 0, len(s.podWatchers))
	for i := range s.extensions {
		if err := f.inherit(&s.extensions[i]); err != nil {
			f.breakBy(err)
			break
		}
	}
	return f
}

// inherit adds a fork of an extension of another snapshot.
func (s *Snapshot) inherit(e *extension) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(e.value, "Fork", v)
		}
	}()
	s.extend(e.key, e.value.Fork(s))
	return nil
}

// ownChunk returns the chunk of the slot for writing.
func (s *Snapshot) ownChunk(slot int) *chunk {
	c := s.chunks[slot/chunkSize]
	if c.owner != s.owner {
		copied := *c
		copied.owner = s.owner
		c = &copied
		s.chunks[slot/chunkSize] = c
	}
	return c
}

// own returns a node of the snapshot for writing: no fork shares it.
func (s *Snapshot) own(n *NodeInfo) *NodeInfo {
	if n.owner == s.owner {
		return n // and so is its chunk
	}
	n = n.clone(s.owner)
	s.ownChunk(n.Slot()).nodes[n.Slot()%chunkSize] = n
	return n
}

// put makes n, which may be nil, the node of the slot. generation must be new.
func (s *Snapshot) put(slot int, n *NodeInfo, generation uint64) {
	s.ownChunk(slot).nodes[slot%chunkSize] = n
	s.note(slot, generation)
}

// note notes that the node of the slot has changed. The caller owns its chunk;
// generation must be new: no other change has it.
func (s *Snapshot) note(slot int, generation uint64) {
	s.chunks[uint(slot)/chunkSize].runs[uint(slot)%chunkSize/RunSize] = generation
	s.journal.Add(slot)
}

// takeSlot returns a slot without a node. If there is none, it adds a chunk.
func (s *Snapshot) takeSlot() int {
	s.ownFree()
	if len(s.free) == 0 {
		base := s.SlotLimit()
		s.chunks = append(s.chunks, &chunk{owner: s.owner})
		for slot := base + chunkSize - 1; slot >= base; slot-- {
			s.free = append(s.free, slot)
		}
	}
	last := len(s.free) - 1
	slot := s.free[last]
	s.free = s.free[:last]
	return slot
}

func (s *Snapshot) releaseSlot(slot int) {
	s.ownFree()
	s.free = append(s.free, slot)
}

func (s *Snapshot) ownFree() {
	if s.freeOwner != s.owner {
		s.free, s.freeOwner = slices.Clone(s.free), s.owner
	}
}

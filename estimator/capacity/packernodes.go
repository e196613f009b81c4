package capacity

// blockSize is the number of nodes of a block. Sets of a thousand components, on 5,000 nodes, take
// about as long with 8 or 32.
const blockSize = 16

// setNodes are nodes in the order in which sets fill them.
type setNodes struct {
	width   int // the length of a room: pods, then each resource
	count   int // includes dropped nodes
	dropped int // number of nodes deleted from the front, in whole blocks
	blocks  []setBlock
}

// A setBlock holds nodes. A component that needs more than any of them has is compared with the
// block and not with each node.
type setBlock struct {
	rooms []int64 // of each node
	uses  []int64 // what a set takes from each node, while repeat adds that up; nil or zeros otherwise
	most  []int64 // at least the room of each node
	stale bool    // whether a node has less room than when most was computed
}

// add adds a node at the end.
func (s *setNodes) add(room []int64) {
	if s.count%blockSize == 0 {
		all := make([]int64, (1+blockSize)*s.width)
		s.blocks = append(s.blocks, setBlock{most: all[:s.width], rooms: all[s.width:]})
	}
	copy(s.block(s.count).room(s.count, s.width), room)
	raise(s.block(s.count).most, room)
	s.count++
}

// raise raises most to the room where that is greater.
func raise(most, room []int64) {
	for i := range most {
		most[i] = max(most[i], room[i])
	}
}

// block returns the block of a node that is not dropped.
func (s *setNodes) block(at int) *setBlock { return &s.blocks[(at-s.dropped)/blockSize] }

// room returns the room of a node that is not dropped.
func (s *setNodes) room(at int) []int64 { return s.block(at).room(at, s.width) }

func (b *setBlock) room(at, width int) []int64 { return b.rooms[at%blockSize*width:][:width] }

// use returns what a set takes from a node that is not dropped.
func (s *setNodes) use(at int) []int64 {
	b := s.block(at)
	if b.uses == nil {
		b.uses = make([]int64, len(b.rooms))
	}
	return b.uses[at%blockSize*s.width:][:s.width]
}

// take takes n times the needs from a node.
func (s *setNodes) take(at int, n int64, needs []int64) {
	b := s.block(at)
	room := b.room(at, s.width)
	for i, need := range needs {
		room[i] -= n * need
	}
	b.stale = true
}

// find returns the first node with room for the component from at on, or the number of nodes if
// there is none, and how many steps that took.
func (s *setNodes) find(k *setKind, at int) (found int, steps int64) {
	for at < s.count {
		b := s.block(at)
		end := min(at-at%blockSize+blockSize, s.count)
		steps++
		if !holds(b.most, k.needs) {
			at = end
			continue
		}
		rooms := b.rooms[at%blockSize*s.width:]
		for ; at < end; at++ {
			if steps++; holds(rooms, k.needs) && (k.may == nil || k.may(at)) {
				return at, steps
			}
			rooms = rooms[s.width:]
		}
		if b.stale && end%blockSize == 0 { // the next node would raise an incomplete one again
			steps += blockSize
			b.tighten(s.width)
		}
	}
	return at, steps
}

// tighten computes the most of a complete block.
func (b *setBlock) tighten(width int) {
	b.stale = false
	clear(b.most)
	for i := range blockSize {
		raise(b.most, b.room(i, width))
	}
}

// drop deletes the blocks before a node.
func (s *setNodes) drop(at int) {
	n := (at - s.dropped) / blockSize
	clear(s.blocks[:n]) // so that their memory is free
	s.blocks = s.blocks[n:]
	s.dropped += n * blockSize
}

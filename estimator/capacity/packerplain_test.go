package capacity

import "math"

// A plainPacker is the plain twin of setPacker: it looks at every node, one by one. It has
// no bounds.
type plainPacker struct {
	left  []int64     // untouched nodes, by grade
	empty [][]int64   // their room
	nodes []plainNode // the others, in order
	looks int64       // at nodes
}

type plainNode struct {
	grade int
	room  []int64
}

type plainKind struct {
	replicas int64
	needs    []int64
	may      func(node int) bool
	next     int // nodes before this one have no room
}

// pack places up to bound sets and returns how many fitted.
func (p *plainPacker) pack(kinds []plainKind, bound int64) int64 {
	for placed := range bound {
		if !p.place(kinds) {
			return placed
		}
	}
	return bound
}

// place places one set and reports whether the whole set fitted.
func (p *plainPacker) place(kinds []plainKind) bool {
	for i := range kinds {
		k := &kinds[i]
		for left := k.replicas; left > 0; {
			if k.next == len(p.nodes) && !p.open() {
				return false
			}
			room := p.nodes[k.next].room
			p.looks++
			n := min(left, plainFits(room, k.needs))
			if n == 0 || k.may != nil && !k.may(k.next) {
				k.next++
				continue
			}
			for r, need := range k.needs {
				room[r] -= n * need
			}
			left -= n
		}
	}
	return true
}

// open adds the next untouched node and reports whether there was one.
func (p *plainPacker) open() bool {
	for g := range p.left {
		if p.left[g] > 0 {
			p.left[g]--
			p.nodes = append(p.nodes, plainNode{g, append([]int64(nil), p.empty[g]...)})
			return true
		}
	}
	return false
}

func plainFits(room, needs []int64) int64 {
	var n int64 = math.MaxInt64
	for r, need := range needs {
		if need > 0 {
			n = min(n, room[r]/need)
		}
	}
	return n
}

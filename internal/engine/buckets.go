package engine

import (
	"math"
	"slices"
	"unsafe"

	"github.com/berth-sched/berth/framework"
)

// buckets hold nodes by their raw score, and know the normalized score of each
// raw score that occurs.
//
//	sorted   values   -4    -2     0        left: nodes that the range leaves out
//	                   │     │     │          │
//	                 slots slots slots      slots      linked by next and prev
//
// Nodes of groups that are shut stay where they are; they do not count for the
// range.
//
// Invariant: of[slot] is the bucket whose list has the slot; sorted has the
// buckets with nodes, none of them twice, in the order of their values; after
// settle, every norm is that of the range from low to high.
type buckets struct {
	all       []bucket
	free      []int32
	sorted    []int32 // those with nodes, in the order of their values
	left      int32   // that of nodes left out, nowhere if there are none
	low, high int64   // the range that norms belong to
	ranged    bool    // there is one
	unready   bool    // some bucket has no norm yet

	of, next, prev []int32 // by slot
	groups         int
	groupOf        []uint8 // by slot
	counts         []int32 // nodes of bucket b in group g: counts[b*groups+g]
}

// A bucket is all nodes with one raw score.
type bucket struct {
	value, norm int64
	nodes       int32
	first       int32 // slot
	ready       bool  // norm is known
	moved       bool  // norm has changed in this decision
}

// nowhere ends a list of slots, and is the bucket of nodes in none.
const nowhere int32 = -1

// reset empties the buckets and makes room for slots.
func (k *buckets) reset(slots int) {
	k.all, k.free, k.sorted, k.left, k.counts = k.all[:0], k.free[:0], k.sorted[:0], nowhere, k.counts[:0]
	k.ranged, k.unready = false, false
	k.of, k.next, k.prev = resize(k.of, slots), resize(k.next, slots), resize(k.prev, slots)
	for i := range k.of {
		k.of[i] = nowhere
	}
}

// divide counts the nodes by other groups.
func (k *buckets) divide(o *order, d *division) {
	k.groups, k.groupOf = d.count, d.of
	k.counts = append(k.counts[:0], make([]int32, len(k.all)*k.groups)...)
	for _, slot := range o.slots {
		if b := k.of[slot]; b >= 0 {
			k.counts[int(b)*k.groups+int(d.of[slot])]++
		}
	}
}

// place puts a node into a bucket, and reports whether it was not there.
func (k *buckets) place(slot int32, group int, value int64, out bool) bool {
	if b := k.of[slot]; b >= 0 {
		if (b == k.left) == out && (out || k.all[b].value == value) {
			return false
		}
		k.remove(slot)
	}
	b := k.bucket(value, out)
	at := &k.all[b]
	k.of[slot], k.prev[slot], k.next[slot] = b, nowhere, at.first
	if at.first >= 0 {
		k.prev[at.first] = slot
	}
	at.first = slot
	at.nodes++
	k.counts[int(b)*k.groups+group]++
	return true
}

// remove takes a node out of its bucket.
func (k *buckets) remove(slot int32) {
	b := k.of[slot]
	if b < 0 {
		return
	}
	at := &k.all[b]
	next, prev := k.next[slot], k.prev[slot]
	if prev >= 0 {
		k.next[prev] = next
	} else {
		at.first = next
	}
	if next >= 0 {
		k.prev[next] = prev
	}
	k.of[slot] = nowhere
	k.counts[int(b)*k.groups+int(k.groupOf[slot])]--
	if at.nodes--; at.nodes > 0 {
		return
	}
	if b == k.left {
		k.left = nowhere
	} else {
		i, _ := k.search(at.value)
		k.sorted = slices.Delete(k.sorted, i, i+1)
	}
	k.free = append(k.free, b)
}

func (k *buckets) search(value int64) (int, bool) {
	lo, hi := 0, len(k.sorted)
	for lo < hi {
		if mid := (lo + hi) / 2; k.all[k.sorted[mid]].value < value {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(k.sorted) && k.all[k.sorted[lo]].value == value
}

// bucket finds or makes the bucket of a value, or that of nodes left out.
func (k *buckets) bucket(value int64, out bool) int32 {
	at := 0
	if out {
		if k.left >= 0 {
			return k.left
		}
	} else {
		var found bool
		if at, found = k.search(value); found {
			return k.sorted[at]
		}
	}
	var b int32
	if last := len(k.free) - 1; last >= 0 {
		b, k.free = k.free[last], k.free[:last]
	} else {
		b = int32(len(k.all))
		k.all = append(k.all, bucket{})
		for range k.groups {
			k.counts = append(k.counts, 0)
		}
	}
	k.all[b] = bucket{value: value, first: nowhere, ready: out}
	if out {
		k.left = b
	} else {
		k.sorted, k.unready = slices.Insert(k.sorted, at, b), true
	}
	return b
}

// open reports whether a bucket has a node of a group that is not shut.
func (k *buckets) open(b int32, shut []int32) bool {
	for g, n := range k.counts[int(b)*k.groups:][:k.groups] {
		if n > 0 && shut[g] == feasible {
			return true
		}
	}
	return false
}

// settle finds the range, and normalizes again what depends on it. It returns
// how many nodes got another score, and whether all scores are in bounds.
func (k *buckets) settle(by framework.RangeNormalizer, shut []int32) (moved int, ok bool) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, b := range k.sorted {
		if k.open(b, shut) {
			low = k.all[b].value
			break
		}
	}
	for i := len(k.sorted) - 1; i >= 0; i-- {
		if b := k.sorted[i]; k.open(b, shut) {
			high = k.all[b].value
			break
		}
	}
	stands := k.ranged && low == k.low && high == k.high
	if low > high || stands && !k.unready {
		return 0, true
	}
	k.low, k.high, k.ranged, k.unready = low, high, true, false
	ok = true
	for _, b := range k.sorted {
		at := &k.all[b]
		if stands && at.ready || at.value < low || at.value > high {
			continue // values out of the range are those of groups that are shut
		}
		norm := by.NormalizeScore(at.value, low, high)
		ok = ok && uint64(norm) <= uint64(framework.MaxNodeScore)
		if !at.ready || at.norm != norm {
			at.norm, at.ready, at.moved = norm, true, true
			moved += int(at.nodes)
		}
	}
	return moved, ok
}

// constant returns the normalized score that all nodes have, if they have one.
func (k *buckets) constant() (norm int64, ok bool) {
	if len(k.sorted) != 1 || k.left >= 0 {
		return 0, false
	}
	return k.all[k.sorted[0]].norm, true
}

// norm is the normalized score of a node, 0 if it is in no bucket.
func (k *buckets) norm(slot int32) int64 {
	if b := k.of[slot]; b >= 0 {
		return k.all[b].norm
	}
	return 0
}

// eachMoved calls f for the nodes that got another score when the range was
// settled last.
func (k *buckets) eachMoved(f func(slot int32)) {
	for _, b := range k.sorted {
		if at := &k.all[b]; at.moved {
			for slot := at.first; slot >= 0; slot = k.next[slot] {
				f(slot)
			}
		}
	}
}

// settled forgets which scores moved.
func (k *buckets) settled() {
	for _, b := range k.sorted {
		k.all[b].moved = false
	}
}

func (k *buckets) bytes() int {
	n := 4 * (cap(k.of) + cap(k.next) + cap(k.prev) + cap(k.counts) + cap(k.sorted) + cap(k.free))
	return n + cap(k.all)*int(unsafe.Sizeof(bucket{}))
}

// Package bucket holds nodes by the raw score that one scorer gave them, so that a
// normalized score is found once for each different raw score.
//
//	sorted   values   -4    -2     0        left: nodes that the range leaves out
//	                   │     │     │          │
//	                 slots slots slots      slots      linked by next and prev
//
// If the range of the raw scores moves, only the nodes whose normalized score really
// changes are named. Nodes of groups that are shut stay in their buckets; they do not
// count for the range.
package bucket

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/engine/guard"
	"github.com/berth-sched/berth/internal/engine/slotlist"
)

// Buckets are the nodes of one scorer by raw score. Reset and Divide must come first.
//
// Invariant: of[slot] is the bucket whose list has the slot; sorted has the buckets
// with nodes, each once, in the order of their values; after Settle, every norm
// belongs to the range from low to high.
type Buckets struct {
	all       []bucket
	free      []int32
	sorted    []int32 // buckets with nodes, in the order of their values
	left      int32   // the bucket of nodes left out, nowhere if there are none
	low, high int64   // the range that norms belong to
	ranged    bool    // there is a range
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
	moved       bool  // norm has changed since Settled
}

// nowhere ends a list of slots. It is also the bucket of nodes that are in none.
const nowhere int32 = -1

// Reset empties the buckets and makes room for slots. Their nodes are in groups, by
// slot.
func (k *Buckets) Reset(slots, groups int, of []uint8) {
	k.all, k.free, k.sorted, k.left, k.counts = k.all[:0], k.free[:0], k.sorted[:0], nowhere, k.counts[:0]
	k.ranged, k.unready = false, false
	k.of, k.next, k.prev = slotlist.AtLeast(k.of, slots), slotlist.AtLeast(k.next, slots), slotlist.AtLeast(k.prev, slots)
	for i := range k.of {
		k.of[i] = nowhere
	}
	k.groups, k.groupOf = groups, of
}

// Divide counts the nodes, which are among slots, by other groups.
func (k *Buckets) Divide(slots []int32, groups int, of []uint8) {
	k.groups, k.groupOf = groups, of
	k.counts = append(k.counts[:0], make([]int32, len(k.all)*k.groups)...)
	for _, slot := range slots {
		if b := k.of[slot]; b >= 0 {
			k.counts[int(b)*k.groups+int(of[slot])]++
		}
	}
}

// Place puts a node into the bucket of its raw score, and reports whether it was not
// there.
func (k *Buckets) Place(slot int32, value int64) bool {
	if b := k.of[slot]; b >= 0 {
		if b != k.left && k.all[b].value == value {
			return false
		}
		k.Remove(slot)
	}
	k.insert(slot, k.bucket(value))
	return true
}

// LeaveOut puts a node into the bucket of those left out of the range, and reports
// whether it was not there.
func (k *Buckets) LeaveOut(slot int32) bool {
	if b := k.of[slot]; b >= 0 {
		if b == k.left {
			return false
		}
		k.Remove(slot)
	}
	if k.left < 0 {
		k.left = k.empty(bucket{first: nowhere, ready: true})
	}
	k.insert(slot, k.left)
	return true
}

// insert puts a node that is in no bucket into one.
func (k *Buckets) insert(slot, b int32) {
	at := &k.all[b]
	k.of[slot], k.prev[slot], k.next[slot] = b, nowhere, at.first
	if at.first >= 0 {
		k.prev[at.first] = slot
	}
	at.first = slot
	at.nodes++
	k.counts[int(b)*k.groups+int(k.groupOf[slot])]++
}

// Remove takes a node out of its bucket, if it is in one.
func (k *Buckets) Remove(slot int32) {
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

// search finds the place of a value in sorted, and whether it is there.
func (k *Buckets) search(value int64) (int, bool) {
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

// bucket finds or makes the bucket of a value.
func (k *Buckets) bucket(value int64) int32 {
	at, found := k.search(value)
	if found {
		return k.sorted[at]
	}
	b := k.empty(bucket{value: value, first: nowhere})
	k.sorted, k.unready = slices.Insert(k.sorted, at, b), true
	return b
}

// empty makes an empty bucket, and returns its number.
func (k *Buckets) empty(made bucket) int32 {
	if last := len(k.free) - 1; last >= 0 {
		b := k.free[last]
		k.free = k.free[:last]
		k.all[b] = made
		return b
	}
	k.all = append(k.all, made)
	for range k.groups {
		k.counts = append(k.counts, 0)
	}
	return int32(len(k.all) - 1)
}

// open reports whether a bucket has a node of a group that is not shut.
func (k *Buckets) open(b int32, shut []bool) bool {
	for g, n := range k.counts[int(b)*k.groups:][:k.groups] {
		if n > 0 && !shut[g] {
			return true
		}
	}
	return false
}

// span is the range of the raw scores in groups that are not shut; low > high if there
// are none.
func (k *Buckets) span(shut []bool) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
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
	return low, high
}

// Settle finds the range and normalizes what depends on it. It returns how many nodes
// got another score, and whether all scores are in bounds.
func (k *Buckets) Settle(by framework.RangeNormalizer, shut []bool, g *guard.Guard) (moved int, ok bool) {
	low, high := k.span(shut)
	stands := k.ranged && low == k.low && high == k.high
	if low > high || stands && !k.unready {
		return 0, true
	}
	k.low, k.high, k.ranged, k.unready = low, high, true, false
	ok = true
	for _, b := range k.sorted {
		at := &k.all[b]
		if stands && at.ready || at.value < low || at.value > high {
			continue // only shut groups have values outside of the range
		}
		g.Enter()
		norm := by.NormalizeScore(at.value, low, high)
		g.Leave()
		ok = ok && uint64(norm) <= uint64(framework.MaxNodeScore)
		if !at.ready || at.norm != norm {
			at.norm, at.ready, at.moved = norm, true, true
			moved += int(at.nodes)
		}
	}
	return moved, ok
}

// Constant returns the normalized score of all nodes, if they have the same.
func (k *Buckets) Constant() (norm int64, ok bool) {
	if len(k.sorted) != 1 || k.left >= 0 {
		return 0, false
	}
	return k.all[k.sorted[0]].norm, true
}

// Uniform reports whether all nodes have the same raw score and none is left out, so
// that each part of them has the same range.
func (k *Buckets) Uniform() bool { return len(k.sorted) <= 1 && k.left < 0 }

// Norm is the normalized score of a node, 0 if it is in no bucket.
func (k *Buckets) Norm(slot int32) int64 {
	if b := k.of[slot]; b >= 0 {
		return k.all[b].norm
	}
	return 0
}

// EachMoved calls f for the nodes that got another score since Settled.
func (k *Buckets) EachMoved(f func(slot int32)) {
	for _, b := range k.sorted {
		if at := &k.all[b]; at.moved {
			for slot := at.first; slot >= 0; slot = k.next[slot] {
				f(slot)
			}
		}
	}
}

// Settled forgets which scores moved.
func (k *Buckets) Settled() {
	for _, b := range k.sorted {
		k.all[b].moved = false
	}
}

// Bytes is the memory that the buckets hold.
func (k *Buckets) Bytes() int {
	n := 4 * (cap(k.of) + cap(k.next) + cap(k.prev) + cap(k.counts) + cap(k.sorted) + cap(k.free))
	return n + cap(k.all)*int(unsafe.Sizeof(bucket{}))
}

// Has reports whether the node is in a bucket, with which raw score, and whether it is
// left out of the range.
func (k *Buckets) Has(slot int32) (value int64, out, ok bool) {
	if int(slot) >= len(k.of) || k.of[slot] < 0 {
		return 0, false, false
	}
	b := k.of[slot]
	return k.all[b].value, b == k.left, true
}

// String lists the buckets: the raw score, the normalized one, and how many nodes have
// them.
func (k *Buckets) String() string {
	text := fmt.Sprintf("range %d to %d:", k.low, k.high)
	if !k.ranged {
		text = "no range:"
	}
	for _, b := range k.sorted {
		at := &k.all[b]
		text += fmt.Sprintf(" raw %d gives %d (%d),", at.value, at.norm, at.nodes)
	}
	if k.left >= 0 {
		text += fmt.Sprintf(" left out (%d)", k.all[k.left].nodes)
	}
	return strings.TrimSuffix(text, ",")
}

// Check returns what does not hold of the buckets, nil if all does.
func (k *Buckets) Check() error {
	value := func(b int32) int64 { return k.all[b].value }
	if !slices.IsSortedFunc(k.sorted, func(a, b int32) int { return cmp.Compare(value(a), value(b)) }) {
		return fmt.Errorf("buckets: the values are not in order: %s", k)
	}
	used, listed := slices.Clone(k.sorted), 0
	if k.left >= 0 {
		used = append(used, k.left)
	}
	seen := map[int32]bool{}
	for i, b := range used {
		if seen[b] || i > 0 && b != k.left && value(used[i-1]) == value(b) {
			return fmt.Errorf("buckets: the value %d is there twice", value(b))
		}
		seen[b] = true
		n, err := k.checkList(b)
		if err != nil {
			return err
		}
		listed += n
	}
	for _, b := range k.free {
		if seen[b] {
			return fmt.Errorf("buckets: bucket %d is free twice, or used", b)
		}
		seen[b] = true
	}
	if len(seen) != len(k.all) {
		return fmt.Errorf("buckets: %d of %d are neither used nor free", len(k.all)-len(seen), len(k.all))
	}
	for _, b := range k.of {
		if b >= 0 {
			listed--
		}
	}
	if listed != 0 {
		return fmt.Errorf("buckets: %d nodes more are listed than say where they are", listed)
	}
	return nil
}

// checkList checks the list and the counts of one bucket, and returns its length.
func (k *Buckets) checkList(b int32) (n int, err error) {
	counts := make([]int32, k.groups)
	before := nowhere
	for slot := k.all[b].first; slot >= 0; before, slot = slot, k.next[slot] {
		if n++; n > len(k.of) || k.of[slot] != b || k.prev[slot] != before {
			return n, fmt.Errorf("buckets: slot %d in the list of bucket %d says bucket %d, after %d, want %d", slot, b, k.of[slot], k.prev[slot], before)
		}
		counts[k.groupOf[slot]]++
	}
	if n == 0 || n != int(k.all[b].nodes) || !slices.Equal(counts, k.counts[int(b)*k.groups:][:k.groups]) {
		return n, fmt.Errorf("buckets: bucket %d lists %d nodes, by group %v, but counts %d, %v", b, n, counts, k.all[b].nodes, k.counts[int(b)*k.groups:][:k.groups])
	}
	return n, nil
}

// CheckNorms returns what does not hold of the range and of the normalized scores right
// after Settle, nil if all does.
func (k *Buckets) CheckNorms(by framework.RangeNormalizer, shut []bool) error {
	low, high := k.span(shut)
	if low > high {
		return nil
	}
	if low != k.low || high != k.high || !k.ranged || k.unready {
		return fmt.Errorf("buckets: the range is %d to %d, want %d to %d", k.low, k.high, low, high)
	}
	for _, b := range k.sorted {
		at := &k.all[b]
		if at.value < low || at.value > high {
			continue
		}
		if want := by.NormalizeScore(at.value, low, high); at.norm != want || !at.ready {
			return fmt.Errorf("buckets: the raw score %d is normalized to %d, want %d", at.value, at.norm, want)
		}
	}
	return nil
}

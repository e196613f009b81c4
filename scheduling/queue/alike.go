package queue

import (
	"context"
	"slices"
	"time"
	"unique"
)

// Waiting pods that are alike stay together. One of them, the leader, has a place in the
// queue's lists and heaps; the others follow it in a tree, and whatever happens to the
// leader happens to all. A hundred thousand equal pods that an event wakes, and that are
// then rejected again, cost what one does.
//
// Invariant: an item that follows a leader has its class and a larger serial. All else that
// the queue knows of the two is equal, except how often they were tried and when they
// arrived. Their backoffs are equal, and stay so while all are rejected together.

// A Class is equal for pods that are alike but for their names. The zero value stands for
// no class.
type Class = unique.Handle[string]

// twins is an item's part in the tree of those behind a leader: a treap by serial, whose
// heap order comes from the serial, too.
type twins struct {
	left, right *Item
	up          *Item // the leader for the root
	size        int   // of the subtree
	due         happened
}

// happened is what has happened to all items of a subtree, but is not noted below its root.
type happened struct {
	attempts int // rejected ones
	flushed  bool
}

func (it *Item) apply(h happened) {
	it.Attempts += h.attempts
	it.Unschedulable += h.attempts
	it.Flushed = it.Flushed || h.flushed
}

// tell applies something to all items of a tree.
func tell(root *Item, h happened) {
	if root == nil {
		return
	}
	root.apply(h)
	d := &root.twins.due
	d.attempts += h.attempts
	d.flushed = d.flushed || h.flushed
}

// descend notes with the children of an item what is due.
func (it *Item) descend() {
	t := &it.twins
	if t.due != (happened{}) {
		tell(t.left, t.due)
		tell(t.right, t.due)
		t.due = happened{}
	}
}

// ascend restores what an item says of its children.
func (it *Item) ascend() {
	t := &it.twins
	t.size = 1 + sizeOf(t.left) + sizeOf(t.right)
	if t.left != nil {
		t.left.twins.up = it
	}
	if t.right != nil {
		t.right.twins.up = it
	}
}

func sizeOf(root *Item) int {
	if root == nil {
		return 0
	}
	return root.twins.size
}

// rank scatters the serials, so that the tree is shallow.
func (it *Item) rank() uint64 {
	x := it.serial * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// divide splits a tree into the items below a serial and the others.
func divide(root *Item, serial uint64) (below, others *Item) {
	if root == nil {
		return nil, nil
	}
	root.descend()
	if root.serial < serial {
		root.twins.right, others = divide(root.twins.right, serial)
		root.ascend()
		return root, others
	}
	below, root.twins.left = divide(root.twins.left, serial)
	root.ascend()
	return below, root
}

// unite joins two trees.
func unite(a, b *Item) *Item {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank() < b.rank():
		a, b = b, a
	}
	a.descend()
	below, others := divide(b, a.serial)
	a.twins.left, a.twins.right = unite(a.twins.left, below), unite(a.twins.right, others)
	a.ascend()
	return a
}

// first returns the item of a tree with the smallest serial.
func first(root *Item) *Item {
	root.descend()
	for root.twins.left != nil {
		root = root.twins.left
		root.descend()
	}
	return root
}

// behead takes the first item out of a tree.
func behead(root *Item) (it, rest *Item) {
	it = first(root)
	_, rest = divide(root, it.serial+1)
	it.twins = twins{}
	return it, rest
}

// each calls f for the items of a tree in the order of their serials.
func each(root *Item, f func(*Item)) {
	if root == nil {
		return
	}
	root.descend()
	each(root.twins.left, f)
	f(root)
	each(root.twins.right, f)
}

// lead makes a tree the items behind a leader.
func (it *Item) lead(root *Item) {
	it.rest = root
	if root != nil {
		root.twins.up = it
	}
}

// leader returns the leader of an item that is behind one.
func (it *Item) leader() *Item {
	for it.at == following {
		it = it.twins.up
	}
	return it
}

// follow copies what pods that are alike have in common.
func (it *Item) follow(leader *Item) {
	it.Timestamp, it.tried, it.again = leader.Timestamp, leader.tried, leader.again
	it.timed, it.expires, it.flushed = leader.timed, leader.expires, leader.flushed
	it.Rejectors, it.waits = leader.Rejectors, leader.waits
}

// together sets one leader over two items, which have no place, and those that follow them.
func together(a, b *Item) *Item {
	if b.serial < a.serial {
		a, b = b, a
	}
	rest := b.rest
	b.rest, b.at, b.twins = nil, following, twins{size: 1}
	a.lead(unite(unite(a.rest, b), rest))
	return a
}

// cede gives the item's place to the first of those that follow it.
func (q *Queue) cede(it *Item) {
	if it.rest == nil {
		return
	}
	next, rest := behead(it.rest)
	it.rest = nil
	q.stead(next, it)
	next.lead(rest)
	q.others[it.at]-- // it follows no more
}

// stead puts an item into the place of a leader, right behind it.
func (q *Queue) stead(it, leader *Item) {
	it.follow(leader)
	it.at = leader.at
	switch it.at {
	case active:
		q.active.push(it)
	case backingOff:
		q.backingOff.push(it)
	case standing:
		q.standing.insertAfter(it, leader)
	case unschedulable:
		q.waiting.push(it)
		leader.group.insertAfter(it, leader)
	}
}

// SetApart says that a waiting pod is no longer like others of its class: something has
// happened to it alone.
func (q *Queue) SetApart(it *Item) {
	q.detach(it)
	it.Class = Class{}
}

// detach gives an item a place of its own.
func (q *Queue) detach(it *Item) {
	if it.at == following {
		leader := it.leader()
		below, others := divide(leader.rest, it.serial)
		_, above := divide(others, it.serial+1)
		leader.lead(unite(below, above))
		it.twins = twins{}
		q.others[leader.at]--
		q.stead(it, leader)
	}
	q.cede(it)
}

// scatter detaches the items that follow a leader, for an event about one of them.
func (q *Queue) scatter(it *Item) {
	for it.rest != nil {
		q.detach(first(it.rest))
	}
}

// meeting identifies the waiting items that are alike and began to wait at one instant.
type meeting struct {
	class   Class
	backoff int
}

// meet joins an item, which is about to wait, with those that are alike, and returns their
// leader. A group is alone, because its backoff depends on its size, and so is what is delayed or
// deferred.
func (q *Queue) meet(it *Item) *Item {
	if it.Class == (Class{}) || it.pods > 1 || !it.deferred.IsZero() || !it.NotBefore.IsZero() || q.active.plain {
		return it
	}
	if !q.metAt.Equal(it.Timestamp) {
		q.metAt = it.Timestamp
		clear(q.met)
	}
	key := q.meeting(it)
	if other := q.met[key]; other != nil && q.meeting(other) == key && alike(it, other) {
		q.leave(other)
		it = together(it, other)
	}
	q.met[key] = it
	return it
}

func (q *Queue) meeting(it *Item) meeting {
	return meeting{it.Class, min(it.Unschedulable, q.longest)}
}

// alike reports whether two items that meet may stay together: one is about to wait and the
// other waits, unless it has left since. It may have been tried again at the same instant, and be
// delayed or deferred now.
func alike(it, other *Item) bool {
	a, b := &it.Rejectors, &other.Rejectors
	return other.at == unschedulable && other.pods <= 1 && other.deferred.IsZero() && other.NotBefore.IsZero() && it.profile == other.profile &&
		it.Timestamp.Equal(other.Timestamp) && it.tried.Equal(other.tried) && it.again == other.again && a.Message == b.Message && a.Early == b.Early &&
		slices.Equal(a.Plugins, b.Plugins) && slices.Equal(a.Pending, b.Pending) && slices.Equal(a.Unresolvable, b.Unresolvable)
}

// Failures returns how often a pod in the queue was tried, and why it waits. It costs
// O(log n) for n pods that are alike.
func (q *Queue) Failures(it *Item) (attempts int, message string) {
	attempts = it.Attempts
	leader := it
	for ; leader.at == following; leader = leader.twins.up {
		if leader != it {
			attempts += leader.twins.due.attempts
		}
	}
	return attempts, leader.Message
}

// RequeueAlike counts an attempt that failed for the pods that [Queue.Pop] would return
// next, as long as rejectors knows what rejects their class, and returns how many they are.
// It is as if each was popped and requeued. Use it only while nothing has happened since
// rejectors was found out.
//
// Cost: O(log n) for each class, not for each pod.
func (q *Queue) RequeueAlike(ctx context.Context, rejectors func(Class) (Rejectors, bool)) (attempts int) {
	list := q.passing[:0]
	var it *Item
	var by Rejectors
	for {
		if it = q.top(); it == nil {
			break
		}
		var ok bool
		if by, ok = rejectors(it.Class); !ok {
			break
		}
		list = append(list, passing{it, it.at, by})
		q.leave(it)
	}
	now := q.options.Now()
	for i := range list {
		p := &list[i]
		q.stop(p, it)
		attempts += 1 + sizeOf(p.it.rest)
		q.reject(ctx, p.it, p.by, now)
	}
	clear(list)
	q.passing = list
	return attempts
}

// passing is an item that is rejected without an attempt, with those behind it.
type passing struct {
	it *Item
	at place
	by Rejectors
}

// stop puts those behind the item back that come after the pod that must be tried first.
func (q *Queue) stop(p *passing, next *Item) {
	it := p.it
	if next == nil || it.rest == nil || next.at != p.at || next.Pod.Priority != it.Pod.Priority ||
		!next.Timestamp.Equal(it.Timestamp) || p.at == backingOff && next.expires != it.expires {
		return
	}
	before, after := divide(it.rest, next.serial)
	it.lead(before)
	if after != nil {
		it.at = p.at
		leader, rest := behead(after)
		q.stead(leader, it)
		leader.lead(rest)
		q.others[p.at] += sizeOf(rest)
		it.at = nowhere
	}
}

// reject is Pop and Requeue for an item without a place, and those behind it.
func (q *Queue) reject(ctx context.Context, it *Item, by Rejectors, now time.Time) {
	once := happened{attempts: 1}
	it.apply(once)
	tell(it.rest, once)
	it.again, it.tried = !it.tried.IsZero() && it.tried.Equal(now), now
	it.Timestamp, it.timed, it.Errors = now, false, 0
	it.NotBefore, it.deferred = time.Time{}, time.Time{}
	by.Class = it.Class
	it.Rejectors = by
	q.send(ctx, it, skip)
}

// longest is the number of failures after which the backoff of a pod grows no more.
func (b Backoff) longest() int {
	n := 1
	for b.Duration(n, 1) < b.Duration(64, 1) {
		n++
	}
	return n
}

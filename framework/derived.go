package framework

import (
	"sync/atomic"

	"github.com/berth-sched/berth/framework/api"
)

// memo holds values derived from an immutable object, one per key, computed at first
// use. It is safe for concurrent use: two goroutines may both compute a value, and one
// result is kept.
type memo struct{ latest atomic.Pointer[memoEntry] }

// A memoKey is known by its address.
type memoKey struct{ _ byte }

// A memoEntry is a value, and those stored before it. It never changes.
type memoEntry struct {
	key    *memoKey
	value  any
	before *memoEntry
}

func (m *memo) load(key *memoKey) (any, bool) { return m.latest.Load().find(key) }

func (e *memoEntry) find(key *memoKey) (any, bool) {
	for ; e != nil; e = e.before {
		if e.key == key {
			return e.value, true
		}
	}
	return nil, false
}

func (m *memo) store(key *memoKey, value any) any {
	e := &memoEntry{key: key, value: value}
	for {
		e.before = m.latest.Load()
		if won, ok := e.before.find(key); ok {
			return won
		}
		if m.latest.CompareAndSwap(e.before, e) {
			return value
		}
	}
}

// A PodDerived is something that a plugin derives from a pod alone, such as its
// compiled selectors. It is computed once per [PodInfo] and must not be changed.
type PodDerived[T any] struct {
	build func(p *PodInfo) *T
	key   *memoKey
}

// NewPodDerived returns a derivation. build must depend on the pod alone and
// must not return nil. Keep the result in a package variable.
func NewPodDerived[T any](build func(p *PodInfo) *T) *PodDerived[T] {
	return &PodDerived[T]{build, new(memoKey)}
}

// Of returns what is derived from the pod. The first call computes it.
func (d *PodDerived[T]) Of(p *PodInfo) *T {
	if v, ok := p.derived.load(d.key); ok {
		return v.(*T)
	}
	return p.derived.store(d.key, d.build(p)).(*T)
}

// Known returns what was derived from the pod already, nil if nothing was.
func (d *PodDerived[T]) Known(p *PodInfo) *T {
	if v, ok := p.derived.load(d.key); ok {
		return v.(*T)
	}
	return nil
}

// Share makes v, which must equal what build would return, what is derived from the pod.
// So pods that are equal in all that build reads can have one value. If something was
// derived from the pod before, that stays and is returned.
func (d *PodDerived[T]) Share(p *PodInfo, v *T) *T { return p.derived.store(d.key, v).(*T) }

// A NodeDerived is something that a plugin derives from a node object alone. It is
// computed once per version of the object, and shared by forks of a snapshot.
type NodeDerived[T any] struct {
	build func(n *api.Node) *T
	key   *memoKey
}

// NewNodeDerived returns a derivation. build must depend on the node object
// alone and must not return nil. Keep the result in a package variable.
func NewNodeDerived[T any](build func(n *api.Node) *T) *NodeDerived[T] {
	return &NodeDerived[T]{build, new(memoKey)}
}

// Of returns what is derived from the node. The first call computes it.
func (d *NodeDerived[T]) Of(n *NodeInfo) *T {
	if v, ok := n.static.derived.load(d.key); ok {
		return v.(*T)
	}
	return n.static.derived.store(d.key, d.build(n.Node)).(*T)
}

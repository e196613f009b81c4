package devices

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// What makes answers invalid that are kept for nodes: a change of the devices in use, and one of the slices.

// touch makes the answers that are kept for the nodes of a pool invalid, whose use p has
// changed. likely is a node that is probably one of them, or nil.
func (x *State) touch(s *framework.Snapshot, id PoolID, p *poolUse, likely *framework.NodeInfo) {
	if x.cataloged.Load() == nil {
		return // the state is being made
	}
	c := x.catalogOf(s)
	if p.catalog == c.id {
		touchPool(s, p.slices, likely)
	} else {
		touchPool(s, c.pool(id), likely)
	}
}

// touchPool touches the nodes that can use a pool with these slices. likely spares the
// look-up of its name.
func touchPool(s *framework.Snapshot, list []*slice, likely *framework.NodeInfo) {
	last, wide := "", false
	for _, x := range list {
		switch name := x.where.node; {
		case name == "":
			wide = true
		case name == last:
		case likely != nil && name == likely.Name():
			s.Touch(likely)
			last = name
		default:
			touchNode(s, name)
			last = name
		}
	}
	if wide {
		touchReached(s, list)
	}
}

// touchReached makes the answers that are kept for all nodes invalid that slices on the
// network reach.
func touchReached(s *framework.Snapshot, list []*slice) {
	for _, n := range s.All() {
		if slices.ContainsFunc(list, func(x *slice) bool { return x.where.node == "" && x.reaches(n.Node) }) {
			s.Touch(n)
		}
	}
}

func touchNode(s *framework.Snapshot, name string) {
	if n := s.Node(name); n != nil {
		s.Touch(n)
	}
}

// sliceChanged touches the nodes that have devices of a slice, before or after the change, and all nodes that
// its pool has devices for: whether the pool is complete and valid, and what is left of its counters, follow from
// all of its slices. Only nodes that the last catalog has devices of the pool for can have answers about them.
func (x *State) sliceChanged(s *framework.Snapshot, key string, now *api.ResourceSlice) {
	old, ok := x.slices.Get(key)
	if ok {
		touchSlice(s, old)
		x.touchOthers(s, poolIDOf(old))
	}
	if now != nil && (!ok || poolIDOf(old) != poolIDOf(now)) {
		x.touchOthers(s, poolIDOf(now))
	}
	if now == nil {
		cut(s, &x.slices, key)
		return
	}
	change(s, &x.slices, key, now)
	touchSlice(s, now)
}

// touchOthers touches the nodes that a pool has devices for, as far as answers may be kept. If many of its slices
// are on the network, it touches all nodes.
func (x *State) touchOthers(s *framework.Snapshot, id PoolID) {
	known := x.cataloged.Load()
	if known == nil {
		return
	}
	const few = 16
	list, wide := known.catalog.pool(id), 0
	for _, in := range list {
		if in.where.node == "" {
			wide++
		}
	}
	if wide <= few {
		touchPool(s, list, nil)
		return
	}
	for _, n := range s.All() {
		s.Touch(n)
	}
}

func poolIDOf(x *api.ResourceSlice) PoolID { return PoolID{x.Spec.Driver, x.Spec.Pool.Name} }

func touchSlice(s *framework.Snapshot, x *api.ResourceSlice) {
	if name := x.Spec.NodeName; name != nil && *name != "" {
		touchNode(s, *name)
		return
	}
	touchReached(s, []*slice{newSlice(x, nil)})
}

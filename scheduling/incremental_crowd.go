package scheduling

import (
	"slices"
	"weak"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// crowds keeps nodes as if the pods nominated to them were there, in a fork of the
// snapshot. Thousands of pods may be nominated to one node, each is asked about with all
// others there, and from one to the next only a few pods differ.
//
// Only filters that are known to read no more than the node's object and its pods may be
// asked: nothing else in the fork follows the snapshot.
type crowds struct {
	path  referencePath
	of    weak.Pointer[framework.Snapshot]
	fork  *framework.Snapshot
	kinds uint64         // of the DeviceClasses in the fork
	at    map[int]*crowd // by slot
}

// crowd is a node as if nominated pods were there.
//
// Invariant: the node in the fork has the pods in placed and nominated, and the object of
// that generation.
type crowd struct {
	static            uint64
	placed, nominated []*framework.PodInfo
	spare             []*framework.PodInfo // memory for nominated
}

// Bounds of crowds: how many pods must be nominated to a node, and how many nodes are kept.
const (
	crowdLeast = 16
	crowdsMost = 64
)

// ask asks the filters that are bound to the pod of the cycle about a node with the pods
// nominated to it; false if that must be found out in another way.
func (x *crowds) ask(c *framework.Cycle, bound []boundFilter, node *framework.NodeInfo) (v verdict, ok bool) {
	r, s := &x.path, c.Snapshot
	if len(node.Nominated) < crowdLeast || slices.ContainsFunc(bound, func(b boundFilter) bool { return !r.plugins.filters[b.At].simple }) {
		return v, false
	}
	kinds := framework.ObjectsVersion[api.DeviceClass](s)
	if x.fork == nil || x.of != weak.Make(s) || x.fork.Schema() != s.Schema() || x.kinds != kinds || len(x.at) > crowdsMost {
		x.fork, x.of, x.kinds, x.at = s.Fork(), weak.Make(s), kinds, map[int]*crowd{}
	}
	if !x.follow(c.Pod, node) {
		x.fork = nil
		return v, false
	}
	r.cycle.Reset(c.Pod, x.fork, c.Number, c.Seed)
	if err := r.plugins.bindFilters(&r.cycle, &r.bound, &r.plugins.allFilters); err != nil || !r.bound.rejected.IsSuccess() || r.bound.restrict {
		return v, false
	}
	if !slices.EqualFunc(bound, r.bound.filters, func(a, b boundFilter) bool { return a.At == b.At }) {
		return v, false
	}
	p := probe{node: x.fork.AtSlot(node.Slot())}
	return x.verdict(&p)
}

func (x *crowds) verdict(p *probe) (v verdict, ok bool) {
	var err error
	func() {
		defer x.path.catch(p, &err)
		err = x.path.filter(p, &v)
	}()
	return v, err == nil
}

// follow makes the node in the fork have the pods that it has in the snapshot and those that
// are nominated to it and count for the pod.
func (x *crowds) follow(pod *framework.PodInfo, node *framework.NodeInfo) bool {
	slot := node.Slot()
	k := x.at[slot]
	if k == nil || k.static != node.NodeGeneration() {
		if k != nil {
			return false // the next pod makes another fork
		}
		k = &crowd{static: node.NodeGeneration(), placed: slices.Clone(x.fork.AtSlot(slot).Pods)}
		if x.fork.AtSlot(slot).NodeGeneration() != k.static {
			return false
		}
		x.at[slot] = k
	}
	want := k.spare[:0]
	for _, q := range node.Nominated {
		if reckonsWith(pod, q) {
			want = append(want, q)
		}
	}
	goneP, newP := difference(k.placed, node.Pods)
	goneN, newN := difference(k.nominated, want)
	for _, list := range [][]*framework.PodInfo{goneN, goneP} {
		for _, p := range list {
			if x.fork.RemovePodAt(p, x.fork.AtSlot(slot)) != nil {
				return false
			}
		}
	}
	for _, list := range [][]*framework.PodInfo{newP, newN} {
		for _, p := range list {
			if x.fork.AddPodAt(p, x.fork.AtSlot(slot)) != nil {
				return false
			}
		}
	}
	k.placed, k.nominated, k.spare = append(k.placed[:0], node.Pods...), want, k.nominated
	return true
}

// difference returns parts of two lists such that the rest of both is the same.
func difference[T comparable](a, b []T) (onlyA, onlyB []T) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

// readsNodeOnly reports whether a filter of this module reads no more than the object of a
// node and its pods: no other objects, no extension of the snapshot, and no time.
func readsNodeOnly(p framework.Plugin) bool {
	switch p.(type) {
	case filter.NodeResourcesFit, filter.NodePorts, filter.NodeName, filter.NodeUnschedulable, filter.TaintToleration,
		filter.NodeAffinity, filter.NodeLabel, filter.NodeDeclaredFeatures:
		return true
	}
	return false
}

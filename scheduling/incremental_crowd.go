package scheduling

import (
	"slices"
	"weak"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
)

// crowds keeps nodes as if the pods nominated to them were there, in a fork of the
// snapshot. Thousands of pods may be nominated to one node, each is asked about with all
// others there, and from one to the next only a few pods differ.
//
// Nothing but these nodes follows the snapshot in the fork. So only filters that are known
// to read no more than the node's object and its pods are asked about the nodes of the fork.
type crowds struct {
	of   weak.Pointer[framework.Snapshot]
	fork *framework.Snapshot
	at   map[int]*crowd // by slot
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

// ask asks filters of the path about a node with the pods nominated to it; false if that must
// be found out in another way.
func (x *crowds) ask(r *referencePath, filters []boundFilter, node *framework.NodeInfo) (v verdict, ok bool) {
	if len(node.Nominated) < crowdLeast || slices.ContainsFunc(filters, func(b boundFilter) bool { return r.supposes(b) == notAtAll }) {
		return v, false
	}
	k := x.follow(r.cycle.Snapshot, r.cycle.Pod, node)
	if k == nil {
		x.fork = nil
		return v, false
	}
	p := probe{node: node}
	var err error
	defer func() { ok = ok && err == nil }()
	defer r.catch(&p, &err)
	there := x.fork.AtSlot(node.Slot())
	for i, b := range filters {
		p.filter = i
		var status framework.Status
		switch r.supposes(b) {
		case byNode:
			status = b.Filter.Filter(r.cycle.Pod, there)
		case withoutPods:
			status = b.Filter.Filter(r.cycle.Pod, node)
		default:
			if status, ok = b.Filter.(supposer).FilterWith(r.cycle.Pod, node, k.nominated); !ok {
				return v, false
			}
		}
		if !status.IsSuccess() {
			return verdict{int32(b.At), status}, status.IsRejected()
		}
	}
	return verdict{filter: passed}, true
}

// supposition is how a bound filter answers as if pods were on a node that are not.
type supposition uint8

const (
	notAtAll    supposition = iota // the pods must be added
	byNode                         // it reads the object and the pods of the node that it gets
	withoutPods                    // it reads no pods
	bySupposer                     // it is a supposer
)

func (r *referencePath) supposes(b boundFilter) supposition {
	if s := r.plugins.filters[b.At].supposes; s != notAtAll {
		return s
	}
	if _, ok := b.Filter.(supposer); ok {
		return bySupposer
	}
	return notAtAll
}

// follow makes the node in the fork have the pods that it has in the snapshot and those that
// are nominated to it and count for the pod; nil if it cannot.
func (x *crowds) follow(s *framework.Snapshot, pod *framework.PodInfo, node *framework.NodeInfo) *crowd {
	if x.fork == nil || x.of != weak.Make(s) || x.fork.Schema() != s.Schema() || len(x.at) > crowdsMost {
		x.fork, x.of, x.at = s.Fork(), weak.Make(s), map[int]*crowd{}
	}
	slot := node.Slot()
	k := x.at[slot]
	if k == nil || k.static != node.NodeGeneration() {
		if k != nil {
			return nil // the next pod makes another fork
		}
		there := x.fork.AtSlot(slot) // nil if the node came after the fork
		if there == nil || there.NodeGeneration() != node.NodeGeneration() {
			return nil
		}
		k = &crowd{static: there.NodeGeneration(), placed: slices.Clone(there.Pods)}
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
				return nil
			}
		}
	}
	for _, list := range [][]*framework.PodInfo{newP, newN} {
		for _, p := range list {
			if x.fork.AddPodAt(p, x.fork.AtSlot(slot)) != nil {
				return nil
			}
		}
	}
	k.placed, k.nominated, k.spare = append(k.placed[:0], node.Pods...), want, k.nominated
	return k
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

// suppositionOf knows filters of this module. Those by node read no other objects once they
// are bound, no extension of the snapshot, and no time.
func suppositionOf(p framework.Plugin) supposition {
	switch p.(type) {
	case filter.NodeResourcesFit, filter.NodePorts, filter.NodeName, filter.NodeUnschedulable, filter.TaintToleration,
		filter.NodeAffinity, filter.NodeLabel, filter.NodeDeclaredFeatures:
		return byNode
	case filter.VolumeBinding, filter.VolumeZone:
		return withoutPods
	}
	return notAtAll
}

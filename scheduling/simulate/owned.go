package simulate

import (
	"cmp"
	"slices"
)

// An ownership holds the workloads that a workload owns, such as the ReplicaSets of a
// Deployment: the youngest last, those of one age by name.
type ownership map[Ref][]*controller

// ownerOf names what owns the workload, and reports whether anything does.
func ownerOf(c *controller) (Ref, bool) {
	owner := c.ControllerRef()
	if owner == nil {
		return Ref{}, false
	}
	return Ref{owner.Kind, c.Namespace + "/" + owner.Name}, true
}

// staying returns what the workload owns and is not being deleted. The list must not be changed.
func (o ownership) staying(ref Ref) []*controller {
	list, isGoing := o[ref], func(c *controller) bool { return c.IsTerminating() }
	if !slices.ContainsFunc(list, isGoing) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), isGoing)
}

// hasPods reports whether something that the workload owns has pods, although it may be being deleted. A
// Deployment makes no pods as long as its last ReplicaSet has some.
func (o ownership) hasPods(ref Ref) bool {
	return slices.ContainsFunc(o[ref], func(c *controller) bool { return len(c.live) > 0 })
}

func byAge(a, b *controller) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
}

// add notes the owner of a workload.
func (o ownership) add(c *controller) {
	if owner, ok := ownerOf(c); ok {
		i, _ := slices.BinarySearchFunc(o[owner], c, byAge)
		o[owner] = slices.Insert(o[owner], i, c)
	}
}

// remove forgets the owner of a workload, before that changes. An owner that owns nothing any
// more may have something to do.
func (o ownership) remove(w *world, c *controller) {
	owner, ok := ownerOf(c)
	if !ok {
		return
	}
	i, ok := slices.BinarySearchFunc(o[owner], c, byAge)
	if !ok {
		return
	}
	if o[owner] = slices.Delete(o[owner], i, i+1); len(o[owner]) > 0 {
		return
	}
	delete(o, owner)
	if c := w.controllers[owner]; c != nil {
		w.lookAt(c)
	}
}

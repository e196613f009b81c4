package devices

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// An Offer counts the devices that nodes have for an extended resource. The zero Offer
// has none.
type Offer struct {
	snapshot *framework.Snapshot
	state    *State
	classes  *Classes
	name     resource.Name
	compiler api.DeviceSelectorCompiler
}

// OfferOf returns what nodes have of the resource.
func OfferOf(s *framework.Snapshot, name resource.Name, compiler api.DeviceSelectorCompiler) Offer {
	if !IsCandidate(name) {
		return Offer{}
	}
	return Offer{s, StateOf(s), ClassesOf(s), name, compiler}
}

// On returns how many devices of the class behind the resource a node has, and how many of
// them are in use. Both are 0 if no class stands behind it, or if a selector of the class
// fails for a device. Selectors that take more than [DefaultSteps] fail, too. They see devices
// that cannot be shared. Pools and generations do not matter.
//
// Source: kube-scheduler 1.37, noderesources, calculateDeviceCounts.
func (o *Offer) On(node *framework.NodeInfo) (devices, used int64) {
	if o.state == nil {
		return 0, 0
	}
	class := o.classes.Behind(o.snapshot, o.name)
	if class == nil {
		return 0, 0
	}
	c := o.state.catalogOf(o.snapshot)
	questions := o.state.programs.ofClass(o.compiler, class, true)
	steps := DefaultSteps
	for _, list := range [2][]*slice{c.on(node.Name()), c.wide} {
		for _, s := range list {
			if !s.offers(node.Node) {
				continue
			}
			uses := o.state.usesOf(s)
			for i := range s.devices {
				if !s.counts(i, node.Node) {
					continue
				}
				answer := questions.about(&s.devices[i], steps)
				steps -= answer.steps
				if answer.err != nil {
					return 0, 0
				}
				if answer.ok {
					devices++
					if u := uses.of(&s.devices[i]); u.isDedicated() || u.isShared() {
						used++
					}
				}
			}
		}
	}
	return devices, used
}

// offers reports whether devices of the slice can count on the node. A slice without any
// selection counts everywhere.
func (s *slice) offers(n *api.Node) bool {
	if s.perDevice || !s.where.given() {
		return true
	}
	if s.where.all {
		return true
	}
	ok, err := s.where.matches(n)
	return ok && err == nil
}

// counts reports whether a device can be used on the node.
func (s *slice) counts(i int, n *api.Node) bool {
	if !s.perDevice {
		return true
	}
	ok, err := s.devices[i].where.matches(n)
	return ok && err == nil
}

package devices

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
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
// fails for a device. Pools and generations do not matter.
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
	conditions := o.state.conditions(nil, o.compiler, class.Name, class.Spec.Selectors)
	if len(conditions) != len(class.Spec.Selectors) {
		return 0, 0
	}
	for _, list := range [2][]*slice{c.on(node.Name()), c.wide} {
		for _, s := range list {
			if !s.offers(node.Node) {
				continue
			}
			uses := o.state.usesOf(s)
			for i := range s.devices {
				ok, failed := s.counts(i, node.Node, conditions)
				if failed {
					return 0, 0
				}
				if ok {
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

// counts reports whether a device counts on the node: it can be used there, and all
// conditions hold. They see a device that cannot be shared.
func (s *slice) counts(i int, n *api.Node, conditions []condition) (ok, failed bool) {
	if s.perDevice {
		if ok, err := s.devices[i].where.matches(n); !ok || err != nil {
			return false, false
		}
	}
	for k := range conditions {
		var yes bool
		var err error
		if p := conditions[k].program; s.devices[i].shareable {
			yes, err = s.askUnshared(p, i)
		} else {
			a := s.answersOf(p)
			yes, err = a.yes[i], a.errs[i]
		}
		if err != nil {
			return false, true
		}
		if !yes {
			return false, false
		}
	}
	return true, false
}

// askUnshared evaluates a program for a device as if it could not be shared.
func (s *slice) askUnshared(p *program, i int) (bool, error) {
	d := *s.devices[i].Device
	d.AllowMultipleAllocations = nil
	switch {
	case p.err != nil:
		return false, p.err
	case p.built != nil:
		return p.built.Match(expr.NewDevice(s.pool.Driver, &d))
	}
	return p.other.MatchesDevice(s.pool.Driver, &d)
}

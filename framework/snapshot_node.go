package framework

import (
	"errors"

	"github.com/berth-sched/berth/framework/api"
)

// AddNode adds a node without pods. The object must not change while it is in the
// snapshot.
//
// It is an [*api.InvalidError] if the node is nil, has no name, has a negative quantity
// or has the name of another node; if the snapshot would know more than
// [resource.MaxNames] resources; or if a transaction is open.
func (s *Snapshot) AddNode(node *api.Node) error {
	if err := s.check(); err != nil {
		return err
	}
	n, err := s.newNode(node)
	if err != nil {
		return err
	}
	if s.Node(node.Name) != nil {
		return &api.InvalidError{Object: "node " + node.Name, Field: "metadata.name", Value: node.Name, Err: errDuplicate}
	}
	if err := s.refuseInTransaction(node.Name); err != nil {
		return err
	}
	s.startChange()
	n.slot = int32(s.takeSlot())
	s.install(n)
	s.names = s.names.own(s.owner)
	s.names.slots[node.Name] = n.Slot()
	s.tree = s.tree.own(s.owner)
	s.tree.add(n.static.zone, n.Slot())
	s.images = s.images.own(s.owner)
	s.images.add(node)
	s.endChange()
	return s.tellNodes("NodeAdded", func(w NodeWatcher) { w.NodeAdded(s, n) })
}

// UpdateNode replaces the object of a node and keeps its pods. It is an
// [*api.InvalidError] if there is no such node or if AddNode would refuse the object.
func (s *Snapshot) UpdateNode(node *api.Node) error {
	if err := s.check(); err != nil {
		return err
	}
	n, err := s.newNode(node)
	if err != nil {
		return err
	}
	old := s.Node(node.Name)
	if old == nil {
		return unknownNode(node.Name)
	}
	if err := s.refuseInTransaction(node.Name); err != nil {
		return err
	}
	s.startChange()
	kept := old.clone(s.owner)
	n.slot = old.slot
	n.setVectors(n.Allocatable, old.Requested)
	n.full = old.full
	n.NonZeroRequested, n.Pods, n.UsedPorts = kept.NonZeroRequested, kept.Pods, kept.UsedPorts
	n.Nominated = kept.Nominated
	n.followObject()
	s.install(n)
	if n.static.zone != old.static.zone {
		s.tree = s.tree.own(s.owner)
		s.tree.move(old.static.zone, n.static.zone, n.Slot())
	}
	s.images = s.images.own(s.owner)
	s.images.remove(old.Node)
	s.images.add(node)
	s.endChange()
	return s.tellNodes("NodeUpdated", func(w NodeWatcher) { w.NodeUpdated(s, old, n) })
}

// RemoveNode removes a node and its pods, the last pod first. It is an
// [*api.InvalidError] if there is no such node or if a transaction is open. It costs
// O(N) for N nodes of its zone.
func (s *Snapshot) RemoveNode(name string) error {
	if err := s.check(); err != nil {
		return err
	}
	n := s.Node(name)
	if n == nil {
		return unknownNode(name)
	}
	if err := s.refuseInTransaction(name); err != nil {
		return err
	}
	if err := s.removePods(n.Slot()); err != nil {
		return err
	}
	n = s.node(n.Slot())
	s.startChange()
	s.countNominated(n.Slot(), len(n.Nominated), 0)
	s.nodeSet = s.newGeneration()
	s.put(n.Slot(), nil, s.nodeSet)
	s.releaseSlot(n.Slot())
	s.names = s.names.own(s.owner)
	delete(s.names.slots, name)
	s.tree = s.tree.own(s.owner)
	s.tree.remove(n.static.zone, n.Slot())
	s.images = s.images.own(s.owner)
	s.images.remove(n.Node)
	s.endChange()
	return s.tellNodes("NodeRemoved", func(w NodeWatcher) { w.NodeRemoved(s, n) })
}

// LoseNode is [Snapshot.RemoveNode] for a node whose pods still exist, and may come back with
// it. Unlike after RemoveNode, they have not gone: what extensions hold for them until they
// go, such as their devices, stays. If one of them goes, tell the snapshot with
// [Snapshot.ReleasePod].
func (s *Snapshot) LoseNode(name string) error {
	if err := s.check(); err != nil {
		return err
	}
	s.losing = true
	defer func() { s.losing = false }()
	return s.RemoveNode(name)
}

// removePods removes all pods of a node, the last one first, or none.
func (s *Snapshot) removePods(slot int) error {
	if len(s.node(slot).Pods) == 0 {
		return nil
	}
	m := s.Begin()
	defer s.Rollback(m)
	for n := s.node(slot); len(n.Pods) > 0; n = s.node(slot) {
		if err := s.remove(n, len(n.Pods)-1); err != nil {
			return err
		}
	}
	s.Commit(m)
	return nil
}

// install puts a new NodeInfo with a new node object into its slot.
func (s *Snapshot) install(n *NodeInfo) {
	s.nodeSet = s.newGeneration()
	n.owner, n.generation, n.static.generation = s.owner, s.nodeSet, s.nodeSet
	s.put(n.Slot(), n, s.nodeSet)
}

func (s *Snapshot) refuseInTransaction(node string) error {
	if s.undo.isOpen() {
		return &api.InvalidError{Object: "node " + node, Err: errInTransaction}
	}
	return nil
}

func unknownNode(name string) error {
	return &api.InvalidError{Object: nodeObject(name), Field: "metadata.name", Value: name, Err: errUnknownNode}
}

// nodeObject names the node in an error.
func nodeObject(name string) string {
	if name == "" {
		return "node"
	}
	return "node " + name
}

var (
	errDuplicate     = errors.New("there is already a node of this name")
	errUnknownNode   = errors.New("no such node")
	errInTransaction = errors.New("nodes cannot come, go or change while a transaction is open; use Snapshot.Fork")
)

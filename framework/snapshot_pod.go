package framework

import "errors"

// AddPod counts the pod on the node of that name. An unknown node, a PodInfo
// of another schema, or a total beyond the largest int64 is an
// [*InvalidError]. The snapshot does not check whether the pod fits, nor
// whether it is on a node already.
//
// Differs: kube-scheduler's sums of a node wrap around beyond the largest int64,
// as with pods of 9E of cpu and 100m; such a pod is refused here.
func (s *Snapshot) AddPod(p *PodInfo, node string) error {
	if err := s.CheckPod(p); err != nil {
		return err
	}
	n := s.named(node, p)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	return s.add(p, n.Slot())
}

// RemovePod takes the pod off the node of that name. A pod is recognised by
// its UID, without one by namespace and name. A pod that is not there is an
// [*InvalidError].
func (s *Snapshot) RemovePod(p *PodInfo, node string) error {
	if err := s.CheckPod(p); err != nil {
		return err
	}
	n := s.named(node, p)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	return s.forget(p, n)
}

// Assume is AddPod for a node of this snapshot that is at hand. A NodeInfo
// from before a fork will do: the node is found by its slot and name.
func (s *Snapshot) Assume(p *PodInfo, n *NodeInfo) error {
	if err := s.CheckPod(p); err != nil {
		return err
	}
	if err := s.checkNode(p, n); err != nil {
		return err
	}
	return s.add(p, n.Slot())
}

// Forget is RemovePod for a node of this snapshot that is at hand. Forgetting
// the pod that was assumed last restores the content of the node exactly; its
// generation is a new one, unlike after [Snapshot.Rollback].
func (s *Snapshot) Forget(p *PodInfo, n *NodeInfo) error {
	if err := s.CheckPod(p); err != nil {
		return err
	}
	if err := s.checkNode(p, n); err != nil {
		return err
	}
	return s.forget(p, s.node(n.Slot()))
}

// Touch tells the snapshot that an extension changed what it holds for the
// node: answers kept for the node are no longer valid. While a transaction is
// rolled back, generations are those of the content that comes back, so a
// touch gives none. A node that is not in the snapshot, or nil, is
// ignored.
func (s *Snapshot) Touch(n *NodeInfo) {
	if n == nil || !s.holds(n) {
		return
	}
	if s.undo.rolling {
		s.journal.add(n.Slot())
		return
	}
	n = s.own(n.Slot())
	s.undo.record(undoEntry{kind: undoTouch, slot: n.Slot(), generation: n.generation})
	s.changed(n)
}

// named returns the node of that name, nil if there is none. A pod mostly leaves
// the node that it came to last, in whichever snapshot; its hint is the slot of
// that one, and spares looking the name up.
func (s *Snapshot) named(name string, p *PodInfo) *NodeInfo {
	if n := s.AtSlot(int(p.hint.Load())); n != nil && n.name == name {
		return n
	}
	return s.Node(name)
}

func (s *Snapshot) add(p *PodInfo, slot int) error {
	p.hint.Store(int32(slot)) // before the node is written to: a locked instruction waits for earlier writes
	n := s.own(slot)
	if err := n.add(p); err != nil {
		return err
	}
	s.undo.record(undoEntry{kind: undoAdd, slot: slot, generation: n.generation})
	s.changed(n)
	s.eachPodWatcher(func(w PodWatcher) { w.PodAdded(s, n, p) })
	return nil
}

func (s *Snapshot) forget(p *PodInfo, n *NodeInfo) error {
	i := n.find(p)
	if i < 0 {
		return podOnNode(p, n.Name(), errNotOnNode)
	}
	s.remove(n.Slot(), i)
	return nil
}

func (s *Snapshot) remove(slot, i int) {
	n := s.own(slot)
	p := n.removeAt(i)
	s.undo.record(undoEntry{kind: undoRemove, slot: slot, index: i, pod: p, generation: n.generation})
	s.changed(n)
	s.eachPodWatcher(func(w PodWatcher) { w.PodRemoved(s, n, p) })
}

// changed gives the node a new generation. The caller owns it.
func (s *Snapshot) changed(n *NodeInfo) {
	n.generation = s.newGeneration()
	s.journal.add(n.Slot())
}

// CheckPod returns an [*InvalidError] for a PodInfo that cannot be used with the
// snapshot, because it is nil or follows another schema: its vectors would be
// read wrongly. A PodInfo that the snapshot or a fork of it made is always right.
func (s *Snapshot) CheckPod(p *PodInfo) error {
	switch {
	case p == nil || p.Pod == nil:
		return &InvalidError{Object: "pod", Err: errNil}
	case p.schema != s.lineage.schema:
		return &InvalidError{Object: podObject(p.Pod), Err: errForeignPod}
	}
	return nil
}

func (s *Snapshot) checkNode(p *PodInfo, n *NodeInfo) error {
	switch {
	case n == nil || n.Node == nil:
		return &InvalidError{Object: podObject(p.Pod), Field: "spec.nodeName", Err: errors.New("the node is nil")}
	case !s.holds(n):
		return podOnNode(p, n.Name(), errUnknownNode)
	}
	return nil
}

// holds reports whether the snapshot has the node, in whichever state.
func (s *Snapshot) holds(n *NodeInfo) bool {
	have := s.AtSlot(n.Slot())
	return have == n || have != nil && have.Name() == n.Name()
}

func podOnNode(p *PodInfo, node string, err error) error {
	return &InvalidError{Object: podObject(p.Pod), Field: "spec.nodeName", Value: node, Err: err}
}

var (
	errNil        = errors.New("is nil")
	errNotOnNode  = errors.New("the pod is not on this node")
	errForeignPod = errors.New("its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo")
)

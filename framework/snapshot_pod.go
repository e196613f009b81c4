package framework

import (
	"errors"
	"maps"

	"github.com/berth-sched/berth/framework/api"
)

// AddPod counts the pod on the node of that name. It is an [*api.InvalidError] if there
// is no such node, or if the PodInfo has another schema. A panic of an extension is an error,
// too, and the pod does not count. The snapshot does not check whether the pod fits, nor whether
// it is on a node already; see [Snapshot.RefuseDuplicates].
//
// Differs: sums of a node beyond the largest int64, as with pods of 9E of cpu and
// 100m.
// Original: kube-scheduler's sums wrap around.
// Here: such a sum stays at the largest int64, and is exact again once pods have left.
// Why: a wrapped sum makes a full node look empty.
func (s *Snapshot) AddPod(p *PodInfo, node string) error {
	if !s.takes(p) {
		var err error
		if p, err = s.Current(p); err != nil {
			return err
		}
	}
	n := s.NodeOf(p, node)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	return s.add(p, n)
}

// RemovePod takes the pod off the node of that name. It recognises a pod by its UID, or
// by namespace and name if it has none. It is an [*api.InvalidError] if the pod is not
// there.
//
// A pod that was running still has the node in its spec.nodeName, and so fits no other
// one. To place it again, use its [PodInfo.Pending]. For a newer version of a pod, use
// [Snapshot.ReplacePod].
func (s *Snapshot) RemovePod(p *PodInfo, node string) error {
	if !s.takes(p) {
		var err error
		if p, err = s.Current(p); err != nil {
			return err
		}
	}
	n := s.NodeOf(p, node)
	if n == nil {
		return podOnNode(p, node, errUnknownNode)
	}
	return s.forget(p, n)
}

// LosePod is [Snapshot.RemovePod] for a pod that still exists: it is on another node, too, or a binding of it is under
// way. Unlike after RemovePod, what extensions hold for it until it goes, such as its devices, stays. If it goes,
// tell the snapshot with [Snapshot.ReleasePod]. While a transaction is open, it is an [*api.InvalidError].
func (s *Snapshot) LosePod(p *PodInfo, node string) error {
	if s.check() == nil && s.undo.isOpen() && p != nil && p.Pod != nil {
		return podOnNode(p, node, errLostInTransaction)
	}
	if s != nil {
		s.losing = true
		defer func() { s.losing = false }()
	}
	return s.RemovePod(p, node)
}

// ReplacePod puts p, a newer version of the pod old, in the place of old on the node of that
// name. Unlike after [Snapshot.RemovePod] and AddPod, the pod has not left: what extensions
// hold for it until it goes, such as its devices, stays. On an error, old stays. The errors
// are those of RemovePod and AddPod; another name, namespace or UID is an
// [*api.InvalidError], too.
func (s *Snapshot) ReplacePod(old, p *PodInfo, node string) error {
	if old != nil && old.Pod != nil && p != nil && p.Pod != nil && (old.Pod.UID != p.Pod.UID || old.Pod.Key() != p.Pod.Key()) {
		return podOnNode(p, node, errAnotherPod)
	}
	m := s.Begin()
	defer s.Rollback(m)
	if err := s.RemovePod(old, node); err != nil {
		return err
	}
	p.countAs(old)
	if err := s.AddPod(p, node); err != nil {
		return err
	}
	s.Commit(m)
	return nil
}

// countAs takes over what an older version of the pod counts as, if it is the same: most newer
// versions have another status.
func (p *PodInfo) countAs(old *PodInfo) {
	if p == nil || p.Pod == nil || p == old || p.HasPodAffinity() || old.HasPodAffinity() {
		return
	}
	if (p.Pod.DeletionTimestamp == nil) != (old.Pod.DeletionTimestamp == nil) || !maps.Equal(p.Pod.Labels, old.Pod.Labels) {
		return
	}
	p.Runner().Counted.CompareAndSwap(nil, old.Runner().Counted.Load())
}

// ReleasePod says that a pod that is on no node will not come back. Extensions then free what
// they hold for it until it goes, such as its devices. Call it for pods of a node that was
// lost ([Snapshot.LoseNode], [Snapshot.LosePod]); [Snapshot.RemovePod] and [Snapshot.RemoveNode] need no such
// call. That the pod is on no node is not checked. It is an [*api.InvalidError] if p is nil.
func (s *Snapshot) ReleasePod(p *PodInfo) error {
	if s.check() != nil || p == nil || p.Pod == nil {
		return s.refuse(p)
	}
	for _, h := range s.podHolders {
		s.tellReleased(h, p)
	}
	return s.broken
}

// AddPodAt is AddPod for a NodeInfo of this snapshot. The NodeInfo may be older than
// the last fork: the node is found by its slot and name.
func (s *Snapshot) AddPodAt(p *PodInfo, n *NodeInfo) error {
	if !s.takes(p) {
		var err error
		if p, err = s.Current(p); err != nil {
			return err
		}
	}
	n, err := s.present(p, n)
	if err != nil {
		return err
	}
	return s.add(p, n)
}

// RemovePodAt is RemovePod for a NodeInfo of this snapshot. Removing the pod that was
// added last restores the content of the node exactly, but unlike [Snapshot.Rollback]
// gives it a new generation.
func (s *Snapshot) RemovePodAt(p *PodInfo, n *NodeInfo) error {
	if !s.takes(p) {
		var err error
		if p, err = s.Current(p); err != nil {
			return err
		}
	}
	n, err := s.present(p, n)
	if err != nil {
		return err
	}
	return s.forget(p, n)
}

// Touch makes answers that are kept for the node invalid. Call it when an extension
// changes what it holds for the node. It gives the node a new generation, except in a
// rollback, which restores the earlier one. A node that is nil or not in the snapshot
// is ignored.
func (s *Snapshot) Touch(n *NodeInfo) {
	if n == nil {
		return
	}
	if n = s.asIs(n); n == nil {
		return
	}
	if s.undo.rolling {
		s.journal.Add(n.Slot())
		return
	}
	s.startChange()
	n = s.own(n)
	s.undo.record(undoEntry{kind: undoTouch, slot: n.Slot(), generation: n.generation})
	s.changed(n)
	s.endChange()
}

// NodeOf returns the node of that name, nil if there is none, like Node. It is faster
// if the pod came to that node last, in whichever snapshot: it looks there before it
// looks the name up. The pod may be nil.
func (s *Snapshot) NodeOf(p *PodInfo, name string) *NodeInfo {
	if p != nil {
		if n := s.AtSlot(int(p.hint.Load())); n != nil && n.name == name {
			return n
		}
	}
	return s.Node(name)
}

func (s *Snapshot) add(p *PodInfo, n *NodeInfo) error {
	if s.strict {
		if err := s.refuseDuplicate(p, n); err != nil {
			return err // the node is still shared with a fork, if it was
		}
	}
	if !s.opensOwn(p) {
		return s.addInside(p, n)
	}
	m := s.beginOwn()
	return s.endOwn(m, s.addInside(p, n))
}

// opensOwn reports whether the coming or going of a pod is a transaction of its own: none is open, and extensions must be
// able to take back what they did if one panics.
func (s *Snapshot) opensOwn(p *PodInfo) bool {
	return len(s.podWatchers) > 0 && !s.undo.isOpen() && s.isWatched(p)
}

func (s *Snapshot) addInside(p *PodInfo, n *NodeInfo) error {
	start := len(s.undo.entries)
	n, before := s.enter(p, n)
	if !s.isWatched(p) {
		return nil
	}
	made := len(s.podWatchers)
	told, err := s.tellPods(podAdded, 0, made, n, p)
	if err != nil {
		s.revert(undoEntry{kind: undoAdd, slot: n.Slot(), generation: before}, start, told, made)
	}
	return err
}

// enter puts the pod on the node, before extensions are told. It returns the node as it is now, and the generation that
// it had.
func (s *Snapshot) enter(p *PodInfo, n *NodeInfo) (now *NodeInfo, before uint64) {
	s.startChange()
	p.hint.Store(n.slot) // before the node is written to: a locked instruction waits for earlier writes
	n = s.own(n)
	n.add(p)
	s.tallyPod(p, 1)
	before = n.generation
	if s.undo.records() {
		s.undo.record(undoEntry{kind: undoAdd, slot: n.Slot(), generation: before})
	}
	s.changed(n)
	s.endChange()
	return n, before
}

func (s *Snapshot) forget(p *PodInfo, n *NodeInfo) error {
	i := s.placeOf(p, n)
	if i < 0 {
		return podOnNode(p, n.Name(), errNotOnNode)
	}
	return s.remove(n, i)
}

// placeOf returns the place of the pod among those of the node, -1 if it is not there.
func (s *Snapshot) placeOf(p *PodInfo, n *NodeInfo) int {
	if n.owner == s.owner {
		return n.findOwn(p)
	}
	return n.find(p)
}

func (s *Snapshot) remove(n *NodeInfo, i int) error {
	if !s.opensOwn(n.Pods[i]) {
		return s.removeInside(n, i)
	}
	m := s.beginOwn()
	return s.endOwn(m, s.removeInside(n, i))
}

func (s *Snapshot) removeInside(n *NodeInfo, i int) error {
	start := len(s.undo.entries)
	s.startChange()
	n = s.own(n)
	p := n.removeAt(i)
	s.tallyPod(p, -1)
	before := n.generation
	if s.undo.records() {
		s.undo.record(undoEntry{kind: undoRemove, slot: n.Slot(), index: i, pod: p, generation: before})
	}
	s.changed(n)
	s.endChange()
	if !s.isWatched(p) {
		return nil
	}
	made := len(s.podWatchers)
	told, err := s.tellPods(podRemoved, 0, made, n, p)
	if err != nil {
		s.revert(undoEntry{kind: undoRemove, slot: n.Slot(), index: i, pod: p, generation: before}, start, told, made)
	}
	return err
}

// changed gives the node a new generation. The caller owns it.
func (s *Snapshot) changed(n *NodeInfo) {
	n.generation = s.newGeneration()
	s.note(n.Slot(), n.generation)
}

// Current returns the pod as the snapshot reads it now. That is p itself, unless p was
// derived before the snapshot got another [Snapshot.Schema], or with that of a fork: then
// it is derived anew. It is an [*api.InvalidError] if p is nil or was made for a snapshot
// that is neither this one nor a fork of the same.
func (s *Snapshot) Current(p *PodInfo) (*PodInfo, error) {
	if s.takes(p) {
		return p, nil
	}
	if s.knows(p) {
		return NewPodInfo(p.Pod, s.schema)
	}
	return nil, s.refuse(p)
}

// knows reports whether the PodInfo was made for this snapshot or a fork of the same.
func (s *Snapshot) knows(p *PodInfo) bool {
	return s != nil && s.lineage != nil && s.broken == nil && p != nil && p.Pod != nil && p.schema != nil && p.schema.Related(s.schema)
}

// CheckPod returns an [*api.InvalidError] for a PodInfo whose vectors the snapshot would
// misread: it is nil, or it has another schema. A PodInfo that the snapshot or a fork of
// it made can be used as long as both have the same [Snapshot.Schema].
func (s *Snapshot) CheckPod(p *PodInfo) error {
	if s.takes(p) {
		return nil
	}
	return s.refuse(p)
}

// takes reports whether CheckPod has nothing to say. The compiler inlines it.
func (s *Snapshot) takes(p *PodInfo) bool {
	return s != nil && s.lineage != nil && s.broken == nil && p != nil && p.Pod != nil && p.schema == s.schema
}

func (s *Snapshot) refuse(p *PodInfo) error {
	switch {
	case s == nil || s.lineage == nil || s.broken != nil:
		return s.check()
	case p == nil || p.Pod == nil:
		return &api.InvalidError{Object: "pod", Err: errNil}
	}
	if s.knows(p) {
		return &api.InvalidError{Object: podObject(p.Pod), Err: errOldPod}
	}
	return &api.InvalidError{Object: podObject(p.Pod), Err: errForeignPod}
}

// present returns the node as the snapshot has it now, or an error about the pod.
func (s *Snapshot) present(p *PodInfo, n *NodeInfo) (*NodeInfo, error) {
	if n == nil || n.Node == nil {
		return nil, &api.InvalidError{Object: podObject(p.Pod), Field: "spec.nodeName", Err: errors.New("the node is nil")}
	}
	if now := s.asIs(n); now != nil {
		return now, nil
	}
	return nil, podOnNode(p, n.Name(), errUnknownNode)
}

// asIs returns the node as the snapshot has it now, nil if it is not there. Mostly it is
// n itself; returning n then spares the processor a wait for the look-up by slot.
func (s *Snapshot) asIs(n *NodeInfo) *NodeInfo {
	switch have := s.AtSlot(n.Slot()); {
	case have == n:
		return n
	case have != nil && have.Name() == n.Name():
		return have
	}
	return nil
}

func podOnNode(p *PodInfo, node string, err error) error {
	return &api.InvalidError{Object: podObject(p.Pod), Field: "spec.nodeName", Value: node, Err: err}
}

var (
	errNil               = errors.New("is nil")
	errLostInTransaction = errors.New("a pod cannot be lost while a transaction is open; use Snapshot.RemovePod")
	errAnotherPod        = errors.New("the pod to replace has another name, namespace or UID; use RemovePod and AddPod")
	errNotOnNode         = errors.New("the pod is not on this node")
	errOldPod            = errors.New("its PodInfo was made before the snapshot gave up names of resources; take Snapshot.Current of it")
	errForeignPod        = errors.New("its PodInfo was made for another snapshot; make it with Snapshot.NewPodInfo")
)

package topo

import (
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// WatchedParts returns which pods the snapshot must tell of: until classes are known, those with
// terms, which make them known.
func (t *Tables) WatchedParts() framework.PodParts {
	if t.tracking {
		return 0
	}
	return framework.PartPodAffinity
}

// PodAdded implements [framework.PodWatcher].
func (t *Tables) PodAdded(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	t.count(n.Slot(), p, 1)
}

// PodRemoved implements [framework.PodWatcher].
func (t *Tables) PodRemoved(_ *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	t.count(n.Slot(), p, -1)
}

// NodeAdded implements [framework.NodeWatcher].
func (t *Tables) NodeAdded(_ *framework.Snapshot, n *framework.NodeInfo) {
	t.enter(n)
	t.renew()
}

// NodeRemoved implements [framework.NodeWatcher].
func (t *Tables) NodeRemoved(_ *framework.Snapshot, n *framework.NodeInfo) {
	t.leave(n)
	t.renew()
}

// NodeUpdated implements [framework.NodeWatcher]. Status updates of a node are
// frequent and cheap. A move between domains is rare, and costs a look at the
// node's pods.
func (t *Tables) NodeUpdated(_ *framework.Snapshot, old, n *framework.NodeInfo) {
	if t.stays(old.Node, n.Node) {
		if !maps.Equal(old.Node.Labels, n.Node.Labels) {
			t.nodesVersion = t.snapshot.NewVersion() // another fork may know the key
		}
		return
	}
	t.recountAll(n, -1)
	t.leave(old)
	t.enter(n)
	t.recountAll(n, 1)
	t.renew()
}

// recountAll adds all pods of a node to their counters, or removes them.
func (t *Tables) recountAll(n *framework.NodeInfo, by int32) {
	if !t.tracking {
		return
	}
	for _, p := range n.Pods {
		t.recount(t.classOf(p), n.Slot(), by)
	}
}

// stays reports whether both versions of a node are in the same domains and sets. If what
// rules read of a node is the same, as where only its status is new, no rule is asked.
func (t *Tables) stays(old, n *api.Node) bool {
	sameLabels := maps.Equal(old.Labels, n.Labels)
	if sameLabels && slices.EqualFunc(old.Spec.Taints, n.Spec.Taints, sameTaint) {
		return true
	}
	for _, k := range t.keys {
		if k == nil || sameLabels {
			continue
		}
		was, had := old.Labels[k.label]
		is, has := n.Labels[k.label]
		if !k.single && (was != is || had != has) {
			return false
		}
	}
	for _, set := range t.nodeSets {
		if set != nil && set.rule.allows(old) != set.rule.allows(n) {
			return false
		}
	}
	return true
}

// sameTaint reports whether the same pods tolerate both taints.
func sameTaint(a, b api.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

// enter puts a node, without its pods, into its domains and sets.
func (t *Tables) enter(n *framework.NodeInfo) {
	slot := n.Slot()
	first := false // node with one of the keys
	for i, k := range t.keys {
		if k == nil {
			continue
		}
		had := k.hasNodes()
		k = t.ownKey(i)
		k.add(slot, n.Node.Labels)
		first = first || !had && k.hasNodes()
	}
	if first {
		t.wake()
	}
	for i, set := range t.nodeSets {
		if set != nil {
			t.ownNodeSet(i).put(slot, set.rule.allows(n.Node))
		}
	}
	t.present(slot, 1)
}

// leave removes a node from its domains and sets. Its pods must be removed before.
func (t *Tables) leave(n *framework.NodeInfo) {
	slot := n.Slot()
	t.present(slot, -1)
	for i, k := range t.keys {
		if k != nil {
			t.ownKey(i).remove(slot, n.Node.Labels)
		}
	}
	for i, set := range t.nodeSets {
		if set != nil {
			t.ownNodeSet(i).put(slot, false)
		}
	}
}

// present adds a node to all extents, or removes it.
func (t *Tables) present(slot int, by int32) {
	for id, c := range t.counters {
		if c == nil || c.extent == nil {
			continue
		}
		if d := t.domain(c, slot); d != none {
			c = t.ownCounter(int32(id))
			c.extent.node(t.owner, c.counts, d, by)
		}
	}
}

// renew invalidates all answers cached for the old set of nodes.
func (t *Tables) renew() {
	t.clock++
	t.anew, t.nodesVersion = t.clock, t.snapshot.NewVersion()
	t.divisions = nil
}

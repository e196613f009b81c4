package guard

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	helpers "k8s.io/component-helpers/resource"
)

// Ledger follows nodes, pods and volumes through every change, in the order in which the
// store made them, and writes down what must not happen:
//
//   - a pod that has a node gets another, or none;
//   - a pod is bound to a node that never was there;
//   - a binding takes more of a node's CPU, memory or pods than there is;
//   - a volume that belongs to a claim goes to another, or a claim changes its volume.
//
// It knows nothing of schedulers.
type Ledger struct {
	nodes  map[string]*node
	pods   map[types.UID]*pod
	claims map[types.UID]string // UID of a claim to its volume
	owners map[string]types.UID // volume to the UID of its claim
	broken []string             // what must not happen and did
	counts Counts
}

// Counts are totals since the beginning.
type Counts struct {
	Pods    int // pods that are there now
	Bound   int // of these, pods with a node
	Nodes   int // nodes that are there now
	Created int // pods that were ever there
	Binds   int // bindings seen
	Late    int // of these, to a node that had just been deleted
	Deleted int // pods deleted
}

// node is what the ledger knows of a node's name; it stays when the node is deleted.
type node struct {
	there bool
	room  v1.ResourceList
	taken v1.ResourceList
	pods  int64
}

type pod struct {
	name     string
	node     string
	requests v1.ResourceList
	counted  bool // it takes room on its node
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{
		nodes: map[string]*node{}, pods: map[types.UID]*pod{},
		claims: map[types.UID]string{}, owners: map[string]types.UID{},
	}
}

// Counts returns the totals.
func (l *Ledger) Counts() Counts { return l.counts }

// Broken lists what must not happen and did.
func (l *Ledger) Broken() []string { return slices.Clone(l.broken) }

// Placements returns the node of every pod that is there, "" for none, by the pod's name.
func (l *Ledger) Placements() map[string]string {
	all := make(map[string]string, len(l.pods))
	for _, p := range l.pods {
		all[p.name] = p.node
	}
	return all
}

func (l *Ledger) fail(format string, values ...any) {
	l.broken = append(l.broken, fmt.Sprintf(format, values...))
}

func (l *Ledger) nodeOf(name string) *node {
	n := l.nodes[name]
	if n == nil {
		n = &node{taken: v1.ResourceList{}}
		l.nodes[name] = n
	}
	return n
}

// PutNode records that a node was added or changed.
func (l *Ledger) PutNode(o *v1.Node) {
	n := l.nodeOf(o.Name)
	if !n.there {
		l.counts.Nodes++
	}
	n.there, n.room = true, o.Status.Allocatable
}

// DeleteNode records that a node was deleted.
func (l *Ledger) DeleteNode(name string) {
	if n := l.nodeOf(name); n.there {
		n.there = false
		l.counts.Nodes--
	}
}

// PutPod records that a pod was added or changed.
func (l *Ledger) PutPod(o *v1.Pod) {
	p := l.pods[o.UID]
	if p == nil {
		p = &pod{name: o.Name, node: o.Spec.NodeName, requests: helpers.PodRequests(o, helpers.PodResourcesOptions{})}
		l.pods[o.UID] = p
		l.counts.Pods++
		l.counts.Created++
		if p.node != "" {
			l.counts.Bound++
		}
	} else if p.node != o.Spec.NodeName {
		if p.node != "" {
			l.fail("pod %s (%s) moved from node %s to %q", o.Name, o.UID, p.node, o.Spec.NodeName)
			l.release(p)
			l.counts.Bound--
		}
		p.node = o.Spec.NodeName
		if p.node != "" {
			l.counts.Bound++
			l.bind(p)
		}
	}
	ended := o.Status.Phase == v1.PodSucceeded || o.Status.Phase == v1.PodFailed
	switch {
	case ended:
		l.release(p)
	case p.node != "" && !p.counted:
		l.take(p)
	}
}

// bind checks a binding that was just made and takes the room.
func (l *Ledger) bind(p *pod) {
	l.counts.Binds++
	n := l.nodeOf(p.node)
	if n.room == nil {
		l.fail("pod %s was bound to node %s, which never was there", p.name, p.node)
	}
	if !n.there {
		l.counts.Late++
	}
	l.take(p)
	for name, taken := range n.taken {
		if room := n.room[name]; taken.Cmp(room) > 0 && !isZero(p.requests, name) {
			l.fail("node %s has %s of %s and gave %s when pod %s came", p.node, room.String(), name, taken.String(), p.name)
		}
	}
	if room := n.room[v1.ResourcePods]; n.pods > room.Value() {
		l.fail("node %s takes %d pods and has %d since pod %s came", p.node, room.Value(), n.pods, p.name)
	}
}

func isZero(list v1.ResourceList, name v1.ResourceName) bool {
	q, ok := list[name]
	return !ok || q.IsZero()
}

func (l *Ledger) take(p *pod) {
	if p.counted {
		return
	}
	p.counted = true
	n := l.nodeOf(p.node)
	n.pods++
	for name, q := range p.requests {
		sum := n.taken[name].DeepCopy()
		sum.Add(q)
		n.taken[name] = sum
	}
}

func (l *Ledger) release(p *pod) {
	if !p.counted {
		return
	}
	p.counted = false
	n := l.nodeOf(p.node)
	n.pods--
	for name, q := range p.requests {
		rest := n.taken[name].DeepCopy()
		rest.Sub(q)
		n.taken[name] = rest
	}
}

// DeletePod records that a pod was deleted.
func (l *Ledger) DeletePod(uid types.UID) {
	p := l.pods[uid]
	if p == nil {
		return
	}
	l.release(p)
	delete(l.pods, uid)
	l.counts.Pods--
	l.counts.Deleted++
	if p.node != "" {
		l.counts.Bound--
	}
}

// PutVolume records that a volume was added or changed.
func (l *Ledger) PutVolume(o *v1.PersistentVolume) {
	if o.Spec.ClaimRef == nil || o.Spec.ClaimRef.UID == "" {
		delete(l.owners, o.Name) // released, or held for a claim of that name
		return
	}
	uid := o.Spec.ClaimRef.UID
	if old, ok := l.owners[o.Name]; ok && old != uid {
		l.fail("volume %s of claim %s went to claim %s (%s)", o.Name, old, uid, o.Spec.ClaimRef.Name)
	}
	l.owners[o.Name] = uid
}

// PutClaim records that a claim was added or changed.
func (l *Ledger) PutClaim(o *v1.PersistentVolumeClaim) {
	old := l.claims[o.UID]
	if old != "" && old != o.Spec.VolumeName {
		l.fail("claim %s changed its volume from %s to %q", o.Name, old, o.Spec.VolumeName)
	}
	if o.Spec.VolumeName != "" && old != o.Spec.VolumeName {
		for uid, name := range l.claims {
			if name == o.Spec.VolumeName && uid != o.UID {
				l.fail("volume %s is claimed by %s and by claim %s", name, o.Name, uid)
			}
		}
	}
	l.claims[o.UID] = o.Spec.VolumeName
}

// DeleteClaim records that a claim was deleted.
func (l *Ledger) DeleteClaim(uid types.UID) { delete(l.claims, uid) }

// DeleteVolume records that a volume was deleted.
func (l *Ledger) DeleteVolume(name string) { delete(l.owners, name) }

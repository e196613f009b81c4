package framework

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// Pod returns the pod of that key, "namespace/name", and the node that it is on, or
// nil and nil if no node has it. A pod that waits or is only nominated is on no node.
// Of several pods with one key it returns one.
//
// The first call is a change of the snapshot and costs O(pods). From then on the
// snapshot and its forks keep an index: a call costs O(1), and so does the index for
// each pod that comes or goes.
func (s *Snapshot) Pod(key string) (*PodInfo, *NodeInfo) {
	s.must()
	namespace, name, found := strings.Cut(key, "/")
	if !found {
		namespace, name = "", key
	}
	p, ok := podIndexKey.Of(s).places.Get(podName{namespace, name})
	if !ok {
		return nil, nil
	}
	return p.pod, s.node(int(p.slot))
}

// RefuseDuplicates makes the snapshot, and forks made later, refuse a pod of a
// namespace and name that a node has already: then [Snapshot.AddPod],
// [Snapshot.AddPodAt] and all that use them return an [*api.InvalidError] instead of
// counting the pod twice. It is off by default because it costs the index of
// [Snapshot.Pod] and a look-up for each pod that comes. Pods that are there already
// are not looked at.
func (s *Snapshot) RefuseDuplicates() {
	s.must()
	podIndexKey.Of(s)
	s.strict = true
}

// refuseDuplicate returns an error if a node has a pod of this name.
func (s *Snapshot) refuseDuplicate(p *PodInfo, n *NodeInfo) error {
	have, ok := podIndexKey.Of(s).places.Get(nameOf(p))
	if !ok {
		return nil
	}
	return podOnNode(p, n.Name(), fmt.Errorf("%w: on node %s", errTwice, s.node(int(have.slot)).Name()))
}

var errTwice = errors.New("the pod is there already")

type podName struct{ namespace, name string }

func nameOf(p *PodInfo) podName { return podName{p.Pod.Namespace, p.Pod.Name} }

// podPlace is where a pod is.
type podPlace struct {
	pod    *PodInfo
	slot   int32
	others int32 // how many more pods have the same name
}

// podIndex finds pods by name. It is an extension of the snapshots that were asked.
type podIndex struct {
	snapshot *Snapshot
	places   cow.Map[podName, podPlace]
}

var podIndexKey = NewExtensionKey(func(s *Snapshot) *podIndex {
	x := &podIndex{snapshot: s}
	for _, n := range s.All() {
		for _, p := range n.Pods {
			x.PodAdded(s, n, p)
		}
	}
	return x
})

// Fork implements [Extension].
func (x *podIndex) Fork(s *Snapshot) Extension { return &podIndex{s, x.places.Fork()} }

// PodAdded implements [PodWatcher].
func (x *podIndex) PodAdded(_ *Snapshot, n *NodeInfo, p *PodInfo) {
	place, name := podPlace{pod: p, slot: n.slot}, nameOf(p)
	if have, ok := x.places.Get(name); ok {
		place.others = have.others + 1
	}
	x.places.Set(name, place)
}

// PodRemoved implements [PodWatcher].
func (x *podIndex) PodRemoved(s *Snapshot, _ *NodeInfo, p *PodInfo) {
	name := nameOf(p)
	have, _ := x.places.Get(name)
	if have.others == 0 {
		x.places.Remove(name)
		return
	}
	for _, n := range s.All() { // it was added twice, which is rare: look for another
		for _, other := range n.Pods {
			if nameOf(other) == name {
				x.places.Set(name, podPlace{other, n.slot, have.others - 1})
				return
			}
		}
	}
}

// Pending returns the pod as it would wait for a place: without spec.nodeName and
// status.nominatedNodeName, not being deleted, without claims made for it, and with the status of
// a pod that has never run. The rest of it stays, its UID and owner included. It is derived once; a pod that has
// none of these is its own pending form.
//
// Use it to place a pod again that runs, as in a drain: with its spec.nodeName, as
// kubectl prints it, it fits only the node that it is to leave.
func (p *PodInfo) Pending() *PodInfo {
	pod := p.Pod
	if pod.Spec.NodeName == "" && pod.Status.NominatedNodeName == "" && pod.DeletionTimestamp == nil && len(pod.Status.ResourceClaimStatuses) == 0 {
		return p
	}
	return pendingForm.Of(p)
}

var pendingForm = NewPodDerived(func(p *PodInfo) *PodInfo {
	pod := *p.Pod
	pod.Spec.NodeName, pod.DeletionTimestamp = "", nil
	pod.Status = api.PodStatus{Phase: api.PodPending, QOSClass: p.Pod.Status.QOSClass}
	info, err := NewPodInfo(&pod, p.schema)
	if err != nil {
		panic("framework: a pod without its status is invalid: " + err.Error()) // it says less than a valid one
	}
	return info
})

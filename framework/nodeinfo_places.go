package framework

import "github.com/berth-sched/berth/framework/api"

// Anybody may create pods for a node by name, and so any number of them. A node with many
// keeps an index of their places, once looking for pods has taken as long as making one.

// manyPods is up to how many pods a node never has an index.
const manyPods = 64

// searchesToIndex is how many pods, for each pod of the node, are looked at before it gets an
// index.
const searchesToIndex = 16

// podPlaces are the places of a node's pods. Only the snapshot that owns the node reads and
// writes it.
//
// Invariant: of is nil, or of has for each pod k of the node, by identity, how many there
// are and, if it is the only one and the place is known, its place.
type podPlaces struct {
	searched int // pods that were looked at
	of       map[podIdentity]podAt
}

// A podIdentity is what a pod is recognised by; see [api.SamePod].
type podIdentity struct {
	uid             api.UID
	namespace, name string
}

// podAt is the place of the only pod of an identity; several have none.
type podAt struct {
	place int32 // -1 if it is not known
	count int32
}

func identityOf(p *PodInfo) podIdentity {
	if p.Pod.UID != "" {
		return podIdentity{uid: p.Pod.UID}
	}
	return podIdentity{namespace: p.Pod.Namespace, name: p.Pod.Name}
}

// findOwn is find for the snapshot that owns the node.
func (n *NodeInfo) findOwn(p *PodInfo) int {
	if len(n.Pods) <= manyPods {
		return n.find(p)
	}
	return n.findAmongMany(p)
}

// findAmongMany is findOwn for a node with many pods, whose places are kept.
func (n *NodeInfo) findAmongMany(p *PodInfo) int {
	if n.places == nil {
		n.places = new(podPlaces)
	}
	if at := n.places.of[identityOf(p)]; at.count == 1 && at.place >= 0 {
		if i := int(at.place); i < len(n.Pods) && api.SamePod(n.Pods[i].Pod, p.Pod) {
			return i
		}
	}
	i := n.find(p) // there are several, or it is not there, or somebody wrote to it
	if n.places.searched += len(n.Pods); n.places.of == nil && n.places.searched > searchesToIndex*len(n.Pods) {
		n.places.of = make(map[podIdentity]podAt, len(n.Pods))
		for k, q := range n.Pods {
			n.places.add(q, k)
		}
	}
	return i
}

func (x *podPlaces) add(p *PodInfo, place int) {
	if x == nil || x.of == nil {
		return
	}
	id := identityOf(p)
	at := x.of[id]
	if at.count++; at.count > 1 {
		place = -1
	}
	x.of[id] = podAt{int32(place), at.count}
}

// addLast adds the last pod of a node.
func (x *podPlaces) addLast(pods []*PodInfo) {
	last := len(pods) - 1
	x.add(pods[last], last)
}

func (x *podPlaces) remove(p *PodInfo) {
	if x == nil || x.of == nil {
		return
	}
	id := identityOf(p)
	if at := x.of[id]; at.count > 1 {
		x.of[id] = podAt{-1, at.count - 1}
	} else {
		delete(x.of, id)
	}
}

// move notes that the pod has another place.
func (x *podPlaces) move(p *PodInfo, place int) {
	if x == nil || x.of == nil {
		return
	}
	id := identityOf(p)
	if at := x.of[id]; at.count == 1 {
		x.of[id] = podAt{int32(place), 1}
	}
}

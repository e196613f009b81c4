package framework

import (
	"math"

	"github.com/berth-sched/berth/resource"
)

// Countable returns the pod as it can count on the node of that name beside the pods there, of
// which old, unless it is nil, leaves. This is p itself if no total would exceed the largest
// int64, or if the node or the pod is unknown. Otherwise it is another PodInfo of the same pod,
// whose UsedRequests, UsedNonZero and Unknown ask for as much as the totals hold: the node is
// full then.
//
// Use it for a pod that runs and so takes what it takes, where [Snapshot.AddPod] or
// [Snapshot.ReplacePod] refuses it. Use what it returns to take the pod off again. It costs
// what deriving a PodInfo does.
func (s *Snapshot) Countable(p, old *PodInfo, node string) *PodInfo {
	if !s.takes(p) && !s.knows(p) {
		return p
	}
	n := s.Node(node)
	if n == nil {
		return p
	}
	room := roomOf(n, old)
	limited, err := s.NewPodInfo(p.Pod)
	if err != nil || !room.limit(limited) {
		return p
	}
	return limited
}

// room is how much more the totals of a node hold, once a pod has left.
type room struct {
	node   *NodeInfo
	leaves *PodInfo // nil for none
}

func roomOf(n *NodeInfo, old *PodInfo) room {
	if old == nil || old.Pod == nil {
		return room{n, nil}
	}
	if i := n.find(old); i >= 0 {
		return room{n, n.Pods[i]}
	}
	return room{n, nil}
}

// of returns the room in the total of a resource.
func (r room) of(index int, name resource.Name) int64 {
	total := r.node.Requested.At(index)
	if r.leaves != nil {
		total -= r.leaves.uses(index, name)
	}
	return math.MaxInt64 - max(0, total)
}

// ofNonZero returns the room in NonZeroRequested[k].
func (r room) ofNonZero(k int) int64 {
	total := r.node.NonZeroRequested[k]
	if r.leaves != nil {
		total -= r.leaves.UsedNonZero[k]
	}
	return math.MaxInt64 - total
}

// limit makes a pod that nobody else has yet ask for no more than there is room, and reports
// whether it asked for more.
func (r room) limit(p *PodInfo) (more bool) {
	used := append(resource.Vector(nil), p.UsedRequests...)
	for i, x := range used {
		if x == 0 {
			continue
		}
		if most := r.of(i, p.schema.Name(i)); x > most {
			used[i], more = most, true
		}
	}
	for k, x := range p.UsedNonZero {
		if most := r.ofNonZero(k); x > most {
			p.UsedNonZero[k], more = most, true
		}
	}
	unknown := append([]UnknownRequest(nil), p.Unknown...)
	for k, u := range unknown {
		if i, ok := r.node.has(u.Name); ok {
			if most := r.of(i, u.Name); u.Used > most {
				unknown[k].Used, more = most, true
			}
		}
	}
	p.UsedRequests, p.Unknown = used, unknown
	return more
}

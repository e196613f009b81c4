package framework

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// An UnknownRequest is a pod's request for a resource that the schema has no number
// for. Names come with pods, which anyone may create, so they do not all get one:
// vectors would grow without bound.
type UnknownRequest struct {
	// Name is the resource.
	Name resource.Name
	// Requested is what the spec asks of a node, and Used what the pod counts as on
	// one, in the units of vectors.
	Requested, Used int64
}

// unknownRequests returns the requests for the named resources.
func unknownRequests(names []resource.Name, spec, used resource.List) (list []UnknownRequest) {
	for _, n := range names {
		requested, counted := spec[n], used[n]
		list = append(list, UnknownRequest{n, requested.Value(), counted.Value()})
	}
	return list
}

// UnknownRequest returns the entry of p.Unknown with the name, a zero one if there is none.
// It costs O(log n) for n entries.
func (p *PodInfo) UnknownRequest(name resource.Name) UnknownRequest {
	i, found := slices.BinarySearchFunc(p.Unknown, name, func(u UnknownRequest, n resource.Name) int {
		return strings.Compare(string(u.Name), string(n))
	})
	if !found {
		return UnknownRequest{}
	}
	return p.Unknown[i]
}

// without returns the list without the names.
func without(names []resource.Name, l resource.List) resource.List {
	if len(names) == 0 {
		return l
	}
	l = maps.Clone(l)
	for _, n := range names {
		delete(l, n)
	}
	return l
}

// Fresh returns the pod as it is derived now. That is p itself, unless a node has since
// brought a resource of p.Unknown. A snapshot counts both alike, and a scheduler places
// the fresh pod, so only code that reads the vectors of old PodInfos needs Fresh.
func (p *PodInfo) Fresh() *PodInfo {
	if len(p.Unknown) == 0 {
		return p
	}
	return p.fresh()
}

func (p *PodInfo) fresh() *PodInfo {
	for i := range p.Unknown {
		if _, ok := p.schema.Index(p.Unknown[i].Name); ok {
			if fresh, err := NewPodInfo(p.Pod, p.schema); err == nil {
				return fresh
			}
		}
	}
	return p
}

// uses returns how much of a resource the pod uses on a node.
func (p *PodInfo) uses(index int, name resource.Name) int64 {
	if u := p.UnknownRequest(name); u.Name == name {
		return u.Used
	}
	return p.UsedRequests.At(index)
}

// has reports whether the node object lists the resource, and its number.
func (n *NodeInfo) has(name resource.Name) (index int, ok bool) {
	if _, ok = n.Node.Status.Allocatable[name]; !ok {
		return 0, false
	}
	return n.static.schema.Index(name)
}

// recount adds up the unknown requests of the node's pods that p has too: for each
// resource that the node has, its pods' requests count, whenever they were derived. A
// resource that the node does not have cannot be free there, whatever its total is.
func (n *NodeInfo) recount(p *PodInfo) {
	for i := range p.Unknown {
		name := p.Unknown[i].Name
		index, ok := n.has(name)
		if !ok {
			continue
		}
		var total int64
		for _, q := range n.Pods {
			total = n.sum(total, q.uses(index, name))
		}
		n.Requested = n.Requested.With(index, total)
	}
}

// recountAll is recount for all pods, after the node object was replaced.
func (n *NodeInfo) recountAll() {
	for _, p := range n.Pods {
		if len(p.Unknown) > 0 {
			n.recount(p)
		}
	}
}

package framework

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/runner"
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

// unknownRequests returns the requests for the named resources, without those for nothing.
func unknownRequests(names []resource.Name, spec, used resource.List) (list []UnknownRequest) {
	for _, n := range names {
		requested, counted := spec[n], used[n]
		if u := (UnknownRequest{n, requested.Value(), counted.Value()}); u.Requested != 0 || u.Used != 0 {
			list = append(list, u)
		}
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
	if !p.has(runner.HasUnknown) {
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

// has reports whether the node object lists the resource, and its number.
func (n *NodeInfo) has(name resource.Name) (index int, ok bool) {
	if _, ok = n.Node.Status.Allocatable[name]; !ok {
		return 0, false
	}
	return n.static.schema.Index(name)
}

// eachUnknown calls f for each unknown request of the pod for a resource that the node has,
// with the number of the resource. A resource that the node does not have cannot be free
// there, so nothing counts it.
func (n *NodeInfo) eachUnknown(p *PodInfo, f func(index int, used int64)) {
	for i := range p.Unknown {
		if index, ok := n.has(p.Unknown[i].Name); ok {
			f(index, p.Unknown[i].Used)
		}
	}
}

// followObject finds the totals anew after the node object was replaced, if the node has pods
// with unknown requests: it may have other resources now.
func (n *NodeInfo) followObject() {
	if slices.ContainsFunc(n.Pods, func(p *PodInfo) bool { return len(p.Unknown) > 0 }) {
		n.countAnew()
	}
}

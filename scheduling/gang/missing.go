package gang

import (
	"errors"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Missing says what keeps a group from standing in a domain.
type Missing struct {
	// Pods is how many pods more would have to fit.
	Pods int `json:"pods"`
	// Nodes is how many empty nodes like the largest of the domain would take them. It is 0
	// if none would, if no node refuses the first pod for too little of a resource, and if
	// a pod of the group needs others near it, or has claims: then room may not be what is
	// missing.
	Nodes int `json:"nodes,omitempty"`
	// Resources are what the first pod that was refused finds too little of, by name.
	Resources map[resource.Name]Shortage `json:"resources,omitempty"`
	// Blocked counts the nodes of the domain by the reason that keeps this pod off.
	Blocked map[string]int `json:"blocked,omitempty"`
	// Exact is set if Pods follows from counts; otherwise it is an estimate.
	Exact bool `json:"exact"`
}

// A Shortage is how much of a resource is missing on the node that comes closest, in the
// schema's units, and on how many nodes something is missing.
type Shortage struct {
	Least int64 `json:"least"`
	Nodes int   `json:"nodes"`
}

// missing finds what is missing in the domain of a failed trial.
func (a *attempt) missing(t *Trial) *Missing {
	m := &Missing{Pods: max(0, a.g.need()-t.Pods), Exact: a.room != nil, Resources: map[resource.Name]Shortage{}, Blocked: map[string]int{}}
	first := -1
	for _, l := range t.Left {
		var fit *scheduling.FitError
		if errors.As(l.Err, &fit) {
			for _, r := range fit.Rejections {
				for _, text := range r.Status.Reasons() {
					m.Blocked[text] += r.Nodes
				}
			}
			first = l.index
			break
		}
	}
	if first < 0 {
		return m
	}
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	for _, p := range t.Placed {
		if a.snap.AddPod(a.g.Pods[p.index], p.Node) != nil {
			return m // an extension has failed
		}
	}
	pod := a.g.Pods[first]
	largest := 0
	for _, slot := range t.domain.slots {
		n := a.snap.AtSlot(slot)
		for i, x := range pod.Requests {
			name := a.snap.Schema().Name(i)
			if short := resource.SatSub(x, n.Allocatable.At(i)-n.Requested.At(i)); x > 0 && short > 0 && m.counts(i, name) {
				s, ok := m.Resources[name]
				if !ok || short < s.Least {
					s.Least = short
				}
				s.Nodes++
				m.Resources[name] = s
			}
		}
		largest = max(largest, m.holds(a.snap, n, pod))
	}
	if largest > 0 && lacksRoom(t.Left) && !slices.ContainsFunc(a.g.Pods, func(p *framework.PodInfo) bool { return needsOtherPods(p.Pod) || holdsClaims(p) }) {
		m.Nodes = (m.Pods + largest - 1) / largest
	}
	return m
}

// lacksRoom reports whether some node has refused the first pod for too little of a
// resource, or for too many pods.
func lacksRoom(left []Left) bool {
	for _, l := range left {
		var fit *scheduling.FitError
		if errors.As(l.Err, &fit) {
			return slices.ContainsFunc(fit.Rejections, func(r scheduling.Rejection) bool {
				return slices.ContainsFunc(r.Status.Reasons(), func(text string) bool {
					return text == "Too many pods" || strings.HasPrefix(text, "Insufficient ")
				})
			})
		}
	}
	return false
}

// counts reports whether a resource counts that a node has too little of. Devices may stand for an
// extended resource, and a profile may ignore it: then no node is refused for it.
func (m *Missing) counts(index int, name resource.Name) bool {
	return index <= resource.IndexEphemeralStorage || m.Blocked["Insufficient "+string(name)] > 0
}

// holds is how many replicas of the pod the node's resources would hold if it were empty.
func (m *Missing) holds(s *framework.Snapshot, n *framework.NodeInfo, pod *framework.PodInfo) int {
	fits := min(n.AllowedPods, countMost)
	for i, x := range pod.Requests {
		if x > 0 && (n.Allocatable.At(i) > 0 || m.counts(i, s.Schema().Name(i))) {
			fits = min(fits, n.Allocatable.At(i)/x)
		}
	}
	return int(max(0, fits))
}

package gang

import (
	"errors"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Missing says what keeps a group from standing in a domain.
type Missing struct {
	// Pods is how many pods more would have to fit.
	Pods int `json:"pods"`
	// Nodes is how many empty nodes like the largest of the domain would take them, 0 if none would. It is
	// also 0 where room may not be what is missing: if no node refuses the first pod for too little of a
	// resource, and if a pod of the group needs others near it or has claims. So it is if a pod must stay
	// apart from others in domains of several nodes, as anti-affinity of the group and on that node tells, and
	// if more than 64 pods that are not of one class remain. Slices are known by host only, and of pods of one
	// class.
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
		if _, n := a.snap.Pod(a.g.Pods[p.index].Pod.Key()); n != nil && n.Name() == p.Node {
			continue // it stands
		}
		if a.snap.AddPod(a.g.Pods[p.index], p.Node) != nil {
			return m // an extension has failed
		}
		a.snap.ClearNominations(a.g.Pods[p.index])
	}
	pod := a.g.Pods[first]
	largest, most := -1, 0
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
		if holds := m.holds(a.snap, n, pod); holds > most {
			largest, most = slot, holds
		}
	}
	if largest >= 0 && lacksRoom(t.Left) && !slices.ContainsFunc(a.g.Pods, func(p *framework.PodInfo) bool { return needsOtherPods(p.Pod) || holdsClaims(p) }) {
		m.Nodes = a.emptyNodes(t, m.Pods, largest)
	}
	return m
}

// mostFilled bounds the pods that emptyNodes places one by one.
const mostFilled = 64

// emptyNodes is how many nodes like the one of a slot, empty, take so many of the pods that do not stand; 0 if
// that is not known, or if they never do. The pods that stand count in the snapshot, which is left as it is
// when missing ends.
func (a *attempt) emptyNodes(t *Trial, pods, slot int) (nodes int) {
	stands := make([]bool, len(a.g.Pods))
	for _, p := range t.Placed {
		stands[p.index] = true
	}
	var left []*framework.PodInfo
	for i, pod := range a.g.Pods {
		if !stands[i] {
			left = append(left, pod)
		}
	}
	if a.room == nil && (len(left) > mostFilled || slices.ContainsFunc(left, a.isKeptApart)) {
		return 0
	}
	slice, ok := a.g.hostSlice()
	if !ok || slice > 1 && a.room == nil {
		return 0
	}
	n := a.snap.AtSlot(slot)
	for _, p := range slices.Clone(n.Pods) {
		if a.room == nil && keepsOffDomain(p.Pod) || a.snap.RemovePod(p, n.Name()) != nil {
			return 0
		}
	}
	for _, p := range slices.Clone(a.snap.AtSlot(slot).Nominated) {
		a.snap.ClearNomination(p, n.Name())
	}
	if a.room != nil {
		f, err := a.sched.Filtering(a.snap, left[0])
		if err != nil {
			return 0
		}
		each, err := f.Replicas(a.snap.AtSlot(slot), countMost)
		if each -= each % slice; err != nil || each == 0 {
			return 0
		}
		return (pods + each - 1) / each
	}
	for len(left) > 0 && pods > 0 {
		rest, err := a.fillEmpty(left, slot, pods)
		if err != nil || len(rest) == len(left) {
			return 0
		}
		pods -= len(left) - len(rest)
		left = rest
		nodes++
	}
	return nodes
}

// isKeptApart reports whether the pod may have to stay off the nodes of others in its domains: by its own
// anti-affinity, but for that by host, or by constraints that must hold.
func (a *attempt) isKeptApart(pod *framework.PodInfo) bool {
	return keepsOffDomain(pod.Pod) || slices.ContainsFunc(a.sched.SpreadConstraints(pod), func(c api.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable != api.ScheduleAnyway
	})
}

// keepsOffDomain reports whether the pod's anti-affinity may keep others off more nodes than its own.
func keepsOffDomain(p *api.Pod) bool {
	x := p.Spec.Affinity
	return x != nil && x.PodAntiAffinity != nil && slices.ContainsFunc(x.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t api.PodAffinityTerm) bool {
		return t.TopologyKey != api.LabelHostname
	})
}

// fillEmpty returns the pods that remain when the node of a slot takes of them what it can, and no more than most.
func (a *attempt) fillEmpty(pods []*framework.PodInfo, slot, most int) (rest []*framework.PodInfo, err error) {
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	for i, pod := range pods {
		if i-len(rest) == most {
			return append(rest, pods[i:]...), nil
		}
		f, err := a.sched.Filtering(a.snap, pod)
		if err != nil {
			return nil, err
		}
		taken, err := f.TryPlace(pod, a.snap.AtSlot(slot))
		if err != nil {
			return nil, err
		}
		if !taken {
			rest = append(rest, pod)
		}
	}
	return rest, nil
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

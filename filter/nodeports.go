package filter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/digest"
)

const reasonPorts = framework.Text("node(s) didn't have free ports for the requested pod ports")

// NodePorts rejects a node where one of the pod's host ports conflicts with a taken
// one: same protocol and port, and same address or, on either side, all addresses.
// Ports of containers and sidecars count. Removing the other pod helps.
//
// Source: kube-scheduler 1.37, plugin NodePorts.
//
// Differs: two pods of a node that hold the same port, which no scheduler allows.
// Original: kube-scheduler releases the port with the first.
// Here: it stays taken until both have left.
// Why: the second pod still holds it.
type NodePorts struct{}

// Name returns "NodePorts".
func (NodePorts) Name() string { return "NodePorts" }

// Scope declares that a verdict reads the pod's host ports and the node's pods, if the pod
// has any.
func (NodePorts) Scope(pod *framework.PodInfo) framework.Scope {
	if len(pod.HostPorts) == 0 {
		return framework.Scope{}
	}
	return framework.Scope{Pod: framework.FieldHostPorts, Reads: framework.ReadsPods}
}

// Concern implements [incremental.Concerned].
func (NodePorts) Concern() framework.PodParts { return framework.PartHostPorts }

// ScopeVaries implements [incremental.VaryingScoper].
func (NodePorts) ScopeVaries() framework.PodParts { return 0 }

// EventsToRegister names the events that may help a rejected pod: a node is added,
// or a pod releases a port that conflicts with one of the pod's.
func (p NodePorts) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{
		onAny(queueing.ResourceNode, queueing.ActionAdd),
		aboutThese(onPods(gone, func(pod, before, after *framework.PodInfo) bool {
			return before == nil || portsConflict(pod, before) && (after == nil || !samePorts(before, after))
		}), hostPorts, func(before, after *framework.PodInfo) []queueing.Subject {
			switch {
			case before == nil:
				return anything
			case after != nil && samePorts(before, after):
				return nil
			}
			return hostPorts(before)
		}),
		onSelf(p),
	}
}

// hostPorts are the host ports of a pod, at any address.
func hostPorts(pod *framework.PodInfo) []queueing.Subject {
	list := make([]queueing.Subject, len(pod.HostPorts))
	for i, h := range pod.HostPorts {
		list[i] = queueing.Subject{Key: "hostPort", Value: strconv.Itoa(int(h.Port)) + string(h.Protocol)}
	}
	return list
}

// sortedPorts are the host ports of a pod in the order of [api.CompareHostPorts]. They are found
// once: an event about one pod is compared with all waiting pods.
type sortedPorts struct {
	list   []api.HostPort
	digest [32]byte
}

var portsOf = framework.NewPodDerived(func(p *framework.PodInfo) *sortedPorts {
	s := &sortedPorts{list: slices.SortedFunc(slices.Values(p.HostPorts), api.CompareHostPorts)}
	var b []byte
	for _, h := range s.list {
		b = fmt.Appendf(b, "%d %q %q,", h.Port, h.Protocol, h.IP)
	}
	s.digest = digest.Sum(b)
	return s
})

// portsConflict reports whether two pods cannot be on one node for their host ports.
func portsConflict(a, b *framework.PodInfo) bool {
	if len(a.HostPorts)*len(b.HostPorts) <= manyPorts {
		return slices.ContainsFunc(a.HostPorts, func(p api.HostPort) bool { return slices.ContainsFunc(b.HostPorts, p.Conflicts) })
	}
	if len(a.HostPorts) > len(b.HostPorts) {
		a, b = b, a
	}
	sorted := portsOf.Of(b).list
	return slices.ContainsFunc(a.HostPorts, func(p api.HostPort) bool { return p.ConflictsAny(sorted) })
}

// samePorts reports whether two versions of a pod have the same host ports.
func samePorts(a, b *framework.PodInfo) bool {
	if n := len(a.HostPorts); n != len(b.HostPorts) || n <= manyPorts {
		return slices.Equal(a.HostPorts, b.HostPorts)
	}
	return portsOf.Of(a).digest == portsOf.Of(b).digest
}

// PreFilter skips pods without host ports.
func (p NodePorts) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(c.Pod.HostPorts) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	f := framework.Scratch[nodePorts](c)
	clear(f.freed)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// Filter rejects a node where one of the pod's host ports is taken.
func (NodePorts) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	return new(nodePorts).Filter(pod, node)
}

// nodePorts is the bound filter. It records pods that are removed from a node
// temporarily, although the node's ports are up to date: see NodePorts.
type nodePorts struct{ freed map[freedPort]bool }

// manyPorts is how many pairs of ports are compared one by one.
const manyPorts = 1 << 10

// freedPort is a port of a node whose pod was removed.
type freedPort struct {
	slot int
	port api.HostPort
}

func (f *nodePorts) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if len(pod.HostPorts)*len(node.UsedPorts) > manyPorts {
		return f.filterMany(pod, node)
	}
	for i := range node.UsedPorts {
		used := &node.UsedPorts[i]
		for j := range pod.HostPorts {
			want := &pod.HostPorts[j]
			if want.Port == used.Port && want.Conflicts(*used) && !f.freed[freedPort{node.Slot(), *used}] {
				return framework.UnschedulableStatus(reasonPorts)
			}
		}
	}
	return framework.Status{}
}

// Replicas implements [replica.Counter]: a node takes one, as the next wants the same ports. It cannot tell while ports are
// free because a pod was removed temporarily.
func (f *nodePorts) Replicas(pod *framework.PodInfo, node *framework.NodeInfo) (count int64, ok bool) {
	if len(f.freed) > 0 {
		return 0, false
	}
	if !f.Filter(pod, node).IsSuccess() {
		return 0, true
	}
	return 1, true
}

// FilterAfter implements [replica.Counter].
func (f *nodePorts) FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, replicas int64) framework.Status {
	if replicas > 0 {
		return framework.UnschedulableStatus(reasonPorts)
	}
	return f.Filter(pod, node)
}

// filterMany is Filter for many ports.
func (f *nodePorts) filterMany(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	used := f.used(node)
	for _, want := range pod.HostPorts {
		if want.ConflictsAny(used) {
			return framework.UnschedulableStatus(reasonPorts)
		}
	}
	return framework.Status{}
}

// used lists the ports of the node that were not freed, sorted.
func (f *nodePorts) used(node *framework.NodeInfo) []api.HostPort {
	if len(f.freed) == 0 {
		return node.UsedPorts
	}
	return slices.DeleteFunc(slices.Clone(node.UsedPorts), func(p api.HostPort) bool { return f.freed[freedPort{node.Slot(), p}] })
}

// AddPod implements [framework.FilterUpdater].
func (f *nodePorts) AddPod(_ *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	for _, port := range other.HostPorts {
		delete(f.freed, freedPort{node.Slot(), port})
	}
	return framework.Status{}
}

// RemovePod implements [framework.FilterUpdater].
func (f *nodePorts) RemovePod(_ *framework.Cycle, other *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	for _, port := range other.HostPorts {
		if f.freed == nil {
			f.freed = map[freedPort]bool{}
		}
		f.freed[freedPort{node.Slot(), port}] = true
	}
	return framework.Status{}
}

// Fork implements [framework.FilterUpdater].
func (f *nodePorts) Fork() framework.FilterUpdater { return &nodePorts{maps.Clone(f.freed)} }

// Details implements [framework.Detailer]: one detail for each of the pod's ports that
// is taken.
func (f *nodePorts) Details(pod *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	used := f.used(node)
	for _, want := range pod.HostPorts {
		if want.ConflictsAny(used) {
			list = append(list, framework.Detail{Subject: fmt.Sprintf("port %d/%s", want.Port, want.Protocol), Asked: 1, Used: 1, Limit: 1})
		}
	}
	return list
}

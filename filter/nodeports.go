package filter

import "github.com/berth-sched/berth/framework"

const reasonPorts = framework.Text("node(s) didn't have free ports for the requested pod ports")

// NodePorts rejects nodes where a host port that the pod takes conflicts with
// one that is taken: the same protocol and port, and the same address or, on
// either side, all addresses. Ports of containers and sidecars count. Removing
// the other pod helps.
//
// Source: kube-scheduler 1.37, plugin NodePorts.
type NodePorts struct{}

// Name returns "NodePorts".
func (NodePorts) Name() string { return "NodePorts" }

// Scope declares that a verdict reads the pod's host ports, and the node's
// pods only if there are any.
func (NodePorts) Scope(pod *framework.PodInfo) framework.Scope {
	s := framework.Scope{Pod: framework.FieldHostPorts}
	if len(pod.HostPorts) > 0 {
		s.Reads = framework.ReadsPods
	}
	return s
}

// PreFilter skips pods without host ports.
func (p NodePorts) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if len(c.Pod.HostPorts) == 0 {
		return framework.PreFiltered{}, framework.SkipStatus()
	}
	return framework.PreFiltered{Filter: p}, framework.Status{}
}

// Filter rejects a node where one of the pod's host ports is taken.
func (NodePorts) Filter(pod *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	for i := range node.UsedPorts {
		used := &node.UsedPorts[i]
		for j := range pod.HostPorts {
			if want := &pod.HostPorts[j]; want.Port == used.Port && want.Conflicts(*used) {
				return framework.Reject(reasonPorts)
			}
		}
	}
	return framework.Status{}
}

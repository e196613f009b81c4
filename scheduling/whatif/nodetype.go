package whatif

import (
	"errors"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/nodename"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A NodeType is a machine that can be added. It has no CSINode, so its nodes take any number of volumes.
type NodeType struct {
	// Name names the type; its nodes are called "name-0", "name-1" and so on.
	Name string
	// Node is the pattern of its nodes. The name and the label kubernetes.io/hostname
	// are set for each.
	Node *api.Node
	// Price is the price of one node, in any unit, at most 2^40; 0 means 1.
	Price int64
	// Max is how many there are; 0 means one for each pod that fits on some node.
	Max int
	// Pods run on each node from the beginning, such as those of DaemonSets, which WithDaemons
	// adds.
	Pods []*api.Pod
	// Devices are what drivers publish for each node. The names, spec.nodeName and the
	// names of the pools are set for each.
	Devices []*api.ResourceSlice
}

// TypeLike is the type of machines like a node: its labels, taints and amounts, and the pods that come
// with every such node ([workload.BelongsToNode]). What only that node is or suffers from is left out:
// that it is cordoned, and the taints that Kubernetes gives it for its condition.
func TypeLike(name string, n *framework.NodeInfo) NodeType {
	t := NodeType{Name: name, Node: api.Clone(n.Node)}
	t.Node.Spec.Unschedulable = false
	t.Node.Spec.Taints = slices.DeleteFunc(t.Node.Spec.Taints, func(t api.Taint) bool { return slices.Contains(conditionTaints, t.Key) })
	for _, p := range n.Pods {
		if workload.BelongsToNode(p.Pod) && !hasSuccessor(n, p.Pod) {
			t.Pods = append(t.Pods, p.Pending().Pod)
		}
	}
	return t
}

// hasSuccessor reports whether another pod of the DaemonSet is the one that stays on the node: there may be several
// while it rolls out a new version, or one that is being deleted has not gone. It is one that is not being deleted
// or, of equal ones, the newest.
func hasSuccessor(n *framework.NodeInfo, p *api.Pod) bool {
	owner := p.ControllerRef()
	if owner == nil || owner.Kind != "DaemonSet" {
		return false
	}
	last := p
	for _, o := range n.Pods {
		other := o.Pod.ControllerRef()
		if o.Pod.Namespace == p.Namespace && other != nil && other.Kind == owner.Kind && other.UID == owner.UID && other.Name == owner.Name && succeeds(o.Pod, last) {
			last = o.Pod
		}
	}
	return last != p
}

// succeeds reports whether of two pods of a DaemonSet the first stays.
func succeeds(p, q *api.Pod) bool {
	if gone := p.DeletionTimestamp != nil; gone != (q.DeletionTimestamp != nil) {
		return !gone
	}
	if !p.CreationTimestamp.Equal(q.CreationTimestamp) {
		return p.CreationTimestamp.After(q.CreationTimestamp)
	}
	return p.Name > q.Name
}

// conditionTaints come and go with the condition of a node, or when an autoscaler wants to remove it.
//
// Source: Cluster Autoscaler, NodeConditionTaints and the taints of its own.
var conditionTaints = []string{
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
	"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", api.TaintNodeUnschedulable,
	"node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure",
	"node.kubernetes.io/network-unavailable",
	"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
}

func (t *NodeType) price() int64 { return max(t.Price, 1) }

// AddNode adds a node of the type to the snapshot, with its pods and devices. After an
// error the snapshot has nothing of it. Like every change of nodes it needs a snapshot
// without an open transaction.
func (t *NodeType) AddNode(s *framework.Snapshot, name string) error {
	o, err := t.Objects(name)
	if err != nil {
		return err
	}
	pods := make([]*framework.PodInfo, len(o.Pods))
	for i, pod := range o.Pods {
		if pods[i], err = s.NewPodInfo(pod); err != nil {
			return err
		}
	}
	if err := s.AddNode(o.Nodes[0]); err != nil {
		return err
	}
	if err := addAll(s, name, pods, o.ResourceSlices); err != nil {
		return errors.Join(err, s.RemoveNode(name))
	}
	return nil
}

// AddNodes adds n nodes of the type to the snapshot, as AddNode does, and returns their names:
// "name-0", "name-1" and so on, without those that nodes of the snapshot have, or objects that are left of
// nodes: NodeMetrics, CSINodes, ResourceSlices and local volumes. Pods that come with a node are given no devices. After
// an error, the nodes before it stay.
func (t *NodeType) AddNodes(s *framework.Snapshot, n int) (names []string, err error) {
	return t.addNodes(s, n, nodename.LeftIn(s))
}

func (t *NodeType) addNodes(s *framework.Snapshot, n int, left nodename.Left) (names []string, err error) {
	for _, name := range left.Fresh(s, t.Name, n) {
		if err := t.AddNode(s, name); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// addNodes adds nodes of a type by number, with the devices that their pods claim given to these.
func (x *nodeSearch) addNodes(s *framework.Snapshot, i, n int) (names []string, err error) {
	names, err = x.types[i].addNodes(s, n, x.left)
	if err != nil || framework.ObjectsVersion[api.ResourceSlice](s) == 0 {
		return names, err
	}
	for _, name := range names {
		for _, pod := range slices.Clone(s.Node(name).Pods) {
			if err := x.planner.giveDevices(s, pod, name); err != nil {
				return names, err
			}
		}
	}
	return names, nil
}

// giveDevices gives a pod on a node what it claims there. A pod for which there are none, or about which a plugin
// cannot decide, stays without.
func (p *Planner) giveDevices(s *framework.Snapshot, pod *framework.PodInfo, node string) error {
	if !pod.HasClaims() && !pod.HasExtended() {
		return nil
	}
	if err := s.RemovePod(pod, node); err != nil {
		return err
	}
	if f, err := p.sched.Filtering(s, pod); err == nil {
		if given, _ := f.TryPlace(pod, s.Node(node)); given {
			return nil
		}
	}
	return s.AddPod(pod, node)
}

// Objects returns what there is with a node of the type and this name: the node, its pods
// and its devices. They share what they point to with the type.
func (t *NodeType) Objects(name string) (*api.Objects, error) {
	if t.Node == nil {
		return nil, t.invalid("node", "", "is nil")
	}
	node := *t.Node
	node.Name, node.UID = name, ""
	node.Labels = make(map[string]string, len(t.Node.Labels)+1)
	maps.Copy(node.Labels, t.Node.Labels)
	node.Labels[api.LabelHostname] = name
	o := &api.Objects{Nodes: []*api.Node{&node}}
	for _, pod := range t.Pods {
		if pod == nil {
			return nil, t.invalid("pods", "", "a pod is nil")
		}
		own := *pod
		own.Name, own.UID = pod.Name+"-"+name, ""
		own.Spec.NodeName = name
		o.Pods = append(o.Pods, &own)
	}
	for _, pattern := range t.Devices {
		slice, err := t.sliceOf(pattern, name)
		if err != nil {
			return nil, err
		}
		o.ResourceSlices = append(o.ResourceSlices, slice)
	}
	return o, nil
}

// addAll adds the pods and devices of a node, all or none.
func addAll(s *framework.Snapshot, node string, pods []*framework.PodInfo, slices []*api.ResourceSlice) error {
	for i, p := range pods {
		if err := s.AddPod(p, node); err != nil {
			return errors.Join(err, removeAll(s, node, pods[:i], nil))
		}
	}
	for i, slice := range slices {
		if err := framework.Put(s, slice); err != nil {
			return errors.Join(err, removeAll(s, node, pods, slices[:i]))
		}
	}
	return nil
}

func removeAll(s *framework.Snapshot, node string, pods []*framework.PodInfo, slices []*api.ResourceSlice) (err error) {
	for _, p := range pods {
		err = errors.Join(err, s.RemovePod(p, node))
	}
	for _, slice := range slices {
		framework.Delete[api.ResourceSlice](s, slice.Name)
	}
	return err
}

// sliceOf returns a slice as the driver publishes it for the node. Pools that are one in
// the pattern stay one.
func (t *NodeType) sliceOf(pattern *api.ResourceSlice, node string) (*api.ResourceSlice, error) {
	switch {
	case pattern == nil:
		return nil, t.invalid("devices", "", "a slice is nil")
	case pattern.Spec.NodeSelector != nil || pattern.Spec.AllNodes != nil || pattern.Spec.PerDeviceNodeSelection != nil:
		return nil, t.invalid("devices", pattern.Name, "the slice is not of one node: want neither nodeSelector nor allNodes nor perDeviceNodeSelection")
	}
	own := *pattern
	own.Name, own.UID = pattern.Name+"-"+node, ""
	own.Spec.NodeName = &node
	if own.Spec.Pool.Name != "" {
		own.Spec.Pool.Name += "-"
	}
	own.Spec.Pool.Name += node
	return &own, nil
}

func (t *NodeType) invalid(field, value, text string) error {
	return &api.InvalidError{Object: "type " + t.Name, Field: field, Value: value, Err: errors.New(text)}
}

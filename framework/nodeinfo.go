package framework

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/runner"
	"github.com/berth-sched/berth/resource"
)

// A NodeInfo is a node and the totals of its pods, as a [Snapshot] holds it.
// Plugins read it; only the snapshot changes it.
type NodeInfo struct {
	// A NodeInfo is four cache lines. The first two hold the totals, which are read for
	// every node of a cluster; the third holds what else a pod that comes or goes
	// changes.

	// Allocatable is what the node can give, and AllowedPods how many pods it
	// takes. Missing resources are 0.
	Allocatable resource.Vector
	// Requested is the sum of UsedRequests of the node's pods, and NonZeroRequested
	// the sum of UsedNonZero: milli-CPU and bytes. A sum beyond the largest int64 stays there.
	Requested   resource.Vector
	AllowedPods int64
	generation  uint64

	amounts          [2][fewResources]int64 // what Allocatable and Requested are made of, if they fit
	NonZeroRequested [2]int64

	// Pods are the pods on the node, assumed ones included. Their order is
	// kube-scheduler's: the order of arrival, except that the last pod takes the place
	// of one that leaves.
	Pods     []*PodInfo
	slot     int32
	tainted  bool
	cordoned bool
	// full is set if a total has come to the largest int64, and so may be less than the sum. Then
	// the totals are found anew when a pod leaves.
	full  bool
	owner *owner
	// Node is the object.
	Node *api.Node
	name string

	// UsedPorts are the host ports that the node's pods take, sorted by port, protocol
	// and address. A port that two pods take is there twice.
	UsedPorts []api.HostPort
	// Nominated are the pods nominated to this node; see [Snapshot.Nominate].
	Nominated []*PodInfo

	static *nodeStatic
	places *podPlaces // nil if the node has never had many pods
}

// nodeStatic holds what depends on the node object alone; clones share it.
type nodeStatic struct {
	derived    memo
	generation uint64
	images     map[string]struct{}
	zone       string
	schema     *resource.Schema // knows the resources of the node; later ones keep their numbers
}

// Name returns the node's name.
func (n *NodeInfo) Name() string { return n.name }

// Generation identifies the content of this NodeInfo among all NodeInfos of all snapshots of
// the process: equal generations mean equal content. A rollback that restores earlier content
// restores its generation. The number itself is not the same on every run.
func (n *NodeInfo) Generation() uint64 { return n.generation }

// NodeGeneration identifies the node object in the same way: it stays when
// only the node's pods change.
func (n *NodeInfo) NodeGeneration() uint64 { return n.static.generation }

// Slot is a small number that identifies the node as long as it is in its snapshot; a
// later node may get the same number. It is not the node's place in the snapshot's
// order.
func (n *NodeInfo) Slot() int { return int(n.slot) }

// Tainted reports whether the node has taints. Like Name and Cordoned it does not
// read the object, which is faster.
func (n *NodeInfo) Tainted() bool { return n.tainted }

// Cordoned reports whether spec.unschedulable is set.
func (n *NodeInfo) Cordoned() bool { return n.cordoned }

// HasImage reports whether the node reports the image; the name must carry a
// tag or digest, as [api.PodImages] returns them.
func (n *NodeInfo) HasImage(name string) bool {
	_, ok := n.static.images[name]
	return ok
}

// ZoneKey returns the key by which kube-scheduler groups nodes into zones:
// region and zone labels joined, "" for a node that has neither.
func (n *NodeInfo) ZoneKey() string { return n.static.zone }

// zoneKey prefers the old labels if they are present at all, as kube-scheduler does.
func zoneKey(labels map[string]string) string {
	region, ok := labels[api.LabelFailureDomainRegion]
	if !ok {
		region = labels[api.LabelTopologyRegion]
	}
	zone, ok := labels[api.LabelFailureDomainZone]
	if !ok {
		zone = labels[api.LabelTopologyZone]
	}
	if region == "" && zone == "" {
		return ""
	}
	return region + ":\x00:" + zone
}

// newNodeInfo checks the object and derives what depends on it alone.
func newNodeInfo(node *api.Node, schema *resource.Schema) (*NodeInfo, error) {
	if node == nil {
		return nil, &api.InvalidError{Object: "node", Err: errNil}
	}
	if node.Name == "" {
		return nil, &api.InvalidError{Object: "node", Field: "metadata.name", Err: errEmpty}
	}
	if err := checkList("node "+node.Name, "status.allocatable", node.Status.Allocatable, "status.capacity", node.Status.Capacity); err != nil {
		return nil, err
	}
	pods := node.Status.Allocatable[resource.Pods]
	if err := schema.Admit(node.Status.Allocatable); err != nil {
		return nil, tooManyNames("node "+node.Name, "status.allocatable", err)
	}
	n := &NodeInfo{
		Node:        node,
		AllowedPods: pods.Value(),
		tainted:     len(node.Spec.Taints) > 0,
		cordoned:    node.Spec.Unschedulable,
		static:      &nodeStatic{zone: zoneKey(node.Labels), schema: schema},
		name:        node.Name,
	}
	n.setVectors(schema.Vector(node.Status.Allocatable), nil)
	if len(node.Status.Images) > 0 {
		n.static.images = make(map[string]struct{})
		for _, image := range node.Status.Images {
			for _, name := range image.Names {
				n.static.images[name] = struct{}{}
			}
		}
	}
	return n, nil
}

// tooManyNames turns an error of [resource.Schema.Admit] into one of an object.
func tooManyNames(object, field string, err error) error {
	var full *resource.FullError
	if errors.As(err, &full) {
		field = fmt.Sprintf("%s[%s]", field, full.Name)
	}
	return &api.InvalidError{Object: object, Field: field, Err: err}
}

// clone copies what a change writes to. The node object's part is shared.
func (n *NodeInfo) clone(o *owner) *NodeInfo {
	c := *n
	c.owner = o
	c.setVectors(n.Allocatable, n.Requested)
	c.Pods = append(make([]*PodInfo, 0, len(n.Pods)+1), n.Pods...) // mostly, a pod is added next
	c.UsedPorts, c.places = slices.Clone(n.UsedPorts), nil
	return &c
}

// setVectors gives the node copies of the vectors; short ones lie in the node itself.
// Requested gets at least the length of allocatable, so it hardly ever grows.
func (n *NodeInfo) setVectors(allocatable, requested resource.Vector) {
	if len(allocatable) > fewResources || len(requested) > fewResources {
		k := max(len(allocatable), len(requested))
		vectors := make(resource.Vector, len(allocatable)+k) // together, because they are read together
		n.Allocatable = vectors[:copy(vectors, allocatable):len(allocatable)]
		n.Requested = vectors[len(allocatable):]
		copy(n.Requested, requested)
		return
	}
	k := copy(n.amounts[0][:], allocatable)
	n.Allocatable = n.amounts[0][:k:k]
	clear(n.amounts[1][:])
	n.Requested = n.amounts[1][:max(k, copy(n.amounts[1][:], requested))]
}

// add counts the pod.
func (n *NodeInfo) add(p *PodInfo) {
	n.countIn(p)
	n.Pods = append(n.Pods, p)
	if len(n.Pods) > manyPods {
		n.places.addLast(n.Pods)
	}
	if p.has(runner.HasHostPorts) {
		n.takePorts(p)
	}
}

// countIn adds the requests of the pod to the totals.
func (n *NodeInfo) countIn(p *PodInfo) {
	if more := len(p.UsedRequests) - len(n.Requested); more > 0 {
		n.Requested = append(n.Requested, make(resource.Vector, more)...)
	}
	requested, most := n.Requested[:len(p.UsedRequests)], int64(0) // no amount is negative
	for i, x := range p.UsedRequests {
		total := resource.SatAdd(requested[i], x)
		requested[i], most = total, max(most, total)
	}
	for i, x := range p.UsedNonZero {
		total := resource.SatAdd(n.NonZeroRequested[i], x)
		n.NonZeroRequested[i], most = total, max(most, total)
	}
	n.noteLargest(most)
	if p.has(runner.HasUnknown) {
		n.eachUnknown(p, func(i int, used int64) {
			total := resource.SatAdd(n.Requested.At(i), used)
			n.Requested = n.Requested.With(i, total)
			n.noteLargest(total)
		})
	}
}

// noteLargest notes the largest of some new totals.
func (n *NodeInfo) noteLargest(total int64) {
	if total == math.MaxInt64 {
		n.full = true
	}
}

// countOut takes the requests of the pod, which has left n.Pods, out of the totals.
func (n *NodeInfo) countOut(p *PodInfo) {
	if n.full {
		n.countAnew()
		return
	}
	n.Requested = n.Requested.Sub(p.UsedRequests)
	n.NonZeroRequested[0] -= p.UsedNonZero[0]
	n.NonZeroRequested[1] -= p.UsedNonZero[1]
	if p.has(runner.HasUnknown) {
		n.eachUnknown(p, func(i int, used int64) { n.Requested = n.Requested.With(i, n.Requested.At(i)-used) })
	}
}

// countAnew finds the totals from the pods.
func (n *NodeInfo) countAnew() {
	clear(n.Requested)
	n.NonZeroRequested, n.full = [2]int64{}, false
	for _, p := range n.Pods {
		n.countIn(p)
	}
}

// removeAt takes away pod i and puts the last pod in its place.
func (n *NodeInfo) removeAt(i int) *PodInfo {
	p := n.Pods[i]
	last := len(n.Pods) - 1
	n.Pods[i] = n.Pods[last]
	if last >= manyPods {
		n.unplace(p, i)
	}
	n.Pods[last] = nil
	n.Pods = n.Pods[:last]
	n.uncount(p)
	return p
}

// unplace forgets the place of a pod, which the last pod has now, before that leaves its own.
func (n *NodeInfo) unplace(p *PodInfo, i int) {
	last := len(n.Pods) - 1
	if last == manyPods {
		n.places = nil
		return
	}
	n.places.remove(p)
	if i < last {
		n.places.move(n.Pods[i], i)
	}
}

// insertAt undoes removeAt.
func (n *NodeInfo) insertAt(i int, p *PodInfo) {
	n.countIn(p)
	if p.has(runner.HasHostPorts) {
		n.takePorts(p)
	}
	n.Pods = append(n.Pods, p)
	last := len(n.Pods) - 1
	n.Pods[i], n.Pods[last] = n.Pods[last], n.Pods[i]
	if last >= manyPods {
		if i < last {
			n.places.move(n.Pods[last], last)
		}
		n.places.add(p, i)
	}
}

func (n *NodeInfo) uncount(p *PodInfo) {
	n.countOut(p)
	if p.has(runner.HasHostPorts) {
		n.releasePorts(p)
	}
}

// releasePorts uncounts the pod's host ports. The rest of the list moves once.
func (n *NodeInfo) releasePorts(p *PodInfo) {
	var few [fewPorts]api.HostPort
	list, kept, next := n.UsedPorts, 0, 0
	for _, port := range sortedPorts(few[:0], p.HostPorts) {
		i, ok := slices.BinarySearchFunc(list[next:], port, api.CompareHostPorts)
		if !ok {
			continue
		}
		i += next
		if kept != next {
			copy(list[kept:], list[next:i])
		}
		kept += i - next
		next = i + 1
	}
	if kept != next {
		kept += copy(list[kept:], list[next:])
		clear(list[kept:])
		n.UsedPorts = list[:kept]
	}
}

// takePorts counts the pod's host ports. They are sorted, so that a rollback restores
// the same list whatever came in between. The rest of the list moves once.
func (n *NodeInfo) takePorts(p *PodInfo) {
	var few [fewPorts]api.HostPort
	ports, end := sortedPorts(few[:0], p.HostPorts), len(n.UsedPorts)
	list := append(n.UsedPorts, ports...)
	for k := len(ports) - 1; k >= 0; k-- {
		i, _ := slices.BinarySearchFunc(list[:end], ports[k], api.CompareHostPorts)
		copy(list[i+k+1:], list[i:end])
		list[i+k] = ports[k]
		end = i
	}
	n.UsedPorts = list
}

// fewPorts is how many host ports are sorted without an allocation.
const fewPorts = 16

// sortedPorts returns the ports in order: as they are, or in space.
func sortedPorts(space, ports []api.HostPort) []api.HostPort {
	if slices.IsSortedFunc(ports, api.CompareHostPorts) {
		return ports
	}
	space = append(space, ports...)
	slices.SortFunc(space, api.CompareHostPorts)
	return space
}

// HasPod reports whether the pod is on the node. It recognises the pod like
// [Snapshot.RemovePod] and costs O(p) for the p pods of the node. No pod is on a nil
// node.
func (n *NodeInfo) HasPod(p *PodInfo) bool {
	return n != nil && p != nil && p.Pod != nil && n.find(p) >= 0
}

// find returns the index of the pod, the last one of several, or -1. It looks for the
// same PodInfo, then for the same UID, or the same namespace and name if both UIDs are
// empty.
func (n *NodeInfo) find(p *PodInfo) int {
	// Most callers have the same PodInfo, and comparing pointers reads no pod.
	for i := len(n.Pods) - 1; i >= 0; i-- {
		if n.Pods[i] == p {
			return i
		}
	}
	for i := len(n.Pods) - 1; i >= 0; i-- {
		if api.SamePod(n.Pods[i].Pod, p.Pod) {
			return i
		}
	}
	return -1
}

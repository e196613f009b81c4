package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/resource"
)

// NodeResourcesFit rejects a node that has no free pod slot, or less of a resource
// free than the pod requests. It reports all shortages of a node: "Too many pods"
// and "Insufficient <resource>" for cpu, memory, ephemeral-storage and then the
// others by name. The rejection is unresolvable if even the empty node would not
// have enough of a resource.
//
// Requests include overhead and pod-level requests. Free capacity is the node's
// allocatable minus the requests of its pods. Resources unknown to schedulers (see
// resource.Name.IsScalar) are ignored. An extended resource with a device class behind it
// is left to [DynamicResources] on nodes that do not offer it, unless Alone is set.
//
// Source: kube-scheduler 1.37, plugin NodeResourcesFit.
//
// Differs: the order in which other resources are reported.
// Original: kube-scheduler's order is random.
// Here: they come by name.
// Why: the answer must be the same on every run.
//
// Differs: reasons of more than 4 KiB for a node, and names of more than 512 bytes.
// Original: kube-scheduler reports every resource.
// Here: the first come with their names, cut, and then the number of the others.
// Why: pods choose the names, and each node has reasons of its own.
type NodeResourcesFit struct {
	// IgnoredResources are extended resources that are not checked.
	IgnoredResources []resource.Name
	// IgnoredResourceGroups are prefixes (the part before the slash) of extended
	// resources that are not checked, such as "example.com".
	IgnoredResourceGroups []string
	// Alone is set in profiles of versions without DynamicResources: no resource is left to it.
	Alone bool
}

// Name returns "NodeResourcesFit".
func (NodeResourcesFit) Name() string { return "NodeResourcesFit" }

// Validate reports invalid names of resources and groups.
func (p NodeResourcesFit) Validate() error {
	var errs []error
	check := func(field string, i int, name string, problems []string) {
		for _, problem := range problems {
			errs = append(errs, fmt.Errorf("NodeResourcesFit: %s[%d]: Invalid value: %q: %s", field, i, name, problem))
		}
	}
	for i, name := range p.IgnoredResources {
		check("ignoredResources", i, string(name), match.LabelKeyProblems(string(name)))
	}
	for i, group := range p.IgnoredResourceGroups {
		if strings.Contains(group, "/") {
			check("ignoredResourceGroups", i, group, []string{"resource group name can't contain '/'"})
		}
		check("ignoredResourceGroups", i, group, match.LabelKeyProblems(group))
	}
	return errors.Join(errs...)
}

// Scope declares that a verdict reads the pod's requests, the node's
// allocatable and the totals of its pods.
func (NodeResourcesFit) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Pod: framework.FieldRequests, Reads: framework.ReadsNode | framework.ReadsPods}
}

// ScopeVaries implements [incremental.VaryingScoper].
func (NodeResourcesFit) ScopeVaries() framework.PodParts { return 0 }

// PreFilter lists the resources that the pod requests.
func (p NodeResourcesFit) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	f := framework.Scratch[fit](c)
	f.schema = c.Pod.Schema()
	f.wants, f.snapshot, f.classes = f.wants[:0], nil, nil
	for i, amount := range c.Pod.Requests {
		if amount > 0 && (i <= resource.IndexEphemeralStorage || !p.ignores(f.schema.Name(i))) {
			f.wants = append(f.wants, want{i, amount})
			if i > resource.IndexEphemeralStorage && f.classes == nil && !p.Alone && devices.MayNeed(c.Pod) {
				f.snapshot, f.classes = c.Snapshot, devices.ClassesOf(c.Snapshot)
			}
		}
	}
	f.unknown = p.unknownTo(c.Pod)
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

// unknownTo returns the resources that the pod requests and no node has, nil if there
// are none.
func (p NodeResourcesFit) unknownTo(pod *framework.PodInfo) *unknownNames {
	var names *unknownNames
	for _, u := range pod.Unknown {
		if u.Requested <= 0 || p.ignores(u.Name) {
			continue
		}
		if names == nil {
			names = &unknownNames{schema: pod.Schema()}
		}
		names.add(u.Name)
	}
	return names
}

// ignores reports whether to skip an extended resource.
func (p NodeResourcesFit) ignores(name resource.Name) bool {
	if len(p.IgnoredResources)+len(p.IgnoredResourceGroups) == 0 || !name.IsExtended() {
		return false
	}
	group, _, _ := strings.Cut(string(name), "/")
	return slices.Contains(p.IgnoredResources, name) || slices.Contains(p.IgnoredResourceGroups, group)
}

// fit is the bound filter: the pod's requests without zero amounts.
type fit struct {
	schema   *resource.Schema
	wants    []want
	unknown  *unknownNames // nil if every resource has a dimension
	snapshot *framework.Snapshot
	classes  *devices.Classes // nil if no class can stand behind a resource
}

type want struct {
	index  int
	amount int64
}

func (f *fit) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if f.fitsAlone(node) || f.classes != nil && f.fits(node) {
		return framework.Status{}
	}
	return f.reject(node, nil, 0)
}

// FilterNodes implements [incremental.BatchFilter].
func (f *fit) FilterNodes(_ *framework.PodInfo, nodes []*framework.NodeInfo, rejected []int) []int {
	if f.unknown == nil && len(f.wants) == 2 && f.wants[0].index == resource.IndexCPU && f.wants[1].index == resource.IndexMemory {
		return f.filterUsual(nodes, rejected)
	}
	for i, n := range nodes {
		if !f.fits(n) {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

// filterUsual is FilterNodes for a pod that wants CPU and memory; it does not read
// the list of wants for each node.
func (f *fit) filterUsual(nodes []*framework.NodeInfo, rejected []int) []int {
	cpu, memory := f.wants[0].amount, f.wants[1].amount
	for i, n := range nodes {
		a, r := n.Allocatable, n.Requested
		if len(a) < 2 || len(r) < 2 {
			if !f.fits(n) {
				rejected = append(rejected, i)
			}
			continue
		}
		if int64(len(n.Pods)) >= n.AllowedPods || cpu > a[0]-r[0] || memory > a[1]-r[1] {
			rejected = append(rejected, i)
		}
	}
	return rejected
}

// fitsAlone is fits, but for resources that are left to DynamicResources. The compiler
// inlines it.
func (f *fit) fitsAlone(n *framework.NodeInfo) bool {
	if int64(len(n.Pods)) >= n.AllowedPods || f.unknown != nil {
		return false
	}
	for i := range f.wants {
		w := &f.wants[i]
		if w.amount > n.Allocatable.At(w.index)-n.Requested.At(w.index) {
			return false
		}
	}
	return true
}

// fits reports whether the node has room.
func (f *fit) fits(n *framework.NodeInfo) bool {
	if int64(len(n.Pods)) >= n.AllowedPods || f.unknown != nil {
		return false
	}
	for i := range f.wants {
		w := &f.wants[i]
		if w.amount > n.Allocatable.At(w.index)-n.Requested.At(w.index) && !f.delegates(w.index, n) {
			return false
		}
	}
	return true
}

// Replicas implements [replica.Counter]. It cannot tell for a resource that is
// left to DynamicResources.
func (f *fit) Replicas(pod *framework.PodInfo, n *framework.NodeInfo) (count int64, ok bool) {
	if !f.fits(n) {
		return 0, true
	}
	count = n.AllowedPods - int64(len(n.Pods))
	for i := range f.wants {
		w := &f.wants[i]
		if f.delegates(w.index, n) {
			return 0, false
		}
		if used := pod.UsedRequests.At(w.index); used > 0 {
			count = min(count, 1+(n.Allocatable.At(w.index)-n.Requested.At(w.index)-w.amount)/used)
		}
	}
	return count, true
}

// delegates reports whether a resource is left to DynamicResources on a node.
func (f *fit) delegates(index int, n *framework.NodeInfo) bool {
	return f.classes != nil && index > resource.IndexEphemeralStorage && n.Allocatable.At(index) == 0 &&
		f.classes.Behind(f.snapshot, f.schema.Name(index)) != nil
}

// FilterAfter implements [replica.Counter].
func (f *fit) FilterAfter(pod *framework.PodInfo, node *framework.NodeInfo, replicas int64) framework.Status {
	return f.reject(node, pod.UsedRequests, replicas)
}

// reject collects every shortage of a node that has so many pods more, each using so much.
func (f *fit) reject(node *framework.NodeInfo, each resource.Vector, more int64) framework.Status {
	code := framework.Unschedulable
	var short shortages
	if int64(len(node.Pods))+more >= node.AllowedPods {
		short.addPods()
	}
	for _, w := range f.wants {
		allocatable := node.Allocatable.At(w.index)
		free := allocatable - node.Requested.At(w.index) - more*each.At(w.index)
		if w.amount <= free || f.classes != nil && f.delegates(w.index, node) {
			continue
		}
		short.add(w.index)
		if w.amount > allocatable {
			code = framework.UnschedulableAndUnresolvable
		}
	}
	switch {
	case f.unknown != nil:
		return short.statusWith(f.unknown)
	case short.none():
		return framework.Status{}
	}
	return short.status(code, f.schema)
}

// Details implements [framework.Detailer]: one detail for each shortage.
func (f *fit) Details(_ *framework.PodInfo, node *framework.NodeInfo) (list []framework.Detail) {
	if pods := int64(len(node.Pods)); pods >= node.AllowedPods {
		list = append(list, framework.Detail{Subject: string(resource.Pods), Unit: framework.UnitPods, Asked: 1, Used: pods, Limit: node.AllowedPods})
	}
	for _, w := range f.wants {
		used, limit := node.Requested.At(w.index), node.Allocatable.At(w.index)
		if w.amount > limit-used && !f.delegates(w.index, node) {
			name := f.schema.Name(w.index)
			list = append(list, framework.Detail{Subject: string(name), Unit: framework.UnitOf(name), Asked: w.amount, Used: used, Limit: limit})
		}
	}
	return list
}

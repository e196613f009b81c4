package capacity

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Summarize returns a copy of the cluster with a status computed from its nodes:
// node counts, the sums of resources and, if spec.resourceModels has models, the
// number of nodes of each grade. pending holds the cluster's pods without a node.
// The copy shares everything else with its original. To write it back, use
// [SummaryPatch].
//
//	allocatable  sum over all nodes, unready and unschedulable ones included
//	allocated    requests of the snapshot's pods, and their number
//	allocating   requests of the pending pods for resources of nodes, and their number
//	modelings    nodes by their free resources; a node that admits no more pods
//	             does not count
//
// It returns an error for bad models (see [NewGrader]), for a pending pod that is
// nil or requests less than 0, and for a nil cluster or snapshot.
//
// Source: Karmada 1.13, the cluster status controller.
//
// Differs: nodes that admit no more pods.
// Original: Karmada stops counting nodes by grade at the first one.
// Here: only that node does not count.
// Why: one full node must not hide the others.
//
// Differs: sidecars and pod-level requests.
// Original: Karmada counts sidecars like other init containers, and ignores pod-level
// requests.
// Here: the request of a pod is the one in [framework.PodInfo], with both.
// Why: kube-scheduler counts the same.
//
// Differs: resources that no node has, in requests of pending pods.
// Original: Karmada adds them up.
// Here: they are left out.
// Why: no estimate needs them, and a pod may request any number of them.
//
// Differs: finished pods.
// Original: Karmada leaves them out by their phase.
// Here: a pod counts if the snapshot holds it.
// Why: the snapshot decides which pods count, for all packages.
func Summarize(cluster *api.Cluster, s *framework.Snapshot, pending []*api.Pod) (*api.Cluster, error) {
	if cluster == nil {
		return nil, errNilCluster
	}
	if s == nil {
		return nil, &api.InvalidError{Object: "cluster " + cluster.Name, Field: "snapshot", Value: "null", Err: errNil}
	}
	var grader *Grader
	if len(cluster.Spec.ResourceModels) > 0 {
		g, err := NewGrader(cluster.Spec.ResourceModels)
		if err != nil {
			return nil, ofCluster(cluster, err)
		}
		grader = g
	}
	summary := &api.ResourceSummary{Allocatable: resource.List{}}
	nodes := &api.NodeSummary{TotalNum: int32(min(s.Len(), MaxReplicas))}
	var used resource.Vector
	var pods int64
	for _, n := range s.All() {
		if ready(n.Node) {
			nodes.ReadyNum++
		}
		for name, q := range n.Node.Status.Allocatable {
			summary.Allocatable[name] = summary.Allocatable[name].Add(q)
		}
		used = used.Add(n.Requested)
		pods += int64(len(n.Pods))
	}
	allocated := amounts{}
	for i, x := range used {
		allocated[s.Schema().Name(i)] = x
	}
	summary.Allocated = allocated.list(pods)
	waiting, err := pendingRequests(pending, summary.Allocatable)
	if err != nil {
		return nil, ofCluster(cluster, err)
	}
	summary.Allocating = waiting
	if grader != nil {
		summary.AllocatableModelings = grader.count(s)
	}
	described := *cluster
	described.Status.NodeSummary, described.Status.ResourceSummary = nodes, summary
	return &described, nil
}

func ready(n *api.Node) bool {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == api.NodeReady {
			return c.Status == api.ConditionTrue
		}
	}
	return false
}

// amounts are amounts of resources, with cpu in thousandths.
type amounts map[resource.Name]int64

// pendingRequests adds up what the pods request of resources that nodes have. It does
// not add names to the snapshot's schema, so pending pods do not use up names that nodes
// may need.
func pendingRequests(pending []*api.Pod, allocatable resource.List) (resource.List, error) {
	sum := amounts{}
	for i, p := range pending {
		if p == nil {
			return nil, &api.InvalidError{Field: fmt.Sprintf("pending[%d]", i), Value: "null", Err: errNil}
		}
		request := ReplicaOf(p).Request
		for _, name := range request.Names() {
			q := request[name]
			if q.Sign() < 0 {
				return nil, &api.InvalidError{
					Field: fmt.Sprintf("pending[%d].requests[%s]", i, name), Value: q.String(), Err: errNegative,
				}
			}
			if _, has := allocatable[name]; has {
				sum.add(name, q)
			}
		}
	}
	return sum.list(int64(len(pending))), nil
}

// add adds a quantity, if schedulers account for the resource.
func (a amounts) add(name resource.Name, q resource.Quantity) {
	switch {
	case name == resource.CPU:
		a[name] = resource.SatAdd(a[name], q.MilliValue())
	case name == resource.Memory, name == resource.EphemeralStorage, name.IsScalar():
		a[name] = resource.SatAdd(a[name], q.Value())
	}
}

// list returns the amounts above 0 and the number of pods as a list, or nil if it
// is empty.
func (a amounts) list(pods int64) resource.List {
	l := resource.List{}
	for name, x := range a {
		if x > 0 {
			l[name] = quantityOf(name, x)
		}
	}
	if pods > 0 {
		l[resource.Pods] = resource.New(pods, resource.DecimalSI)
	}
	if len(l) == 0 {
		return nil
	}
	return l
}

// quantityOf returns an amount in Karmada's notation.
func quantityOf(name resource.Name, x int64) resource.Quantity {
	switch {
	case name == resource.CPU:
		return resource.Milli(x)
	case name == resource.Memory, name == resource.EphemeralStorage, name.IsHugePages():
		return resource.New(x, resource.BinarySI)
	}
	return resource.New(x, resource.DecimalSI)
}

// count counts the snapshot's nodes by their free resources.
func (g *Grader) count(s *framework.Snapshot) []api.AllocatableModeling {
	counts := g.zero()
	for _, n := range s.All() {
		if n.AllowedPods <= int64(len(n.Pods)) {
			continue
		}
		i, ok := g.grade(func(name resource.Name) resource.Quantity { return freeOn(s.Schema(), n, name) })
		if ok {
			counts[i].Count++
		}
	}
	return counts
}

// freeOn returns the free amount of a resource on a node: 0 if the node does not
// have it, negative if more is requested than the node has.
func freeOn(schema *resource.Schema, n *framework.NodeInfo, name resource.Name) resource.Quantity {
	q, ok := n.Node.Status.Allocatable[name]
	if !ok {
		return q
	}
	if i, known := schema.Index(name); known {
		q = q.Sub(quantityOf(name, n.Requested.At(i)))
	}
	return q
}

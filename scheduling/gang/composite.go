package gang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// SetOf returns the tree below a composite group of the snapshot, with the pods that wait
// for its groups and the members that are on nodes. Children are in the order of creation,
// then of names; pods of a group are in the order given. A tree that is deeper than
// Kubernetes looks, or that leads back to itself, is an [*api.InvalidError].
//
// Source: kube-scheduler 1.37, CompositePodGroup (alpha).
//
// Differs: children of both kinds with one name and one time of creation.
// Original: kube-scheduler's order is arbitrary.
// Here: the PodGroup comes first.
// Why: the answer must be the same on every run.
func SetOf(snap *framework.Snapshot, root *api.CompositePodGroup, pods []*framework.PodInfo) (*Set, error) {
	if snap == nil || root == nil {
		return nil, &api.InvalidError{Object: "snapshot or root", Err: errors.New("is nil")}
	}
	waiting := map[string][]*framework.PodInfo{}
	for _, p := range pods {
		if err := snap.CheckPod(p); err != nil {
			return nil, err
		}
		if p.Pod.Namespace == root.Namespace {
			name := p.Pod.SchedulingGroupName()
			waiting[name] = append(waiting[name], p)
		}
	}
	return setOf(snap, familiesOf(snap, root.Namespace), root, waiting, 1)
}

func setOf(snap *framework.Snapshot, all families, c *api.CompositePodGroup, waiting map[string][]*framework.PodInfo, depth int) (*Set, error) {
	if depth >= api.CompositePodGroupDepth {
		return nil, &api.InvalidError{
			Object: "compositepodgroup " + c.Key(), Field: "spec.parentCompositePodGroupName", Value: *c.Spec.ParentCompositePodGroupName,
			Err: fmt.Errorf("the tree has more than %d generations", api.CompositePodGroupDepth),
		}
	}
	s := &Set{Name: c.Key(), Min: c.MinGroupCount(), Topology: c.TopologyKey(), Priority: c.Priority()}
	for _, child := range all.childrenOf(c) {
		if child.group != nil {
			s.Children = append(s.Children, GroupOf(snap, child.group, waiting[child.group.Name]))
			continue
		}
		below, err := setOf(snap, all, child.composite, waiting, depth+1)
		if err != nil {
			return nil, err
		}
		s.Children = append(s.Children, below)
	}
	return s, nil
}

// child is a PodGroup or a CompositePodGroup.
type child struct {
	*api.ObjectMeta
	group     *api.PodGroup
	composite *api.CompositePodGroup
}

// families are the children of the composite groups of a namespace, by the parent's name.
type families map[string][]child

func familiesOf(snap *framework.Snapshot, namespace string) families {
	all := families{}
	add := func(c child, parent *string) {
		if parent != nil && c.Namespace == namespace {
			all[*parent] = append(all[*parent], c)
		}
	}
	for _, g := range framework.List[api.PodGroup](snap) {
		add(child{ObjectMeta: &g.ObjectMeta, group: g}, g.Spec.ParentCompositePodGroupName)
	}
	for _, g := range framework.List[api.CompositePodGroup](snap) {
		add(child{ObjectMeta: &g.ObjectMeta, composite: g}, g.Spec.ParentCompositePodGroupName)
	}
	return all
}

// childrenOf lists the children of a composite group, in the order of creation, then of
// names.
func (all families) childrenOf(c *api.CompositePodGroup) []child {
	list := all[c.Name]
	slices.SortStableFunc(list, func(a, b child) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// PreEnqueueSet is [PreEnqueue] for the pods of a tree: known is how many pods there are
// of each group, by name, those on nodes included. Groups are ready if they have their
// minimum, composites if enough of their children are.
//
// Source: kube-scheduler 1.37, plugin GangScheduling.
func PreEnqueueSet(snap *framework.Snapshot, root *api.CompositePodGroup, known map[string]int) framework.Status {
	if !familiesOf(snap, root.Namespace).ready(root, known, 1) {
		return framework.UnresolvableStatus(framework.Text(fmt.Sprintf("waiting for composite pod group %q tree to meet quorum", root.Name)))
	}
	return framework.Status{}
}

func (all families) ready(c *api.CompositePodGroup, known map[string]int, depth int) bool {
	count := 0
	for _, child := range all[c.Name] {
		switch {
		case child.group != nil && known[child.group.Name] >= child.group.MinCount():
			count++
		case child.composite != nil && depth < api.CompositePodGroupDepth-1 && all.ready(child.composite, known, depth+1):
			count++
		}
	}
	return count >= c.MinGroupCount()
}

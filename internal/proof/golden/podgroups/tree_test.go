package podgroups_test

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/podgroups"
)

// The checks of trees and of single pods accept the end that follows by hand, and no other.
func TestCheckEnds(t *testing.T) {
	root, leaf := "root", "leaf"
	priority := int32(9)
	pod := func(name, node string, priority int32) *api.Pod {
		p := api.MakePod(name).UID(api.UID(name)).Requests("2", "1Gi").Priority(priority).Scheduler("default-scheduler").Node(node).Obj()
		p.Namespace = "default"
		return p
	}
	c := &golden.PodGroupCase{Group: root, Gates: map[string]bool{"TopologyAwareWorkloadScheduling": true}, Nodes: []*api.Node{api.MakeNode("n", "2", "4Gi").Obj()}}
	composite := &api.CompositePodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: root}}
	composite.Spec.Priority = &priority
	group := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: leaf}}
	group.Spec.ParentCompositePodGroupName, group.Spec.Priority = &root, &priority
	c.CompositePodGroups, c.PodGroups = []*api.CompositePodGroup{composite}, []*api.PodGroup{group}
	member := pod("m", "", priority)
	member.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &leaf}
	c.Members = []*api.Pod{member}
	c.Expect.Finals = []golden.PodGroupFinal{{
		Pods: map[string]golden.PodGroupPodLeft{"m": {Node: "n"}}, Groups: map[string]golden.PodGroupCondition{leaf: {Status: "True"}},
	}}
	if d := podgroups.CheckTree(c); len(d) > 0 {
		t.Errorf("CheckTree: %v", d)
	}
	c.Pods = []*api.Pod{pod("old", "n", 0)} // it has to leave first
	if d := podgroups.CheckTree(c); len(d) == 0 {
		t.Error("CheckTree accepts a pod on a full node")
	}
	member.Spec.SchedulingGroup = nil
	c.Expect.Finals = []golden.PodGroupFinal{{Pods: map[string]golden.PodGroupPodLeft{"m": {Nominated: "n"}}, Victims: []string{"old"}}}
	if d := podgroups.CheckVictims(c); len(d) > 0 {
		t.Errorf("CheckVictims: %v", d)
	}
	c.Expect.Finals[0].Victims = nil
	if d := podgroups.CheckVictims(c); len(d) == 0 {
		t.Error("CheckVictims accepts no victims")
	}
}

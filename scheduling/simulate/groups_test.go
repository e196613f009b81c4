package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// Two gangs whose pods arrive in turn, on a cluster with room for one: the pods of each
// start together, one gang after the other.
func TestGroups(t *testing.T) {
	var pods []*api.Pod
	for i := range 2 {
		for _, name := range []string{"x", "y"} {
			p := job(fmt.Sprintf("%s-%d", name, i), "3", time.Hour, 10*time.Minute).Namespace("default").Obj()
			p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &name}
			pods = append(pods, p)
		}
	}
	o := objects([]*api.Node{node("a", "4"), node("b", "4")}, pods...)
	for _, name := range []string{"x", "y"} {
		g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}
		g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: 2}
		o.PodGroups = append(o.PodGroups, g)
	}
	c := config(o)
	c.Groups = new(gang.Rules)
	r := run(c)
	bound := map[string]string{}
	for _, h := range r.Pods {
		if h.Node == "" {
			t.Fatalf("pod %s has no node: %+v", h.Pod, h)
		}
		bound[h.Pod] = fmt.Sprint(*h.Bound)
	}
	if bound["default/x-0"] != bound["default/x-1"] || bound["default/y-0"] != bound["default/y-1"] || bound["default/x-0"] == bound["default/y-0"] {
		t.Errorf("bound at %v, want x together and y together, one after the other", bound)
	}
}

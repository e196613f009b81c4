//go:build full

package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// poolOnly is a PreFilter plugin without a scope: a pod may only go to the node of its label.
type poolOnly struct{}

func (poolOnly) Name() string { return "PoolOnly" }

func (poolOnly) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{NodeNames: []string{c.Pod.Pod.Labels["pool"]}}, framework.Status{}
}

// poolClosed is one that rejects the pods of a pool.
type poolClosed struct{}

func (poolClosed) Name() string { return "PoolClosed" }

func (poolClosed) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	if c.Pod.Pod.Labels["pool"] == "n0" {
		return framework.PreFiltered{}, framework.UnresolvableStatus("closed")
	}
	return framework.PreFiltered{}, framework.Status{}
}

// TestRefusalsOfOthers: that no room can be made for a pod says nothing of a pod which a
// PreFilter plugin tells apart from it, in a way that nobody else knows.
func TestRefusalsOfOthers(t *testing.T) {
	for _, plugin := range []framework.Plugin{poolOnly{}, poolClosed{}} {
		t.Run(plugin.Name(), func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			for i, priority := range []int32{100, 0} {
				node := fmt.Sprint("n", i)
				if err := s.AddNode(api.MakeNode(node, "4", "16Gi").Obj()); err != nil {
					t.Fatal(err)
				}
				p, err := s.NewPodInfo(api.MakePod("on-"+node).Requests("4", "1Gi").Priority(priority).Obj())
				if err != nil {
					t.Fatal(err)
				}
				if err := s.AddPod(p, node); err != nil {
					t.Fatal(err)
				}
			}
			profile := scheduling.Kubernetes137()
			profile.Filter = append(profile.Filter, plugin)
			sched := build(t, profile)
			for pool, want := range []string{"", "n1"} {
				p, err := s.NewPodInfo(api.MakePod("p").Labels("pool", fmt.Sprint("n", pool)).Requests("1", "1Gi").Priority(50).Obj())
				if err != nil {
					t.Fatal(err)
				}
				d, err := sched.Schedule(s, p)
				if err == nil {
					t.Fatalf("pool %d: the pod goes to %s", pool, d.Node)
				}
				proposed, _, status, err := sched.PostFilter(t.Context(), s, p, d)
				if err != nil || proposed.Nominated != want {
					t.Errorf("pool %d: nominated to %q, %v, %v; want %q", pool, proposed.Nominated, status, err, want)
				}
			}
		})
	}
}

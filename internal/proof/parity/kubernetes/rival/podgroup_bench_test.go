package rival

import (
	"context"
	"fmt"
	"testing"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	berth "github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// BenchmarkPodGroup places one group of equal pods in one of the racks of a cluster: the
// real cycle's trials of all racks beside a whole Try of package gang, in one run. times is
// how many times as fast package gang is for pods of a known class; times-cold, with a
// snapshot, a scheduler and a placer that were made for the one Try.
func BenchmarkPodGroup(b *testing.B) {
	for _, gate := range []string{"GenericWorkload", "TopologyAwareWorkloadScheduling"} {
		restore, err := Enable(gate)
		if err != nil {
			b.Fatal(err)
		}
		defer restore()
	}
	for _, size := range []struct{ nodes, racks, pods int }{{1000, 20, 64}, {5000, 100, 512}} {
		b.Run(fmt.Sprintf("nodes=%d/racks=%d/pods=%d", size.nodes, size.racks, size.pods), func(b *testing.B) {
			c := groupInRacks(size.nodes, size.racks, size.pods)
			theirs := newRealGroup(b, c)
			known := newOwnGroup(b, c)
			known.try(b)
			var real, cold, ours time.Duration
			rounds := 0
			for b.Loop() {
				real += theirs.trials(b)
				cold += newOwnGroup(b, c).try(b)
				ours += known.try(b)
				rounds++
			}
			b.ReportMetric(float64(real)/float64(ours), "times")
			b.ReportMetric(float64(real)/float64(cold), "times-cold")
			b.ReportMetric(float64(real.Milliseconds())/float64(rounds), "ms/real")
			b.ReportMetric(float64(cold.Microseconds())/float64(rounds), "us/cold")
			b.ReportMetric(float64(ours.Microseconds())/float64(rounds), "us/try")
		})
	}
}

// groupInRacks is a case with one group of pods that wait. They must all be in one rack.
func groupInRacks(nodes, racks, pods int) *golden.PodGroupCase {
	c := &golden.PodGroupCase{ID: "bench", Group: "gang", Gates: map[string]bool{"TopologyAwareWorkloadScheduling": true}}
	for i := range nodes {
		name := fmt.Sprintf("n%d", i)
		c.Nodes = append(c.Nodes, api.MakeNode(name, "32", "128Gi").UID(api.UID(name)).Labels("rack", fmt.Sprint(i%racks), api.LabelHostname, name).Obj())
	}
	g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "gang", UID: "gang"}}
	g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: int32(pods)}
	g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "rack"}}}
	c.PodGroups = []*api.PodGroup{g}
	for i := range pods {
		p := api.MakePod(fmt.Sprintf("m%d", i)).Namespace("default").UID(api.UID(fmt.Sprint("m", i))).Priority(0).Scheduler("default-scheduler").Requests("2", "4Gi").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &g.Name}
		c.Members = append(c.Members, p)
	}
	return c
}

// realGroup is kube-scheduler's cycle for a group, up to the trials of its placements.
type realGroup struct {
	world      *groupWorld
	group      *framework.QueuedPodGroupInfo
	state      *framework.CycleState
	placements []*fwk.Placement
}

func newRealGroup(b *testing.B, c *golden.PodGroupCase) *realGroup {
	b.Helper()
	ctx, stop := context.WithCancel(context.Background())
	b.Cleanup(stop)
	w, err := newGroupWorld(ctx, c)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := w.NodeOrder(); err != nil {
		b.Fatal(err)
	}
	group, err := w.next()
	if err != nil || group == nil {
		b.Fatal(group, err)
	}
	nodes, err := w.snapshot.ListNodesInPlacement()
	if err != nil {
		b.Fatal(err)
	}
	r := &realGroup{world: w, group: group, state: framework.NewCycleState()}
	list, status := r.profile().RunPlacementGeneratePlugins(w.ctx, r.state, group.PodGroupInfo, nodes)
	if !status.IsSuccess() {
		b.Fatal(status.AsError())
	}
	r.placements = list
	return r
}

func (r *realGroup) profile() framework.Framework {
	return r.world.sched.Profiles["default-scheduler"]
}

// trials tries the group in each placement and takes it back.
func (r *realGroup) trials(b *testing.B) time.Duration {
	b.Helper()
	w := r.world
	start := time.Now()
	for _, p := range r.placements {
		if err := w.snapshot.AssumePlacement(p); err != nil {
			b.Fatal(err)
		}
		own := framework.NewCycleState()
		own.SetPodGroupSchedulingCycle(r.state)
		result, revert := defaultAlgorithm(w.sched, w.ctx, r.profile(), own, r.group.PodGroupInfo, r.group)
		if !result.status.IsSuccess() {
			b.Fatal(result.status.AsError())
		}
		for i := len(revert) - 1; i >= 0; i-- {
			if revert[i] != nil {
				revert[i]()
			}
		}
		w.snapshot.ForgetPlacement()
	}
	return time.Since(start)
}

// ownGroup is the same group for package gang.
type ownGroup struct {
	snap   *berth.Snapshot
	placer *gang.Placer
	group  *gang.Group
}

func newOwnGroup(b *testing.B, c *golden.PodGroupCase) *ownGroup {
	b.Helper()
	base := golden.Case{Nodes: c.Nodes}
	s, err := base.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		b.Fatal(err)
	}
	placer, err := gang.New(sched, gang.Rules{})
	if err != nil {
		b.Fatal(err)
	}
	o := &ownGroup{s, placer, gang.GroupWith(c.PodGroups[0], nil, nil)}
	for _, p := range c.Members {
		pod, err := s.NewPodInfo(p)
		if err != nil {
			b.Fatal(err)
		}
		o.group.Pods = append(o.group.Pods, pod)
	}
	return o
}

// try places the group and takes it back.
func (o *ownGroup) try(b *testing.B) time.Duration {
	b.Helper()
	start := time.Now()
	out, err := o.placer.Try(o.snap, o.group)
	if err != nil || out.Status != gang.Placed {
		b.Fatal(out, err)
	}
	return time.Since(start)
}

package rival

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// BenchmarkPodGroup places one group of 64 equal pods in one of 20 racks of 1,000 nodes:
// the real cycle's trials of all racks beside a whole Try of package gang, in one run.
// times is how many times as fast package gang is; its first Try knows nothing, the others
// know the class of the pods.
func BenchmarkPodGroup(b *testing.B) {
	for _, gate := range []string{"GenericWorkload", "TopologyAwareWorkloadScheduling"} {
		restore, err := Enable(gate)
		if err != nil {
			b.Fatal(err)
		}
		defer restore()
	}
	c := &golden.PodGroupCase{ID: "bench", Group: "gang", Gates: map[string]bool{"TopologyAwareWorkloadScheduling": true}}
	for i := range 1000 {
		name := fmt.Sprintf("n%d", i)
		c.Nodes = append(c.Nodes, api.MakeNode(name, "32", "128Gi").UID(api.UID(name)).Labels("rack", fmt.Sprint(i%20), api.LabelHostname, name).Obj())
	}
	g := &api.PodGroup{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "gang", UID: "gang"}}
	g.Spec.SchedulingPolicy.Gang = &api.GangSchedulingPolicy{MinCount: 64}
	g.Spec.SchedulingConstraints = &api.PodGroupSchedulingConstraints{Topology: []api.TopologyConstraint{{Key: "rack"}}}
	c.PodGroups = []*api.PodGroup{g}
	for i := range 64 {
		p := api.MakePod(fmt.Sprintf("m%d", i)).Namespace("default").UID(api.UID(fmt.Sprint("m", i))).Priority(0).Scheduler("default-scheduler").Requests("2", "4Gi").Obj()
		p.Spec.SchedulingGroup = &api.PodSchedulingGroup{PodGroupName: &g.Name}
		c.Members = append(c.Members, p)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
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
	profile := w.sched.Profiles["default-scheduler"]
	nodes, err := w.snapshot.ListNodesInPlacement()
	if err != nil {
		b.Fatal(err)
	}
	state := framework.NewCycleState()
	list, status := profile.RunPlacementGeneratePlugins(w.ctx, state, group.PodGroupInfo, nodes)
	if !status.IsSuccess() {
		b.Fatal(status.AsError())
	}
	real := func() time.Duration {
		start := time.Now()
		for _, p := range list {
			if err := w.snapshot.AssumePlacement(p); err != nil {
				b.Fatal(err)
			}
			own := framework.NewCycleState()
			own.SetPodGroupSchedulingCycle(state)
			result, revert := defaultAlgorithm(w.sched, w.ctx, profile, own, group.PodGroupInfo, group)
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
	want := gang.GroupWith(g, nil, nil)
	for _, p := range c.Members {
		pod, err := s.NewPodInfo(p)
		if err != nil {
			b.Fatal(err)
		}
		want.Pods = append(want.Pods, pod)
	}
	ours := func() time.Duration {
		start := time.Now()
		out, err := placer.Try(s, want)
		if err != nil || out.Status != gang.Placed {
			b.Fatal(out, err)
		}
		return time.Since(start)
	}
	first := ours()
	var theirs, mine time.Duration
	rounds := 0
	for b.Loop() {
		theirs += real()
		mine += ours()
		rounds++
	}
	b.ReportMetric(float64(theirs)/float64(mine), "times")
	b.ReportMetric(float64(theirs)/float64(rounds)/float64(first), "times-first")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(rounds), "ms/real")
	b.ReportMetric(float64(mine.Microseconds())/float64(rounds), "us/try")
}

//go:build full

package whatif_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// large is a cluster of 5,000 nodes in 10 zones with 100,000 pods of 50 Deployments.
func large(b *testing.B) *framework.Snapshot {
	b.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	const nodes = 5000
	for i := range nodes {
		if err := s.AddNode(api.MakeNode(fmt.Sprintf("node-%04d", i), "16", "64Gi").Zone(fmt.Sprint("z", i%10)).Labels("uneven", fmt.Sprint(i%10 > 0 || i%3 > 0)).Obj()); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 20 * nodes {
		app := fmt.Sprint("app-", i%50)
		p := api.MakePod(fmt.Sprintf("pod-%06d", i)).Labels("app", app).Owner("ReplicaSet", app).Node(fmt.Sprintf("node-%04d", i%nodes)).
			Requests(fmt.Sprint(100+10*(i%50), "m"), "1Gi").Obj()
		info, err := s.NewPodInfo(p)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.AddPod(info, p.Spec.NodeName); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkQuestions asks each question of a cluster of 5,000 nodes and 100,000 pods,
// warm: the Planner has answered it before.
func BenchmarkQuestions(b *testing.B) {
	s := large(b)
	p := planner(s)
	web := pod(s, api.MakePod("web").Labels("app", "web").Requests("500m", "2Gi").Obj())
	spread := pod(s, api.MakePod("spread").Labels("app", "spread").Requests("500m", "2Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=spread").Obj())
	hosts := pod(s, api.MakePod("hosts").Labels("app", "hosts").Requests("500m", "2Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=hosts").Spread(1, api.LabelHostname, api.ScheduleAnyway, "app=hosts").Obj())
	single := pod(s, api.MakePod("single").Labels("app", "single").Requests("500m", "2Gi").PodAntiAffinity(api.LabelHostname, "app=single").Obj())
	both := pod(s, api.MakePod("both").Labels("app", "both").Requests("500m", "2Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=both").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=both").Obj())
	apart := pod(s, api.MakePod("apart").Labels("app", "apart").Requests("500m", "2Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=apart").PodAntiAffinity(api.LabelHostname, "app=apart").Obj())
	near := pod(s, api.MakePod("near").Labels("app", "near").Requests("500m", "2Gi").PodAffinity(api.LabelTopologyZone, "app=near").Obj())
	follower := pod(s, api.MakePod("follower").Labels("app", "follower").Requests("500m", "2Gi").PodAffinity(api.LabelTopologyZone, "app=app-7").Obj())
	tiny := pod(s, api.MakePod("tiny").Labels("app", "tiny").Requests("1m", "1Mi").Obj())
	uneven := pod(s, api.MakePod("uneven").Labels("app", "uneven").Requests("500m", "2Gi").NodeSelector("uneven", "true").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=uneven").Spread(1, api.LabelHostname, api.DoNotSchedule, "app=uneven").Obj())
	huge := pod(s, api.MakePod("huge").Labels("app", "huge").Requests("15", "2Gi").Obj())
	picky := pod(s, api.MakePod("picky").Labels("app", "app-7").Requests("12", "2Gi").
		Spread(1, api.LabelTopologyZone, api.DoNotSchedule, "app=app-7").PodAntiAffinity(api.LabelHostname, "app=app-7").Obj())
	var classes []*framework.PodInfo // each of a class of its own
	for i := range 100 {
		classes = append(classes, pod(s, api.MakePod(fmt.Sprint("class-", i)).Labels("app", fmt.Sprint("app-", i%50)).Requests(fmt.Sprint(100+10*i, "m"), fmt.Sprint(1+i%9, "Gi")).
			Spread(int32(1+i%3), api.LabelTopologyZone, api.ScheduleAnyway, fmt.Sprint("app=app-", i%50)).Obj()))
	}
	sweep, err := whatif.Replicas(web, 100)
	if err != nil {
		b.Fatal(err)
	}
	weightings := make([]whatif.Weights, 1000)
	for i := range weightings {
		weightings[i] = whatif.Weights{"NodeResourcesFit": int64(1 + i%31), "NodeResourcesBalancedAllocation": int64(1 + i%37), "PodTopologySpread": int64(i % 7)}
	}
	ten := make([]string, 10)
	for i := range ten {
		ten[i] = fmt.Sprintf("node-%04d", 37*i)
	}
	ask := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			if err := f(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	ask("headroom", func() error { _, err := p.Headroom(web, 0); return err })
	ask("headroom-spread", func() error { _, err := p.Headroom(spread, 0); return err })
	ask("headroom-spread-soft-hosts", func() error { _, err := p.Headroom(hosts, 0); return err })
	ask("headroom-one-per-host", func() error { _, err := p.Headroom(single, 0); return err })
	ask("headroom-spread-hard-hosts", func() error { _, err := p.Headroom(both, 0); return err })
	ask("headroom-spread-one-per-host", func() error { _, err := p.Headroom(apart, 0); return err })
	ask("headroom-near", func() error { _, err := p.Headroom(near, 0); return err })
	ask("headroom-near-others", func() error { _, err := p.Headroom(follower, 0); return err })
	ask("headroom-tiny", func() error { _, err := p.Headroom(tiny, 0); return err })
	ask("headroom-uneven-zones", func() error { _, err := p.Headroom(uneven, 0); return err })
	ask("drain-10", func() error { _, err := p.Drain(ten...); return err })
	ask("removable-10", func() error { _, err := p.Removable(ten...); return err })
	uses := whatif.RebalanceConfig{
		Low: map[resource.Name]float64{resource.CPU: 30}, High: map[resource.Name]float64{resource.CPU: 60}, UseRequests: true,
	}
	ask("rebalance", func() error {
		r, err := p.Rebalance(uses)
		if err == nil && len(r.Moves) < 1000 {
			err = fmt.Errorf("%d moves", len(r.Moves))
		}
		return err
	})
	ask("whynot-rejected", func() error { _, err := p.WhyNot(huge, "node-0007"); return err })
	ask("whynot-scores", func() error { _, err := p.WhyNot(web, "node-0007"); return err })
	ask("whynot-constraints", func() error { _, err := p.WhyNot(picky, "node-0007"); return err })
	selector := pod(s, api.MakePod("selector").Labels("app", "app-3").Requests("500m", "2Gi").NodeSelector("disk", "ssd").Obj())
	ask("whynot-selector", func() error { _, err := p.WhyNot(selector, "node-0007"); return err })
	zonal := pod(s, api.MakePod("zonal").Labels("app", "app-3").Requests("500m", "2Gi").NodeSelector(api.LabelTopologyZone, "z3").
		Spread(1, api.LabelHostname, api.DoNotSchedule, "app=app-3").Obj())
	ask("whynot-zone", func() error { _, err := p.WhyNot(zonal, "node-0007"); return err })
	fresh := 0
	novel := func(name string, b api.PodBuilder) { // a pod of a class that was never asked about
		ask(name, func() error {
			fresh++
			app := fmt.Sprint("novel-", fresh)
			_, err := p.WhyNot(pod(s, b.Labels("app", app).Spread(2, api.LabelTopologyZone, api.DoNotSchedule, "app="+app).
				Spread(1, api.LabelHostname, api.ScheduleAnyway, "app="+app).Obj()), "node-0007")
			return err
		})
	}
	novel("whynot-novel-scores", api.MakePod("novel").Requests("500m", "2Gi"))
	novel("whynot-novel-rejected", api.MakePod("novel").Requests("15", "2Gi"))
	novel("whynot-novel-selector", api.MakePod("novel").Requests("500m", "2Gi").NodeSelector("disk", "ssd"))
	novel("whynot-novel-anti", api.MakePod("novel").Requests("500m", "2Gi").NodeSelector(api.LabelTopologyZone, "z3").PodAntiAffinity(api.LabelHostname, "app=app-7"))
	ask("sweep-100-classes-x1000", func() error { _, err := p.Sweep(classes, weightings); return err })
	ask("sweep-100x1000", func() error { _, err := p.Sweep(sweep, weightings); return err })
	ask("thousand-what-ifs", func() error {
		for i := range 1000 {
			if _, err := p.Place([]*framework.PodInfo{sweep[i%100]}); err != nil {
				return err
			}
		}
		return nil
	})
	ask("thousand-removable", func() error {
		for i := range 1000 {
			if _, err := p.Removable(fmt.Sprintf("node-%04d", 5*i)); err != nil {
				return err
			}
		}
		return nil
	})
	ask("thousand-drains", func() error {
		for i := range 1000 {
			if _, err := p.Drain(fmt.Sprintf("node-%04d", 5*i)); err != nil {
				return err
			}
		}
		return nil
	})
	ask("thousand-whynot", func() error { // 50 templates in three sizes, with pods that nobody has seen
		for i := range 1000 {
			fresh++
			app := fmt.Sprint("app-", i%50)
			b := api.MakePod(fmt.Sprint("fresh-", fresh)).Labels("app", app).
				Requests([]string{"500m", "10", "15"}[i%3], "2Gi").Spread(int32(1+i%4), api.LabelTopologyZone, api.DoNotSchedule, "app="+app)
			if i%2 == 0 {
				b = b.Spread(1, api.LabelHostname, api.ScheduleAnyway, "app="+app)
			}
			if i%5 == 0 {
				b = b.PodAntiAffinity(api.LabelHostname, "app="+app)
			}
			if _, err := p.WhyNot(pod(s, b.Obj()), fmt.Sprintf("node-%04d", (7*i)%5000)); err != nil {
				return err
			}
		}
		return nil
	})
	ask("nodes-needed", func() error {
		pods, err := whatif.Replicas(huge, 200)
		if err != nil {
			return err
		}
		_, err = p.NodesNeeded(pods, whatif.NodeType{Name: "new", Node: api.MakeNode("", "64", "256Gi").Obj()})
		return err
	})
	two := []whatif.NodeType{
		{Name: "small", Node: api.MakeNode("", "16", "64Gi").Zone("z1").Obj(), Price: 10},
		{Name: "large", Node: api.MakeNode("", "64", "256Gi").Zone("z2").Obj(), Price: 38},
	}
	many := func(name string, b api.PodBuilder) {
		pods, err := whatif.Replicas(pod(s, b.Obj()), 100_000)
		ask(name, func() error {
			if err == nil {
				_, err = p.NodesNeeded(pods, two...)
			}
			return err
		})
	}
	many("nodes-needed-100000-replicas", api.MakePod("web").Labels("app", "web").Requests("2", "4Gi"))
	many("nodes-needed-100000-spread", api.MakePod("spread").Labels("app", "spread").Requests("2", "4Gi").Spread(20_000, api.LabelTopologyZone, api.DoNotSchedule, "app=spread"))
}

// BenchmarkEphemeralVolumes places replicas with a claim each that the question makes.
func BenchmarkEphemeralVolumes(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			s := scratch(api.VolumeBindingWaitForFirstConsumer)
			for i := range nodes {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "8", "64Gi").Zone(fmt.Sprint("z", i%3)).Obj()); err != nil {
					b.Fatal(err)
				}
			}
			const replicas = 100
			pods, err := whatif.Replicas(pod(s, withScratch("web", "fast")), replicas)
			if err != nil {
				b.Fatal(err)
			}
			p := planner(s)
			for b.Loop() {
				if placement, err := p.Place(pods); err != nil || len(placement.Placed) != replicas {
					b.Fatal(placement, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*replicas), "us/pod")
		})
	}
}

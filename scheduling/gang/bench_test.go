//go:build full

package gang_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// bigCluster has 5,000 nodes in 100 racks, each with some pods.
func bigCluster(b *testing.B) *framework.Snapshot {
	b.Helper()
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 5000 {
		n := api.MakeNode(fmt.Sprintf("n%d", i), "32", "128Gi").Labels(rack, fmt.Sprintf("r%02d", i%100), api.LabelHostname, fmt.Sprintf("n%d", i))
		if err := s.AddNode(n.Obj()); err != nil {
			b.Fatal(err)
		}
		for k := range i % 7 {
			p := info(s, api.MakePod(fmt.Sprintf("old-%d-%d", i, k)).Requests("1", "2Gi").Obj())
			if err := s.AddPod(p, fmt.Sprintf("n%d", i)); err != nil {
				b.Fatal(err)
			}
		}
	}
	return s
}

// gangOf are n equal pods.
func gangOf(s *framework.Snapshot, name string, n int) *gang.Group {
	g := &gang.Group{Name: name, Topology: []gang.Level{{Key: rack}}}
	for i := range n {
		g.Pods = append(g.Pods, info(s, api.MakePod(fmt.Sprintf("%s-%d", name, i)).Labels("job", "train").Requests("2", "4Gi").Obj()))
	}
	return g
}

func fast(b *testing.B, rules gang.Rules) *gang.Placer {
	b.Helper()
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		b.Fatal(err)
	}
	p, err := gang.New(sched, rules)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// singles places the pods one after the other, each on its own, and takes them back.
func singles(b *testing.B, p *gang.Placer, s *framework.Snapshot, g *gang.Group) time.Duration {
	b.Helper()
	mark := s.Begin()
	start := time.Now()
	for _, pod := range g.Pods {
		if _, err := p.Scheduler().Place(s, pod); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(start)
	s.Rollback(mark)
	return took
}

func together(b *testing.B, p *gang.Placer, s *framework.Snapshot, g *gang.Group) time.Duration {
	b.Helper()
	mark := s.Begin()
	start := time.Now()
	out, err := p.Place(s, g)
	took := time.Since(start)
	if err != nil || out.Status != gang.Placed {
		b.Fatal(out, err)
	}
	s.Rollback(mark)
	return took
}

// A group of 512 equal pods beside 512 single placements, in one run: the ratio is
// times-singles. second/first is what a second gang of a known shape costs in parts of
// the first, which finds everything out anew.
func BenchmarkGroup(b *testing.B) {
	for _, rules := range []gang.Rules{{}, {Choice: gang.BestFit}, {Choice: gang.MostPacked}} {
		b.Run(fmt.Sprintf("nodes=5000/racks=100/pods=512/%v", rules.Choice), func(b *testing.B) {
			s := bigCluster(b)
			var alone, first, second time.Duration
			round := 0
			for b.Loop() {
				// A new shape for a placer that knows nothing: singles, then the group.
				cold := fast(b, rules)
				a, c := gangOf(s, fmt.Sprintf("a%d", round), 512), gangOf(s, fmt.Sprintf("b%d", round), 512)
				first += together(b, cold, s, a)
				second += together(b, cold, s, c)
				other := fast(b, rules)
				d := gangOf(s, fmt.Sprintf("c%d", round), 512)
				alone += singles(b, other, s, d)
				round++
			}
			b.ReportMetric(float64(first)/float64(alone), "times-singles")
			b.ReportMetric(float64(second)/float64(first), "second/first")
			b.ReportMetric(float64(first.Microseconds())/float64(round), "us/group")
			b.ReportMetric(float64(alone.Microseconds())/float64(round), "us/singles")
		})
	}
}

// Capacity after one node has changed.
func BenchmarkCapacityAfterChange(b *testing.B) {
	s := bigCluster(b)
	p := fast(b, gang.Rules{Choice: gang.BestFit})
	shape := gangOf(s, "shape", 64)
	if _, err := p.Capacity(s, shape, 0); err != nil {
		b.Fatal(err)
	}
	pod := info(s, api.MakePod("one").Requests("3", "1Gi").Obj())
	for b.Loop() {
		if err := s.AddPod(pod, "n17"); err != nil {
			b.Fatal(err)
		}
		if _, err := p.Capacity(s, shape, 0); err != nil {
			b.Fatal(err)
		}
		if err := s.RemovePod(pod, "n17"); err != nil {
			b.Fatal(err)
		}
	}
}

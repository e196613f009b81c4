package shapes

import (
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// Shapes with a plugin that must be asked about all nodes, or nearly all, for each pod.

// seconds scores nodes in turn: in each second, every node has another score.
type seconds struct{}

func (seconds) Name() string { return "Seconds" }

func (seconds) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode | framework.ReadsTime}
}

func (seconds) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return second{c.Snapshot}, framework.Status{}
}

// Score is never called: PreScore binds another scorer.
func (seconds) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// second is the scorer of a decision.
type second struct{ snapshot *framework.Snapshot }

func (s second) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	return (s.snapshot.Now().Unix() + int64(n.Slot())) % (framework.MaxNodeScore + 1)
}

func (s second) ValidUntil(*framework.PodInfo, *framework.NodeInfo) time.Time {
	return s.snapshot.Now().Truncate(time.Second).Add(time.Second)
}

func expiring() Shape {
	s := deployments()
	s.Name, s.About = "expiring", "a scorer whose answers about all nodes run out every second, in which ten pods come"
	s.Profile = func(p *scheduling.Profile) {
		p.Score = append(p.Score, scheduling.Weighted{Plugin: seconds{}, Weight: 1})
	}
	s.Ready = func(w *World) error {
		w.Snapshot.SetNow(time.Unix(1_800_000_000, 0))
		return nil
	}
	s.Come = func(w *World, p *framework.PodInfo) error {
		w.Snapshot.SetNow(w.Snapshot.Now().Add(time.Second / 10))
		return w.Place(p)
	}
	return s
}

// anyNode is a filter that does not say what it reads, and rejects no node.
type anyNode struct{}

func (anyNode) Name() string { return "AnyNode" }

func (anyNode) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func unscoped() Shape {
	s := deployments()
	s.Name, s.About = "unscoped", "a filter that does not say what it reads, so it is asked about all nodes"
	s.Profile = func(p *scheduling.Profile) { p.Filter = append(p.Filter, anyNode{}) }
	return s
}

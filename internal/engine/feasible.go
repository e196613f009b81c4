package engine

import "github.com/berth-sched/berth/framework"

// feasibleSet shows the feasible nodes of a class to PreScore plugins.
//
// Invariant: it has no state but the class's. What it shows holds only while the
// plugin is being called; the groups that it shows cover all feasible nodes, each
// group by its first node, which need not be feasible itself.
type feasibleSet class

func (s *feasibleSet) List() []*framework.NodeInfo { return (*class)(s).feasibleNodes() }

func (s *feasibleSet) Groups(at int) framework.FeasibleNodes {
	for i := range s.columns {
		if col := &s.columns[i]; col.active && col.scorer.At == at && col.shown {
			return (*feasibleGroups)(s)
		}
	}
	return s
}

func (s *feasibleSet) Len() int { return s.tree.feasible() }

func (s *feasibleSet) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range s.List() {
		f(n, 1)
	}
}

// feasibleGroups shows them by the groups of the class.
type feasibleGroups class

func (s *feasibleGroups) Len() int { return s.tree.feasible() }

func (s *feasibleGroups) Each(f func(node *framework.NodeInfo, nodes int)) {
	for g, slots := range s.division.slots {
		if n := s.tree.feasibleIn(g); n > 0 {
			f(s.base.snapshot.AtSlot(int(slots[0])), n)
		}
	}
}

// sampledNodes shows the feasible nodes of a sample.
type sampledNodes View

func (v *sampledNodes) List() []*framework.NodeInfo {
	(*View)(v).list()
	return v.nodes
}

func (v *sampledNodes) Groups(int) framework.FeasibleNodes { return v }

func (v *sampledNodes) Len() int { return v.Feasible }

func (v *sampledNodes) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range v.List() {
		f(n, 1)
	}
}

package engine

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// feasibleSet shows the feasible nodes of a class to PreScore plugins.
//
// It has no state but the class's. What it shows holds only while the plugin
// is being called. The groups that it shows cover all feasible nodes, each group by its
// first node, which need not be feasible itself.
//
// A plugin calls these methods, so each leaves the guard while it runs.
type feasibleSet class

func (s *feasibleSet) List() []*framework.NodeInfo {
	s.ask.guard.Leave()
	nodes := (*class)(s).feasibleNodes()
	s.ask.guard.Enter()
	return nodes
}

func (s *feasibleSet) Groups(at int) incremental.FeasibleNodes {
	s.ask.guard.Leave()
	var shown incremental.FeasibleNodes = s
	known := false
	for i := range s.columns.list {
		if col := &s.columns.list[i]; col.role != absent && col.scorer.At == at {
			if known = true; s.groups.division.shows(col.groups) {
				shown = (*feasibleGroups)(s)
			}
		}
	}
	if !known && s.base.guess.at(at, s.groups.division) {
		shown = (*feasibleGroups)(s)
	}
	s.ask.guard.Enter()
	return shown
}

func (s *feasibleSet) Len() int { return (*feasibleGroups)(s).Len() }

func (s *feasibleSet) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range s.List() {
		f(n, 1)
	}
}

// feasibleGroups shows them by the groups of the class.
type feasibleGroups class

func (s *feasibleGroups) Len() int {
	s.ask.guard.Leave()
	n := s.totals.tree.Feasible()
	s.ask.guard.Enter()
	return n
}

// FeasibleVersion implements [incremental.VersionedNodes].
func (s *feasibleGroups) FeasibleVersion() uint64 {
	s.ask.guard.Leave()
	if n := &s.shownAs; n.feasible != s.versions.feasible || n.version == 0 {
		n.feasible, n.version = s.versions.feasible, s.base.at.snapshot.NewVersion()
	}
	s.ask.guard.Enter()
	return s.shownAs.version
}

func (s *feasibleGroups) Each(f func(node *framework.NodeInfo, nodes int)) {
	s.ask.guard.Leave()
	for g, slots := range s.groups.division.slots {
		if n := s.totals.tree.FeasibleIn(g); n > 0 {
			first := s.base.at.snapshot.AtSlot(int(slots[0]))
			s.ask.guard.Enter()
			f(first, n)
			s.ask.guard.Leave()
		}
	}
	s.ask.guard.Enter()
}

// FeasibleVersion implements [incremental.VersionedNodes].
func (s *feasibleSet) FeasibleVersion() uint64 { return (*feasibleGroups)(s).FeasibleVersion() }

// sampledNodes shows the feasible nodes of a sample.
type sampledNodes View

func (v *sampledNodes) List() []*framework.NodeInfo {
	v.class.ask.guard.Leave()
	(*View)(v).list()
	v.class.ask.guard.Enter()
	return v.nodes
}

func (v *sampledNodes) Groups(int) incremental.FeasibleNodes { return v }

func (v *sampledNodes) Len() int { return v.Feasible }

func (v *sampledNodes) Each(f func(node *framework.NodeInfo, nodes int)) {
	for _, n := range v.List() {
		f(n, 1)
	}
}

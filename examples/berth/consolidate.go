package main

import (
	"flag"
	"fmt"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/resource"
)

var consolidateCommand = command{
	name: "consolidate", args: "[NODE]...",
	short: "which nodes can go, cheapest first, with a place for each pod",
	yes:   "some node can go",
	long: `Removes as many of the nodes as it can, one after the other: those with the fewest pods
to move first. Without nodes it tries all. The result is a plan that works, not the
largest one. PodDisruptionBudgets hold; read them as well.`,
	example:  []string{"kubectl get nodes,pods,pdb -A -o yaml | berth consolidate"},
	question: func(*flag.FlagSet) func(*session) (*answer, error) { return consolidate },
}

func consolidate(s *session) (*answer, error) {
	plan, err := s.planner()
	if err != nil {
		return nil, err
	}
	if err := s.checkNodes("", s.args...); err != nil {
		return nil, err
	}
	c, err := plan.Consolidate(s.args...)
	if err != nil {
		return nil, err
	}
	a := &answer{yes: len(c.Removed) > 0, data: c}
	a.text = fmt.Sprintf("%d of %d nodes can go; %d pods move", len(c.Removed), len(c.Removed)+len(c.Kept), len(c.Moves))
	removed := page.Table{Head: []string{"node", "cpu", "memory"}}
	for _, name := range c.Removed {
		has := s.snapshot.Node(name).Node.Status.Allocatable
		removed.Add(name, has[resource.CPU].String(), has[resource.Memory].String())
	}
	a.add(page.Section{Title: "Nodes that go", Note: "In this order, with what is allocatable on them.", Table: removed})
	a.add(page.Section{Title: "Where the pods go", Table: movesTable(c.Moves)})
	a.add(page.Section{Title: "Nodes that stay, and the pod that keeps each", Table: stuckTable(c.Kept)})
	then, err := after(s.snapshot, c.Moves, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Removed {
		if err := then.RemoveNode(name); err != nil {
			return nil, err
		}
	}
	a.addMoves(s.snapshot, then, c.Removed, "removed")
	return a, nil
}

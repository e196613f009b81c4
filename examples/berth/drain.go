package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
)

var drainCommand = command{
	name: "drain", args: "NODE...",
	short: "where the pods of nodes go, in how many batches, and which are stuck",
	yes:   "every pod finds another node",
	long: `Cordons the nodes together and evicts their pods, in as many batches as the
PodDisruptionBudgets demand. Read these as well: kubectl get nodes,pods,pdb -A -o yaml.
Pods of DaemonSets and static pods stay.`,
	example: []string{
		"kubectl get nodes,pods,pdb -A -o yaml | berth drain worker-3 worker-4",
		"berth drain -f cluster.yaml worker-3 -o html >drain.html",
	},
	question: func(*flag.FlagSet) func(*session) (*answer, error) { return drain },
}

func drain(s *session) (*answer, error) {
	if len(s.args) == 0 {
		return nil, errors.New("name one or more nodes")
	}
	plan, err := s.planner()
	if err != nil {
		return nil, err
	}
	if err := s.checkNodes("", s.args...); err != nil {
		return nil, err
	}
	d, err := plan.Drain(s.args...)
	if err != nil {
		return nil, err
	}
	a := &answer{yes: d.Clean(), data: d}
	a.text = fmt.Sprintf("%d %s in %d %s: %d pods move, %d are stuck, %d stay", len(d.Nodes), plural(len(d.Nodes), "node drains", "nodes drain"),
		d.Batches, plural(d.Batches, "batch", "batches"), len(d.Moves), len(d.Stuck), len(d.Left))
	a.add(page.Section{Title: "Stuck pods", Table: stuckTable(d.Stuck)})
	a.add(page.Section{Title: "Where the pods go", Table: movesTable(d.Moves)})
	then, err := after(s.snapshot, d.Moves, d.Stuck)
	if err != nil {
		return nil, err
	}
	a.addMoves(s.snapshot, then, d.Nodes, "drained")
	return a, nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// addMoves shows the nodes before and after; the named ones are marked.
func (a *answer) addMoves(before, then *framework.Snapshot, nodes []string, markedAs string) {
	marked := map[string]bool{}
	for _, n := range nodes {
		marked[n] = true
	}
	x := beside(before, then, "before", "after", marked, markedAs)
	x.Title, x.Note = "Before and after", "What pods request, as a share of what is allocatable. Nodes that change come first in the table."
	a.add(x)
}

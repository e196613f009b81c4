package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scheduling/workload"
)

var nodesNeededCommand = command{
	name: "nodes-needed", args: "[TARGET]...",
	short: "which nodes to add so that pods fit, and what they cost",
	yes:   "with them every pod fits",
	long: `Finds the cheapest nodes to add so that the pods fit: those that wait, or those of the
targets. Each -type is a machine that can be added; -like takes a node of the cluster as
the pattern. The DaemonSets of the files, and those whose pods a -like node has, run their
pods on new nodes, too; so read them as well: kubectl get nodes,pods,daemonsets -A -o yaml.
With one type the answer is exact, unless the search would take minutes; with several it is
the cheapest found. A lower bound says how good it is. Pods that no number of these machines
helps are named.

` + targetHelp,
	example: []string{
		"berth nodes-needed -f cluster.yaml -type small:cpu=8,memory=32Gi,price=40 -type large:cpu=32,memory=128Gi,price=120,max=5",
		"berth nodes-needed -f cluster.yaml -like worker-1 deployment/web -replicas 50",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		var w wanted
		var t nodeTypes
		w.addFlags(flags)
		t.addFlags(flags)
		return func(s *session) (*answer, error) { return nodesNeeded(s, &w, &t) }
	},
}

// nodeTypes are the flags for machines that can be added.
type nodeTypes struct{ types, likes list }

func (t *nodeTypes) addFlags(flags *flag.FlagSet) {
	flags.Var(&t.types, "type", "a `machine` as NAME:cpu=8,memory=32Gi[,RESOURCE=AMOUNT]...[,price=N][,max=N]; may be repeated")
	flags.Var(&t.likes, "like", "a machine like a `node` of the cluster: NODE[:price=N][,max=N]; may be repeated")
}

// build makes the node types. The cluster must have been read.
func (t *nodeTypes) build(s *session) (all []whatif.NodeType, err error) {
	for _, text := range t.types {
		name, rest, found := strings.Cut(text, ":")
		if !found || name == "" {
			return nil, fmt.Errorf("-type: %q: want NAME:cpu=8,memory=32Gi", text)
		}
		x := whatif.NodeType{Name: name}
		if rest, err = settings(&x, "-type", rest); err != nil {
			return nil, err
		}
		amounts, err := amountsOf("-type "+name, rest)
		if err != nil {
			return nil, err
		}
		node := api.MakeNode("", "", "")
		for _, a := range amounts {
			node = node.Resource(a.name, a.amount)
		}
		x.Node = node.Obj()
		if err := checkNames("-type "+name, &api.Objects{Nodes: []*api.Node{x.Node}}); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	for _, text := range t.likes {
		name, rest, _ := strings.Cut(text, ":")
		x := whatif.NodeType{Name: name}
		if rest, err = settings(&x, "-like", rest); err != nil {
			return nil, err
		}
		if rest != "" {
			return nil, fmt.Errorf("-like: %q: want price=N or max=N", rest)
		}
		n := s.snapshot.Node(name)
		if n == nil {
			return nil, s.checkNodes("-like: ", name)
		}
		like := whatif.TypeLike(name, n) // its daemons run on a new node as well
		x.Node, x.Pods = like.Node, like.Pods
		all = append(all, x)
	}
	return all, nil
}

// withDaemons makes the node types, with the pods of the DaemonSets among the objects.
func (t *nodeTypes) withDaemons(s *session, o *api.Objects) ([]whatif.NodeType, error) {
	all, err := t.build(s)
	if err != nil {
		return nil, err
	}
	daemons := workload.Of(&api.Objects{DaemonSets: o.DaemonSets})
	for i := range all {
		if all[i], err = all[i].WithDaemons(daemons, o.PriorityClasses); err != nil {
			return nil, s.explained(err)
		}
	}
	return all, nil
}

// settings takes price and max off a list of settings, and returns the rest.
func settings(x *whatif.NodeType, where, text string) (rest string, err error) {
	var kept []string
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var n int64
		if key == "price" || key == "max" {
			if n, err = strconv.ParseInt(value, 10, 32); err != nil || n < 1 {
				return "", fmt.Errorf("%s %s: %s: %q: want a number from 1", where, x.Name, key, value)
			}
			if given[key] {
				return "", fmt.Errorf("%s %s: %s: %q: is given twice", where, x.Name, key, value)
			}
			given[key] = true
		}
		switch {
		case key == "price":
			x.Price = n
		case key == "max":
			x.Max = int(n)
		case errtext.Distance(key, "price") <= 2:
			return "", fmt.Errorf("%s %s: %q: did you mean price?", where, x.Name, key)
		case strings.EqualFold(key, "max"):
			return "", fmt.Errorf("%s %s: %q: did you mean max?", where, x.Name, key)
		case part != "":
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ","), nil
}

func nodesNeeded(s *session, w *wanted, t *nodeTypes) (*answer, error) {
	plan, err := s.planner()
	if err != nil {
		return nil, err
	}
	types, err := t.withDaemons(s, &s.cluster.Objects)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, errors.New("no machines; give -type NAME:cpu=8,memory=32Gi or -like NODE")
	}
	pods, err := s.pods(w)
	if err != nil {
		return nil, err
	}
	n, err := plan.NodesNeeded(pods, types...)
	if err != nil {
		return nil, s.cluster.Explain(err)
	}
	count := 0
	bars := &page.Bars{Series: []page.Series{{Name: "nodes"}}}
	table := page.Table{Head: []string{"type", "nodes", "price", "together"}}
	for i, c := range n.Counts {
		count += c.Nodes
		price := max(types[i].Price, 1)
		table.Add(c.Type, c.Nodes, price, price*int64(c.Nodes))
		bars.Labels = append(bars.Labels, c.Type)
		bars.Series[0].Values = append(bars.Series[0].Values, float64(c.Nodes))
	}
	unplaced := n.Placement.Unplaced
	a := &answer{yes: len(unplaced) == 0, data: n}
	a.text = fmt.Sprintf("%d %s for %d; %d of %d pods fit then", count, plural(count, "node", "nodes"), n.Price, len(n.Placement.Placed), len(pods))
	note := "No choice of these types costs less."
	if !n.Exact {
		note = fmt.Sprintf("The cheapest choice found; none costs less than %d.", n.LowerBound)
	}
	a.add(page.Section{Title: "Nodes to add", Note: note, Table: table, Figure: bars})
	nowhere := page.Table{Head: []string{"pod", "why"}}
	for _, u := range unplaced {
		nowhere.Add(u.Pod, u.Message)
	}
	a.add(page.Section{Title: "Pods that fit on no number of them", Table: nowhere})
	fork := s.snapshot.Fork()
	for i, c := range n.Counts {
		if _, err := types[i].AddNodes(fork, c.Nodes); err != nil {
			return nil, err
		}
	}
	full, err := with(fork, pods, n.Placement.Placed)
	if err != nil {
		return nil, err
	}
	x := beside(s.snapshot, full, "before", "after", nil, "")
	x.Title, x.Note = "Before and after", "What pods request, as a share of what is allocatable. New nodes run the pods of DaemonSets. Nodes that change come first in the table."
	a.add(x)
	a.add(placedSection(pods, n.Placement.Placed))
	return a, nil
}

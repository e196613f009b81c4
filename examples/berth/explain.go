package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

var explainCommand = command{
	name: "explain", args: "TARGET",
	short: "why a pod goes to its node, or to none: every filter and score",
	yes:   "the pod fits somewhere",
	long: `Decides about one pod and shows every answer: the scores of each plugin as
raw>normalized*weight, and every filter that rejects a node, with its numbers. A pod that
runs is taken off its node first.

` + targetHelp,
	example: []string{
		"berth explain -f cluster.yaml shop/web-7d4b9",
		"berth explain -f cluster.yaml -requests cpu=4,memory=8Gi",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		requests := flags.String("requests", "", "a pod that is not in the files, as `amounts` such as cpu=500m,memory=1Gi")
		return func(s *session) (*answer, error) { return explain(s, *requests) }
	},
}

// one returns the pod of the only target, or that of -requests.
func (s *session) one(requests string, from func(string) (*framework.PodInfo, error)) (*framework.PodInfo, error) {
	switch {
	case requests != "" && len(s.args) == 0:
		return s.requesting(requests)
	case requests == "" && len(s.args) == 1:
		return from(s.args[0])
	}
	return nil, errors.New("name one pod or workload, or give -requests")
}

func explain(s *session, requests string) (*answer, error) {
	profile, err := s.profile()
	if err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	pod, err := s.one(requests, s.take)
	if err != nil {
		return nil, err
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		return nil, err
	}
	e := sched.ExplainAll(s.snapshot, pod)
	a := &answer{yes: e.Chosen != "", data: e}
	switch {
	case e.Chosen == "":
		a.text = fmt.Sprintf("pod %s goes nowhere: %s", e.Pod, e.Error)
	case e.Unscored:
		a.text = fmt.Sprintf("pod %s goes to %s, the only feasible node of %d", e.Pod, e.Chosen, e.Evaluated)
	case len(e.TiedNodes) > 1:
		a.text = fmt.Sprintf("pod %s goes to %s, one of %d best nodes (tie rule %s)", e.Pod, e.Chosen, len(e.TiedNodes), e.TieRule)
	default:
		a.text = fmt.Sprintf("pod %s goes to %s, the best of %d feasible nodes", e.Pod, e.Chosen, e.Feasible)
	}
	a.text += gatesText(e.Gates)
	a.add(scoresSection(e))
	a.add(reasonsSection(e))
	a.add(rejectedSection(e))
	return a, nil
}

// scoresSection ranks the feasible nodes.
func scoresSection(e *scheduling.Explanation) page.Section {
	var nodes []*scheduling.NodeExplanation
	for i := range e.Nodes {
		if e.Nodes[i].Rank > 0 {
			nodes = append(nodes, &e.Nodes[i])
		}
	}
	slices.SortStableFunc(nodes, func(x, y *scheduling.NodeExplanation) int {
		if x.Rank != y.Rank || x.Node == y.Node {
			return x.Rank - y.Rank
		}
		switch e.Chosen { // it comes first among its equals
		case x.Node:
			return -1
		case y.Node:
			return 1
		}
		return compareNames(x.Node, y.Node)
	})
	s := page.Section{
		Title: "Feasible nodes", Table: page.Table{Head: []string{"rank", "node", "total"}},
		Note: "Weighted scores of the plugins, added up. In the table: raw>normalized*weight. A star marks the chosen node.",
	}
	bars := &page.Bars{Stacked: true}
	for i, n := range nodes {
		rank := fmt.Sprint(n.Rank)
		if n.Node == e.Chosen {
			rank += "*"
		}
		row := []page.Cell{rank, n.Node, n.Total}
		bars.Labels = append(bars.Labels, n.Node)
		for k, x := range n.Scores {
			if i == 0 {
				s.Table.Head = append(s.Table.Head, x.Plugin)
				bars.Series = append(bars.Series, page.Series{Name: x.Plugin})
			}
			bars.Series[k].Values = append(bars.Series[k].Values, float64(x.Weighted))
			text := fmt.Sprintf("%d*%d", x.Normalized, x.Weight)
			if x.Raw != x.Normalized {
				text = fmt.Sprintf("%d>%s", x.Raw, text)
			}
			row = append(row, text)
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figure = bars
	return s
}

// reasonsSection counts the nodes by what rejects them.
func reasonsSection(e *scheduling.Explanation) page.Section {
	type key struct{ plugin, reasons string }
	counts := map[key]int{}
	var keys []key
	count := func(plugin string, reasons []string) {
		k := key{plugin, strings.Join(reasons, "; ")}
		if counts[k]++; counts[k] == 1 {
			keys = append(keys, k)
		}
	}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		for _, r := range n.Rejections {
			count(r.Plugin, r.Reasons)
		}
		if len(n.Rejections) == 0 && n.Rank == 0 && n.Verdict != scheduling.VerdictFeasible {
			count(n.Plugin, append([]string{n.Verdict}, n.Reasons...))
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return counts[b] - counts[a] })
	s := page.Section{Title: "Why nodes are rejected", Note: "A node may be rejected for several reasons.", Table: page.Table{Head: []string{"nodes", "plugin", "reason"}}}
	bars := &page.Bars{Series: []page.Series{{Name: "nodes"}}}
	for _, k := range keys {
		s.Table.Add(counts[k], k.plugin, k.reasons)
		bars.Labels = append(bars.Labels, k.reasons)
		bars.Series[0].Values = append(bars.Series[0].Values, float64(counts[k]))
	}
	s.Figure = bars
	return s
}

// rejectedSection lists the rejected nodes.
func rejectedSection(e *scheduling.Explanation) page.Section {
	t := page.Table{Head: []string{"node", "plugin", "reason", "numbers"}}
	for i := range e.Nodes {
		n := &e.Nodes[i]
		for _, r := range n.Rejections {
			t.Add(n.Node, r.Plugin, strings.Join(r.Reasons, "; "), detailsText(r.Details))
		}
		if len(n.Rejections) == 0 && n.Rank == 0 && n.Verdict != scheduling.VerdictFeasible {
			t.Add(n.Node, n.Plugin, strings.Join(append([]string{n.Verdict}, n.Reasons...), "; "), "")
		}
	}
	return page.Section{Title: "Rejected nodes", Table: t}
}

func detailsText(details []framework.Detail) string {
	var parts []string
	for _, d := range details {
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "; ")
}

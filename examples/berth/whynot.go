package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var whyNotCommand = command{
	name: "why-not", args: "TARGET NODE",
	short: "why a pod does not go to a node, and what would put it there",
	yes:   "the pod goes to that node",
	long: `Shows every filter that rejects the node, with its numbers; the gap of scores to the
chosen node; and the smallest changes that were found, each checked by deciding with it.
A pod that runs is taken off its node first.

` + targetHelp,
	example: []string{"berth why-not -f cluster.yaml shop/web-7d4b9 worker-3"},
	question: func(*flag.FlagSet) func(*session) (*answer, error) {
		return whyNot
	},
}

func whyNot(s *session) (*answer, error) {
	if len(s.args) != 2 {
		return nil, errors.New("name a pod or workload, and a node")
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	if err := s.checkNodes("", s.args[1]); err != nil {
		return nil, err
	}
	pod, err := s.take(s.args[0])
	if err != nil {
		return nil, err
	}
	plan, err := s.planner()
	if err != nil {
		return nil, err
	}
	why, err := plan.WhyNot(pod, s.args[1])
	if err != nil {
		return nil, err
	}
	a := &answer{yes: why.Chosen == why.Node, data: why}
	switch {
	case a.yes:
		a.text = fmt.Sprintf("pod %s goes to %s", why.Pod, why.Node)
	case why.Chosen == "":
		a.text = fmt.Sprintf("pod %s goes nowhere, so not to %s", why.Pod, why.Node)
	default:
		a.text = fmt.Sprintf("pod %s goes to %s, not to %s", why.Pod, why.Chosen, why.Node)
	}
	a.text += gatesText(why.Gates)
	if why.Unseen {
		a.text += "; the scheduler found enough other nodes before it looked at " + why.Node
	}
	a.add(rejectionsSection(why))
	a.add(gapsSection(why))
	if len(why.Remedies) > 0 {
		t := page.Table{Head: []string{"what would put it there, each alone"}}
		for _, r := range why.Remedies {
			t.Add(r.String())
		}
		a.add(page.Section{Title: "What would help", Table: t})
	}
	return a, nil
}

// gatesText ends an answer about a pod that has scheduling gates.
func gatesText(gates []string) string {
	if len(gates) == 0 {
		return ""
	}
	return "; it waits for its scheduling gates to be removed: " + strings.Join(gates, ", ")
}

func rejectionsSection(why *whatif.WhyNot) page.Section {
	t := page.Table{Head: []string{"filter", "reason", "numbers"}}
	for _, r := range why.Rejections {
		t.Add(r.Plugin, strings.Join(r.Reasons, "; "), detailsText(r.Details))
	}
	return page.Section{Title: "What rejects " + why.Node, Table: t}
}

func gapsSection(why *whatif.WhyNot) page.Section {
	t := page.Table{Head: []string{"plugin", "weight", why.Node, why.Chosen, "gap"}}
	bars := &page.Bars{Series: []page.Series{{Name: why.Node}, {Name: why.Chosen}}}
	for _, x := range why.Scores {
		t.Add(x.Plugin, x.Weight, x.Node, x.Chosen, x.Gap)
		bars.Labels = append(bars.Labels, x.Plugin)
		bars.Series[0].Values = append(bars.Series[0].Values, float64(x.Node*x.Weight))
		bars.Series[1].Values = append(bars.Series[1].Values, float64(x.Chosen*x.Weight))
	}
	return page.Section{
		Title: "Scores", Table: t, Figure: bars,
		Note: "Normalized scores of both nodes. The gap is weighted, and so are the bars; a positive gap speaks for " + why.Chosen + ".",
	}
}

package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var headroomCommand = command{
	name: "headroom", args: "[TARGET]",
	short: "how many more of a pod fit, where, and what limits",
	yes:   "as many fit as -at-least asks for",
	long: `Counts how many more replicas of a pod fit: what placing one after the other comes to
before the first fails. The pods that wait are not placed first.

` + targetHelp,
	example: []string{
		"berth headroom -f cluster.yaml deployment/web -at-least 10",
		"berth headroom -f cluster.yaml -requests cpu=500m,memory=1Gi",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		requests := flags.String("requests", "", "a pod that is not in the files, as `amounts` such as cpu=500m,memory=1Gi")
		atLeast := flags.Int("at-least", 1, "how `many` must fit for the answer yes")
		return func(s *session) (*answer, error) { return headroom(s, *requests, *atLeast) }
	},
}

func headroom(s *session, requests string, atLeast int) (*answer, error) {
	if atLeast < 1 {
		return nil, fmt.Errorf("-at-least: %d: must be at least 1", atLeast)
	}
	plan, err := s.planner()
	if err != nil {
		return nil, err
	}
	pod, err := s.one(requests, s.pattern)
	if err != nil {
		return nil, err
	}
	room, err := plan.Headroom(pod, 0)
	if err != nil {
		return nil, err
	}
	a := &answer{yes: room.Total >= atLeast, data: room, text: fmt.Sprintf("%d more of pod %s fit", room.Total, room.Pod)}
	if room.Stopped {
		a.text = fmt.Sprintf("%d more of pod %s fit, and perhaps more", room.Total, room.Pod)
	}
	a.text += gatesText(room.Gates)
	limits := page.Section{Title: "What limits", Note: "What rejects the next replica.", Table: page.Table{Head: []string{"nodes", "plugin", "reason"}}}
	bars := &page.Bars{Series: []page.Series{{Name: "nodes"}}}
	for _, r := range room.Limits {
		limits.Table.Add(r.Nodes, r.Plugin, r.Reason)
		bars.Labels = append(bars.Labels, r.Reason)
		bars.Series[0].Values = append(bars.Series[0].Values, float64(r.Nodes))
	}
	limits.Figure = bars
	a.add(limits)
	if len(room.Domains) > 0 {
		domains := page.Section{Title: "Where a constraint limits", Note: "Domains and what their nodes have room for. If one is full, more room in it lets replicas into others.", Table: page.Table{Head: []string{"domain", "pods", "room"}}}
		for _, d := range room.Domains {
			domains.Table.Add(d.Key+"="+d.Value, d.Pods, d.Room)
		}
		a.add(domains)
	}
	a.add(roomSection(room))
	return a, nil
}

// roomSection lists the nodes, those with most room first.
func roomSection(room *whatif.Headroom) page.Section {
	nodes := slices.Clone(room.Nodes)
	slices.SortFunc(nodes, func(a, b whatif.NodeHeadroom) int { return compareNames(a.Node, b.Node) })
	h := &page.HeatMap{Layers: []page.Layer{{Name: "more pods that fit", Count: true}}}
	for _, n := range nodes {
		h.Names = append(h.Names, n.Node)
		h.Layers[0].Values = append(h.Layers[0].Values, float64(n.Pods))
	}
	slices.SortStableFunc(nodes, func(a, b whatif.NodeHeadroom) int { return b.Pods - a.Pods })
	t := page.Table{Head: []string{"node", "pods", "limit"}}
	for _, n := range nodes {
		pods := page.Cell(n.Pods)
		if n.Shared {
			pods = n.PodsText()
		}
		t.Add(n.Node, pods, strings.Join(n.Reasons, "; "))
	}
	return page.Section{Title: "Where they fit", Table: t, Figure: h}
}

package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var compareCommand = command{
	name: "compare", args: "[TARGET]...",
	short: "what changes under other rules: which pods move, what is used and stranded",
	yes:   "every pod goes to the same node",
	long: `Places the pods that wait, or those of the targets, under the rules of -profile and
-config (a), and under those of -with and -with-config (b), each in the cluster as it is.

` + targetHelp,
	example: []string{
		"berth compare -f cluster.yaml -profile 1.34 -with 1.37",
		"berth compare -f cluster.yaml -with-config packing.yaml -o html >compare.html",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		var w wanted
		var o otherRules
		w.addFlags(flags)
		flags.StringVar(&o.version, "with", "", "the other rules: those of kube-scheduler `version` 1.18, 1.34 or 1.37")
		flags.StringVar(&o.config, "with-config", "", "`file` with a KubeSchedulerConfiguration, for the other rules")
		flags.StringVar(&o.scheduler, "with-scheduler", "", "`name` of the profile in that file; by default the first")
		return func(s *session) (*answer, error) { return compare(s, &w, &o) }
	},
}

// otherRules are the flags for the second profile.
type otherRules struct{ version, config, scheduler string }

func (o *otherRules) profile(s *session) (p scheduling.Profile, title string, err error) {
	if o.version == "" && o.config == "" {
		if o.scheduler == "" {
			return p, "", errors.New("no other rules; give -with VERSION or -with-config FILE")
		}
		o.config = s.config // another profile of the same file
	}
	if !input.IsVersion(o.version) {
		return p, "", fmt.Errorf("-with: %w", input.VersionError(o.version))
	}
	rules, err := input.RulesOf(o.version, o.config, s.seed)
	if err != nil {
		return p, "", err
	}
	p, err = named(rules, o.scheduler)
	return p, fmt.Sprintf("%s, ties %s", rules.Title, p.TieRule), err
}

// CompareAnswer is the answer of compare.
type CompareAnswer struct {
	// Rules names the rules of a and b.
	Rules [2]string `json:"rules"`
	// Comparison has the pods that differ, and how well each side uses the cluster.
	Comparison *whatif.Comparison `json:"comparison"`
	// NodesA and NodesB say how full the nodes are then, by name.
	NodesA []NodeShare `json:"nodesA"`
	NodesB []NodeShare `json:"nodesB"`
}

func compare(s *session, w *wanted, o *otherRules) (*answer, error) {
	other, title, err := o.profile(s)
	if err != nil {
		return nil, err
	}
	plan, pods, err := s.planFor(w)
	if err != nil {
		return nil, err
	}
	c, err := plan.Compare(other, pods)
	if err != nil {
		return nil, err
	}
	profile, err := s.profile()
	if err != nil {
		return nil, err
	}
	fullA, err := placed(profile, s.snapshot, pods)
	if err != nil {
		return nil, err
	}
	fullB, err := placed(other, s.snapshot, pods)
	if err != nil {
		return nil, err
	}
	titles := [2]string{s.title(&profile), title}
	a := &answer{yes: len(c.Differ) == 0, data: CompareAnswer{titles, c, usageOf(fullA).nodes, usageOf(fullB).nodes}}
	a.text = fmt.Sprintf("%d of %d pods go elsewhere; a places %d, b %d", len(c.Differ), len(pods), c.A.Placed, c.B.Placed)
	if a.yes {
		a.text = fmt.Sprintf("all %d pods go to the same nodes", len(pods))
	}
	a.add(capacitySection(c, titles))
	differ := page.Table{Head: []string{"pod", "a", "b"}}
	for _, d := range c.Differ {
		differ.Add(d.Pod, d.A, d.B)
	}
	a.add(page.Section{Title: "Pods that go elsewhere", Note: "- means nowhere.", Table: differ})
	x := beside(fullA, fullB, "a", "b", nil, "")
	x.Title, x.Note = "The nodes, side by side", "What pods request, as a share of what is allocatable. Nodes that differ come first in the table."
	a.add(x)
	return a, nil
}

// placed returns the cluster with the pods placed by a profile.
func placed(profile scheduling.Profile, snap *framework.Snapshot, pods []*framework.PodInfo) (*framework.Snapshot, error) {
	plan, err := whatif.New(profile, snap)
	if err != nil {
		return nil, err
	}
	placement, err := plan.Place(pods)
	if err != nil {
		return nil, err
	}
	return with(snap, pods, placement.Placed)
}

// capacitySection shows the capacity of both sides.
func capacitySection(c *whatif.Comparison, titles [2]string) page.Section {
	s := page.Section{
		Title: "How well the cluster is used",
		Note:  fmt.Sprintf("a: %s. b: %s. Fragmented is what is free on nodes without room for a pod of the list, on average; stranded is what is free where none fits.", titles[0], titles[1]),
		Table: page.Table{Head: []string{"resource", "used a", "used b", "fragmented a", "fragmented b", "stranded a", "stranded b"}},
	}
	inB := map[resource.Name]whatif.Capacity{}
	for _, x := range c.B.Capacity {
		inB[x.Resource] = x
	}
	bars := &page.Bars{Series: []page.Series{{Name: "a"}, {Name: "b"}}, Text: func(v float64) string { return page.Percent(v).String() }}
	bar := func(name string, a, b float64) {
		bars.Labels = append(bars.Labels, name)
		bars.Series[0].Values = append(bars.Series[0].Values, a)
		bars.Series[1].Values = append(bars.Series[1].Values, b)
	}
	for _, x := range c.A.Capacity {
		y := inB[x.Resource]
		s.Table.Add(string(x.Resource), page.Percent(x.Utilization), page.Percent(y.Utilization), page.Percent(x.Fragmentation), page.Percent(y.Fragmentation), page.Percent(x.Stranded), page.Percent(y.Stranded))
		bar(string(x.Resource)+" used", x.Utilization, y.Utilization)
		bar(string(x.Resource)+" fragmented", x.Fragmentation, y.Fragmentation)
		bar(string(x.Resource)+" stranded", x.Stranded, y.Stranded)
	}
	s.Figure = bars
	return s
}

package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/whatif"
)

var placeCommand = command{
	name: "place", args: "[TARGET]...",
	short: "which pods fit, where they go, and why the others do not",
	yes:   "every pod fits",
	long: `Places the pods that wait, one after the other, each with those before it in place; or
only the pods of the targets. Nothing is preempted.

` + targetHelp,
	example: []string{
		"kubectl get nodes,pods -A -o yaml | berth place",
		"berth place -f nodes.json -f deployment.yaml -o html >place.html",
		"berth place -f cluster.yaml -requests cpu=2,memory=4Gi -replicas 30",
	},
	question: func(flags *flag.FlagSet) func(*session) (*answer, error) {
		var w wanted
		w.addFlags(flags)
		return func(s *session) (*answer, error) { return place(s, &w) }
	},
}

func (w *wanted) addFlags(flags *flag.FlagSet) {
	flags.StringVar(&w.requests, "requests", "", "a pod that is not in the files, as `amounts` such as cpu=500m,memory=1Gi")
	flags.IntVar(&w.replicas, "replicas", 0, "so `many` pods like each target; by default the pods that wait")
}

// PlaceAnswer is the answer of place.
type PlaceAnswer struct {
	// Placement says where each pod goes, or why nowhere.
	Placement *whatif.Placement `json:"placement"`
	// Unplaced groups the pods that fit nowhere by their reasons.
	Unplaced []UnplacedGroup `json:"unplaced"`
	// Nodes says how full the nodes are then, by name.
	Nodes []NodeShare `json:"nodes"`
	// Stranded says what is free then and of no use for more of the pods of StrandedFor:
	// the largest workloads of the pods asked about, or of those that run if none wait.
	Stranded    []Stranded `json:"stranded"`
	StrandedFor []string   `json:"strandedFor"`
}

func place(s *session, w *wanted) (*answer, error) {
	plan, pods, err := s.planFor(w)
	if err != nil {
		return nil, err
	}
	placement, err := plan.Place(pods)
	if err != nil {
		return nil, err
	}
	full, err := with(s.snapshot, pods, placement.Placed)
	if err != nil {
		return nil, err
	}
	profile, err := s.profile()
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(profile, full, pods, placement.Unplaced)
	if err != nil {
		return nil, err
	}
	use := usageOf(full)
	asked, who := pods, "these pods"
	if len(asked) == 0 { // what runs stands for more pods
		who = "the pods that run, because none wait"
		for _, n := range full.All() {
			asked = append(asked, n.Pods...)
		}
	}
	shapes := shapesOf(asked)
	stranded, err := strandedOf(profile, full, shapes, use.columns)
	if err != nil {
		return nil, err
	}
	a := &answer{yes: len(placement.Unplaced) == 0, data: PlaceAnswer{placement, groups, use.nodes, stranded, namesOf(shapes)}}
	a.text = fmt.Sprintf("%d of %d pods fit", len(placement.Placed), len(pods))
	if n := len(placement.Unplaced); len(pods) == 0 {
		a.text = "no pods wait"
	} else if n > 0 {
		a.text += fmt.Sprintf("; %d fit nowhere", n)
	}
	a.add(unplacedSection(groups))
	a.add(use.section("How full the nodes are then", "What pods request, as a share of what is allocatable."))
	a.add(strandedSection(stranded, shapes, who, use.columns))
	a.add(placedSection(pods, placement.Placed))
	return a, nil
}

// placedSection lists the nodes with the pods that go there, those with most first.
func placedSection(pods []*framework.PodInfo, placed []whatif.Placed) page.Section {
	groups := map[string]string{}
	for _, p := range pods {
		groups[p.Pod.Key()] = group(p.Pod)
	}
	byNode := map[string][]string{}
	var nodes []string
	for _, x := range placed {
		if byNode[x.Node] == nil {
			nodes = append(nodes, x.Node)
		}
		byNode[x.Node] = append(byNode[x.Node], groups[x.Pod])
	}
	slices.SortFunc(nodes, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byNode[b]), len(byNode[a])), compareNames(a, b))
	})
	t := page.Table{Head: []string{"node", "pods", "of"}}
	for _, n := range nodes {
		t.Add(n, len(byNode[n]), tally(byNode[n]))
	}
	return page.Section{Title: "Where the pods go", Table: t}
}

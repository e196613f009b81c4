package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/berth/internal/page"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

const (
	// maxShapes bounds the kinds of pods that free amounts are tried with.
	maxShapes = 20
	// maxNamed bounds those that a page names.
	maxNamed = 5
	// maxGroups bounds the groups of pods that a counterfactual is looked for.
	maxGroups = 20
	// maxTried bounds the nodes that are tried for one.
	maxTried = 3
)

// A Stranded counts nodes that take none of the pods for one reason, and what is free there.
type Stranded struct {
	// Reason is the most frequent reason of these nodes, and Nodes counts them.
	Reason string `json:"reason"`
	Nodes  int    `json:"nodes"`
	// Free is what is free on them, as a share of all that is allocatable, by resource.
	Free map[resource.Name]float64 `json:"free"`
}

// A shape is one pod of a workload, and how many pods it stands for.
type shape struct {
	pod  *framework.PodInfo
	pods int
}

// shapesOf returns one shape for each workload, and one for each spec of pods without a
// controller: those of most pods first, and at most maxShapes.
func shapesOf(pods []*framework.PodInfo) (shapes []shape) {
	index := map[string]int{}
	for _, p := range pods {
		key := group(p.Pod)
		if p.Pod.ControllerRef() == nil {
			key = p.Pending().ClassKey(framework.FieldNamespace | framework.FieldSpec)
		}
		i, known := index[key]
		if !known {
			i = len(shapes)
			index[key] = i
			shapes = append(shapes, shape{pod: p})
		}
		shapes[i].pods++
	}
	slices.SortStableFunc(shapes, func(a, b shape) int { return cmp.Compare(b.pods, a.pods) })
	return shapes[:min(len(shapes), maxShapes)]
}

// namesOf names the workloads of shapes.
func namesOf(shapes []shape) []string {
	names := []string{}
	for _, x := range shapes {
		names = append(names, group(x.pod.Pod))
	}
	return names
}

// strandedOf finds what is free and of no use for more pods like these: each node is asked
// about one more of each.
func strandedOf(profile scheduling.Profile, snap *framework.Snapshot, shapes []shape, columns []resource.Name) ([]Stranded, error) {
	sched, err := scheduling.New(profile)
	if err != nil {
		return nil, err
	}
	nodes := make([]*framework.NodeInfo, 0, snap.Len())
	for _, n := range snap.All() {
		nodes = append(nodes, n)
	}
	useful := make([]bool, len(nodes))
	reasons := make([]map[string]int, len(nodes))
	for _, x := range shapes {
		more, err := x.pod.Pending().Named(x.pod.Pod.Name + "-more")
		if err != nil {
			return nil, err
		}
		filtering, err := sched.Filtering(snap, more)
		if undecided(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for k, n := range nodes {
			if useful[k] {
				continue
			}
			verdict, err := filtering.Node(n)
			if undecided(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			if verdict.Status.IsSuccess() {
				useful[k] = true
				continue
			}
			if reasons[k] == nil {
				reasons[k] = map[string]int{}
			}
			reasons[k][cmp.Or(strings.Join(verdict.Status.Reasons(), ", "), verdict.Plugin, "left out")] += x.pods
		}
	}
	return groupStranded(snap, nodes, useful, reasons, columns), nil
}

func groupStranded(snap *framework.Snapshot, nodes []*framework.NodeInfo, useful []bool, reasons []map[string]int, columns []resource.Name) []Stranded {
	total := make([]float64, len(columns))
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i], _ = snap.Schema().Index(c)
		for _, n := range nodes {
			total[i] += float64(n.Allocatable.At(at[i]))
		}
	}
	byReason := map[string]*Stranded{}
	for k, n := range nodes {
		if useful[k] || len(reasons[k]) == 0 {
			continue
		}
		names := slices.Sorted(maps.Keys(reasons[k]))
		reason := slices.MaxFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(reasons[k][a], reasons[k][b]), cmp.Compare(b, a)) })
		x := byReason[reason]
		if x == nil {
			x = &Stranded{Reason: reason, Free: map[resource.Name]float64{}}
			byReason[reason] = x
		}
		x.Nodes++
		for i, c := range columns {
			if total[i] > 0 {
				x.Free[c] += float64(max(0, n.Allocatable.At(at[i])-n.Requested.At(at[i]))) / total[i]
			}
		}
	}
	list := []Stranded{}
	for _, x := range byReason {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Stranded) int { return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Reason, b.Reason)) })
	return list
}

func strandedSection(list []Stranded, shapes []shape, who string, columns []resource.Name) page.Section {
	names := namesOf(shapes)
	tried := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if rest := len(names) - maxNamed; rest > 0 {
		tried += fmt.Sprintf(" and %d more", rest)
	}
	s := page.Section{
		Title: "Stranded capacity", Table: page.Table{Head: []string{"reason", "nodes"}},
		Note: "What is free on nodes that take not one more of " + who + ", as a share of the whole cluster, by the most frequent reason. Each node was asked about " + tried + ".",
	}
	bars := &page.Bars{Text: func(v float64) string { return page.Percent(v).String() }}
	for _, c := range columns {
		s.Table.Head = append(s.Table.Head, string(c)+" free")
		bars.Series = append(bars.Series, page.Series{Name: string(c)})
	}
	for _, x := range list {
		row := []page.Cell{x.Reason, x.Nodes}
		bars.Labels = append(bars.Labels, x.Reason)
		for i, c := range columns {
			row = append(row, page.Percent(x.Free[c]))
			bars.Series[i].Values = append(bars.Series[i].Values, x.Free[c])
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	s.Figure = bars
	return s
}

// An UnplacedGroup is the pods that fit nowhere for the same reasons.
type UnplacedGroup struct {
	// Reasons are the reasons, sorted. Pods is how many pods have them, Workloads what they
	// are of, and Message kube-scheduler's text for one of them.
	Reasons   []string `json:"reasons"`
	Pods      int      `json:"pods"`
	Workloads string   `json:"workloads"`
	Message   string   `json:"message"`
	// Example is one of the pods, and Node a node that rejects it for few reasons. What
	// would put the pod there, each alone, is in Remedies; none may be known.
	Example  string          `json:"example"`
	Node     string          `json:"node,omitempty"`
	Remedies []whatif.Remedy `json:"remedies"`
	// Gates are the scheduling gates of the example, which waits until all are removed.
	Gates []string `json:"gates,omitempty"`
	// Unsearched says why the search for remedies ended early, such as that it took too long.
	Unsearched string `json:"unsearched,omitempty"`
}

// groupsOf groups pods by why they fit nowhere, and looks for what would help one of each
// group in the cluster as it is then.
func groupsOf(profile scheduling.Profile, snap *framework.Snapshot, pods []*framework.PodInfo, unplaced []whatif.Unplaced) ([]UnplacedGroup, error) {
	byKey := map[string]*framework.PodInfo{}
	for _, p := range pods {
		byKey[p.Pod.Key()] = p
	}
	index, names := map[string]int{}, [][]string{}
	groups := []UnplacedGroup{}
	for _, u := range unplaced {
		reasons := reasonsOf(&u)
		key := strings.Join(reasons, "\n")
		i, known := index[key]
		if !known {
			i = len(groups)
			index[key] = i
			groups = append(groups, UnplacedGroup{Reasons: reasons, Message: u.Message, Example: u.Pod, Remedies: []whatif.Remedy{}})
			names = append(names, nil)
		}
		groups[i].Pods++
		names[i] = append(names[i], group(byKey[u.Pod].Pod))
	}
	if len(groups) == 0 {
		return groups, nil
	}
	plan, err := whatif.New(profile, snap)
	if err != nil {
		return nil, err
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		return nil, err
	}
	for i := range groups {
		g := &groups[i]
		g.Workloads = tally(names[i])
		if i >= maxGroups {
			continue
		}
		pod := byKey[g.Example]
		if g.Gates = pod.Gates(); len(g.Gates) > 0 {
			continue // it is not tried
		}
		if err := g.search(plan, pod, nearest(sched.ExplainAll(snap, pod))); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(groups, func(a, b UnplacedGroup) int { return cmp.Compare(b.Pods, a.Pods) })
	return groups, nil
}

// search looks for what would put the pod on one of the nodes, until something is found.
func (g *UnplacedGroup) search(plan *whatif.Planner, pod *framework.PodInfo, nodes []string) error {
	for _, node := range nodes {
		why, err := plan.WhyNot(pod, node)
		var invalid *api.InvalidError
		switch {
		case undecided(err):
			return nil // the message says why
		case errors.As(err, &invalid) && invalid.Object == "pod "+pod.Pod.Key(): // concerns no other pod
			g.Unsearched = invalid.Err.Error()
			return nil
		case err != nil:
			return err
		}
		if g.Node == "" || len(why.Remedies) > 0 {
			g.Node, g.Remedies = node, append(g.Remedies, why.Remedies...)
		}
		if len(g.Remedies) > 0 {
			return nil
		}
	}
	return nil
}

// undecided reports whether a plugin could not decide about a pod. That concerns no other pod.
func undecided(err error) bool {
	var plugin *scheduling.PluginError
	return errors.As(err, &plugin)
}

// reasonsOf returns the reasons of a pod without the numbers of nodes.
func reasonsOf(u *whatif.Unplaced) []string {
	reasons := []string{}
	for _, r := range u.Reasons {
		reasons = append(reasons, r.Reason)
	}
	if len(reasons) == 0 {
		reasons = append(reasons, u.Message)
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}

// nearest returns the nodes that reject the pod for the fewest reasons; among equals,
// those that lack least of what it asks for.
func nearest(e *scheduling.Explanation) (names []string) {
	type distance struct {
		node    string
		reasons int
		lack    float64
	}
	list := make([]distance, len(e.Nodes))
	for i := range e.Nodes {
		n := &e.Nodes[i]
		list[i] = distance{node: n.Node, reasons: max(len(n.Reasons), 1)}
		if len(n.Rejections) > 0 {
			list[i].reasons = 0
		}
		for _, r := range n.Rejections {
			list[i].reasons += max(len(r.Reasons), 1)
			for _, d := range r.Details {
				if d.Asked > 0 {
					list[i].lack += float64(d.Asked-max(d.Free(), 0)) / float64(d.Asked)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b distance) int {
		return cmp.Or(cmp.Compare(a.reasons, b.reasons), cmp.Compare(a.lack, b.lack), compareNames(a.node, b.node))
	})
	for _, d := range list[:min(len(list), maxTried)] {
		names = append(names, d.node)
	}
	return names
}

func unplacedSection(groups []UnplacedGroup) page.Section {
	s := page.Section{
		Title: "Pods that fit nowhere, by reason",
		Note:  "What would help is a change that puts one pod of the group on a node; each was checked by deciding with it.",
		Table: page.Table{Head: []string{"pods", "of", "what would help", "why"}},
	}
	bars := &page.Bars{Series: []page.Series{{Name: "pods"}}}
	for _, g := range groups {
		help := "nothing found"
		switch {
		case len(g.Gates) > 0:
			help = g.Example + ": remove its scheduling gates"
		case len(g.Remedies) > 0:
			help = g.Example + " on " + g.Node + ": " + g.Remedies[0].String()
		case g.Unsearched != "":
			help = "nothing found: " + g.Unsearched
		}
		s.Table.Add(g.Pods, g.Workloads, help, g.Message)
		bars.Labels = append(bars.Labels, g.Workloads)
		bars.Series[0].Values = append(bars.Series[0].Values, float64(g.Pods))
	}
	s.Figure = bars
	return s
}

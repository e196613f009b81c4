package page

import (
	"fmt"
	"math"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A NodePanel is what the page shows of the node that is looked at.
type NodePanel struct {
	Node     string `json:"node"`
	Cordoned bool   `json:"cordoned,omitempty"`
	Use      []Use  `json:"use"`
	// Pods are the first pods of the node, PodCount is how many it has.
	Pods     []OnNode `json:"pods"`
	PodCount int      `json:"podCount"`
	Why      *WhyNot  `json:"why,omitempty"`
}

// A Use is how much of a resource pods request.
type Use struct {
	Resource  string `json:"resource"`
	Requested string `json:"requested"`
	Of        string `json:"of"`
	Percent   int    `json:"percent"`
}

// An OnNode is a pod of a node.
type OnNode struct {
	Pod string `json:"pod"`
	// Here is set if the page placed it.
	Here bool `json:"here,omitempty"`
}

// A WhyNot is why the next pod does not go to the node, and what would put it there.
type WhyNot struct {
	Text       string            `json:"text"`
	Rejections []Rejection       `json:"rejections,omitempty"`
	Gaps       []whatif.ScoreGap `json:"gaps,omitempty"`
	Chosen     string            `json:"chosen,omitempty"`
	Remedies   []string          `json:"remedies,omitempty"`
}

// A Rejection is a filter that rejects the node, with its numbers.
type Rejection struct {
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
	Details []string `json:"details,omitempty"`
}

// maxPods bounds the pods that a panel lists.
const maxPods = 50

// panel describes a node, and why the pod does not go there. A pod of nil is none.
func (w *world) panel(n *framework.NodeInfo, pod *framework.PodInfo) (*NodePanel, error) {
	x := &NodePanel{Node: n.Name(), Cordoned: n.Cordoned(), Use: useOf(w.snapshot, n), PodCount: len(n.Pods), Pods: []OnNode{}}
	for _, p := range n.Pods[:min(len(n.Pods), maxPods)] {
		_, here := w.placed[p.Pod.Key()]
		x.Pods = append(x.Pods, OnNode{p.Pod.Key(), here})
	}
	if pod == nil {
		return x, nil
	}
	planner, err := w.planner(w.laneOf(pod))
	if err != nil {
		return x, err
	}
	why, err := planner.WhyNot(pod, n.Name())
	if err != nil {
		return x, err
	}
	x.Why = &WhyNot{Chosen: why.Chosen, Gaps: why.Scores}
	switch {
	case why.Chosen == why.Node:
		x.Why.Text = fmt.Sprintf("%s goes here", why.Pod)
	case why.Chosen == "":
		x.Why.Text = fmt.Sprintf("%s goes nowhere, so not here", why.Pod)
	default:
		x.Why.Text = fmt.Sprintf("%s goes to %s, not here", why.Pod, why.Chosen)
	}
	for _, r := range why.Rejections {
		one := Rejection{Plugin: r.Plugin, Reasons: r.Reasons}
		for _, d := range r.Details {
			one.Details = append(one.Details, d.String())
		}
		x.Why.Rejections = append(x.Why.Rejections, one)
	}
	for _, r := range why.Remedies {
		x.Why.Remedies = append(x.Why.Remedies, r.String())
	}
	return x, nil
}

// useOf lists the resources that the node has.
func useOf(s *framework.Snapshot, n *framework.NodeInfo) []Use {
	list := []Use{}
	schema := s.Schema()
	for i := range schema.Len() {
		if i >= len(n.Allocatable) || n.Allocatable[i] == 0 {
			continue
		}
		name, used := schema.Name(i), int64(0)
		if i < len(n.Requested) {
			used = n.Requested[i]
		}
		unit := framework.UnitOf(name)
		percent := int(math.Round(100 * float64(used) / float64(n.Allocatable[i])))
		list = append(list, Use{string(name), unit.Text(used), unit.Text(n.Allocatable[i]), percent})
	}
	if n.AllowedPods > 0 {
		count := int64(len(n.Pods))
		list = append(list, Use{"pods", strconv.FormatInt(count, 10), strconv.FormatInt(n.AllowedPods, 10), int(100 * count / n.AllowedPods)})
	}
	return list
}

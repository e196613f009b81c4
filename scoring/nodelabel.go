package scoring

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// NodeLabel scores how many of its label preferences a node meets: 100 for each,
// divided by their number and truncated. Raw scores are not normalized.
//
// Source: kube-scheduler 1.18, plugin NodeLabel; dropped in 1.23.
//
// Differs: a NodeLabel without any preference.
// Original: kube-scheduler divides by zero.
// Here: every node scores 0.
// Why: bad input must not end the program.
type NodeLabel struct {
	// Present lists the labels a node should have, and Absent those it should
	// not have, whatever their values.
	Present, Absent []string
}

// Name returns "NodeLabel".
func (NodeLabel) Name() string { return "NodeLabel" }

// Validate reports a label that is preferred to be both present and absent.
func (p NodeLabel) Validate() error {
	for _, label := range p.Present {
		if slices.Contains(p.Absent, label) {
			return fmt.Errorf("NodeLabel: label %q is preferred to be both present and absent", label)
		}
	}
	return nil
}

// Scope declares that a score reads the node's labels and nothing of the pod.
func (NodeLabel) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

// Score returns the percentage of preferences that the node meets.
func (p NodeLabel) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	wishes := len(p.Present) + len(p.Absent)
	if wishes == 0 {
		return framework.MinNodeScore
	}
	met := 0
	for _, label := range p.Present {
		if _, ok := node.Node.Labels[label]; ok {
			met++
		}
	}
	for _, label := range p.Absent {
		if _, ok := node.Node.Labels[label]; !ok {
			met++
		}
	}
	return framework.MaxNodeScore * int64(met) / int64(wishes)
}

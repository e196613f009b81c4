package filter

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
)

// NodeLabel rejects a node that lacks a label of one list, or has a label of
// another, whatever the values. The rejection is unresolvable.
//
// Source: kube-scheduler 1.18, plugin NodeLabel; dropped in 1.23.
type NodeLabel struct {
	// Present lists the labels a node must have, and Absent those it must not.
	Present, Absent []string
}

// Name returns "NodeLabel".
func (NodeLabel) Name() string { return "NodeLabel" }

// Validate reports a label that is required to be both present and absent.
func (p NodeLabel) Validate() error {
	for _, label := range p.Present {
		if slices.Contains(p.Absent, label) {
			return fmt.Errorf("NodeLabel: label %q is to be both present and absent", label)
		}
	}
	return nil
}

// Scope declares that a verdict reads the node's labels and nothing of the pod.
func (NodeLabel) Scope(*framework.PodInfo) framework.Scope {
	return framework.Scope{Reads: framework.ReadsNode}
}

// EventsToRegister names the events that may help a rejected pod: a node with the
// right labels is added, or a node gets them.
func (p NodeLabel) EventsToRegister() []queueing.EventHint {
	right := func(_ *framework.PodInfo, node *api.Node) bool { return p.accepts(node) }
	return []queueing.EventHint{onNode(queueing.ActionAdd|queueing.ActionUpdateNodeLabel, became(right))}
}

const wrongLabels framework.Text = "node(s) didn't have the requested labels"

// Filter looks for the labels.
func (p NodeLabel) Filter(_ *framework.PodInfo, node *framework.NodeInfo) framework.Status {
	if !p.accepts(node.Node) {
		return framework.UnresolvableStatus(wrongLabels)
	}
	return framework.Status{}
}

func (p NodeLabel) accepts(node *api.Node) bool {
	has := func(label string) bool {
		_, ok := node.Labels[label]
		return ok
	}
	for _, label := range p.Present {
		if !has(label) {
			return false
		}
	}
	return !slices.ContainsFunc(p.Absent, has)
}
